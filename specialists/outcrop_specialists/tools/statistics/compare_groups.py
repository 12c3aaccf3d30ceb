"""Tool: compares groups of rows: a numeric column by a category, or two categories with each other."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.claims import Claim
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.censored import looks_like_result
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools import claiming
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.statistics import comparing
from outcrop_specialists.tools.statistics.bounded import counted, fitting, named
from outcrop_specialists.tools.statistics.crossing import MOST_GROUPS, cross
from outcrop_specialists.tools.statistics.groups import alike_notes, put_figures, rows_by_group

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Vector = NDArray[Any]

MOST_PAIRED_GROUPS = 40
"""780 pairs; beyond it only the tests over all groups are made."""
SIGNIFICANT = 0.05
LEVELS_SHOWN = 12
MOSTLY = 0.5
EXAMPLE_CHARS = 40

RULE = (
    "two-sided tests; Welch: means, unequal variances; Mann-Whitney / Kruskal-Wallis: ranks; Hedges' g with the pooled "
    "sd; missing values left out; sd with n - 1"
)


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    column: str = Field(
        description="Column to compare: numbers, or a category (then the two categories are tested for association).",
        json_schema_extra={"x-role": "column"},
    )
    by: str = Field(
        description="Category column whose values make the groups.", json_schema_extra={"x-role": "by-column"}
    )
    groups: list[str] | None = Field(
        default=None, min_length=2, description="Only these groups of `by`; all where not given."
    )
    transform: Literal["none", "log10", "ln"] = Field(
        default="none", description="Applied to a numeric column first: log10 or ln for skewed positive values."
    )
    treat_as: Literal["auto", "numbers", "categories"] = Field(
        default="auto", description="categories also for a column of numbers that are codes."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for unknown columns or groups, and where fewer than two groups can be compared."""
    table = read_table(context, arguments.path)
    column = find_column(table, arguments.column, "column")
    by = find_column(table, arguments.by, "by")
    if column == by:
        raise ArgumentError("by", f"{by!r} cannot be compared with itself")
    groups, notes = _wanted(table, by, arguments.groups)
    is_numeric = table.schema[column].is_numeric()
    is_category = arguments.treat_as == "categories" or (arguments.treat_as == "auto" and not is_numeric)
    if is_category:
        if arguments.treat_as == "auto":
            _refuse_stray_texts(table, column)
        return _categories(context, table, arguments, (column, by), groups, notes)
    return _numbers(context, table, arguments, (column, by), groups, notes)


def _refuse_stray_texts(table: Table, column: str) -> None:
    """Raises ArgumentError for a column of measurements that a few stray texts keep from being numbers."""
    import polars as pl

    if table.schema[column] != pl.String:
        return
    known = table.column(column).drop_nulls()
    bare = known.str.strip_chars()
    is_result = looks_like_result(bare)
    texts, numbers = bare.filter(~is_result), bare.filter(is_result)
    if texts.is_empty() or len(numbers) <= MOSTLY * len(known):
        return
    # Few whole numbers that recur beside words are codes.
    if not numbers.str.contains(r"[0-9][.,][0-9]").any() and numbers.n_unique() <= LEVELS_SHOWN:
        return
    raise ArgumentError(
        "column",
        f"{column!r} of {table.path.name} is text, though {len(numbers)} of its {len(known)} values are numbers: "
        f"{len(texts)} are not, the first {texts[0][:EXAMPLE_CHARS]!r}. Replace these by nothing (replace_values, "
        "convert_types) to compare its numbers, or say treat_as 'categories'",
    )


def _wanted(table: Table, by: str, wanted: list[str] | None) -> tuple[dict[str, Vector], list[str]]:
    groups = rows_by_group(table, by)
    missing = table.column(by).null_count()
    notes = alike_notes(groups, by)
    if missing:
        groups.popitem()
        notes.append(f"{missing} rows have no value in {by} and are in no group")
    if wanted is not None:
        unknown = [name for name in wanted if name not in groups]
        if unknown:
            raise ArgumentError("groups", f"{by!r} has no group {unknown[0]!r}; it has {named(list(groups))}")
        notes.append(f"only {len(wanted)} of {len(groups)} groups of {by} compared, as asked")
        groups = {name: groups[name] for name in dict.fromkeys(wanted)}
    if len(groups) > MOST_GROUPS:
        raise ArgumentError("by", f"{by!r} has {len(groups):,} different values, {MOST_GROUPS} groups at most")
    if len(groups) < 2:
        raise ArgumentError("by", f"{by!r} has {len(groups)} group; two at least are needed")
    return groups, notes


