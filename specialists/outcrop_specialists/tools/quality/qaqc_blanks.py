"""Tool: blanks against a limit: which of them hold more than a blank should."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.censoring import censored_values
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.quality.analytes import analytes, refuse_empty, sample_column
from outcrop_specialists.tools.quality.kinds import kinds_of
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
    type_column: str | None = Field(
        default=None,
        description="Text column that tells blanks (`Blank`, `BLK-02`); found by its values where not given.",
        json_schema_extra={"x-role": "type-column"},
    )
    factor: float = Field(default=5, gt=0, description="A blank fails above so many times the detection limit.")
    detection_limits: dict[str, float] | None = Field(
        default=None, description="Detection limit of a column, in its unit; else the greatest `<` limit of the column."
    )
    limits: dict[str, float] | None = Field(
        default=None, description="Limit of a column itself, in its unit, instead of factor times the detection limit."
    )


@dataclass(frozen=True)
class _Column:
    """The blanks of one column: values (the limit where below one), which are below, and the limit that holds."""

    values: Vector
    below: Vector
    limit: float
    detection_limit: float | None

    @property
    def is_failure(self) -> Vector:
        """A result below its detection limit never fails: what is in the blank is not known to be more."""
        failed: Vector = (self.values > self.limit) & ~self.below
        return failed


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where there are no blanks, or no column has a limit."""
    table = read_table(context, arguments.path)
    names = analytes(table, arguments.columns)
    kinds = kinds_of(table, arguments.type_column)
    rows = kinds.rows("blank")
    refuse_empty(rows, table, "type_column", f"a blank by {kinds.column!r}")
    found, skipped = _columns(table, names, rows, arguments)
    if not found:
        raise ArgumentError(
            "detection_limits", f"no `<` limit in {named(skipped)}; give detection_limits or limits for them"
        )
    made_of = features.parameters(arguments, columns=names, type_column=kinds.column)
    failures = _failures(table, found, rows, kinds.column)
    figures = {name: _figures(column) for name, column in found.items()}
    files = [
        put_figures(context, TOOL, table, made_of, failures, f"Blanks that fail, of {table.path.name}", "failures"),
        put_figures(context, TOOL, table, made_of, _frame(table, figures), f"Blanks of {table.path.name}", "columns"),
    ]
    worst = dict(sorted(figures.items(), key=lambda each: -each[1]["failures"]))
    shown, more = fitting(worst, 500)
    total = sum(each["failures"] for each in figures.values())
    failing = failures["data_row"].n_unique() if failures.height else 0
    results: dict[str, Any] = {
        "rows": table.height,
        "blanks": len(rows),
        "columns_checked": len(found),
        "failures": total,
        "blanks_that_fail": failing,
        "columns": shown,
        "type_column": kinds.column,
        "rule": f"a blank fails above its limit: {arguments.factor:g} times the detection limit (the greatest `<` "
        "limit of the column where not given), or the limit given; a result below a limit passes",
    }
    notes = [f"no limit known, not checked: {named(skipped)}"] if skipped else []
    if more:
        notes.append(f"{more} further columns are in {files[1].artifact.path}")
    told = named([f"{name} {each['failures']}" for name, each in worst.items() if each["failures"]])
    text = f"{failing} of {len(rows)} blanks fail in {len(found)} columns checked, {total} results"
    text += f": {told}" if told else ""
    return ToolResult(text, results, [file.artifact for file in files], [*table.notes, *notes])


def _columns(
    table: Table, names: list[str], rows: list[int], arguments: Arguments
) -> tuple[dict[str, _Column], list[str]]:
    """Each column that has a limit with its blanks, and the columns that have none."""
    given = _resolved(table, arguments.limits, "limits")
    detection = _resolved(table, arguments.detection_limits, "detection_limits")
    found, skipped = {}, []
    for name in names:
        column = censored_values(table, name, "columns")
        below = column.below.to_numpy()
        values = column.values.to_numpy().astype(float)
        known = values[below & (values > 0)]
        detected = detection.get(name, float(known.max()) if len(known) else None)
        limit = given.get(name, None if detected is None else arguments.factor * detected)
        if limit is None:
            skipped.append(name)
        else:
            found[name] = _Column(values[rows], below[rows], limit, detected)
    return found, skipped


