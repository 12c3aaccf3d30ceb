"""Tool: logarithms of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import made

if TYPE_CHECKING:
    import polars as pl

Base = Literal["ln", "log10", "log2", "log1p"]
RULES: dict[Base, str] = {
    "ln": "natural logarithm",
    "log10": "logarithm to base 10",
    "log2": "logarithm to base 2",
    "log1p": "natural logarithm of 1 + value",
}


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] = Field(
        min_length=1, description="Numeric columns to transform.", json_schema_extra={"x-role": "columns"}
    )
    base: Base = Field(
        default="log10", description="ln, log10 or log2 of positive values; log1p is ln(1 + value), for values over -1."
    )
    on_nonpositive: Literal["missing", "error"] = Field(
        default="missing",
        description="What becomes of values without a logarithm: missing and counted, or an error that counts them.",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Adds `<column>_<base>` for each column. Raises ArgumentError as asked, and where no value has a logarithm."""
    table = read_table(context, arguments.path)
    names = made.numeric_names(table, arguments.columns)
    taken, new = made.Names(table.frame), []
    records: dict[str, dict[str, Any]] = {}
    for done, name in enumerate(names):
        context.report(f"taking the logarithm of {name}", done, len(names))
        values = made.numbers(table, name)
        logs, zeros, negatives = _logs(values, arguments.base)
        new.append(logs.alias(taken.free(f"{name}_{arguments.base}")))
        records[name] = {
            "added": new[-1].name, "missing": values.null_count(), "zeros": zeros, "negatives": negatives,
        }  # fmt: skip
    undefined = {
        name: record["zeros"] + record["negatives"]
        for name, record in records.items()
        if record["zeros"] + record["negatives"]
    }
    limit = "-1 or less" if arguments.base == "log1p" else "zero or less"
    if undefined and arguments.on_nonpositive == "error":
        raise ArgumentError("columns", f"values of {limit} have no logarithm: {bounded.counted(undefined)}")
    if all(column.null_count() == len(column) for column in new):
        raise ArgumentError("columns", f"no value of {bounded.named(names)} has a logarithm")
    frame = table.frame.with_columns(new)
    title = f"{table.path.name} with {RULES[arguments.base]} of {many(len(new), 'column')}"
    published = publish_table(context, TOOL, table, arguments, frame, title)
    told, more = made.shown(context, TOOL, table, arguments, records)
    notes = list(table.notes)
    if undefined:
        notes.append(f"values of {limit} have no logarithm and are missing there: {bounded.counted(undefined)}")
    return ToolResult(
        f"{RULES[arguments.base]} of {len(new)} columns over {frame.height} rows; "
        f"{sum(undefined.values())} values without a logarithm became missing",
        {"rows": frame.height, **told, "rule": RULES[arguments.base], "path": published.artifact.path},
        [published.artifact, *(each.artifact for each in more)],
        notes,
    )


def _logs(values: pl.Series, base: Base) -> tuple[pl.Series, int, int]:
    """The logarithms, and how many zeros and negative numbers have none."""
    if base == "log1p":
        return values.set(values <= -1, None).log1p(), 0, int((values <= -1).sum())
    positive = values.set(values <= 0, None)
    logs = positive.log10() if base == "log10" else positive.log(2.0) if base == "log2" else positive.log()
    return logs, int((values == 0).sum()), int((values < 0).sum())


TOOL = Tool(
    name="log_transform",
    version=1,
    description="Adds logarithms of numeric columns (ln, log10, log2 or log1p), counts zeros and negative values, and "
    "writes the table.",
    asked_for=(
        "log transform",
        "log-transform columns",
        "take logarithms",
        "take the log of",
        "take logs",
        "add log10 columns",
        "add logarithms",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        log scale; natural logarithm; base ten; skewed distribution; right-skewed data; reduce the skew; make it
        normal; lognormal; closer to gaussian; compress the high values; tame a long tail; ln; log10; orders of
        magnitude; heavy tail; transform before statistics; bell-shaped; symmetrise; strong positive skewness;
        values spread over decades; take the logarithm because of zeros log1p; dampen extremes; linearise
        exponential data; span four decades; ln of the metals; take the log; concentrations over many
        magnitudes; logarithmic values; on a log basis; transform skewed; make symmetric; logs of; decimal
        logarithm; shrink large values; range too wide; multiplicative; squash the large values; exponential
        """
    ),
)
