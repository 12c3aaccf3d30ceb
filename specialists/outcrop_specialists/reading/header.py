"""Finds where a table begins: lines above it, its header, a row of units below the header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from outcrop_schemas.errors import DataError
from outcrop_specialists.columns.censored import BEFORE, WORD
from outcrop_specialists.columns.units import is_doubtful_unit, is_unit
from outcrop_specialists.reading.types import NULL_AMONG_NUMBERS, NUMBER

Record = tuple[int, list[str]]
"""A record's line in the file (from 1) and its fields."""

FILLED_SHARE = 0.6
"""A header has at least this share of the cells that a typical row has."""
PANDAS_BLANK = re.compile(r"^Unnamed: \d+$")
RDB_FORMAT = re.compile(r"^\d+[sdnx]$")


@dataclass
class Head:
    """The head of a table: `names` as written, `units` by position, the records of the sample below it."""

    names: list[str]
    units: dict[int, str] = field(default_factory=dict)
    rest: list[Record] = field(default_factory=list)
    has_names: bool = True


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
        return _headless(file, filled[index], skipped, rest, notes)
    if skipped:
        notes.append(f"{_lines(skipped)} above the header skipped ({_lengths(skipped)})")
    numbers = [name for name in names if is_number(name)]
    if numbers:
        _refuse_data_as_names(file, filled[index], skipped)
        notes.append(f"CHECK: {len(numbers)} column names are numbers; is line {line} a header?")
    head = Head(names, rest=rest)
    _take_second_line(file, head, notes)
    return head


def fill(fields: Sequence[str]) -> int:
    """How many fields hold something."""
    return sum(bool(cell.strip()) for cell in fields)


def is_number(text: str) -> bool:
    return re.match(NUMBER, text.strip()) is not None


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
    return sum(PANDAS_BLANK.match(cell.strip()) is not None for cell in fields) > len(fields) / 2


def _extent(fields: Sequence[str]) -> int:
    return max((index + 1 for index, cell in enumerate(fields) if cell.strip()), default=0)


def _headless(file: str, first: Record, skipped: list[Record], rest: list[Record], notes: list[str]) -> Head:
    line, fields = first
    if skipped:
        notes.append(f"{_lines(skipped)} skipped ({_lengths(skipped)})")
    notes.append(
        f"CHECK: no header: line {line} holds only numbers; columns are named column_1 to column_{len(fields)}"
    )
    return Head([""] * len(fields), rest=[first, *rest], has_names=False)


def _refuse_data_as_names(file: str, header: Record, skipped: list[Record]) -> None:
    """Numbers among the names, below a line of as many fields, mean that the line above is a header with few names."""
    for line, fields in skipped:
        if len(fields) == len(header[1]) and not _is_comment(fields) and not _is_made_up(fields):
            raise DataError(
                f"{file}: line {line} has names for {fill(fields)} of {len(fields)} columns; name all columns"
            )


def _take_second_line(file: str, head: Head, notes: list[str]) -> None:
    """Take a row of units or of format codes off the sample; refuse a second line of names."""
    below = [record for record in head.rest if fill(record[1])]
    if not below:
        return
    line, first = below.pop(0)
    cells = [cell.strip() for cell in first]
    if cells and all(RDB_FORMAT.match(cell) for cell in cells):
        notes.append(f"line {line} below the header holds format codes and was skipped")
        head.rest = _after(line, head.rest)
        return
    if any(map(is_number, cells)) or not below:
        return
    numeric = [i for i in range(len(cells)) if _is_numeric_below(below, i)]
    words = [i for i in numeric if cells[i] and not _stands_for_number(cells[i])]
    is_doubtful = all(is_doubtful_unit(cells[i]) for i in words) and (len(words) == 1 or bool(cells[0]))
    if words and all(is_unit(cells[i]) for i in words) and not is_doubtful:
        head.units = {i: cell for i, cell in enumerate(cells) if cell and is_unit(cell)}
        notes.append(f"line {line} below the header holds the units of {len(head.units)} columns")
        head.rest = _after(line, head.rest)
    elif len(words) >= 2 and len(words) >= len(numeric) / 2 and _continues_header(cells, words):
        raise DataError(
            f"{file}: line {line} looks like a second line of the header, which cannot be read yet; "
            "join the names into one line"
        )


def _continues_header(cells: list[str], words: list[int]) -> bool:
    """A row of data has its identifier first and remarks such as n.m.; a line of the header lacks it or has units."""
    return not cells[0] or any(is_unit(cells[i]) and not is_doubtful_unit(cells[i]) for i in words)


def _after(line: int, records: list[Record]) -> list[Record]:
    return [record for record in records if record[0] > line]


def _is_numeric_below(below: list[Record], index: int) -> bool:
    values = [fields[index].strip() for _, fields in below if index < len(fields)]
    values = [value for value in values if value and value not in NULL_AMONG_NUMBERS]
    return (
        bool(values)
        and all(is_number(value) or _stands_for_number(value) for value in values)
        and any(map(is_number, values))
    )


def _stands_for_number(cell: str) -> bool:
    return cell in NULL_AMONG_NUMBERS or re.match(BEFORE, cell) is not None or re.match(WORD, cell) is not None


def _lines(records: Sequence[Record]) -> str:
    first, last = records[0][0], records[-1][0]
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _lengths(records: Sequence[Record], shown: int = 8) -> str:
    """How long lines are. Their text is never quoted: notes travel where no cell of the data may be shown."""
    lengths = [str(sum(map(len, fields)) + len(fields) - 1) for _, fields in records]
    more = f" and {len(lengths) - shown} more" if len(lengths) > shown else ""
    return f"{', '.join(lengths[:shown])}{more} characters"
