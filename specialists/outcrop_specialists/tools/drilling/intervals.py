"""Intervals down holes: which rows of a table are one, in which order, and where they overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import numeric
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolArguments, ToolContext
from outcrop_specialists.tools.drilling.holes import (
    Beside,
    holes_of,
    refuse_several_holes,
    role_column,
    roles_in,
    told_hole,
)

if TYPE_CHECKING:
    import polars as pl

# Depths closer than this are the same: a tenth of a millimetre, and far above the rounding of decimal depths.
SAME_DEPTH = 1e-4
HOLE_HELP = "Column of hole identifiers; found by name where not given. An empty text: all rows are of one hole."


class IntervalArguments(ToolArguments):
    """Arguments of a tool that reads a table of intervals."""

    path: str = Field(description="Table of intervals (assays, lithology…), relative to the workspace.")
    hole: str | None = Field(default=None, description=HOLE_HELP)
    depth_from: str | None = Field(default=None, description="Column of the upper depths; found by name if not given.")
    depth_to: str | None = Field(default=None, description="Column of the lower depths; found by name if not given.")


@dataclass(frozen=True)
class Intervals:
    """A table of intervals. `frame` has a line for each row of the table, in its order: `row` (from 0), `hole` (text),
    `start`, `end` (Float64, in the table's unit of depth), null where missing."""

    table: Table
    hole: str | None
    depth_from: str
    depth_to: str
    frame: pl.DataFrame
    notes: list[str]

    @property
    def unit(self) -> str | None:
        return self.table.units.get(self.depth_from) or self.table.units.get(self.depth_to)

    def left_out(self) -> dict[str, int]:
        """Rows that are no interval, by reason."""
        import polars as pl

        start, end = pl.col("start"), pl.col("end")
        lacks = pl.col("hole").is_null() | start.is_null() | end.is_null()
        counts = self.frame.select(
            missing=lacks.sum(),
            zero_length=(~lacks & (start == end)).sum(),
            from_beyond_to=(~lacks & (start > end)).sum(),
        ).row(0, named=True)
        return {reason: int(count) for reason, count in counts.items() if count}

    def usable(self) -> pl.DataFrame:
        """The rows with a hole and a positive length, by hole and depth, with `length` and `before`: the deepest end
        of the intervals above in the hole (null for the first)."""
        import polars as pl

        found = self.frame.filter(
            pl.col("hole").is_not_null() & (pl.col("end") > pl.col("start")).fill_null(False)
        ).sort("hole", "start", "end", "row")
        return found.with_columns(
            length=pl.col("end") - pl.col("start"), before=pl.col("end").cum_max().shift(1).over("hole")
        )

    def left_out_notes(self) -> list[str]:
        words = {"missing": "without hole, from or to", "zero_length": "of no length", "from_beyond_to": "from > to"}
        left_out = self.left_out()
        reasons = ", ".join(f"{count} {words[reason]}" for reason, count in left_out.items())
        return [f"{sum(left_out.values())} rows left out: {reasons}"] if left_out else []

    @property
    def beside(self) -> Beside | None:
        """What the table tells of the holes of another one; nothing where it names none."""
        return Beside(self.table.path.name, self.frame["hole"]) if self.hole is not None else None


def read_intervals(context: ToolContext, arguments: IntervalArguments, beside: Beside | None = None) -> Intervals:
    """The intervals of a table. Raises ArgumentError where the columns cannot be told."""
    table = read_table(context, arguments.path)
    return intervals_of(table, arguments.hole, arguments.depth_from, arguments.depth_to, beside=beside)


def intervals_of(
    table: Table,
    hole: str | None,
    depth_from: str | None,
    depth_to: str | None,
    prefix: str = "",
    beside: Beside | None = None,
) -> Intervals:
    """As `read_intervals`, of a table that was read; `prefix` stands before the names of the arguments in errors, and
    `beside` are the holes of another table, by whose names a column that is not named like holes is found."""
    import polars as pl

    roles = roles_in(table) if None in (hole, depth_from, depth_to) else {}
    start = role_column(table, "depth_from", depth_from, f"{prefix}depth_from", roles)
    end = role_column(table, "depth_to", depth_to, f"{prefix}depth_to", roles)
    for found, field in ((start, "depth_from"), (end, "depth_to")):
        if found is None:
            raise ArgumentError(f"{prefix}{field}", f"{table.path.name} has no column that is named like one; name it")
    assert start is not None
    assert end is not None
    name, said = told_hole(table, hole, f"{prefix}hole", roles, beside)
    if name is None and hole is None:
        refuse_several_holes(table, numeric(table, start, f"{prefix}depth_from"), roles, f"{prefix}hole")
    holes, notes = holes_of(table, name)
    notes = [*said, *notes]
    frame = pl.DataFrame(
        [
            holes,
            numeric(table, start, f"{prefix}depth_from").alias("start"),
            numeric(table, end, f"{prefix}depth_to").alias("end"),
        ]
    ).with_row_index("row")
    frame = frame.with_columns(pl.col("row").cast(pl.Int64), pl.col("start", "end").replace([float("inf")], [None]))
    return Intervals(table, name, start, end, frame, notes)


def overlaps(usable: pl.DataFrame) -> int:
    """How many intervals of `Intervals.usable` begin above the end of another one of their hole."""
    return int((usable["start"] < usable["before"] - SAME_DEPTH).sum())


def refuse_overlaps(intervals: Intervals, usable: pl.DataFrame, field: str = "path") -> None:
    """Raises ArgumentError where intervals of a hole overlap: their lengths would count twice."""
    count = overlaps(usable)
    if count:
        raise ArgumentError(
            field,
            f"{intervals.table.path.name}: {count} intervals overlap others of their hole, so that their length would "
            "count twice; check_intervals lists them",
        )
