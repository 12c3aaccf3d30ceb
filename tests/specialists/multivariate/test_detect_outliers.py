"""Outliers by fences and by robust distance, beside independent computations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from sklearn.covariance import MinCovDet

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import detect_outliers

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = detect_outliers.run(context, detect_outliers.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


def test_fences_are_tukey_s_on_raw_values_and_on_logarithms(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    values = np.exp(np.random.default_rng(3).normal(size=200))
    values[:2] = [1e-4, 1e4]
    path = write_rows("a.csv", ["v"], values[:, None].tolist())
    for transform, used in (("none", values), ("log10", np.log10(values))):
        low, high = np.percentile(used, [25, 75])
        below, above = used < low - 1.5 * (high - low), used > high + 1.5 * (high - low)
        result = run(context, path, columns=["v"], transform=transform)
        assert result.results["columns"]["v"] == {"low": below.sum(), "high": above.sum(), "n": 200}
        header, *rows = read_rows(result.artifacts[0].path)
        flags = [row[header.index("v_outlier")] for row in rows]
        assert flags == np.select([below, above], ["low", "high"], "normal").tolist()


def test_a_column_by_itself_keeps_gaps_and_skips_what_has_no_spread(
    context: ToolContext, write_rows: WriteRows
) -> None:
    rows = [[value, 5] for value in (1, 2, 3, 4, 90)] + [[None, 5], [0, 5]]
    result = run(context, write_rows("a.csv", ["v", "k"], rows), columns=["v", "k"], transform="log10", method="mad")
    assert result.results["columns"]["v"]["n"] == 5
    assert any("not looked at: k" in note for note in result.notes)
    assert any("not positive have no logarithm and no flag: v 1" in note for note in result.notes)
    with pytest.raises(ArgumentError, match="k, its interquartile range is zero") as refused:
        run(context, "a.csv", columns=["k"])
    assert refused.value.field == "columns"


def test_robust_distances_are_those_of_the_minimum_covariance_determinant(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    values = np.random.default_rng(2).normal(size=(100, 3))
    values[:5] += 12
    rows: list[list[float | None]] = values.tolist()
    rows.append([None, 1.0, 1.0])
    result = run(context, write_rows("a.csv", ["p", "q", "r"], rows), method="multivariate")
    scaled = (values - values.mean(axis=0)) / values.std(axis=0)
    expected = np.sqrt(MinCovDet(random_state=42).fit(scaled).dist_)
    header, *written = read_rows(result.artifacts[0].path)
    found = [row[header.index("robust_distance")] for row in written]
    assert found[-1] == ""
    assert [float(value) for value in found[:-1]] == pytest.approx(expected, rel=1e-9)
    assert result.results["threshold"] == pytest.approx(np.sqrt(stats.chi2.ppf(0.975, 3)), rel=1e-12)
    assert result.results["outliers"] == (expected > result.results["threshold"]).sum() >= 5
    assert result.results["left_out"] == {"missing": 1}


def test_clr_is_taken_in_isometric_coordinates_and_dependent_columns_are_refused(
    context: ToolContext, write_rows: WriteRows
) -> None:
    parts = np.exp(np.random.default_rng(2).normal(size=(60, 3)))
    path = write_rows("a.csv", ["a", "b", "c"], parts.tolist())
    result = run(context, path, method="multivariate", transform="clr")
    assert "2 degrees of freedom" in result.results["rule"]
    assert result.results["threshold"] == pytest.approx(np.sqrt(stats.chi2.ppf(0.975, 2)))
    sums = np.column_stack([parts, parts.sum(axis=1)])
    with pytest.raises(ArgumentError, match="given by the others") as refused:
        run(context, write_rows("b.csv", ["a", "b", "c", "s"], sums.tolist()), method="multivariate")
    assert refused.value.field == "columns"
    with pytest.raises(ArgumentError, match="too few for 3 dimensions"):
        run(context, write_rows("c.csv", ["a", "b", "c"], parts[:10].tolist()), method="multivariate")


def test_zinc_in_colorado_has_forty_nine_high_outliers_raw_and_thirty_nine_on_logarithms(
    context: ToolContext, shared_file: Callable[[str], str]
) -> None:
    path = shared_file("files/colorado_soils.csv")
    raw = run(context, path, columns=["Zn"]).results
    logs = run(context, path, columns=["Zn"], transform="log10").results
    assert [logs["low"], logs["high"], raw["low"], raw["high"]] == [19, 20, 0, 49]
