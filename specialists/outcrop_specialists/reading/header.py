"""Finds where a table begins: lines above it, its header, a row of units below the header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.header_lines import MADE_UP, take_groups, take_header_lines
from outcrop_specialists.reading.header_lines import is_number as is_number

Record = tuple[int, list[str]]
"""A record's line in the file (from 1) and its fields."""

_DIGITS = re.compile(r"\d+")
_ALIKE_ROWS, _ALIKE_SHARE = 3, 0.8
"""A header whose cell differs from so many of the cells below by its digits only is a row."""
FILLED_SHARE = 0.6
"""A header has at least this share of the cells that a typical row has."""


@dataclass
class Head:
    """The head of a table: `names` as written, `units` by position, the records of the sample below and above it."""

    names: list[str]
    units: dict[int, str] = field(default_factory=dict)
    rest: list[Record] = field(default_factory=list)
    has_names: bool = True
    above: list[Record] = field(default_factory=list)
    lines: list[list[str]] = field(default_factory=list)
    """The lines of the header as they stand in the file, names first."""
    line: int = 0
    """The line of the names, or of the first row where there are none."""
    limits: dict[int, float] = field(default_factory=dict)
    """The limits that results are below, by position, where a line of the header gives them."""


def find_head(file: str, sample: Sequence[Record], notes: list[str]) -> Head:
    """Header and units among the first records. Raises DataError where the header is not one clear line."""
    filled = [record for record in sample if fill(record[1])]
    if not filled:
        raise DataError(f"{file}: holds no values")
    index = _header_index(file, filled)
    skipped = filled[:index]
    line, names = filled[index]
    rest = _after(line, list(sample))
    if names[0].lstrip().startswith("#") and len(names[0].strip()) > 1:
        names = [names[0].lstrip().lstrip("#"), *names[1:]]
        notes.append(f"line {line} begins with # and was read as the header")
    if all(is_number(name) for name in names):
        return _headless(file, filled[index], skipped, rest, notes, "holds only numbers")
    if _is_like_rows(names, rest):
        return _headless(file, filled[index], skipped, rest, notes, "is a row like those below it")
    if skipped:
        notes.append(f"{_lines(skipped)} above the header skipped ({_lengths(skipped)})")
    numbers = [name for name in names if is_number(name)]
    if numbers:
        _refuse_data_as_names(file, filled[index], skipped)
        notes.append(f"CHECK: {len(numbers)} column names are numbers; is line {line} a header?")
    names = ["" if MADE_UP.match(name.strip()) else name for name in names]
    head = Head(names, rest=rest, above=skipped, lines=[filled[index][1]], line=line)
    if skipped and skipped[-1][0] == line - 1:
        take_groups(head, skipped[-1], notes)
    take_header_lines(head, notes)
    return head


def fill(fields: Sequence[str]) -> int:
    """How many fields hold something."""
    return sum(bool(cell.strip()) for cell in fields)


def _header_index(file: str, filled: list[Record]) -> int:
    usual = [fields for _, fields in filled if not _is_comment(fields)] or [fields for _, fields in filled]
    widths = Counter(map(len, usual))
    width = max(widths, key=lambda w: (widths[w], w))
    usual = [fields for fields in usual if len(fields) == width]
    extent = max(map(_extent, usual))
    needed = max(1, FILLED_SHARE * median(map(fill, usual)))
    for index, (line, fields) in enumerate(filled):
        if len(fields) < extent or fill(fields) < needed or _is_made_up(fields):
            continue
        if _is_comment(fields) and not _is_commented_header(filled, index):
            continue
        if index and any(map(is_number, fields)) and len(filled[index - 1][1]) == len(fields) - 1:
            before = filled[index - 1][0]
            raise DataError(
                f"{file}: line {before} has {len(fields) - 1} fields but line {line} has {len(fields)}; "
                "a name is missing from the header (row names?)"
            )
        return index
    raise DataError(f"{file}: no line with the {extent} column names that its rows need")


def _is_comment(fields: Sequence[str]) -> bool:
    return fields[0].lstrip().startswith("#")


def _is_commented_header(filled: list[Record], index: int) -> bool:
    """A # line is the header when it is the last one and numbers follow in as many fields."""
    if index + 1 >= len(filled):
        return False
    fields, below = filled[index][1], filled[index + 1][1]
    return not _is_comment(below) and len(below) == len(fields) > 1 and any(map(is_number, below))


def _is_made_up(fields: Sequence[str]) -> bool:
    """Whether most names are `Unnamed: 3`, written by pandas for a header that was none."""
    return sum(MADE_UP.match(cell.strip()) is not None for cell in fields) > len(fields) / 2


def _extent(fields: Sequence[str]) -> int:
    return max((index + 1 for index, cell in enumerate(fields) if cell.strip()), default=0)


def _is_like_rows(names: Sequence[str], rest: Sequence[Record]) -> bool:
    """Whether an identifier stands among the names, of the form of those below it."""
    return any(
        len(below := [form for _, cells in rest if place < len(cells) and (form := _form(cells[place]))]) >= _ALIKE_ROWS
        and below.count(_form(name)) >= _ALIKE_SHARE * len(below)
        for place, name in enumerate(names)
        if any(map(str.isalpha, name)) and _DIGITS.search(name)
    )


def _form(cell: str) -> str:
    return _DIGITS.sub("#", cell.strip())


def _headless(
    file: str, first: Record, skipped: list[Record], rest: list[Record], notes: list[str], reason: str
) -> Head:
    line, fields = first
    if skipped:
        notes.append(f"{_lines(skipped)} skipped ({_lengths(skipped)}){_counts(skipped, len(fields))}")
    notes.append(f"CHECK: no header: line {line} {reason}; columns are named column_1 to column_{len(fields)}")
    return Head([""] * len(fields), rest=[first, *rest], has_names=False, line=line)


def _counts(skipped: Sequence[Record], width: int) -> str:
    """What is said of one line of counts and names above rows of numbers, as some collections of test data begin:
    so many rows, so many columns (with or without the label), the names of the labels."""
    cells = [cell.strip() for cell in skipped[0][1] if cell.strip()]
    counts = [cell for cell in cells if cell.isdecimal()]
    if len(skipped) > 1 or len(cells) >= width or not {str(width), str(width - 1)} & set(counts):
        return ""
    found = f"{len(counts)} whole numbers, one of them the number of columns, and {len(cells) - len(counts)} names"
    return f", which holds counts and names and is no header: {found}"


def _refuse_data_as_names(file: str, header: Record, skipped: list[Record]) -> None:
    """Numbers among the names, below a line of as many fields, mean that the line above is a header with few names."""
    for line, fields in skipped:
        if len(fields) == len(header[1]) and not _is_comment(fields) and not _is_made_up(fields):
            raise DataError(
                f"{file}: line {line} has names for {fill(fields)} of {len(fields)} columns; name all columns"
            )


def _after(line: int, records: list[Record]) -> list[Record]:
    return [record for record in records if record[0] > line]


def _lines(records: Sequence[Record]) -> str:
    first, last = records[0][0], records[-1][0]
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _lengths(records: Sequence[Record], shown: int = 8) -> str:
    """How long lines are. Their text is never quoted: notes travel where no cell of the data may be shown."""
    lengths = [str(sum(map(len, fields)) + len(fields) - 1) for _, fields in records]
    more = f" and {len(lengths) - shown} more" if len(lengths) > shown else ""
    return f"{', '.join(lengths[:shown])}{more} characters"
