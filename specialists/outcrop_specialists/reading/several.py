"""Chooses among several tables of one file: sheets, sections of a well log, blocks of a text, lists of a JSON object.

The one that is asked for (`path#name`, `path#2`), or the only one that holds measurements. Of several that are equally
good none is taken: the error lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.address import ALL, MARK

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.tables import Table

Kind = Literal["data", "side", "none"]
"""Measurements; what is taken only where there are none (a legend, keys and values); nothing that is a table."""
SHOWN = 12


@dataclass(frozen=True)
class Candidate:
    """One of the tables of a file. `read` lays it out and raises DataError where it cannot be read; `lines` is as in
    the file; `what` says what such a part is called: sheet, section, table, list.
    """

    name: str
    kind: Kind
    lines: int
    read: Callable[[], Table]
    is_hidden: bool = False
    what: str = "table"


@dataclass(frozen=True)
class Listed:
    """One of the tables of a file as it is listed: its name in `path#name` and its size; `problem` where it cannot be
    read.
    """

    name: str
    rows: int | None
    columns: int | None
    is_hidden: bool = False
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        found = {key: value for key, value in asdict(self).items() if value not in (None, "", False)}
        return {"hidden" if key == "is_hidden" else key: value for key, value in found.items()}

    def __str__(self) -> str:
        size = self.problem or f"{self.rows} rows × {self.columns} columns"
        return f"{self.name!r} ({size}{', hidden' if self.is_hidden else ''})"


class SeveralTablesError(DataError):
    """The file holds several tables and none was named; `tables` are these."""

    def __init__(self, text: str, tables: Sequence[Listed]) -> None:
        self.tables = tuple(tables)
        super().__init__(text)


def choose(path: Path, candidates: Sequence[Candidate], wanted: str) -> Table:
    """The table that is wanted, or the only one worth reading. Raises DataError."""
    if len(candidates) == 1 and (wanted in ("", "1", ALL) or not candidates[0].name):
        if wanted not in ("", "1", ALL):
            raise DataError(f"{path.name}: holds one table; leave out '{MARK}{wanted}'")
        return _only(path, candidates).read()
    if wanted == ALL:
        return _stacked(path, candidates)
    found = _named(path, candidates, wanted) if wanted else _only(path, candidates)
    table = found.read()
    others = [other for other in candidates if other is not found]
    if not others:
        return table
    left = ", ".join(_described(other) for other in others[:SHOWN]) + _more(others)
    note = f"{found.what} {found.name!r} read; NOT read: {left}"
    return replace(table, name=found.name, notes=(note, *table.notes))


def single(path: Path, table: Table, wanted: str) -> Table:
    """The table of a file that can hold no other. Raises DataError where another is wanted."""
    return choose(path, [Candidate("", "data", table.height, lambda: table)], wanted)


def listed(candidates: Sequence[Candidate]) -> list[Listed]:
    """The tables of a file with their sizes as read."""
    return [_measured(found) for found in candidates if found.kind != "none"]


def _named(path: Path, candidates: Sequence[Candidate], wanted: str) -> Candidate:
    """By its name as written, then in any case, then by its number from 1."""
    for matches in (
        [found for found in candidates if found.name == wanted],
        [found for found in candidates if found.name.casefold() == wanted.casefold()],
    ):
        if len(matches) == 1:
            return matches[0]
    readable = [found for found in candidates if found.kind != "none"]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(readable):
        return readable[int(wanted) - 1]
    names = ", ".join(repr(found.name) for found in readable[:SHOWN]) + _more(readable)
    raise DataError(f"{path.name}: has no table {wanted!r}; there are {names or 'none'}")


def _only(path: Path, candidates: Sequence[Candidate]) -> Candidate:
    visible = [found for found in candidates if not found.is_hidden]
    data = [found for found in visible if found.kind == "data"]
    picks = data or [found for found in visible if found.kind == "side"]
    if len(picks) == 1:
        return picks[0]
    what = candidates[0].what if candidates else "table"
    if not picks:
        there = ", ".join(_described(found) for found in candidates[:SHOWN]) + _more(candidates)
        raise DataError(f"{path.name}: no visible {what} holds a header and rows; there are {there or 'none'}")
    sizes = [_measured(found) for found in candidates if found.kind != "none"]
    alike = f", or read those with the same columns as one table with '{path.name}{MARK}{ALL}'"
    raise SeveralTablesError(
        f"{path.name}: holds {len(sizes)} tables, {', '.join(map(str, sizes[:SHOWN]))}{_more(sizes)}; name one, as in "
        f"'{path.name}{MARK}{picks[0].name}'{alike if _are_alike(sizes) else ''}",
        sizes,
    )


def _are_alike(sizes: Sequence[Listed]) -> bool:
    """Whether the visible tables may well have the same columns."""
    return len({size.columns for size in sizes if not size.is_hidden and not size.problem}) == 1


def _stacked(path: Path, candidates: Sequence[Candidate]) -> Table:
    """The visible tables of measurements one below the other, with a column that names the table of each row."""
    import polars as pl

    chosen = [found for found in candidates if found.kind == "data" and not found.is_hidden]
    if not chosen:
        raise DataError(f"{path.name}: holds no tables that could be joined")
    tables = [found.read() for found in chosen]
    qualifiers = {name: marks for table in tables for name, marks in table.qualifiers.items()}
    frames = [_with_qualifiers(table, qualifiers) for table in tables]
    for found, table, frame in zip(chosen, tables, frames, strict=True):
        if frame.columns != frames[0].columns or dict(table.units) != dict(tables[0].units):
            raise DataError(
                f"{path.name}: {found.what} {found.name!r} has other columns or units than {chosen[0].name!r}; "
                f"read them one by one, as in '{path.name}{MARK}{found.name}'"
            )
    label = next(name for name in _labels(chosen[0].what) if name not in frames[0].columns)
    parts = zip(chosen, frames, strict=True)
    try:
        stacked = pl.concat(
            [frame.with_columns(pl.lit(found.name).alias(label)) for found, frame in parts], how="vertical_relaxed"
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path.name}: the tables have columns of different types: {error}") from error
    left = [_described(other) for other in candidates if other not in chosen]
    counts = ", ".join(f"{found.name!r} {table.frame.height}" for found, table in zip(chosen, tables, strict=True))
    notes = [f"{len(chosen)} tables read as one, rows: {counts}; column {label!r} says from which"]
    if left:
        notes.append(f"NOT read: {', '.join(left[:SHOWN])}{_more(left)}")
    for found, table in zip(chosen, tables, strict=True):
        notes += [f"{found.name!r}: {note}" for note in table.notes]
    return replace(tables[0], frame=stacked, notes=tuple(notes), qualifiers=qualifiers, name=ALL, header={})


def _with_qualifiers(table: Table, qualifiers: Mapping[str, str]) -> pl.DataFrame:
    """The table with a column of qualifiers for each column that has one in any of the tables."""
    import polars as pl

    columns: list[pl.Expr] = []
    for name in table.frame.columns:
        if name in qualifiers.values():
            continue
        columns.append(pl.col(name))
        marks = qualifiers.get(name)
        if marks is not None:
            known = marks in table.frame.columns
            columns.append(pl.col(marks) if known else pl.lit("").alias(marks))
    return table.frame.select(columns)


def _labels(what: str) -> list[str]:
    return [what, *(f"{what}_{number}" for number in range(2, 1_000))]


def _measured(found: Candidate) -> Listed:
    try:
        frame = found.read().frame
    except DataError as error:
        return Listed(found.name, None, None, found.is_hidden, f"cannot be read: {error}")
    return Listed(found.name, frame.height, frame.width, found.is_hidden)


def _described(found: Candidate) -> str:
    return f"{found.name!r} ({found.lines} lines{', hidden' if found.is_hidden else ''})"


def _more(items: Sequence[object]) -> str:
    return f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
