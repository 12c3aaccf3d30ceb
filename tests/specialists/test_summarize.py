"""Summaries equal numpy, per column and per group, and say what they count."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.datasets import load_wine

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.statistics import summarize

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = summarize.run(context, summarize.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


def by_numpy(values: np.ndarray) -> dict[str, float]:
    return {
        "count": len(values),
        "mean": values.mean(),
        "sd": values.std(ddof=1),
        "min": values.min(),
        "p5": np.percentile(values, 5),
        "p25": np.percentile(values, 25),
        "p50": np.percentile(values, 50),
        "p75": np.percentile(values, 75),
        "p95": np.percentile(values, 95),
        "max": values.max(),
        "sum": values.sum(),
    }


def test_every_figure_of_the_wines_equals_numpy(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    wines = load_wine()
    path = write_rows("wines.csv", wines.feature_names, wines.data.tolist())
    result = run(context, path)
    header, *rows = read_rows(result.artifacts[0].path)
    for index, (name, row) in enumerate(zip(wines.feature_names, rows, strict=True)):
        expected = by_numpy(wines.data[:, index])
        found = {
            figure: float(value) for figure, value in zip(header, row, strict=True) if figure not in ("column", "unit")
        }
        assert found["missing"] == 0
        if name in result.results["columns"]:
            assert result.results["columns"][name].items() <= found.items()
        for figure, value in expected.items():
            assert found[figure] == pytest.approx(value, rel=1e-9), (name, figure)
    assert "type 7" in result.results["rule"]
    assert "n - 1" in result.results["rule"]


def test_the_file_holds_the_same_figures_in_full(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    path = write_rows("a.csv", ["a", "b"], [[0.1, 1], [0.2, 2], [0.7, 4]])
    result = run(context, path, columns=["a"])
    header, row = read_rows(result.artifacts[0].path)
    figures = dict(zip(header, row, strict=True))
    assert figures["column"] == "a"
    for name, value in result.results["columns"]["a"].items():
        assert float(figures[name]) == value


def test_groups_equal_numpy_and_rows_without_a_group_are_one_and_said(
    context: ToolContext, write_rows: WriteRows
) -> None:
    rng = np.random.default_rng(3)
    rows = [[group, value] for group, value in zip(["b", "a", None] * 20, rng.normal(size=60).tolist(), strict=True)]
    rows[0][1] = None
    result = run(context, write_rows("a.csv", ["unit", "v"], rows), columns=["v"], by="unit")
    found = result.results["columns"]["v"]
    assert list(found) == ["a", "b", "(missing)"]
    for group, key in (("a", "a"), ("b", "b"), (None, "(missing)")):
        values = np.array([value for name, value in rows if name == group and value is not None])
        for figure, value in by_numpy(values).items():
            assert found[key][figure] == pytest.approx(value, rel=1e-9), (group, figure)
    assert found["b"]["missing"] == 1
    assert result.notes == ["20 rows have no value in unit; they form the group (missing)"]


def test_groups_of_numbers_come_in_their_order(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["cluster", "v"], [[10, 1.5], [2, 2.5], [10, 3.5]])
    found = run(context, path, columns=["v"], by="cluster").results["columns"]["v"]
    assert {group: record["mean"] for group, record in found.items()} == {"2": 2.5, "10": 2.5}
    assert list(found) == ["2", "10"]


def test_percentiles_are_those_asked_for(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["v"], [[1], [2], [3], [4]])
    found = run(context, path, percentiles=[25, 97.5]).results["columns"]["v"]
    assert found["p25"] == 1.75
    assert found["p97.5"] == pytest.approx(np.percentile([1, 2, 3, 4], 97.5), rel=1e-12)
    assert "p50" not in found


def test_what_is_not_defined_is_null(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["g", "v"], [["one", 5], ["none", None], ["two", 1], ["two", 2]])
    found = run(context, path, by="g").results["columns"]["v"]
    assert found["one"]["sd"] is None
    assert found["one"]["mean"] == 5
    assert found["none"]["count"] == 0
    assert found["none"]["mean"] is None
    assert found["none"]["p50"] is None


def test_as_many_records_are_shown_as_fit_and_the_rest_is_counted(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    names = [f"c{number}" for number in range(25)]
    result = run(context, write_rows("a.csv", names, [list(range(25)), list(range(25, 50))]))
    shown = list(result.results["columns"])
    assert shown == names[: len(shown)]
    assert len(shown) > 7
    assert len(wire.dumps(result.results)) < 1_300
    assert f"{25 - len(shown)} further records" in result.results["not_shown"]
    assert len(read_rows(result.artifacts[0].path)) == 26


def test_a_grouping_column_called_like_a_figure_keeps_both(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    result = run(context, write_rows("a.csv", ["count", "v"], [["x", 1], ["y", 2]]), columns=["v"], by="count")
    header, *rows = read_rows(result.artifacts[0].path)
    assert [row[header.index("count_group")] for row in rows] == ["x", "y"]
    assert [row[header.index("count")] for row in rows] == ["1", "1"]


def test_text_and_unknown_columns_are_refused_by_field(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["rock", "v"], [["basalt", 1], ["granite", 2]])
    with pytest.raises(ArgumentError, match="rock") as refused:
        run(context, path, columns=["rock"])
    assert refused.value.field == "columns"
    with pytest.raises(ArgumentError, match="rocks") as refused:
        run(context, path, by="rocks")
    assert refused.value.field == "by"


def test_weighted_mean_geometric_mean_skewness_and_mad_are_given_on_request(
    context: ToolContext, write_rows: WriteRows
) -> None:
    rng = np.random.default_rng(5)
    values, weights = np.exp(rng.normal(size=30)), rng.uniform(1, 3, size=30)
    rows: list[list[float | None]] = np.column_stack([values, weights]).tolist()
    rows += [[None, 2.0], [9.0, None]]
    path = write_rows("a.csv", ["v", "length"], rows)
    wanted = ["geometric_mean", "mad", "skewness", "cv", "variance"]
    found = run(context, path, columns=["v"], weights="length", also=wanted).results["columns"]["v"]
    both = np.append(values, 9.0)
    assert found["weighted_mean"] == pytest.approx(np.average(values, weights=weights), rel=1e-12)
    assert found["weight"] == pytest.approx(weights.sum(), rel=1e-12)
    assert found["geometric_mean"] == pytest.approx(stats.gmean(both), rel=1e-12)
    assert found["mad"] == pytest.approx(stats.median_abs_deviation(both), rel=1e-12)
    assert found["skewness"] == pytest.approx(stats.skew(both), rel=1e-12)
    assert found["cv"] == pytest.approx(stats.variation(both, ddof=1), rel=1e-12)
    assert found["variance"] == pytest.approx(both.var(ddof=1), rel=1e-12)


def test_a_geometric_mean_of_zeros_is_not_defined_and_negative_weights_are_refused(
    context: ToolContext, write_rows: WriteRows
) -> None:
    path = write_rows("a.csv", ["v", "w"], [[0, 1], [2, -1]])
    assert run(context, path, columns=["v"], also=["geometric_mean"]).results["columns"]["v"]["geometric_mean"] is None
    with pytest.raises(ArgumentError, match="negative") as refused:
        run(context, path, columns=["v"], weights="w")
    assert refused.value.field == "weights"


@pytest.mark.parametrize("groups", [3, 40], ids=["few groups", "many groups"])
@pytest.mark.parametrize("also", [[], ["skewness"]], ids=["plain", "with more"])
def test_a_long_table_by_group_equals_numpy(context: ToolContext, groups: int, also: list[str]) -> None:
    """Long columns go other ways: as series, by masks, side by side."""
    rows = 110_000
    rng = np.random.default_rng(5)
    codes, values = rng.integers(0, groups + 1, rows), rng.lognormal(2, 1, rows).round(3)
    is_missing = rng.random(rows) < 0.1
    names = np.array([*(f"rock {n:02d}" for n in range(groups)), ""])
    table = pl.DataFrame({"rock": names[codes], "Au": values, "Cu": values * 2})
    table = table.with_columns(pl.when(pl.Series(~is_missing)).then("Au"))
    table.write_csv(context.workspace / "long.csv")
    result = run(context, "long.csv", by="rock", columns=["Au", "Cu"], also=also)
    found = pl.read_csv(context.workspace / result.artifacts[0].path)
    assert found.height == 2 * (groups + 1)
    for record in found.iter_rows(named=True):
        named = record["rock"]
        own = codes == (groups if named == "(missing)" else int(named.removeprefix("rock ")))
        expected = by_numpy(values[own & ~is_missing] if record["column"] == "Au" else values[own] * 2)
        assert {name: record[name] for name in expected} == pytest.approx(expected, rel=1e-12)
        assert record["missing"] == (int((own & is_missing).sum()) if record["column"] == "Au" else 0)
    assert f"{int((codes == groups).sum())} rows have no value in rock" in " ".join(result.notes)
