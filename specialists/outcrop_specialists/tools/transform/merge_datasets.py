"""Tool: joins two tables by key columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import keys as of_keys
from outcrop_specialists.tools.transform import made

if TYPE_CHECKING:
    import polars as pl

How = Literal["left", "inner", "full", "anti"]
Cardinality = Literal["not_many_to_many", "one_to_one", "one_to_many", "many_to_one", "many_to_many"]
MOST_ROWS = 200_000_000


class Arguments(ToolArguments):
    path: str = Field(description="The left data file; its rows and their order lead.")
    right_path: str = Field(description="The right data file.")
    on: list[str] = Field(
        min_length=1, description="Key columns of the left file.", json_schema_extra={"x-role": "columns"}
    )
    right_on: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Key columns of the right file, in the order of on; the same if not given.",
    )
    how: How = Field(
        default="left",
        description="left keeps all left rows, inner those with a match, full also the right rows without one; anti "
        "keeps the left rows without a match, without columns of the right file.",
    )
    cardinality: Cardinality = Field(
        default="not_many_to_many",
        description="What is allowed, left to right; a key that repeats on both sides multiplies rows and is refused "
        "unless many_to_many is given.",
    )
    matching: of_keys.Matching = Field(
        default="exact", description="Whether text keys match in any case and with any outer or doubled blanks."
    )
    suffix: str = Field(default="_right", min_length=1, description="Put behind right columns whose name is taken.")


@dataclass(frozen=True)
class _Counts:
    """Keys and rows of both sides; `repeated_both` are keys that stand several times on either side."""

    left_unmatched: int
    right_unmatched: int
    left_repeated: int
    right_repeated: int
    repeated_both: int
    left_missing: int
    right_missing: int
    rows_matched: int


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Keys with a missing part join nothing. Keys of the left file are kept; in a full join right rows fill them.

    Raises ArgumentError for keys that repeat where `cardinality` does not allow it.
    """
    left, right = read_table(context, arguments.path), read_table(context, arguments.right_path)
    on = find_columns(left, arguments.on, "on")
    right_on = find_columns(right, arguments.right_on or arguments.on, "right_on" if arguments.right_on else "on")
    if len(on) != len(right_on):
        raise ArgumentError("right_on", f"has {len(right_on)} columns, on has {len(on)}")
    pairs = list(zip(on, right_on, strict=True))
    keys = of_keys.comparable(left, right, pairs, arguments.matching)
    counts = _count(keys)
    _refuse(counts, arguments)
    context.report("joining", 0, None)
    merged = _merge(left, right, keys, pairs, arguments)
    title = f"{left.path.name} and {right.path.name} joined by {', '.join(on)}"
    published = made.publish_made(context, TOOL, [left.path, right.path], arguments, merged, title)
    notes = [*_told_by(left), *_told_by(right), *keys.notes, *_notes(left, right, pairs, counts, arguments)]
    if merged.frame.is_empty():
        notes.append("no row is left; the file written holds the header only")
    growth = (
        ""
        if merged.frame.height <= left.frame.height
        else f", {merged.frame.height - left.frame.height} more than left"
    )
    return ToolResult(
        f"{merged.frame.height} rows ({arguments.how} join of {left.frame.height} and {right.frame.height} by "
        f"{bounded.named(on)}){growth}; without match: {counts.left_unmatched} left, {counts.right_unmatched} right",
        {
            "rows_left": left.frame.height,
            "rows_right": right.frame.height,
            "rows_after": merged.frame.height,
            "columns_after": merged.frame.width,
            "left_without_match": counts.left_unmatched,
            "right_without_match": counts.right_unmatched,
            "keys_repeated": {"left": counts.left_repeated, "right": counts.right_repeated},
            "keys_missing": {"left": counts.left_missing, "right": counts.right_missing},
            "cardinality": _found(counts),
            "path": published.artifact.path,
        },
        [published.artifact],
        notes,
    )


