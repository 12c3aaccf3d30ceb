"""Tool: turns results such as `<0.01`, `>100` and `bdl` into numbers with a qualifier column."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from outcrop_schemas.counts import many
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.censored import find_censored
from outcrop_specialists.columns.censoring import censored_values, qualifier_columns
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.columns.limit_parsing import Method, Parsed, parse_results, replaced_results
from outcrop_specialists.columns.roles import unit_of
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table

COLUMNS_SHOWN = 40
UNPARSED_SHARE = 0.5
"""A column of which more values are no results is refused: it is the wrong column."""


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] | None = Field(
        default=None, min_length=1, description="Columns to parse; all that hold results beyond a limit if not given."
    )
    method: Method = Field(
        default="half",
        description="What stands for a result below its limit: half the limit, zero or the limit (value).",
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Each column gets the method's values and keeps its qualifiers in `<column>_q`. Every row is kept.

    A column that reading left as text, because some values are no results, is parsed too: these become missing.
    """
    table = read_table(context, arguments.path)
    notes = list(table.notes)
    names = _columns(table, arguments.columns, notes)
    parsed: dict[str, Parsed] = {}
    for done, name in enumerate(names):
        context.report(f"parsing {name}", done, len(names))
        if name in table.qualifiers:
            parsed[name] = replaced_results(name, censored_values(table, name, "columns"), arguments.method)
        else:
            parsed[name] = parse_results(table.frame.get_column(name), arguments.method, unit_of(name, table.units))
        _refuse_wrong_column(table, parsed[name])
        notes += parsed[name].notes
    whole = _with_parsed(table, parsed, notes)
    title = f"{table.path.name} with detection limits parsed ({arguments.method})"
    done_by = dict.fromkeys(parsed, arguments.method)
    published = publish_table(context, TOOL, whole, arguments, whole.frame, title, substituted=done_by)
    counts = [each.counts for each in parsed.values()]
    below = sum(each["below"] + each["special"] for each in counts)
    above = sum(each["above"] for each in counts)
    return ToolResult(
        summary=f"{many(len(counts), 'column')} made numeric: {many(below, 'result')} below a limit, {above} above one",
        results={
            "rows": whole.frame.height,
            "method": arguments.method,
            "columns": counts[:COLUMNS_SHOWN],
            "more_columns": max(0, len(counts) - COLUMNS_SHOWN),
            "path": published.artifact.path,
        },
        artifacts=[published.artifact],
        notes=notes,
    )


def _columns(table: Table, wanted: list[str] | None, notes: list[str]) -> list[str]:
    import polars as pl

    named = find_columns(table, wanted) if wanted else table.frame.columns
    censored = [name for name in named if name in table.qualifiers]
    done = [name for name in censored if name in table.substituted]
    if done:
        methods = ", ".join(f"{name!r} ({table.substituted[name]})" for name in done)
        notes.append(f"results beyond a limit were replaced before and are not replaced again: {methods}")
    aside = qualifier_columns(table)
    texts = [name for name in named if table.frame.schema[name] == pl.String and name not in aside]
    found = [name for name in named if name in texts or (name in censored and name not in done)]
    if wanted:
        numbers = [name for name in named if name not in found and name not in done]
        if numbers:
            notes.append(f"without results beyond a limit, left as they are: {', '.join(map(repr, numbers))}")
        return found
    found = [name for name in found if name in censored or find_censored(table.frame.get_column(name)).count]
    if not found:
        notes.append("no column holds results beyond a detection limit; the table written equals the one read")
    return found


def _refuse_wrong_column(table: Table, parsed: Parsed) -> None:
    counts = parsed.counts
    known = table.frame.height - counts["missing"]
    if counts["unparsed"] > UNPARSED_SHARE * known or not known:
        reason = (
            f"{counts['name']!r} of {table.path.name} holds {counts['unparsed']} of {known} values that are no results"
        )
        raise ArgumentError(
            "columns", f"{reason}; name the columns of results" + "".join(f" ({n})" for n in parsed.notes)
        )


def _with_parsed(table: Table, parsed: dict[str, Parsed], notes: list[str]) -> Table:
    """The table with each parsed column in its place and its qualifiers behind it."""
    import polars as pl

    columns: list[pl.Series] = []
    qualifiers = dict(table.qualifiers)
    taken = set(table.frame.columns)
    for column in table.frame.get_columns():
        if column.name not in parsed:
            columns.append(column)
            continue
        columns.append(parsed[column.name].values)
        if column.name in qualifiers:
            continue
        name = f"{column.name}_q"
        while name in taken:
            name += "_"
        if name != f"{column.name}_q":
            notes.append(f"'{column.name}_q' exists; the qualifiers of {column.name!r} are in {name!r}")
        taken.add(name)
        columns.append(parsed[column.name].qualifiers.alias(name))
        qualifiers[column.name] = name
    return replace(table, frame=pl.DataFrame(columns), qualifiers=qualifiers)


TOOL = Tool(
    name="parse_detection_limits",
    version=2,
    description="Makes columns with results beyond a detection limit (<0.01, >100, bdl) numeric, with a qualifier "
    "column beside each, and writes the table.",
    asked_for=(
        "parse detection limits",
        "handle below detection values",
        "replace censored values",
        "half the detection limit",
        "convert less-than values",
        "non-detects",
        "convert censored values",
        "treat non-detects",
        "censored values",
    ),
    specialists=frozenset({"cleaning"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        less-than signs in the assays; below the limit of quantification; BDL, LOD, LOQ, ND entries; not
        detected; trace results; make assays with < signs numeric; substitute half the limit; less than symbols;
        results under the reporting limit as text; qualifiers; over-range results with > signs; text such as
        <0.005 in the gold column; strip the inequality signs; turn non-numeric lab results into values; impute
        below-limit results; left-censored; laboratory codes for too low to measure; upper limit exceeded;
        cannot compute because of < symbols; how to treat results that the lab could not see; replace
        lower-limit entries by a number; substitution; columns are read as text because of the less than sign;
        entries such as less than five break my maths; assays with < and > prefixes; reported as less than; half
        values for the results that were too low; angle brackets in the results; < in front of numbers; smaller
        than sign; numbers with a leading symbol; too low to be measured; not detectable; results written as
        less than; operators in front of the values; turn lower-than entries into numbers; use half of the
        limit; zero for non-detects; ND in the cells; symbols in numeric columns; bdl
        """
    ),
)
