"""Groups compared as scipy compares them, with effect sizes from their definitions."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.statistics import compare_groups, comparing, summarize

WriteRows = Callable[..., str]
ReadRows = Callable[[str], list[list[str]]]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = compare_groups.run(context, compare_groups.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


@pytest.fixture
def groups() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    return {
        "basalt": rng.normal(10, 2, 25),
        "granite": rng.normal(12, 5, 40),
        "schist": np.round(rng.normal(11, 1, 30), 1),
    }


@pytest.fixture
def path(write_rows: WriteRows, groups: dict[str, np.ndarray]) -> str:
    rows: list[list[object]] = [[rock, value] for rock, values in groups.items() for value in values.tolist()]
    rows += [["basalt", None], [None, 3.0], ["lonely", 4.0]]
    return write_rows("rocks.csv", ["rock", "Cu"], rows)


def test_two_groups_equal_scipy_and_the_definitions_of_the_effects(
    context: ToolContext, path: str, groups: dict[str, np.ndarray]
) -> None:
    result = run(context, path, column="Cu", by="rock", groups=["basalt", "granite"])
    a, b = groups["basalt"], groups["granite"]
    test = result.results["test"]
    welch, ranks = stats.ttest_ind(a, b, equal_var=False), stats.mannwhitneyu(a, b)
    assert (test["welch_t"], test["welch_p"]) == pytest.approx((welch.statistic, welch.pvalue), rel=1e-9)
    assert (test["mann_whitney_u"], test["mann_whitney_p"]) == pytest.approx((ranks.statistic, ranks.pvalue), rel=1e-9)
    pooled = np.sqrt((24 * a.var(ddof=1) + 39 * b.var(ddof=1)) / 63)
    assert test["hedges_g"] == pytest.approx((a.mean() - b.mean()) / pooled * (1 - 3 / (4 * 65 - 9)), rel=1e-9)
    assert test["cliffs_delta"] == pytest.approx(np.sign(a[:, None] - b[None, :]).mean(), rel=1e-9)
    assert result.results["by_group"]["basalt"] == pytest.approx(
        {"n": 25, "missing": 1, "mean": a.mean(), "sd": a.std(ddof=1), "median": np.median(a)}, rel=1e-9
    )
    assert any("1 rows have no value in rock" in note for note in result.notes)


def test_several_groups_equal_scipy_and_pairs_are_adjusted_by_holm(
    context: ToolContext, path: str, groups: dict[str, np.ndarray], read_rows: ReadRows
) -> None:
    result = run(context, path, column="Cu", by="rock")
    test = result.results["test"]
    values = list(groups.values())
    kruskal = stats.kruskal(*values)
    assert (test["kruskal_h"], test["kruskal_p"]) == pytest.approx((kruskal.statistic, kruskal.pvalue), rel=1e-9)
    every = np.concatenate(values)
    between = sum(len(group) * (group.mean() - every.mean()) ** 2 for group in values)
    assert test["eta_squared"] == pytest.approx(between / ((every - every.mean()) ** 2).sum(), rel=1e-9)
    assert test["epsilon_squared"] == pytest.approx(kruskal.statistic / (len(every) - 1), rel=1e-9)
    assert any("not tested: lonely" in note for note in result.notes)
    header, *rows = read_rows(result.artifacts[1].path)
    assert [(row[0], row[1]) for row in rows] == list(combinations(groups, 2))
    raw = [stats.mannwhitneyu(groups[a], groups[b]).pvalue for a, b in combinations(groups, 2)]
    found = [float(row[header.index("mann_whitney_p_holm")]) for row in rows]
    ranked, adjusted, greatest = np.argsort(raw), [0.0] * 3, 0.0
    for place, index in enumerate(ranked):
        greatest = max(greatest, min(1, raw[index] * (3 - place)))
        adjusted[index] = greatest
    assert found == pytest.approx(adjusted, rel=1e-9)


def test_welch_s_analysis_of_variance_is_his(groups: dict[str, np.ndarray]) -> None:
    # Of two groups F is t squared.
    a, b = groups["basalt"], groups["granite"]
    f, degrees, p = comparing._welch_f([a, b])
    welch = stats.ttest_ind(a, b, equal_var=False)
    assert f is not None
    assert degrees is not None
    assert (f, p, degrees[1]) == pytest.approx((welch.statistic**2, welch.pvalue, welch.df), rel=1e-9)
    independent = stats.f_oneway(*groups.values(), equal_var=False)
    found = comparing._welch_f(list(groups.values()))
    assert (found[0], found[2]) == pytest.approx((independent.statistic, independent.pvalue), rel=1e-9)


def test_two_categories_give_chi_square_cramer_s_v_and_fisher(context: ToolContext, write_rows: WriteRows) -> None:
    rows = [["a", "x"]] * 8 + [["a", "y"]] * 2 + [["b", "x"]] * 1 + [["b", "y"]] * 5 + [["b", None]]
    result = run(context, write_rows("t.csv", ["g", "c"], rows), column="c", by="g")
    counts = np.array([[8, 2], [1, 5]])
    test = result.results["test"]
    expected = stats.chi2_contingency(counts, correction=False)
    assert test["chi_squared"] == pytest.approx(expected.statistic, rel=1e-9)
    assert test["cramers_v"] == pytest.approx(np.sqrt(expected.statistic / 16), rel=1e-9)
    assert test["fisher_p"] == pytest.approx(stats.fisher_exact(counts).pvalue, rel=1e-9)
    assert result.results["counts"] == {"a": {"x": 8, "y": 2}, "b": {"x": 1, "y": 5}}
    assert any("1 rows of these groups have no value in c" in note for note in result.notes)
    assert any("take Fisher's" in note for note in result.notes)


def test_codes_can_be_compared_as_categories(context: ToolContext, write_rows: WriteRows) -> None:
    rows = [[group, code] for group in ("a", "b") for code in (1, 2, 3) * 4]
    result = run(context, write_rows("t.csv", ["g", "code"], rows), column="code", by="g", treat_as="categories")
    assert result.results["test"]["chi_squared"] == pytest.approx(0, abs=1e-12)


def test_logarithms_leave_out_what_has_none_and_constant_groups_have_no_test(
    context: ToolContext, write_rows: WriteRows
) -> None:
    path = write_rows("t.csv", ["g", "v"], [["a", 0], ["a", 10], ["a", 100], ["b", 10], ["b", 1000]])
    result = run(context, path, column="v", by="g", transform="log10")
    assert result.results["by_group"]["a"]["mean"] == pytest.approx(1.5)
    assert any("1 values of v are not positive" in note for note in result.notes)
    constant = run(
        context, write_rows("c.csv", ["g", "v"], [["a", 5], ["a", 5], ["b", 5], ["b", 5]]), column="v", by="g"
    )
    assert constant.results["test"]["welch_p"] is None
    assert constant.results["test"]["cliffs_delta"] == 0


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"column": "Cu", "by": "rocks"}, "by"),
        ({"column": "Cux", "by": "rock"}, "column"),
        ({"column": "Cu", "by": "rock", "groups": ["basalt", "lava"]}, "groups"),
        ({"column": "rock", "by": "rock"}, "by"),
        ({"column": "Cu", "by": "rock", "groups": ["basalt", "lonely"]}, "by"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_field(
    context: ToolContext, path: str, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(ArgumentError) as refused:
        run(context, path, **arguments)
    assert refused.value.field == field


def test_three_hundred_groups_stay_a_short_answer(context: ToolContext, write_rows: WriteRows) -> None:
    rows = [
        [f"a rather long name of group {number}", number % 7 + place] for number in range(300) for place in range(3)
    ]
    result = run(context, write_rows("t.csv", ["g", "v"], rows), column="v", by="g")
    assert len(wire.dumps(result.results)) < 1_500
    assert any("too many to compare pair by pair" in note for note in result.notes)


@pytest.mark.parametrize("stray", ["see note", "12 ?", "lost"])
def test_measurements_with_a_stray_text_are_not_compared_as_categories(
    context: ToolContext, write_rows: WriteRows, stray: str
) -> None:
    rows: list[list[object]] = [["ab"[i % 2], i * 1.25] for i in range(60)]
    path = write_rows("t.csv", ["rock", "Cu"], [*rows, ["a", stray]])
    told = f"60 of its 61 values are numbers: 1 are not, the first {stray!r}"
    with pytest.raises(ArgumentError, match=re.escape(told)):
        run(context, path, column="Cu", by="rock")
    assert run(context, path, column="Cu", by="rock", treat_as="categories").results["n"] == 61


def test_codes_of_which_some_are_numbers_are_categories(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("t.csv", ["rock", "code"], [["ab"[i % 2], ["1", "2", "3A"][i % 3]] for i in range(60)])
    assert run(context, path, column="code", by="rock").results["categories"] == [2, 3]


def test_groups_that_differ_only_in_case_are_told(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("t.csv", ["rock", "Cu"], [[["granite", "Granite", "basalt"][i % 3], i * 1.25] for i in range(60)])
    for notes in (
        run(context, path, column="Cu", by="rock").notes,
        summarize.run(context, summarize.Arguments(path=path, by="rock")).notes,
    ):
        assert any(
            "differ only in case or blanks count as different: 'Granite' and 'granite'" in note for note in notes
        )