def _count(keys: of_keys.Keys) -> _Counts:
    import polars as pl

    names = keys.names
    left = keys.left.drop_nulls().group_by(names).len("left")
    right = keys.right.drop_nulls().group_by(names).len("right")
    both = left.join(right, on=names, how="inner")
    rows = both.select(
        pl.col("left").cast(pl.Int64).sum().alias("l"),
        pl.col("right").cast(pl.Int64).sum().alias("r"),
        (pl.col("left").cast(pl.Int64) * pl.col("right").cast(pl.Int64)).sum().alias("m"),
        ((pl.col("left") > 1) & (pl.col("right") > 1)).sum().alias("b"),
    ).row(0)
    return _Counts(
        left_unmatched=keys.left.height - rows[0],
        right_unmatched=keys.right.height - rows[1],
        left_repeated=int((left["left"] > 1).sum()),
        right_repeated=int((right["right"] > 1).sum()),
        repeated_both=rows[3],
        left_missing=keys.left[names[0]].null_count(),
        right_missing=keys.right[names[0]].null_count(),
        rows_matched=rows[2],
    )


def _found(counts: _Counts) -> str:
    """The cardinality that there is. A repeated key that matches nothing counts: it says what the table is."""
    return f"{'many' if counts.left_repeated else 'one'}_to_{'many' if counts.right_repeated else 'one'}"


def _refuse(counts: _Counts, arguments: Arguments) -> None:
    allowed = arguments.cardinality
    if arguments.how == "anti" or allowed == "many_to_many":
        is_too_much = arguments.how != "anti" and counts.rows_matched > MOST_ROWS
        reason = f"would give {counts.rows_matched:,} rows"
    elif allowed == "not_many_to_many":
        is_too_much = counts.repeated_both > 0
        reason = f"{counts.repeated_both} keys repeat in both files and would give {counts.rows_matched:,} matched rows"
    else:
        is_too_much = (counts.left_repeated > 0 and allowed.startswith("one")) or (
            counts.right_repeated > 0 and allowed.endswith("one")
        )
        reason = f"{counts.left_repeated} keys repeat on the left, {counts.right_repeated} on the right"
    if is_too_much:
        raise ArgumentError("cardinality", f"{allowed} is not met: {reason}; name more key columns, or allow more")


def _merge(left: Table, right: Table, keys: of_keys.Keys, pairs: list[tuple[str, str]], arguments: Arguments) -> Table:
    """The joined table with units and qualifiers of both."""
    inner = keys.names
    rows = left.frame.with_columns(keys.left.rename({k: f"\0{k}" for k in inner}))
    inner = [f"\0{k}" for k in inner]
    keyed = keys.right.rename({k[1:]: k for k in inner})
    if arguments.how == "anti":
        kept = rows.join(keyed, on=inner, how="anti", maintain_order="left").drop(inner)
        return Table(left.path, kept, (), left.units, left.qualifiers, left.substituted)
    taken, back = made.Names(left.frame), {b for _, b in pairs}
    names = {name: _free(taken, left, name, arguments.suffix) for name in right.frame.columns if name not in back}
    other = right.frame.select(list(names)).rename(names).with_columns(keyed.get_columns())
    if arguments.how == "full":
        other = other.with_columns(right.frame.get_column(b).alias(f"\0{b}\0") for _, b in pairs)
    joined = rows.join(
        other,
        on=inner,
        how=arguments.how,
        coalesce=True,
        maintain_order="left_right" if arguments.how == "full" else "left",
    )
    if arguments.how == "full":
        joined = joined.with_columns(_filled(left, right, a, b) for a, b in pairs)
        joined = joined.drop(f"\0{b}\0" for _, b in pairs)
    units = dict(left.units) | {names[name]: unit for name, unit in right.units.items() if name in names}
    qualifiers = dict(left.qualifiers)
    qualifiers |= {names[a]: names[q] for a, q in right.qualifiers.items() if a in names and q in names}
    substituted = dict(left.substituted) | {names[a]: m for a, m in right.substituted.items() if a in names}
    return Table(left.path, joined.drop(inner), (), units, qualifiers, substituted)


