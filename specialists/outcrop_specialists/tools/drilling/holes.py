"""Hole identifiers as text, and which holes two tables share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.columns.profile import profile_table
from outcrop_specialists.columns.roles import Role
from outcrop_specialists.reading.tables import Table

if TYPE_CHECKING:
    import polars as pl

ONE_HOLE = "(one hole)"
HOLES_TOLD = 5


def role_column(
    table: Table, role: Role, wanted: str | None, field: str, roles: Mapping[str, Role] | None = None
) -> str | None:
    """The column asked for, else the only one of this role; None where there is none.

    `roles` are those of `roles_in`, for whoever looks for several columns: telling them takes a pass over the table.
    Raises ArgumentError where several columns have the role: none is guessed.
    """
    if wanted is not None:
        return find_column(table, wanted, field)
    found = [name for name, known in (roles if roles is not None else roles_in(table)).items() if known == role]
    if len(found) > 1:
        names = " or ".join(map(repr, found[:HOLES_TOLD]))
        raise ArgumentError(field, f"{table.path.name}: {role} could be {names}; name the one meant")
    return found[0] if found else None


def roles_in(table: Table) -> dict[str, Role]:
    """The role of each column."""
    return {profile.name: profile.role for profile in profile_table(table)}


def hole_column(
    table: Table, wanted: str | None, field: str = "hole", roles: Mapping[str, Role] | None = None
) -> str | None:
    """The column of hole identifiers; None where the table names no holes."""
    return role_column(table, "hole_id", wanted, field, roles)


def holes_of(table: Table, column: str | None) -> tuple[pl.Series, list[str]]:
    """The hole of each row as text, called `hole`, and notes on what was changed for that.

    Whole numbers become their digits (34873), outer blanks go and are counted; an empty identifier is missing. Where
    the table names no hole all rows are one.
    """
    import polars as pl

    if column is None:
        note = f"{table.path.name} names no holes: all {table.frame.height} rows are taken as one"
        return pl.Series("hole", [ONE_HOLE]).new_from_index(0, table.frame.height).alias("hole"), [note]
    found = table.frame.get_column(column).alias("hole")
    notes = []
    if found.dtype.is_float() and bool((found.drop_nulls() % 1 == 0).all()):
        found = found.cast(pl.Int64)
    if found.dtype != pl.String:
        notes.append(f"{table.path.name}: {column!r} holds {found.dtype} values; they are compared as text")
        return found.cast(pl.String), notes
    bare = found.str.strip_chars()
    changed = int((bare != found).sum())
    if changed:
        notes.append(f"{table.path.name}: outer blanks of {changed} values of {column!r} left out of account")
    return bare.set((bare == "").fill_null(False), None), notes


@dataclass(frozen=True)
class Shared:
    """Holes of two tables: in both, and in one only. `near` are those of the first alone that the other spells
    differently (case, blanks, dashes, leading zeros)."""

    both: int
    only_first: list[str]
    only_second: list[str]
    near: list[tuple[str, str]]

    def notes(self, first: str, second: str) -> list[str]:
        notes = []
        for names, one, other in ((self.only_first, first, second), (self.only_second, second, first)):
            if names:
                notes.append(f"{len(names)} holes of {one} are not in {other}: {told(names)}")
        if self.near:
            pairs = told([f"{one!r} and {other!r}" for one, other in self.near])
            notes.append(f"CHECK: spelt differently, not joined: {pairs}; standardize_terms makes them one")
        return notes


def shared_holes(first: pl.Series, second: pl.Series) -> Shared:
    """Compares the identifiers of two tables, as text and exactly."""
    one, other = set(first.drop_nulls().unique()), set(second.drop_nulls().unique())
    spelt = {_bare(name): name for name in sorted(other - one)}
    near = [(name, spelt[_bare(name)]) for name in sorted(one - other) if _bare(name) in spelt]
    return Shared(len(one & other), sorted(one - other), sorted(other - one), near)


def told(names: list[str], most: int = HOLES_TOLD) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _bare(name: str) -> str:
    import re

    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", re.sub(r"[\W_]+", "", name.casefold()))