def _resolved(table: Table, given: dict[str, float] | None, field: str) -> dict[str, float]:
    found = {find_column(table, name, field): value for name, value in (given or {}).items()}
    wrong = next((name for name, value in found.items() if not value > 0), None)
    if wrong is not None:
        raise ArgumentError(field, f"{found[wrong]:g} for {wrong!r} is not positive")
    return found


def _figures(column: _Column) -> dict[str, Any]:
    import numpy

    known = column.values[numpy.isfinite(column.values)]
    detected = column.values[numpy.isfinite(column.values) & ~column.below]
    count = len(known)
    failures = int(column.is_failure.sum())
    return {
        "blanks": count,
        "failures": failures,
        "share": failures / count if count else None,
        "limit": column.limit,
        "detection_limit": column.detection_limit,
        "below_limit": int(column.below.sum()),
        "max": float(detected.max()) if len(detected) else None,
    }


def _frame(table: Table, figures: dict[str, dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    rows = [{"column": name, "unit": table.units.get(name), **each} for name, each in figures.items()]
    return pl.DataFrame(rows, infer_schema_length=None)


def _failures(table: Table, found: dict[str, _Column], rows: list[int], type_column: str) -> pl.DataFrame:
    """One row for each result that fails: which row and sample, which column, the value and the limit."""
    import numpy
    import polars as pl

    identifier = sample_column(table)
    told = [name for name in dict.fromkeys((identifier, type_column)) if name is not None]
    parts = []
    for name, column in found.items():
        failed = numpy.flatnonzero(column.is_failure)
        numbers = [rows[place] for place in failed]
        labels = [table.column(each).gather(numbers).cast(pl.String) for each in told]
        parts.append(
            pl.DataFrame(
                {
                    "data_row": pl.Series([number + 1 for number in numbers], dtype=pl.Int64),
                    **{f"{each.name}": each for each in labels},
                    "column checked": pl.Series([name] * len(numbers), dtype=pl.String),
                    "value": pl.Series(column.values[failed], dtype=pl.Float64),
                    "limit": pl.Series([column.limit] * len(numbers), dtype=pl.Float64),
                    "times_limit": pl.Series(column.values[failed] / column.limit, dtype=pl.Float64),
                }
            )
        )
    return pl.concat(parts).sort("data_row", maintain_order=True)


TOOL = Tool(
    name="qaqc_blanks",
    version=1,
    description=(
        "Check blanks for contamination: blank rows above a limit (5 times the detection limit, or one given) for each "
        "element, counts, and a CSV of the results that fail."
    ),
    asked_for=(
        "check blanks",
        "blank contamination",
        "blanks above the limit",
        "carry-over",
        "do the blanks pass",
        "failed blanks",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        contamination; carryover; smearing; cross-contamination; sample preparation; blank failures; cleanliness
        of the laboratory; barren samples that report grade; sterile samples; barren quartz; coarse blanks; pulp
        blanks; dirty crusher; dirty equipment; lab blank; field blank; gold in the blanks; blanks with values;
        contaminated during preparation; pulveriser; residue of the sample before; background of the method;
        should be zero but is not; blank material; rinse; trip blank; memory effect; carried over from a
        high-grade sample; was the crusher cleaned; barren material coming back with gold; was the crusher
        properly cleaned; did material carry over; dirt from the sample before; empty samples show metal;
        contamination in the lab; samples that should be empty; barren; unclean equipment; did anything smear;
        traces in the blanks; clean preparation; gold where there should be none; cross contamination between
        samples; residue; contaminated; preparation hygiene; samples without metal; are blanks clean; zero
        samples
        """
    ),
)