def _free(taken: made.Names, left: Table, name: str, suffix: str) -> str:
    return taken.free(f"{name}{suffix}" if name in left.frame.columns else name)


def _filled(left: Table, right: Table, a: str, b: str) -> pl.Expr:
    """In a full join: the key of a right row without match, in the left column's type or both as text."""
    import polars as pl

    kinds = left.frame.schema[a], right.frame.schema[b]
    if kinds[0] == kinds[1]:
        return pl.coalesce(pl.col(a), pl.col(f"\0{b}\0")).alias(a)
    if kinds[0].is_numeric() and kinds[1].is_numeric():
        return pl.coalesce(pl.col(a).cast(pl.Float64), pl.col(f"\0{b}\0").cast(pl.Float64)).alias(a)

    def text(column: str, kind: pl.DataType) -> pl.Expr:
        return (
            pl.col(column).map_batches(of_keys.as_text, return_dtype=pl.String) if kind != pl.String else pl.col(column)
        )

    return pl.coalesce(text(a, kinds[0]), text(f"\0{b}\0", kinds[1])).alias(a)


def _told_by(table: Table) -> list[str]:
    return [f"{table.path.name}: {note}" for note in table.notes]


def _notes(left: Table, right: Table, pairs: list[tuple[str, str]], counts: _Counts, arguments: Arguments) -> list[str]:
    notes: list[str] = []
    clashing = [
        name for name in right.frame.columns if name in left.frame.columns and name not in [b for _, b in pairs]
    ]
    if clashing and arguments.how != "anti":
        notes.append(f"in both files, so those of the right one end in {arguments.suffix}: {bounded.named(clashing)}")
    if counts.left_missing or counts.right_missing:
        notes.append(f"{counts.left_missing} left and {counts.right_missing} right rows lack a key and match nothing")
    if arguments.matching == "exact" and (counts.left_unmatched or counts.right_unmatched):
        loose = _count(of_keys.comparable(left, right, pairs, "ignore_case_and_blanks"))
        gained = counts.left_unmatched - loose.left_unmatched
        if gained > 0:
            notes.append(f"{gained} more left rows match where case and blanks are ignored: matching")
    elif arguments.matching != "exact":
        strict: Any = _count(of_keys.comparable(left, right, pairs, "exact"))
        notes.append(f"{strict.left_unmatched - counts.left_unmatched} left rows match only without case and blanks")
    return notes


TOOL = Tool(
    name="merge_datasets",
    version=1,
    description="Joins two tables by one or more key columns (left, inner, full or anti join), checks that keys are "
    "unique where they must be, counts rows without a match on both sides, and writes the joined table.",
    asked_for=(
        "merge",
        "join",
        "inner join",
        "full join",
        "merge datasets",
        "join tables",
        "join the files",
        "combine two tables",
        "add columns from another file",
        "look up in another table",
        "match collars with assays",
        "put the tables together",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        combine with another table by identifier; lookup; VLOOKUP; attach attributes; enrich with; add fields
        from another sheet; match records by key; link tables; link the sample list with the results; bring in
        coordinates; common key; relate two spreadsheets; records without a counterpart; unmatched; which are
        missing in the other file; left join; SQL join; connect by sample number; side by side; append columns;
        foreign key; orphans; compare identifiers of two lists; marry up; add the descriptions to the assays;
        one table out of two by ID; field notes and laboratory results together; in one list but absent from the
        other; reference table; transfer an attribute by code; cross-reference; attach elevations by hole ID;
        add results to the register; sample numbers that never came back; in the list but not in the results;
        missing in the other table; add a column from the other file; look up by code; bring the two tables
        together by number; which have no match; sent but not returned; add the collar information; register;
        attach by ID; by common identifier; supplement; complete one table with another; add information from
        another; join on; both files; put next to each other by sample; compare two lists of samples; dispatch
        list; bring over by ID; find what is absent in the second table; two sources
        """
    ),
)