def _numbers(
    context: ToolContext,
    table: Table,
    arguments: Arguments,
    columns: tuple[str, str],
    groups: dict[str, Vector],
    notes: list[str],
) -> ToolResult:
    import numpy
    import polars as pl

    column, by = columns
    taken = features.take(table, [column], "column", arguments.transform)
    values = taken.values[:, 0]
    if arguments.transform != "none":
        undefined = int((taken.original[:, 0] <= 0).sum())
        if undefined:
            notes.append(f"{undefined} values of {column} are not positive, have no logarithm and are left out")
    samples = {name: values[rows][numpy.isfinite(values[rows])] for name, rows in groups.items()}
    figures = {name: _figures(sample, len(groups[name])) for name, sample in samples.items()}
    tested = {name: sample for name, sample in samples.items() if len(sample) >= comparing.FEWEST_VALUES}
    small = [name for name in samples if name not in tested]
    if small:
        notes.append(f"groups of fewer than {comparing.FEWEST_VALUES} values are not tested: {named(small)}")
    if len(tested) < 2:
        raise ArgumentError("by", f"fewer than two groups of {by!r} have two values of {column!r}")
    made_of = features.parameters(arguments, column=column, by=by)
    title = f"{column} by {by} of {table.path.name}"
    frame = pl.DataFrame([{by: name, **each} for name, each in figures.items()], infer_schema_length=None)
    files = [put_figures(context, TOOL, table, made_of, frame, f"Groups: {title}", "groups")]
    shown, more = fitting(figures, 500)
    results: dict[str, Any] = {
        "rows": table.height,
        "column": column,
        "by": by,
        "groups": len(groups),
        "tested_n": sum(map(len, tested.values())),
        "by_group": shown,
    }
    if more:
        results["not_shown"] = f"{more} further groups are in {files[0].artifact.path}"
    if len(tested) == 2:
        test: dict[str, Any] = asdict(comparing.two_groups(*tested.values()))
        p, effect = test["mann_whitney_p"], f"Cliff's delta {test['cliffs_delta']:.3g}"
    else:
        test = asdict(comparing.several_groups(list(tested.values())))
        p = test["kruskal_p"]
        effect = "no spread" if p is None else f"epsilon² {test['epsilon_squared']:.3g}"
        pairs, note = _pairs(context, tested)
        notes += note
        if pairs is not None:
            files.append(put_figures(context, TOOL, table, made_of, pairs, f"Pairs: {title}", "pairs"))
            results |= _pair_figures(pairs)
    results["test"] = test
    results["rule"] = _rule(arguments, len(tested))
    told = "; ".join(
        f"{name} mean {each['mean']:.6g} median {each['median']:.6g} n {each['n']}"
        for name, each in list(figures.items())[:4]
        if each["n"]
    )
    rank_test = "Mann-Whitney" if len(tested) == 2 else "Kruskal-Wallis"
    more_told = f"; {len(figures) - 4} more groups" if len(figures) > 4 else ""
    text = f"{column} by {by}: {told}{more_told}. {rank_test} p {_p(p)}, {effect}"
    text += suspicions(table, [column])
    claims = [] if arguments.transform != "none" else _claims(arguments.path, column, by, shown)
    return ToolResult(text, results, [file.artifact for file in files], [*table.notes, *notes], claims)


def _claims(path: str, column: str, by: str, groups: dict[str, Any]) -> list[Claim]:
    """The figures of the groups that are shown; how the tests come out is not checked."""
    found = []
    for name, each in groups.items():
        record = {"count": each["n"], "mean": each["mean"], "sd": each["sd"], "p50": each["median"]}
        found += claiming.summary(path, column, record, {by: name})
    return found


def _figures(sample: Vector, rows: int) -> dict[str, Any]:
    import numpy

    count = len(sample)
    return {
        "n": count,
        "missing": rows - count,
        "mean": float(sample.mean()) if count else None,
        "sd": float(sample.std(ddof=1)) if count > 1 else None,
        "median": float(numpy.median(sample)) if count else None,
    }


def _pairs(context: ToolContext, tested: dict[str, Vector]) -> tuple[pl.DataFrame | None, list[str]]:
    """Every pair of groups with both tests, p-values adjusted for the number of pairs."""
    import polars as pl

    if len(tested) > MOST_PAIRED_GROUPS:
        return None, [f"{len(tested)} groups are too many to compare pair by pair ({MOST_PAIRED_GROUPS} at most)"]
    every = list(combinations(tested, 2))
    found = []
    for done, (first, second) in enumerate(every):
        context.report("comparing pairs of groups", done, len(every))
        found.append(comparing.two_groups(tested[first], tested[second]))
    records = [
        {"first": first, "second": second, **asdict(each)} for (first, second), each in zip(every, found, strict=True)
    ]
    frame = pl.DataFrame(records, infer_schema_length=None).with_columns(
        pl.Series("welch_p_holm", comparing.holm([each.welch_p for each in found]), pl.Float64),
        pl.Series("mann_whitney_p_holm", comparing.holm([each.mann_whitney_p for each in found]), pl.Float64),
    )
    return frame, []


def _pair_figures(pairs: pl.DataFrame) -> dict[str, Any]:
    """How many pairs differ, and the pair that differs most, by ranks."""
    greatest = pairs.sort(pairs["cliffs_delta"].abs(), descending=True, maintain_order=True).row(0, named=True)
    return {
        "pairs": pairs.height,
        "pairs_that_differ": int((pairs["mann_whitney_p_holm"] < SIGNIFICANT).sum()),
        "greatest_difference": {
            name: greatest[name]
            for name in ("first", "second", "median_difference", "cliffs_delta", "mann_whitney_p_holm")
        },
    }


