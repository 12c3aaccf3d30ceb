"""Correlations equal scipy on the rows that have both values, and say how many those are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_wine

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


def table(read_rows: ReadRows, path: str) -> list[dict[str, str]]:
    header, *rows = read_rows(path)
    return [dict(zip(header, row, strict=True)) for row in rows]


@pytest.fixture
def gappy(write_rows: WriteRows) -> tuple[str, dict[str, np.ndarray]]:
    """Four related columns, each with gaps of its own."""
    rng = np.random.default_rng(5)
    base = rng.normal(size=80)
    columns = {name: base * weight + rng.normal(size=80) for name, weight in zip("abcd", (1, 2, -1, 0), strict=True)}
    for start, values in enumerate(columns.values()):
        values[start :: 7 + start] = np.nan
    rows = [
        [None if np.isnan(value) else value for value in row] for row in np.array(list(columns.values())).T.tolist()
    ]
    return write_rows("gappy.csv", list("abcd"), rows), columns


@pytest.mark.parametrize(
    ("method", "by_scipy"), [("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)]
)
def test_each_pair_equals_scipy_on_its_own_complete_rows(
    context: ToolContext,
    gappy: tuple[str, dict[str, np.ndarray]],
    read_rows: ReadRows,
    method: str,
    by_scipy: Callable[..., tuple[float, float]],
) -> None:
    path, columns = gappy
    result = run(context, path, method=method)
    pairs = {(row["x"], row["y"]): row for row in table(read_rows, result.artifacts[1].path)}
    assert len(pairs) == 6
    for x, y in combinations("abcd", 2):
        both = ~np.isnan(columns[x]) & ~np.isnan(columns[y])
        r, p_value = by_scipy(columns[x][both], columns[y][both])
        assert float(pairs[x, y]["r"]) == pytest.approx(r, rel=1e-12)
        assert float(pairs[x, y]["p_value"]) == pytest.approx(p_value, rel=1e-9)
        assert int(pairs[x, y]["n"]) == both.sum()


def test_the_matrix_is_numpy_s_and_the_strongest_pairs_lead(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    wines = load_wine()
    names = [name.replace("/", "_") for name in wines.feature_names]
    result = run(context, write_rows("wines.csv", names, wines.data.tolist()))
    matrix = table(read_rows, result.artifacts[0].path)
    expected = np.corrcoef(wines.data.T)
    assert [row["column"] for row in matrix] == names
    np.testing.assert_allclose([[float(row[name]) for name in names] for row in matrix], expected, rtol=0, atol=1e-12)
    strongest = result.results["strongest"]
    upper = np.sort(np.abs(expected[np.triu_indices(13, 1)]))[::-1]
    assert len(strongest) > 4
    assert [abs(pair["r"]) for pair in strongest] == pytest.approx(upper[: len(strongest)], rel=1e-9)
    assert (strongest[0]["x"], strongest[0]["y"], strongest[0]["n"]) == ("total_phenols", "flavanoids", 178)


def test_a_constant_column_is_left_out_and_said(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["a", "k", "b"], [[1, 7, 2], [2, 7, 1], [3, 7, 5], [4, 7, 3]])
    result = run(context, path)
    assert result.results["constant"] == ["k"]
    assert result.results["pairs"] == 1
    assert any("k" in note and "constant" in note for note in result.notes)


def test_a_pair_without_enough_rows_is_undefined_not_invented(context: ToolContext, write_rows: WriteRows) -> None:
    rows = [[1, 2, None], [2, 1, None], [3, 5, None], [4, None, 1], [5, None, 2], [6, 4, 3]]
    result = run(context, write_rows("a.csv", ["a", "b", "c"], rows))
    assert result.results["undefined_pairs"] == 1
    assert {(pair["x"], pair["y"]) for pair in result.results["strongest"]} == {("a", "b"), ("a", "c")}


def test_logarithms_leave_out_only_the_values_that_have_none(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    rng = np.random.default_rng(1)
    a, b, c = np.exp(rng.normal(size=(3, 30)))
    a[3], b[5], b[6] = 0, -1, 0
    result = run(context, write_rows("a.csv", ["a", "b", "c"], np.c_[a, b, c].tolist()), transform="log10")
    pairs = {(row["x"], row["y"]): row for row in table(read_rows, result.artifacts[1].path)}
    assert {key: int(row["n"]) for key, row in pairs.items()} == {("a", "b"): 27, ("a", "c"): 29, ("b", "c"): 28}
    kept = a > 0
    assert float(pairs["a", "c"]["r"]) == pytest.approx(np.corrcoef(np.log10(a[kept]), np.log10(c[kept]))[0, 1])
    assert any("a 1, b 2" in note for note in result.notes)


def test_places_are_not_correlated_unless_named(context: ToolContext, write_rows: WriteRows) -> None:
    rng = np.random.default_rng(2)
    path = write_rows("a.csv", ["longitude", "latitude", "Cu", "Zn"], rng.uniform(1, 50, size=(20, 4)).tolist())
    result = run(context, path)
    assert result.results["columns"] == 2
    assert any("longitude, latitude" in note for note in result.notes)
    assert run(context, path, columns=["longitude", "Cu"]).results["pairs"] == 1


def test_fewer_than_two_columns_that_vary_are_refused(context: ToolContext, write_rows: WriteRows) -> None:
    with pytest.raises(ArgumentError, match="fewer than two"):
        run(context, write_rows("a.csv", ["a", "k"], [[1, 7], [2, 7]]))


@pytest.mark.parametrize(("method", "by_scipy"), [("pearson", stats.pearsonr), ("spearman", stats.spearmanr)])
@pytest.mark.parametrize("share_of_gaps", [0.0, 0.1])
def test_hundreds_of_columns_are_correlated_as_scipy_does_each_pair(
    method: correlations.Method, by_scipy: Callable[..., tuple[float, float]], share_of_gaps: float
) -> None:
    rng = np.random.default_rng(3)
    values = 1e6 + rng.normal(size=(60, 260 if method == "pearson" else 60)) * np.exp(rng.normal(size=(1, 1)))
    values[:, 1] = values[:, 0] * 2 + 1
    values[:, 2] = -1e-200 * np.arange(60)
    values[rng.random(values.shape) < share_of_gaps] = np.nan
    found = correlations.correlations(values, method)
    for i, j in list(combinations(range(values.shape[1]), 2))[:: 97 if method == "pearson" else 11]:
        both = np.isfinite(values[:, i]) & np.isfinite(values[:, j])
        r, p_value = by_scipy(values[both, i], values[both, j])
        assert found.rows[i, j] == found.rows[j, i] == both.sum()
        assert found.coefficients[i, j] == found.coefficients[j, i] == pytest.approx(r, abs=1e-9)
        assert found.p_values[i, j] == pytest.approx(p_value, rel=1e-6, abs=1e-12)


def test_a_pair_that_is_constant_on_its_own_rows_is_undefined_in_sums_too() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=(50, 250))
    values[rng.random(values.shape) < 0.1] = np.nan
    values[:25, 0], values[25:, 0] = 7.0, rng.normal(size=25)
    values[25:, 1] = np.nan
    values[2:, 2] = np.nan
    found = correlations.correlations(values, "pearson")
    assert np.isnan(found.coefficients[0, 1])
    assert np.isnan(found.p_values[0, 1])
    assert np.isnan(found.coefficients[2, 3:]).all()


@pytest.mark.parametrize(("method", "width"), [("kendall", 65), ("pearson", 2452), ("spearman", 2452)])
def test_more_pairs_than_can_be_served_are_refused(method: correlations.Method, width: int) -> None:
    with pytest.raises(ArgumentError, match=f"pairs are too many for {method}.*name the columns"):
        correlations.correlations(np.zeros((3, width)), method)


def test_ranks_over_too_many_sets_of_rows_are_refused() -> None:
    values = np.random.default_rng(1).normal(size=(40, 800))
    values[np.random.default_rng(2).random(values.shape) < 0.3] = np.nan
    with pytest.raises(ArgumentError, match=r"different sets of rows.*name fewer columns or use pearson"):
        correlations.correlations(values, "spearman")
