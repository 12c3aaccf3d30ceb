"""Makes a table of records: names, units, rows of one width, types. Every repair is counted in a note."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from outcrop_schemas.errors import DataError
from outcrop_specialists.columns.qaqc import qaqc_notes
from outcrop_specialists.reading.blocks import facts_of, refuse_table_above
from outcrop_specialists.reading.declared import apply_declared, declared_nulls
from outcrop_specialists.reading.header import Head, Record, fill, find_head
from outcrop_specialists.reading.limit_rows import note_limit_rows
from outcrop_specialists.reading.shift import unshift_rows
from outcrop_specialists.reading.suspects import note_suspects
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.reading.totals import note_aggregates, statistic_of, without_totals
from outcrop_specialists.reading.types import Typed, note_sentinels, type_columns

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.regular import Middle

SAMPLED_RECORDS = 1_000
CHUNK_ROWS = 50_000
REPEATS_NAMED = 3
FOOTER = re.compile(r"^\s*(?:[*#†‡§]|(?:note|source|remark|disclaimer|copyright|©)|\S+(?:\s+\S+){3,})", re.IGNORECASE)


END = re.compile(r"^\W*(?:end|eof|fin|ende)\W*$|^[(\[].*[)\]]$|^[-=_*~]{3,}$", re.IGNORECASE)


def lay_out(
    path: Path,
    records: Iterable[Record],
    notes: list[str],
    *,
    comma_decimals: bool = False,
    middle: Middle | None = None,
) -> Table:
    """The typed table that the records hold. Raises DataError, naming the line, where rows do not fit the header.

    `middle` are rows behind the records that were read another way, with the records behind them (`regular.py`).
    """
    iterator = iter(records)
    sample = list(islice(iterator, SAMPLED_RECORDS))
    head = find_head(path.name, sample, notes)
    refuse_table_above(path.name, head.above)
    rows = _Rows(path.name, head)
    columns = _columns(rows.fitting(chain(head.rest, iterator)), len(head.names))
    if middle is not None:
        columns = _joined(columns, rows.passing(middle), _columns(rows.fitting(middle.tail), len(head.names)))
    notes += rows.notes()
    if not columns or not len(columns[0]):
        raise DataError(f"{path.name}: has a header ({len(head.names)} columns) but no rows")
    names = _unique_names(head, notes)
    columns = [column.alias(name) for column, name in zip(columns, names, strict=True)]
    columns = unshift_rows(path.name, columns, notes)
    units = {names[i]: unit for i, unit in head.units.items()}
    limits = {names[i]: limit for i, limit in head.limits.items()}
    typed = type_columns(columns, comma_decimals=comma_decimals, units=units, limits=limits)
    apply_declared(typed, declared_nulls([*head.above, *rows.footer]))
    without_totals(typed, notes)
    note_limit_rows(typed)
    note_aggregates(typed)
    note_sentinels(typed.columns, typed)
    units = {**typed.units, **units}
    note_suspects(typed, units, limits)
    table = _table(path, typed, (*notes, *typed.notes()), units, facts_of(head.above))
    return replace(table, read_as={"lines_above_header": len(head.above), "header_lines": len(head.lines)})


class _Rows:
    """Brings records to the width of the header and counts what that took."""

    def __init__(self, file: str, head: Head) -> None:
        self._file, self._width = file, len(head.names)
        self._lines = [[cell.strip() for cell in line] for line in head.lines] if head.has_names else []
        self._header = self._lines[0] if self._lines else None
        self._repeated: list[int] = []
        if head.has_names:
            self._where = "the header" if head.line < 2 else f"line {head.line}, which was read as the header"
        else:
            self._where = f"line {head.line}, the first with as many numbers (no header was found)"
        self._following = 0
        self._first = ""
        self._dropped = self._padded = self._empty = self._blank = self._blank_since = 0
        self._footer: list[Record] = []

    def fitting(self, records: Iterable[Record]) -> Iterator[list[str]]:
        for line, fields in records:
            if len(fields) != self._width or not fill(fields):
                fitted = self._fit(line, fields)
                if fitted is None:
                    continue
                fields = fitted
            if self._footer:
                self._refuse(*self._footer[0])
            if self._header and self._repeats(line, fields):
                continue
            self._blank, self._blank_since = self._blank + self._blank_since, 0
            self._first = fields[0]
            yield fields

    @property
    def footer(self) -> list[Record]:
        """The lines below the table."""
        return self._footer

    def passing(self, middle: Middle) -> list[pl.Series]:
        """The columns of rows that are known to be alike. Raises DataError where they do not fit."""
        columns, dropped = middle.columns(self._width, self._header)
        if self._footer:
            self._refuse(*self._footer[0])
        self._dropped += dropped
        self._blank, self._blank_since = self._blank + self._blank_since, 0
        return columns

    def notes(self) -> list[str]:
        found = []
        if self._dropped:
            found.append(f"{self._dropped} rows end with empty fields beyond the header, which were dropped")
        if self._padded:
            found.append(f"{self._padded} rows lack empty fields at their end, which were added")
        if self._empty:
            found.append(f"{self._empty} rows without any value were skipped")
        if self._repeated:
            more = " …" * (len(self._repeated) > REPEATS_NAMED)
            named = ", ".join(map(str, self._repeated[:REPEATS_NAMED])) + more
            found.append(f"the header stands again in {len(self._repeated)} lines, which were skipped (lines {named})")
        if self._blank:
            found.append(f"{self._blank} blank lines amid the table were skipped")
        if self._footer:
            lengths = ", ".join(str(len(fields[0].strip())) for _, fields in self._footer[:3])
            where = f"from line {self._footer[0][0]} ({lengths}{' …' * (len(self._footer) > 3)} characters)"
            found.append(f"{len(self._footer)} lines below the table skipped, {where}")
        return found

    def _repeats(self, line: int, fields: list[str]) -> bool:
        """Whether the line is the header again, or a further line of the header behind it."""
        expected = self._lines[self._following]
        if fields[0].strip() != expected[0] and not self._following:
            return False
        cells = [cell.strip() for cell in fields]
        if cells == expected:
            if not self._following:
                self._repeated.append(line)
            self._following = (self._following + 1) % len(self._lines)
            return True
        self._following = 0
        return False

    def _fit(self, line: int, fields: list[str]) -> list[str] | None:
        """The record in the right width; None for one that is no row."""
        if not fill(fields):
            if self._width == 1 and fields:
                return fields[:1]
            is_blank_line = len(fields) < 2
            self._blank_since += is_blank_line
            self._empty += not is_blank_line
            return None
        if len(fields) > self._width and not fill(fields[self._width :]):
            self._dropped += 1
            return fields[: self._width]
        if len(fields) < self._width and self._width > 1:
            if not fields[-1].strip():
                self._padded += 1
                return fields + [""] * (self._width - len(fields))
            if len(fields) == 1 and self._is_footer(fields[0]):
                self._footer.append((line, fields))
                return None
        self._refuse(line, fields)
        return None

    def _is_footer(self, text: str) -> bool:
        """Whether a line of one field is no row that was cut off: it is written otherwise than what rows begin with."""
        if FOOTER.match(text):
            return True
        is_remark = len(text.split()) > 1 or END.match(text) is not None or statistic_of(text) is not None
        return is_remark and _shape(text) != _shape(self._first)

    def _refuse(self, line: int, fields: list[str]) -> None:
        raise DataError(
            f"{self._file}: line {line} has {len(fields)} fields, {self._width} are expected from {self._where}; "
            "correct the line (a missing or an unquoted delimiter?) or split the file if a second table begins there"
        )


def _shape(text: str) -> str:
    """How a text is written: its letters, digits and blanks by kind."""
    return re.sub(r"\s+", " ", re.sub(r"[^\W0-9_]+", "a", re.sub(r"[0-9]+", "0", text.strip())))


def _columns(rows: Iterator[list[str]], width: int) -> list[pl.Series]:
    """Text columns, built in chunks so that the rows of a large file never exist all at once."""
    import polars as pl

    columns: list[pl.Series] = []
    while chunk := list(islice(rows, CHUNK_ROWS)):
        parts = [pl.Series(values, dtype=pl.String) for values in zip(*chunk, strict=True)]
        columns = [column.append(part) for column, part in zip(columns, parts, strict=True)] if columns else parts
    return columns or [pl.Series(dtype=pl.String) for _ in range(width)]


def _joined(*parts: list[pl.Series]) -> list[pl.Series]:
    """The columns of all parts one below the other. Raises DataError where a part has no rows."""
    import polars as pl

    if not all(part and len(part[0]) for part in parts):
        raise DataError("head, middle or tail holds no rows")
    return [pl.concat(pieces, rechunk=False) for pieces in zip(*parts, strict=True)]


def _unique_names(head: Head, notes: list[str]) -> list[str]:
    """Column names: trimmed, never empty, never double."""
    names: list[str] = []
    empty, double = [], []
    written = {name.strip() for name in head.names}
    for position, raw in enumerate(head.names, start=1):
        name = raw.strip()
        if not name:
            name = _free(f"column_{position}", {*names, *written})
            empty.append(name)
        elif name in names:
            name = _free(name, {*names, *written})
            double.append(f"column {position} {raw.strip()!r} is now {name!r}")
        names.append(name)
    if empty and head.has_names:
        notes.append(f"{len(empty)} columns without a name: {_listed(empty)}")
    if double:
        notes.append(f"{len(double)} names stand more than once in the header: {_listed(double)}")
    return names


def _free(name: str, taken: set[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _listed(items: Sequence[str], shown: int = 8) -> str:
    more = f" and {len(items) - shown} more" if len(items) > shown else ""
    return ", ".join(items[:shown]) + more


def _table(path: Path, typed: Typed, notes: Sequence[str], units: dict[str, str], header: dict[str, str]) -> Table:
    import polars as pl

    table = Table(path, pl.DataFrame(typed.columns), tuple(notes), units, typed.qualifiers, header=header)
    return replace(table, notes=(*notes, *qaqc_notes(table)))