def _categories(
    context: ToolContext,
    table: Table,
    arguments: Arguments,
    columns: tuple[str, str],
    groups: dict[str, Vector],
    notes: list[str],
) -> ToolResult:
    import polars as pl

    column, by = columns
    crossed = cross(table, column, by, groups)
    counts, kept, levels = crossed.counts, crossed.groups, crossed.levels
    if crossed.missing:
        notes.append(f"{crossed.missing} rows of these groups have no value in {column} and are left out")
    found = comparing.association(counts)
    records = [
        {
            by: kept[i],
            column: levels[j],
            "count": int(counts[i, j]),
            "share_of_group": counts[i, j] / counts[i].sum(),
        }
        for i in range(len(kept))
        for j in range(len(levels))
    ]
    made_of = features.parameters(arguments, column=column, by=by)
    title = f"Counts of {column} by {by} of {table.path.name}"
    file = put_figures(context, TOOL, table, made_of, pl.DataFrame(records), title, "counts")
    totals = {name: int(row.sum()) for name, row in zip(kept, counts, strict=True)}
    by_level: dict[str, Any] = {
        name: dict(zip(levels, row.tolist(), strict=True)) for name, row in zip(kept, counts, strict=True)
    }
    shown, more = fitting(by_level if len(levels) <= LEVELS_SHOWN else totals, 400)
    results = {
        "rows": table.height,
        "n": int(counts.sum()),
        "column": column,
        "by": by,
        "categories": [len(kept), len(levels)],
        "counts": shown,
        **({"not_shown": f"{more} further groups are in {file.artifact.path}"} if more else {}),
        "test": asdict(found),
        "rule": "chi-square without continuity correction; Cramér's V = sqrt(chi² / (n (min(rows, columns) - 1)))"
        + ("; Fisher's exact test, two-sided" if found.fisher_p is not None else ""),
    }
    if found.cells_below_five:
        notes.append(
            f"{found.cells_below_five} of {counts.size} cells have an expected count below "
            f"{comparing.SMALL_EXPECTED}: "
            "the p-value of chi-square is rough" + ("; take Fisher's" if found.fisher_p is not None else "")
        )
    p = found.p_value if found.fisher_p is None else found.fisher_p
    text = f"{column} by {by} on {results['n']} rows: chi² {found.chi_squared:.6g}, df {found.df}, p {_p(p)}, "
    text += f"Cramér's V {found.cramers_v:.3g}; groups of {counted(totals)}"
    return ToolResult(text, results, [file.artifact], [*table.notes, *notes])


def _p(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3g}"


def _rule(arguments: Arguments, tested: int) -> str:
    scale = "" if arguments.transform == "none" else f"; figures and tests on {arguments.transform} of the values"
    pairs = "; pairs: p adjusted by Holm (1979)" if tested > 2 else "; first group less second"
    return f"{RULE}{scale}{pairs}"


TOOL = Tool(
    name="compare_groups",
    version=1,
    description=(
        "Tests whether groups differ: a numeric column between the groups of a category (Welch t and Mann-Whitney for "
        "two, Welch ANOVA and Kruskal-Wallis for more, with effect sizes and pairs adjusted by Holm), or two "
        "categories with each other (chi-square, Cramér's V, Fisher)."
    ),
    asked_for=(
        "test whether groups differ",
        "significant difference",
        "significantly different",
        "t-test",
        "anova",
        "mann-whitney",
        "kruskal-wallis",
        "effect size",
        "chi-square",
        "contingency table",
        "hypothesis test",
        "p-value of the difference",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    projection=("greatest_difference", "test"),
    also_called=phrases(
        """
        is the difference real; statistical significance; just chance; coincidence; significantly higher;
        hypothesis test; between two populations; different from each other; differs by rock type; kruskal;
        wilcoxon; welch; student; post hoc; analysis of variance; is one group richer than the other; before and
        after; upstream and downstream; treated and untreated; p value; null hypothesis; do the two laboratories
        differ; association of two categories; independence of categories; does lithology matter; effect of the
        group; more than random; statistically distinguishable; evidence of a difference; same distribution;
        equal means; really higher; confidence that they differ; contrast; influence of a factor on a
        measurement; odds; giving systematically different answers; exceed elsewhere by more than luck; does it
        depend on the host rock; is the difference systematic; more than chance; statistically speaking; real
        difference; differ between areas; is it different; are two groups alike; higher in one than the other;
        by more than luck; does it matter which; dependence on a category; is there an effect; does the style
        depend on the rock; prove that one is higher; reliable difference; test; after the remediation; winter
        and summer; north and south; verify that groups differ; statistically; could it be accidental;
        association between two codes; is one area more contaminated than another; difference between two
        methods; depends on rock type
        """
    ),
)
