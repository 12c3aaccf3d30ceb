"""Scores and flags equal the textbook; a column without spread is skipped with its reason, never divided by zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import compute_anomaly

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, columns: list[str], **arguments: object) -> ToolResult:
    result = compute_anomaly.run(context, compute_anomaly.Arguments(path=path, columns=columns, **arguments))
    wire.dumps(result.as_json())
    return result


def column(read_rows: ReadRows, result: ToolResult, name: str) -> list[str]:
    header, *rows = read_rows(result.artifacts[0].path)
    return [row[header.index(name)] for row in rows]


@pytest.fixture
def values() -> np.ndarray:
    found = np.random.default_rng(4).normal(100, 10, size=50)
    found[7], found[8] = 400, -250
    return found


@pytest.fixture
def path(write_rows: WriteRows, values: np.ndarray) -> str:
    return write_rows("a.csv", ["v"], values[:, None].tolist())


def test_modified_z_scores_are_those_of_iglewicz_and_hoaglin(
    context: ToolContext, path: str, values: np.ndarray, read_rows: ReadRows
) -> None:
    result = run(context, path, ["v"])
    median = np.median(values)
    expected = 0.6745 * (values - median) / np.median(np.abs(values - median))
    assert [float(cell) for cell in column(read_rows, result, "v_anomaly")] == pytest.approx(expected, rel=1e-9)
    flags = np.where(expected > 3.5, "high", np.where(expected < -3.5, "low", "normal"))
    assert column(read_rows, result, "v_anomaly_flag") == flags.tolist()
    found = result.results["columns"]["v"]
    assert (found["low"], found["high"], found["scored"]) == ((flags == "low").sum(), (flags == "high").sum(), 50)
    assert result.results["threshold"] == 3.5
    assert "Iglewicz" in result.results["rule"]


def test_z_scores_use_n_less_one(context: ToolContext, path: str, values: np.ndarray, read_rows: ReadRows) -> None:
    result = run(context, path, ["v"], method="zscore")
    expected = (values - values.mean()) / values.std(ddof=1)
    assert [float(cell) for cell in column(read_rows, result, "v_anomaly")] == pytest.approx(expected, rel=1e-9)
    found = result.results["columns"]["v"]
    assert found["flagged_above"] == pytest.approx(values.mean() + 3 * values.std(ddof=1), rel=1e-9)
    assert (found["low"], found["high"]) == ((expected < -3).sum(), (expected > 3).sum())


def test_iqr_flags_lie_beyond_tukey_s_fences(
    context: ToolContext, path: str, values: np.ndarray, read_rows: ReadRows
) -> None:
    result = run(context, path, ["v"], method="iqr", threshold=2)
    quarter, three_quarters = np.percentile(values, [25, 75])
    low, high = quarter - 2 * (three_quarters - quarter), three_quarters + 2 * (three_quarters - quarter)
    found = result.results["columns"]["v"]
    assert (found["flagged_below"], found["flagged_above"]) == pytest.approx((low, high), rel=1e-9)
    flags = np.where(values > high, "high", np.where(values < low, "low", "normal"))
    assert column(read_rows, result, "v_anomaly_flag") == flags.tolist()
    scores = [float(cell) for cell in column(read_rows, result, "v_anomaly")]
    inside = (values >= quarter) & (values <= three_quarters)
    assert (np.array(scores)[inside] == 0).all()
    assert scores[7] == pytest.approx((400 - three_quarters) / (three_quarters - quarter), rel=1e-9)


def test_a_column_without_spread_is_skipped_with_its_reason(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    rows = [[5, value] for value in (1.0, 2.0, 3.0, 4.0, 90.0)]
    result = run(context, write_rows("a.csv", ["k", "v"], rows), ["k", "v"])
    assert "MAD is zero" in result.results["skipped"]["k"]
    assert any(note.startswith("skipped: k") for note in result.notes)
    header = read_rows(result.artifacts[0].path)[0]
    assert header == ["k", "v", "v_anomaly", "v_anomaly_flag"]
    with pytest.raises(ArgumentError, match="MAD is zero"):
        run(context, write_rows("k.csv", ["k"], [[5], [5], [5], [5], [6]]), ["k"])


def test_gaps_and_values_without_a_logarithm_have_no_score_and_are_counted(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    cells = [None, 0, -1, *np.exp(np.random.default_rng(0).normal(size=20)).tolist(), 1e6]
    path = write_rows("a.csv", ["id", "v"], [[f"s{row}", cell] for row, cell in enumerate(cells)])
    result = run(context, path, ["v"], transform="log10")
    assert column(read_rows, result, "v_anomaly")[:3] == ["", "", ""]
    assert column(read_rows, result, "v_anomaly_flag")[:3] == ["", "", ""]
    assert column(read_rows, result, "v_anomaly_flag")[-1] == "high"
    assert len(column(read_rows, result, "id")) == 24
    assert result.results["columns"]["v"]["scored"] == 21
    assert "values without a score, missing: v 1" in result.notes
    assert "values without a score, not positive (no logarithm): v 2" in result.notes


def test_fences_of_logarithms_are_given_in_the_data_s_units(context: ToolContext, write_rows: WriteRows) -> None:
    logs = np.random.default_rng(8).normal(size=30)
    path = write_rows("a.csv", ["v"], (10**logs)[:, None].tolist())
    found = run(context, path, ["v"], transform="log10", method="zscore").results["columns"]["v"]
    assert found["flagged_above"] == pytest.approx(10 ** (logs.mean() + 3 * logs.std(ddof=1)), rel=1e-6)


def test_zinc_in_colorado_has_nineteen_low_and_twenty_high_outliers_on_logarithms(
    context: ToolContext, shared_file: Callable[[str], str]
) -> None:
    path = shared_file("files/colorado_soils.csv")
    found = run(context, path, ["Zn"], method="iqr", transform="log10").results["columns"]["Zn"]
    assert (found["low"], found["high"]) == (19, 20)
    raw = run(context, path, ["Zn"], method="iqr").results["columns"]["Zn"]
    assert raw["low"] + raw["high"] == 49
