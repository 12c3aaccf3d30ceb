"""Regression against numpy's least squares, scipy's line and the textbook formulas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.statistics import least_squares, regression

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = regression.run(context, regression.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


@pytest.fixture
def data() -> np.ndarray:
    rng = np.random.default_rng(8)
    x = rng.uniform(1, 9, size=(50, 2)) * [1, 1000]
    return np.column_stack([3 + 2 * x[:, 0] - 0.01 * x[:, 1] + rng.normal(size=50), x])


def test_one_column_equals_scipy_s_line(context: ToolContext, write_rows: WriteRows, data: np.ndarray) -> None:
    result = run(context, write_rows("a.csv", ["y", "a", "b"], data.tolist()), y="y", x=["a"])
    line = stats.linregress(data[:, 1], data[:, 0])
    found = result.results["coefficients"]
    assert found["a"]["estimate"] == pytest.approx(line.slope, rel=1e-9)
    assert found["a"]["se"] == pytest.approx(line.stderr, rel=1e-9)
    assert found["a"]["p"] == pytest.approx(line.pvalue, rel=1e-8)
    assert found["(intercept)"]["estimate"] == pytest.approx(line.intercept, rel=1e-9)
    assert found["(intercept)"]["se"] == pytest.approx(line.intercept_stderr, rel=1e-9)
    reach = stats.t.ppf(0.975, 48) * line.stderr
    assert found["a"]["ci"] == pytest.approx([line.slope - reach, line.slope + reach], rel=1e-9)
    assert result.results["r_squared"] == pytest.approx(line.rvalue**2, rel=1e-9)


def test_several_columns_equal_the_normal_equations(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows, data: np.ndarray
) -> None:
    result = run(context, write_rows("a.csv", ["y", "a", "b"], data.tolist()), y="y", x=["a", "b"])
    design = np.column_stack([np.ones(50), data[:, 1:]])
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ data[:, 0]
    residuals = data[:, 0] - design @ beta
    variance = residuals @ residuals / 47
    header, *rows = read_rows(result.artifacts[0].path)
    estimates = [float(row[header.index("estimate")]) for row in rows]
    errors = [float(row[header.index("standard_error")]) for row in rows]
    assert [row[0] for row in rows] == ["(intercept)", "a", "b"]
    assert estimates == pytest.approx(beta, rel=1e-9)
    assert errors == pytest.approx(np.sqrt(variance * np.diag(inverse)), rel=1e-9)
    r_squared = 1 - residuals @ residuals / ((data[:, 0] - data[:, 0].mean()) ** 2).sum()
    assert result.results["adjusted_r_squared"] == pytest.approx(1 - (1 - r_squared) * 49 / 47, rel=1e-9)
    assert result.results["residual_sd"] == pytest.approx(np.sqrt(variance), rel=1e-9)
    leverage = np.diag(design @ inverse @ design.T)
    assert result.results["high_leverage_rows"] == int((leverage > 2 * 3 / 50).sum())
    header, *rows = read_rows(result.artifacts[1].path)
    assert [float(row[header.index("residual")]) for row in rows] == pytest.approx(residuals, abs=1e-9)
    assert [float(row[header.index("leverage")]) for row in rows] == pytest.approx(leverage, rel=1e-9)
    studentised = residuals / np.sqrt(variance * (1 - leverage))
    assert [float(row[header.index("studentised_residual")]) for row in rows] == pytest.approx(studentised, abs=1e-9)


def test_gaps_and_values_without_a_logarithm_are_counted_and_keep_their_rows(
    context: ToolContext, write_rows: WriteRows, read_rows: ReadRows
) -> None:
    rows = [[10**value, value] for value in range(1, 6)] + [[None, 3], [0, 4], [5, None]]
    result = run(context, write_rows("a.csv", ["y", "x"], rows), y="y", x=["x"], log=["y"])
    assert result.results["coefficients"]["x"]["estimate"] == pytest.approx(1)
    assert (result.results["used"], result.results["left_out"]) == (5, 3)
    assert any("3 of 8 rows left out, without a value of y 2, x 1" in note for note in result.notes)
    assert any("1 values of y are not positive" in note for note in result.notes)
    header, *written = read_rows(result.artifacts[1].path)
    assert [bool(row[header.index("fitted")]) for row in written] == [True] * 5 + [False] * 3


def test_theil_sen_is_scipy_s_and_does_not_follow_an_outlier(context: ToolContext, write_rows: WriteRows) -> None:
    x = np.arange(20.0)
    y = 2 * x + 1
    y[19] = 1000
    path = write_rows("a.csv", ["y", "x"], np.column_stack([y, x]).tolist())
    result = run(context, path, y="y", x=["x"], method="theil_sen")
    line = stats.theilslopes(y, x)
    assert result.results["coefficients"]["x"]["estimate"] == pytest.approx(line.slope) == pytest.approx(2)
    assert result.results["coefficients"]["x"]["ci"] == pytest.approx([line.low_slope, line.high_slope])
    assert result.results["coefficients"]["(intercept)"]["estimate"] == pytest.approx(line.intercept)


def test_theil_sen_of_many_rows_takes_a_sample_which_is_said() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=5_000)
    first = least_squares.theil_sen(3 * x, x, "x", 0.95, 42)
    assert (first.sampled, first.n) == (least_squares.THEIL_SEN_ROWS, 5_000)
    assert first.terms[1].estimate == pytest.approx(3)


def test_each_group_has_its_own_line_and_groups_that_cannot_are_named(
    context: ToolContext, write_rows: WriteRows
) -> None:
    rows = [["a", x, 2 * x] for x in range(5)] + [["b", x, 7 - x] for x in range(5)] + [["c", 1, 1]]
    result = run(context, write_rows("a.csv", ["g", "x", "y"], rows), y="y", x=["x"], by="g")
    found = result.results["by_group"]
    assert found["a"]["coefficients"]["x"] == pytest.approx(2)
    assert found["b"]["coefficients"]["x"] == pytest.approx(-1)
    assert any("1 groups not fitted: c" in note for note in result.notes)


@pytest.mark.parametrize(
    ("arguments", "field", "reason"),
    [
        ({"y": "y", "x": ["a", "twice"]}, "x", "given by the other columns: (twice|a)"),
        ({"y": "y", "x": ["k"]}, "x", "constant"),
        ({"y": "y", "x": ["y"]}, "x", "explain itself"),
        ({"y": "y", "x": ["rock"]}, "x", "rock"),
        ({"y": "y", "x": ["a", "b"], "method": "theil_sen"}, "x", "takes one column"),
        ({"y": "y", "x": ["a"], "log": ["b"]}, "log", "neither"),
        ({"y": "y", "x": ["nothing"]}, "x", "no column"),
    ],
)
def test_what_cannot_be_fitted_is_refused_by_field(
    context: ToolContext, write_rows: WriteRows, arguments: dict[str, object], field: str, reason: str
) -> None:
    rows = [[value**2, value, 2 * value, 5, value % 3, "basalt"] for value in range(1, 9)]
    path = write_rows("a.csv", ["y", "a", "twice", "k", "b", "rock"], rows)
    with pytest.raises(ArgumentError, match=reason) as refused:
        run(context, path, **arguments)
    assert refused.value.field == field


def test_without_an_intercept_r_squared_is_about_zero(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["y", "x"], [[1, 1], [2, 2], [3.5, 3], [4, 4]])
    result = run(context, path, y="y", x=["x"], intercept=False)
    x, y = np.array([1, 2, 3, 4.0]), np.array([1, 2, 3.5, 4.0])
    slope = (x * y).sum() / (x * x).sum()
    assert result.results["coefficients"].keys() == {"x"}
    assert result.results["coefficients"]["x"]["estimate"] == pytest.approx(slope)
    assert result.results["r_squared"] == pytest.approx(1 - ((y - slope * x) ** 2).sum() / (y**2).sum())


def test_the_same_work_gives_the_same_files(context: ToolContext, write_rows: WriteRows, data: np.ndarray) -> None:
    path = write_rows("a.csv", ["y", "a", "b"], data.tolist())
    assert run(context, path, y="y", x=["a"]).artifacts == run(context, path, y="y", x=["a"]).artifacts
