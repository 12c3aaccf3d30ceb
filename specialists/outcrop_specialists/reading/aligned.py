"""Reads text whose columns are separated or aligned by blanks, where that is clear."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from outcrop_specialists.reading.header import Record, is_number

Lines = Sequence[tuple[int, str]]
"""Lines with their numbers from 1."""
WORDS = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
WIDE_GAP = re.compile(r"\s{2,}")
GAP = 2
"""So many blanks in every line part two columns; a single one may stand within a text."""
FEWEST_LINES = 3
MOST_TITLES = 2
UNNAMED = "row"
MOSTLY_NUMBERS, SOME_NUMBERS, MANY = 0.5, 0.25, 4
"""Words parted by single blanks are columns where more than this share are numbers, the second from 4 columns on."""


def aligned_records(text: str, notes: list[str]) -> list[Record] | None:
    """The records of such a text; None where its columns are not clear.

    Lines beside the table (titles, remarks) are records of one field.
    """
    lines = [(number, line.expandtabs().rstrip()) for number, line in enumerate(text.split("\n"), start=1)]
    runs = [run for run in _runs(lines) if len(run) > 1]
    longest = max(runs, key=len, default=[])
    split = _split(longest, notes)
    if split is None:
        return None
    fields = dict(split)
    for run in runs:
        if run is not longest:
            fields |= dict(_split(run, []) or [])
    return [
        (number, fields[number] if number in fields else ([line.strip()] if line else [])) for number, line in lines
    ]


def _split(run: Lines, notes: list[str]) -> list[Record] | None:
    """The records of lines that follow each other, below at most a few titles of one word."""
    for skipped in range(min(MOST_TITLES + 1, len(run) - 1)):
        table = run[skipped:]
        found = _by_words(table, notes) or _by_wide_gaps(table, notes) or _by_position(table, notes)
        if found is not None or len(table[0][1].split()) > 1:
            return found
    return None


def _runs(lines: Lines) -> Iterator[list[tuple[int, str]]]:
    """Lines without a blank one or a # line between."""
    for is_row, group in groupby(lines, key=lambda line: bool(line[1]) and not line[1].lstrip().startswith("#")):
        if is_row:
            yield list(group)


def _by_words(table: Lines, notes: list[str]) -> list[Record] | None:
    """Every line has as many words, or the first lacks the name of the row names."""
    records = [(number, [quoted or bare for quoted, bare in WORDS.findall(line)]) for number, line in table]
    width = len(records[-1][1])
    (first, names), *rows = records
    if width < 2 or not rows or any(len(fields) != width for _, fields in rows):
        return None
    numbers = sum(is_number(field) for _, fields in rows for field in fields) / (len(rows) * width)
    if numbers <= (MOSTLY_NUMBERS if width < MANY else SOME_NUMBERS):
        return None  # as likely one column of text
    if len(names) == width - 1 > 1 and not any(map(is_number, names)):
        notes.append(
            f"line {first} names {width - 1} of {width} columns: the first, of row names, is called {UNNAMED!r}"
        )
        records[0] = (first, [UNNAMED, *names])
    elif len(names) != width:
        return None
    notes.append("fields separated by blanks")
    return records


def _by_wide_gaps(table: Lines, notes: list[str]) -> list[Record] | None:
    records = [(number, WIDE_GAP.split(line.strip())) for number, line in table]
    width = len(records[0][1])
    if width < 2 or len(records) < FEWEST_LINES or any(len(fields) != width for _, fields in records):
        return None
    notes.append("fields separated by two blanks or more")
    return records


def _by_position(table: Lines, notes: list[str]) -> list[Record] | None:
    """Columns that every line leaves blank part the fields; a field may be empty, but not in the header."""
    if len(table) < FEWEST_LINES:
        return None
    width = max(len(line) for _, line in table)
    used = bytearray(width)
    for _, line in table:
        for match in re.finditer(r"\S+(?: \S+)*", line):
            used[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    spans = [match.span() for match in re.finditer(rb"\x01+(?:\x00{1,%d}\x01+)*" % (GAP - 1), bytes(used))]
    header = table[0][1]
    if len(spans) < 2 or not all(header[start:end].strip() for start, end in spans):
        return None
    records = [(number, [line[start:end].strip() for start, end in spans]) for number, line in table]
    rows = [fields for _, fields in records[1:]]
    if not any(is_number(field) for fields in rows for field in fields):
        return None
    empty = sum(not field for fields in rows for field in fields)
    if empty > len(rows) * len(spans) / 2:
        return None
    notes.append(f"{len(spans)} columns aligned by blanks were cut at fixed positions ({empty} fields are empty)")
    return records
