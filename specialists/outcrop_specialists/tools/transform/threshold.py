"""Tool: the rows above, below or between values of a column."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import made

if TYPE_CHECKING:
    import polars as pl

Mode = Literal["above", "below", "between", "outside"]


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    column: str = Field(description="Numeric column.", json_schema_extra={"x-role": "column"})
    mode: Mode = Field(default="above", description="Which rows pass: above or below value, between or outside two.")
    value: float | None = Field(default=None, description="above, below: the threshold.")
    low: float | None = Field(default=None, description="between, outside: the lower end.")
    high: float | None = Field(default=None, description="between, outside: the upper end.")
    unit: Literal["value", "percentile"] = Field(
        default="value", description="Whether value, low and high are values or percentiles (0 to 100) of the column."
    )
    inclusive: bool = Field(default=False, description="Whether a value equal to a threshold passes.")
    output: Literal["rows", "flag"] = Field(
        default="rows", description="rows writes the rows that pass; flag writes all rows with a true/false column."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Rows without a value do not pass; their flag is missing. Raises ArgumentError where a threshold is lacking."""
    ends = _ends(arguments)
    table = read_table(context, arguments.path)
    name = find_column(table, arguments.column)
    values = made.numbers(table, name, "column")
    if values.null_count() == len(values):
        raise ArgumentError("column", f"{name!r} holds no value")
    if arguments.unit == "percentile":
        ends = [float(str(values.quantile(end / 100, "linear"))) for end in ends]
    passes = _passes(values, arguments.mode, ends, inclusive=arguments.inclusive)
    kept = int(passes.sum() or 0)
    limits = " and ".join(f"{end:.6g}" for end in ends)
    condition = f"{bounded.named([name])} {arguments.mode} {limits}"
    if arguments.output == "flag":
        flag = made.Names(table.frame).free(f"{name}_{arguments.mode}")
        frame = table.frame.with_columns(passes.alias(flag))
    else:
        frame = table.frame.filter(passes.fill_null(False))
    published = publish_table(context, TOOL, table, arguments, frame, f"{table.path.name}: {condition}")
    equal = sum(int((values == end).sum()) for end in ends)
    rule = f"a value equal to a threshold {'passes' if arguments.inclusive else 'does not pass'}"
    if arguments.unit == "percentile":
        rule += "; percentiles interpolated linearly (type 7)"
    results: dict[str, Any] = {
        "column": bounded.named([name]),
        "mode": arguments.mode,
        "threshold": ends[0] if len(ends) == 1 else ends,
        "rows_before": len(values),
        "rows_after": frame.height,
        "pass": kept,
        "fail": len(values) - kept - values.null_count(),
        "equal_to_threshold": equal,
        "missing": values.null_count(),
        "rule": rule,
        "path": published.artifact.path,
    }
    notes = list(table.notes)
    if values.null_count():
        notes.append(f"{values.null_count()} rows without a value in {bounded.named([name])} do not pass")
    return ToolResult(f"{kept} of {len(values)} rows have {condition}", results, [published.artifact], notes)


def _ends(arguments: Arguments) -> list[float]:
    one = arguments.mode in ("above", "below")
    wanted = ("value",) if one else ("low", "high")
    ends = []
    for field in ("value", "low", "high"):
        given = getattr(arguments, field)
        if (given is not None) != (field in wanted):
            raise ArgumentError(field, f"{arguments.mode} needs {' and '.join(wanted)}, and no other")
        if given is None:
            continue
        if arguments.unit == "percentile" and not 0 <= given <= 100:
            raise ArgumentError(field, f"{given} is no percentile from 0 to 100")
        ends.append(float(given))
    if len(ends) == 2 and ends[0] > ends[1]:
        raise ArgumentError("low", f"{ends[0]} is greater than high {ends[1]}")
    return ends


def _passes(values: pl.Series, mode: Mode, ends: list[float], *, inclusive: bool) -> pl.Series:
    above: Callable[[Any, Any], Any] = operator.ge if inclusive else operator.gt
    below: Callable[[Any, Any], Any] = operator.le if inclusive else operator.lt
    found: Any
    match mode:
        case "above":
            found = above(values, ends[0])
        case "below":
            found = below(values, ends[0])
        case "between":
            found = above(values, ends[0]) & below(values, ends[1])
        case "outside":
            found = below(values, ends[0]) | above(values, ends[1])
    return found  # type: ignore[no-any-return]


TOOL = Tool(
    name="threshold",
    version=1,
    description="Keeps or flags the rows of which a numeric column is above, below, between or outside thresholds, "
    "given as values or as percentiles of the column; counts what passes, fails and is missing.",
    asked_for=(
        "apply a threshold",
        "threshold the column",
        "flag values above",
        "flag values below",
        "above the percentile",
        "below the percentile",
        "cut-off grade",
        "apply a cutoff",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        exceeds; exceedance of a guideline; above the limit; higher than the regulatory value; guideline value;
        drinking water standard; cutoff grade; mark the samples that pass; over the limit; flag the top five
        percent; upper decile; above background level; below a minimum; between two limits; which samples are
        over; compliance; legal maximum; trigger value; action level; contaminated samples; mark high grade; ore
        and waste flag; values past; screening level; waste classification; is it over the permitted
        concentration; violations of the norm; pass or fail by a number; percent of samples beyond; toxic level;
        break the WHO norm; richer than; tag what is above; uppermost decile deserves a flag; more than the
        permitted; more than allowed; higher than the standard; wells that do not comply; values over a limit;
        flag intervals above; mark as ore if above; over the norm; unsafe; too high for drinking; above 0.3
        percent; top quantile; at least; greater than; worse than the limit; meets the cut-off; samples beyond a
        value; not allowed; which stations breach; mark what is higher than; potable; do they comply
        """
    ),
)
