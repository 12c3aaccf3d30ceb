"""The collar table beside a table of intervals: one row a hole, with its place and final depth."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_specialists.columns.choice import find_column, numeric, numeric_columns
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.drilling.holes import (
    Beside,
    Shared,
    could_name_holes,
    holes_of,
    offered,
    roles_in,
    shared_holes,
    told_hole,
)

if TYPE_CHECKING:
    import polars as pl

COLLAR_HELP = "Table of collars, one row a hole, relative to the workspace."
DEPTH_NAMES = frozenset(
    "maxdepth eoh eohdepth totaldepth td depth finaldepth holedepth enddepth endofhole holelength length".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Collars:
    """A collar table with the hole of each row as text; every hole stands there once."""

    table: Table
    hole: str
    holes: pl.Series
    notes: list[str]


@dataclass(frozen=True)
class HoleDepths:
    """The final depth of holes, null where it is not known."""

    table: Table
    frame: pl.DataFrame
    """`hole` and `final` (Float64)."""
    notes: list[str]

    def shared(self, holes: pl.Series) -> Shared:
        return shared_holes(holes, self.frame["hole"])

    def drilled(self) -> float | None:
        """Sum of the final depths; None where none is known."""
        known = self.frame["final"].drop_nulls()
        return float(known.sum()) if len(known) else None


def collars_of(table: Table, hole: str | None, field: str = "collar_hole", beside: Beside | None = None) -> Collars:
    """The collars, their hole column told by its name or by the holes of the table `beside`.

    Raises ArgumentError where the hole column cannot be told, DataError where a hole stands there twice.
    """
    column, said = told_hole(table, hole, field, beside=beside)
    if column is None:
        raise ArgumentError(
            field,
            f"{table.path.name} has no column that is named like hole identifiers; {field} names it: "
            f"{offered(table, could_name_holes(table, roles_in(table)))}",
        )
    holes, notes = holes_of(table, column)
    notes = [*said, *notes]
    known = holes.drop_nulls()
    twice = known.filter(known.is_duplicated())
    if len(twice):
        raise DataError(
            f"{table.path.name}: column {column!r} holds {twice.n_unique()} holes more than once, first {twice[0]!r};"
            " a collar table has one row a hole (another column may be the key, or remove_duplicates helps)"
        )
    return Collars(table, column, holes, notes)


def hole_depths(table: Table, hole: str | None, depth: str | None, beside: Beside | None = None) -> HoleDepths:
    """The final depths of a collar table; all null, with a note, where no column is named like one."""
    import polars as pl

    collars = collars_of(table, hole, beside=beside)
    notes = [*collars.notes]
    if depth is None:
        named = [name for name in numeric_columns(table) if _key(name) in DEPTH_NAMES]
        if len(named) > 1:
            raise ArgumentError(
                "collar_depth", f"{table.path.name}: it could be {' or '.join(map(repr, named))}; name it"
            )
        depth = named[0] if named else None
    if depth is None:
        notes.append(f"{table.path.name} has no column named like a final depth: intervals are not checked against it")
        final = pl.Series("final", [None], dtype=pl.Float64).new_from_index(0, len(collars.holes))
    else:
        final = numeric(table, find_column(table, depth, "collar_depth"), "collar_depth").alias("final")
        if final.null_count():
            notes.append(f"{final.null_count()} holes of {table.path.name} have no {depth}")
    frame = pl.DataFrame([collars.holes, final.alias("final")]).filter(pl.col("hole").is_not_null())
    return HoleDepths(table, frame, notes)


def _key(name: str) -> str:
    return "".join(re.findall(r"[a-z]+", re.sub(r"[(\[].*", "", name).casefold()))
