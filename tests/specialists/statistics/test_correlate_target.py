"""All columns against one: the same coefficients as the full matrix, ranked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.statistics import correlate, correlations

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = correlate.run(context, correlate.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


@pytest.fixture
def values() -> np.ndarray:
    rng = np.random.default_rng(6)
    base = rng.normal(size=(60, 1))
    values = np.exp(base @ rng.normal(size=(1, 5)) + rng.normal(size=(60, 5)))
    values[::7, 1] = np.nan
    values[3:9, 4] = np.nan
    return values


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_the_row_of_the_matrix_is_what_a_target_gives(values: np.ndarray, method: correlations.Method) -> None:
    full = correlations.correlations(values, method)
    one = correlations.correlations_with(2, values, method)
    np.testing.assert_allclose(one.coefficients[2], full.coefficients[2], rtol=1e-12)
    np.testing.assert_allclose(one.p_values[2][[0, 1, 3, 4]], full.p_values[2][[0, 1, 3, 4]], rtol=1e-9)
    assert one.rows[2][[0, 1, 3, 4]].tolist() == full.rows[2][[0, 1, 3, 4]].tolist()


def test_the_ranking_is_by_absolute_coefficient_with_its_own_n(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows, values: np.ndarray
) -> None:
    names = ["Au", "As", "Sb", "Bi", "Cu"]
    rows = [[None if np.isnan(value) else value for value in row] for row in values.tolist()]
    result = run(context, write_rows("a.csv", names, rows), target="Au", method="spearman")
    assert result.results["pairs"] == 4
    header, *found = read_rows(result.artifacts[0].path)
    assert header == ["x", "y", "r", "p_value", "n"]
    sizes = [abs(float(row[2])) for row in found]
    assert sizes == sorted(sizes, reverse=True)
    for row in found:
        both = np.isfinite(values[:, [0, names.index(row[1])]]).all(axis=1)
        expected = stats.spearmanr(values[both, 0], values[both, names.index(row[1])])
        assert float(row[2]) == pytest.approx(expected.statistic, rel=1e-9)
        assert int(row[4]) == both.sum()
    assert result.results["strongest"][0]["y"] == found[0][1]
    assert "strongest with Au" in result.summary


def test_a_clr_can_be_over_more_parts_than_are_correlated(
    context: ToolContext, write_rows: WriteRows, values: np.ndarray
) -> None:
    names = ["Au", "As", "Sb", "Bi", "Cu"]
    complete = np.nan_to_num(values, nan=1.0)
    path = write_rows("a.csv", names, complete.tolist())
    result = run(context, path, columns=["Au", "As"], composition=names, transform="clr")
    logs = np.log(complete)
    parts = logs - logs.mean(axis=1, keepdims=True)
    assert result.results["strongest"][0]["r"] == pytest.approx(np.corrcoef(parts[:, 0], parts[:, 1])[0, 1], rel=1e-9)
    with pytest.raises(ArgumentError, match="transform clr") as refused:
        run(context, path, columns=["Au", "As"], composition=names)
    assert refused.value.field == "composition"


def test_a_target_that_does_not_vary_is_refused(context: ToolContext, write_rows: WriteRows) -> None:
    with pytest.raises(ArgumentError, match="does not vary") as refused:
        run(context, write_rows("a.csv", ["k", "v"], [[1, 1], [1, 2], [1, 3]]), target="k")
    assert refused.value.field == "target"
