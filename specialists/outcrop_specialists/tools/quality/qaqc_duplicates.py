"""Tool: precision of a laboratory or a sampling by its duplicates."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_specialists.columns.censoring import censored_values
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.quality.analytes import analytes
from outcrop_specialists.tools.quality.pairing import Pairs, find_pairs
from outcrop_specialists.tools.quality.precision import Precision, precision, relative_differences
from outcrop_specialists.tools.statistics.bounded import fitting, named
from outcrop_specialists.tools.statistics.groups import put_figures

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Vector = NDArray[Any]


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Columns of results; all elements where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    id_column: str | None = Field(
        default=None,
        description="Column of sample identifiers; found where not given. By itself: rows that share one are pairs.",
        json_schema_extra={"x-role": "id-column"},
    )
    original_column: str | None = Field(
        default=None,
        description="Column that names the original in the row of its duplicate.",
        json_schema_extra={"x-role": "original-column"},
    )
    type_column: str | None = Field(
        default=None,
        description="Text column that says `Duplicate of X`; found by its values where not given.",
        json_schema_extra={"x-role": "type-column"},
    )


@dataclass(frozen=True)
class _Results:
    """One column's results of the pairs: (pairs,) each; where one of a pair lies beyond a limit."""

    original: Vector
    duplicate: Vector
    at_limit: Vector


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where no duplicate has its original in the table."""
    table = read_table(context, arguments.path)
    names = analytes(table, arguments.columns)
    pairs = find_pairs(table, arguments.id_column, arguments.original_column, arguments.type_column)
    context.report(f"comparing {len(pairs.pairs)} pairs in {len(names)} columns")
    results_of = {name: _results(table, name, pairs) for name in names}
    found = {name: precision(each.original, each.duplicate, each.at_limit) for name, each in results_of.items()}
    made_of = features.parameters(arguments, columns=names)
    files = [
        put_figures(
            context, TOOL, table, made_of, _frame(table, found), f"Precision of {table.path.name}", "precision"
        ),
        put_figures(
            context, TOOL, table, made_of, _pairs_frame(pairs, results_of), f"Pairs of {table.path.name}", "pairs"
        ),
    ]
    shown, more = fitting({name: _record(each) for name, each in found.items()}, 550)
    results: dict[str, Any] = {
        "rows": table.height,
        "pairs": len(pairs.pairs),
        "unmatched": len(pairs.unmatched) + len(pairs.ambiguous),
        "columns": shown,
        "found_by": pairs.how,
        "rule": "percent of pairs with both results above their limits: RMS CV (Stanley & Lawie 2007); ARD = "
        "|difference| / mean of the pair; bias = median (duplicate - original) / mean; Thompson-Howarth from 50 pairs",
    }
    notes = pairs.notes()
    if more:
        notes.append(f"{more} further columns are in {files[0].artifact.path}")
    empty = [name for name, each in found.items() if each.rms_cv is None]
    if empty:
        notes.append(f"no pair with both results above the limit: {named(empty)}")
    told = named(
        [
            f"{name} RMS CV {each.rms_cv:.4g} % ({each.pairs} pairs, {each.at_limit} at a limit)"
            for name, each in found.items()
            if each.rms_cv is not None
        ],
        4,
        80,
    )
    text = f"{len(pairs.pairs)} duplicate pairs{f': {told}' if told else ''}"
    return ToolResult(text, results, [file.artifact for file in files], [*table.notes, *notes])


def _results(table: Table, name: str, pairs: Pairs) -> _Results:
    column = censored_values(table, name, "columns")
    values = column.values.to_numpy().astype(float)
    beyond = (column.below | column.above).to_numpy()
    first, second = [pair.original for pair in pairs.pairs], [pair.duplicate for pair in pairs.pairs]
    return _Results(values[first], values[second], beyond[first] | beyond[second])


def _record(found: Precision) -> dict[str, Any]:
    record = {
        "pairs": found.pairs,
        "at_limit": found.at_limit,
        "rms_cv": found.rms_cv,
        "median_ard": found.median_ard,
        "mean_ard": found.mean_ard,
        "bias": found.bias,
        "bias_p": found.bias_p,
        "thompson_howarth": asdict(found.thompson_howarth) if found.thompson_howarth else None,
    }
    return {name: value for name, value in record.items() if value is not None}


def _frame(table: Table, found: dict[str, Precision]) -> pl.DataFrame:
    import polars as pl

    rows = []
    for name, each in found.items():
        record = asdict(each)
        line = record.pop("thompson_howarth") or {"intercept": None, "slope": None, "groups": None}
        labels = {"column": name, "unit": table.units.get(name)}
        rows.append({**labels, **record, **{f"thompson_howarth_{key}": value for key, value in line.items()}})
    return pl.DataFrame(rows, infer_schema_length=None)


def _pairs_frame(pairs: Pairs, results_of: dict[str, _Results]) -> pl.DataFrame:
    """One row for each pair and column."""
    import polars as pl

    base = pl.DataFrame(
        {
            "original": [pair.name for pair in pairs.pairs],
            "kind": [pair.kind for pair in pairs.pairs],
            "original_row": [pair.original + 1 for pair in pairs.pairs],
            "duplicate_row": [pair.duplicate + 1 for pair in pairs.pairs],
        }
    )
    parts = [
        base.with_columns(
            pl.lit(name).alias("column"),
            pl.Series("original_value", each.original, pl.Float64),
            pl.Series("duplicate_value", each.duplicate, pl.Float64),
            pl.Series("relative_difference_percent", relative_differences(each.original, each.duplicate), pl.Float64),
            pl.Series("at_limit", each.at_limit),
        )
        for name, each in results_of.items()
    ]
    return pl.concat(parts).with_columns(pl.col(pl.Float64).fill_nan(None))


TOOL = Tool(
    name="qaqc_duplicates",
    version=1,
    description=(
        "Precision from duplicate samples: finds each duplicate's original (`Duplicate of X`, a column that names it, "
        "or a shared identifier), relative differences, RMS coefficient of variation, bias and Thompson-Howarth, pairs "
        "at the detection limit counted apart. Writes every pair as CSV."
    ),
    asked_for=(
        "check duplicates precision",
        "duplicate pairs",
        "field duplicates",
        "laboratory precision",
        "relative difference of the duplicate pair",
        "repeatability",
        "thompson-howarth",
        "coefficient of variation of duplicates",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        repeatability; reproducibility; precision; repeat assays; pairs; replicate; sampling error; nugget
        effect from duplicates; field duplicates; pulp duplicates; coarse reject duplicates; how well do repeats
        agree; relative percent difference; RPD; HARD; half absolute relative difference; RMSCV; agreement of
        original and duplicate; same result twice; scatter between repeats; random error; core halves; quarter
        core; check assay; umpire laboratory; resplit; precision error; coefficient of variation; consistency of
        repeated measurements; noise of the assay; how much do two halves differ; second split; twin samples;
        analytical noise; assay twice, how far apart are the answers; field, coarse and pulp replicates;
        sampling precision; same sample assayed twice; difference between the two results; two analyses of one
        sample; how close are repeats; do repeats match; original against duplicate; second assay; how
        repeatable; replicate analyses; parallel samples; agreement of twin assays; consistent results; precise;
        splitting error; error of sampling; same sample, other result; variation between repeats; measure again;
        duplicates scatter; how reproducible
        """
    ),
)
