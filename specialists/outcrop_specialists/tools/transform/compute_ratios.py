"""Tool: ratios of columns."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.columns.roles import unit_of
from outcrop_specialists.columns.units import is_same_unit
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import made


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    pairs: list[str] = Field(
        min_length=1, max_length=500, description='Ratios as "numerator/denominator", for example "Cu_ppm/Zn_ppm".'
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Adds `A_over_B` for each pair; missing where a value is missing or the denominator is zero (counted).

    Raises ArgumentError for a pair that is not two numeric columns.
    """
    table = read_table(context, arguments.path)
    taken, new, notes = made.Names(table.frame), [], list(table.notes)
    records: dict[str, dict[str, Any]] = {}
    for done, pair in enumerate(arguments.pairs):
        context.report(f"computing {pair}", done, len(arguments.pairs))
        upper, lower = _columns_of(table, pair)
        over, under = made.numbers(table, upper, "pairs"), made.numbers(table, lower, "pairs")
        zeros = int(((under == 0) & over.is_not_null()).sum())
        ratio = over / under.set(under == 0, None)
        new.append(ratio.alias(taken.free(f"{upper}_over_{lower}")))
        records[new[-1].name] = {
            "missing": ratio.null_count(), "zero_denominator": zeros, "median": ratio.median(),
        }  # fmt: skip
        units = unit_of(upper, table.units), unit_of(lower, table.units)
        if units[0] and units[1] and not is_same_unit(units[0], units[1]):
            notes.append(f"SUSPECTED: {pair} divides {units[0]} by {units[1]}; the ratio carries that factor")
    frame = table.frame.with_columns(new)
    published = publish_table(context, TOOL, table, arguments, frame, f"{table.path.name} with {len(new)} ratios")
    told, more = made.shown(context, TOOL, table, arguments, records, "ratio")
    zeros = sum(record["zero_denominator"] for record in records.values())
    median = next(iter(records.values()))["median"]
    first = f"{bounded.named([new[0].name])}" + (f" has median {median:.6g}" if median is not None else " has no value")
    return ToolResult(
        f"{len(new)} ratios added over {frame.height} rows; {first}; {zeros} zero denominators gave missing values",
        {
            "rows": frame.height,
            **told,
            "rule": "missing where a part is missing or the denominator is 0",
            "path": published.artifact.path,
        },
        [published.artifact, *(each.artifact for each in more)],
        [*notes[:8], *([f"{len(notes) - 8} more notes of this kind"] if len(notes) > 8 else [])],
    )


def _columns_of(table: Table, pair: str) -> tuple[str, str]:
    """The two columns of a pair, also where names hold slashes (`Au g/t/Ag g/t`)."""
    places = [place for place, sign in enumerate(pair) if sign == "/"]
    if not places:
        raise ArgumentError("pairs", f"{pair!r} is not written as numerator/denominator")
    found = []
    for place in places:
        try:
            upper = find_column(table, pair[:place], "pairs")
            found.append((upper, find_column(table, pair[place + 1 :], "pairs")))
        except ArgumentError as error:
            reason = error
    if len(found) > 1:
        raise ArgumentError("pairs", f"{pair!r} can be read as {' or '.join(f'{a!r} over {b!r}' for a, b in found)}")
    if not found:
        raise reason
    return found[0]


TOOL = Tool(
    name="compute_ratios",
    version=1,
    description="Adds ratios of numeric columns such as Cu/Zn, counts zero denominators, and writes the table.",
    asked_for=(
        "compute ratios",
        "calculate ratios",
        "element ratios",
        "ratio of two columns",
        "ratio",
        "add the ratio",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        divide one element by another; quotient; proportion of two elements; Cu over Zn; K/Al; Sr/Y; Th/U;
        Rb/Sr; La/Yb; element quotient; fertility indicator ratio; relative abundance of two elements; numerator
        and denominator; redox proxy V/Cr; pathfinder ratio; sodium to calcium; division of two columns; anion
        ratio; Zr/Ti; immobile element ratio; one divided by the other; mineral vector from two metals; chloride
        to bromide; ratios for provenance; V divided by Cr; Th over U; one over another; fraction of one element
        to another; quotient of two; relative to; elements divided; proportion between; to each other; per unit
        of another element; ratio in every layer; parts of one to parts of the other; normalise by aluminium;
        divided by titanium
        """
    ),
)
