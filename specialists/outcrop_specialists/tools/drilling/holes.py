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
MATCHING_SHARE = 0.5
"""A column that holds so many of the other table's holes is taken for the holes."""


@dataclass(frozen=True)
class Beside:
    """The holes that another table names, and what its file is called."""

    name: str
    holes: pl.Series


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


def told_hole(
    table: Table,
    wanted: str | None,
    field: str = "hole",
    roles: Mapping[str, Role] | None = None,
    beside: Beside | None = None,
) -> tuple[str | None, list[str]]:
    """As `hole_column`; where the names do not tell, the only column that holds the holes of the table `beside`, with
    a note that says so."""
    if wanted == "":
        return None, []
    if wanted is not None:
        return find_column(table, wanted, field), []
    roles = roles if roles is not None else roles_in(table)
    named = [name for name, role in roles.items() if role == "hole_id"]
    if len(named) != 1 and beside is not None:
        known = set(beside.holes.drop_nulls().unique())
        counts = {name: _hits(table, name, known) for name in named or could_name_holes(table, roles)}
        matching = [name for name, count in counts.items() if known and count >= MATCHING_SHARE * len(known)]
        if len(matching) == 1:
            found = matching[0]
            note = (
                f"CHECK: {found!r} of {table.path.name} taken as its holes: no other column holds those of "
                f"{beside.name} ({counts[found]} of {len(known)}); {field} names another one"
            )
            return found, [note]
    return hole_column(table, None, field, roles), []


def beside_of(table: Table, wanted: str | None, field: str) -> Beside | None:
    """The holes of a table that names them, as they help to find those of another one."""
    named = [find_column(table, wanted, field)] if wanted is not None else []
    named = named or [name for name, role in roles_in(table).items() if role == "hole_id"]
    return Beside(table.path.name, holes_of(table, named[0])[0]) if len(named) == 1 else None


def could_name_holes(table: Table, roles: Mapping[str, Role]) -> list[str]:
    """Columns of text or whole numbers that are labels of some kind."""
    labels = ("hole_id", "sample_id", "id", "category", "text", "cluster")
    return [
        name
        for name, role in roles.items()
        if role in labels and (table.schema[name].is_integer() or str(table.schema[name]) == "String")
    ]


def refuse_several_holes(table: Table, depths: pl.Series, roles: Mapping[str, Role], field: str) -> None:
    """Raises ArgumentError where a table names no holes but seems to hold several: its depths start anew, each time
    with another value of a column that never comes back to an earlier one."""
    before = depths.shift(1)
    restarts = (depths < before).fill_null(False)
    if not restarts.any():
        return
    candidates = []
    for name in could_name_holes(table, roles):
        values = holes_of(table, name)[0]
        changes = values.ne_missing(values.shift(1))
        runs = int(changes.sum())
        if bool((changes | ~restarts).all()) and runs == values.n_unique() < len(values):
            candidates.append(name)
    if candidates:
        raise ArgumentError(
            field,
            f"{table.path.name} has no column that is named like hole identifiers, but its depths start anew "
            f"{int(restarts.sum())} times: {field} names the column of holes, perhaps "
            f"{offered(table, candidates)} (an empty text says that all rows are of one hole)",
        )


def offered(table: Table, names: list[str]) -> str:
    """The columns that could be meant, for an error."""
    return told([repr(name) for name in names]) if names else f"none of {told([repr(n) for n in table.columns])}"


def _hits(table: Table, column: str, known: set[str]) -> int:
    return len(known & set(holes_of(table, column)[0].drop_nulls().unique()))


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
