"""Finds the blocks of a sheet or a text: tables, lines of keys and values, single lines, parted by blank lines or by a
new header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.header import Record, fill, is_number
from outcrop_specialists.reading.several import Kind
from outcrop_specialists.reading.types import NULL_AMONG_NUMBERS

MEASURED = re.compile(
    r"^\s*[<>≤≥~]?\s*[+-]?(?:[0-9][0-9.,' ]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?\s*%?\s*$"
    r"|^\s*[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}(?:[T ].*)?$|^\s*[0-9]{1,2}:[0-9]{2}"
)
"""A number in any spelling, one beyond a limit, a date or a time."""
KEY = re.compile(r"^\s*[#;*]?\s*\S.*[:=]\s*$")
SAID = re.compile(r"^[#;*\s]*[^:]{1,40}:\s+\S")
HEADER_FILL = 0.6
MOSTLY = 0.6
LONGEST_TITLE = 60
TITLE = re.compile(r"^[\s\[#$*=~\-]*(?:(?:table|sheet|section|block)\s*:)?\s*(.*?)[\s\]*=:\-]*$", re.IGNORECASE)
WIDEST_WORDS = 3
"""A table of so few columns without a number is a legend."""
FEWEST_WORD_ROWS = 4
LONGEST_KEYS = 30
MOST_FACTS = 60
MOST_FACT_CHARS = 200


@dataclass
class Block:
    """Records that belong together. `title` is the line above a table, `kind` what it is; a table begins with its
    header. `above` counts the lines of titles, keys and values above it.
    """

    records: list[Record]
    kind: Kind
    title: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    above: int = 0

    @property
    def line(self) -> int:
        return self.records[0][0]


def find_blocks(records: Iterable[Record]) -> list[Block]:
    """The tables among the records, each with the title and the keys and values above it."""
    tables: list[Block] = []
    title, facts, used = "", dict[str, str](), 0
    for segment in _segments(records):
        for piece in _pieces(segment):
            above, rows = _split_title(piece)
            is_table = _is_header(rows) and not _is_keys(rows)
            may_continue = tables and not above and not (is_table and _contrasts(rows))
            if may_continue and rows and _continues(tables[-1], rows):
                tables[-1].records += rows
            elif is_table:
                used += len(piece) - len(rows)
                tables.append(Block(rows, kind_of(rows), above or title, facts, used))
                title, facts, used = "", dict(facts), 0
            else:
                title, said = above if not rows else "", facts_of(piece) if len(piece) <= LONGEST_KEYS else {}
                facts |= said
                used += len(piece) if title or said else 0
    for table, below in pairwise(tables):
        if _width(table) == 2 < _width(below) and len(table.records) <= LONGEST_KEYS:
            table.kind = "side"  # as likely keys and values that belong to what is below
            below.facts = {**facts_of(table.records), **below.facts}
    return [_trimmed(table) for table in tables]


def refuse_table_above(file: str, above: Sequence[Record]) -> None:
    """Raises DataError where the lines above what was taken for a header are a table of their own."""
    for block in find_blocks(above):
        if block.kind == "data" and _width(block) > 2:
            raise DataError(
                f"{file}: lines {block.line} to {block.records[-1][0]} look like another table above the header; split "
                "the file"
            )


def kind_of(records: Sequence[Record]) -> Kind:
    """What a block of a sheet or text is. One column of text is words, too."""
    filled = [fields for _, fields in records if fill(fields)]
    if len(filled) < 2:
        return "none"
    if _is_keys(records):
        return "side"
    rows = filled[1:]
    if any(_is_measured(cell) for fields in rows for cell in fields):
        return "data"
    widths = set(map(_extent, filled))
    return "data" if min(widths) > WIDEST_WORDS and len(widths) == 1 and len(filled) >= FEWEST_WORD_ROWS else "side"


def names_of(blocks: Sequence[Block]) -> list[str]:
    """A name for each: its title where it is its alone, else its number."""
    titles = [block.title for block in blocks]
    return [
        title if title and titles.count(title) == 1 and not title.isdecimal() else str(number)
        for number, title in enumerate(titles, start=1)
    ]


def facts_of(records: Iterable[Record]) -> dict[str, str]:
    """The keys and values that lines above a table give: `Client: ABC`, `# UWI, P-135`, `from:, 1 May, to:, 2 May`."""
    found: dict[str, str] = {}
    for _, fields in records:
        cells = [cell.strip() for cell in fields if cell.strip()]
        cells = cells[1:] if cells and re.fullmatch(r"[#;*]+", cells[0]) else cells
        if cells and (len(cells) == 1 or SAID.match(cells[0])):
            line = " ".join(cells).lstrip("#;* ")
            key, separator, value = line.partition(":" if ":" in line else "=")
            cells = [key, value.strip()] if separator and value.strip() and len(key) < LONGEST_TITLE else []
        if len(cells) > 2 and not all(KEY.match(cell) for cell in cells[::2]):
            continue
        for key, value in zip(cells[::2], cells[1::2], strict=False):
            key = key.lstrip("#;* ").rstrip(" :=")
            if key and not is_number(key) and len(found) < MOST_FACTS:
                found.setdefault(key[:LONGEST_TITLE], value[:MOST_FACT_CHARS])
    return found


def _width(block: Block) -> int:
    return max(_extent(fields) for _, fields in block.records)


def _segments(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Lines without a blank one between; a line of names that a blank line parts from its rows is joined to them."""
    names: list[Record] = []
    for is_filled, group in groupby(records, key=lambda record: any(cell.strip() for cell in record[1])):
        if not is_filled:
            continue
        found = list(group)
        if names and _extent(found[0][1]) != _extent(names[0][1]):
            yield names
            names = []
        if not names and len(found) == 1 and _may_be_names(found[0]):
            names = found
            continue
        yield names + found
        names = []
    if names:
        yield names


def _trimmed(block: Block) -> Block:
    """Without the empty fields behind the last column, of which the lines of a text often have as many as the widest
    of its tables needs.
    """
    extent = _width(block)
    block.records = [(line, fields[:extent]) for line, fields in block.records]
    return block


def _pieces(segment: list[Record]) -> list[list[Record]]:
    """A run of lines without a blank one, parted where a line of another width is a new header, or the same again."""
    pieces: list[list[Record]] = [[]]
    header: list[str] = []
    for index, (line, fields) in enumerate(segment):
        current = pieces[-1]
        if len(current) > 1 and header and _begins_table(segment[index : index + 3], header):
            # A single cell above a new header is its title.
            pieces.append([current.pop()] if len(_cells(current[-1][1])) == 1 < len(_cells(header)) else [])
            header = []
        if len(_cells(fields)) > 1 and not header:
            header = fields
        pieces[-1].append((line, fields))
    return pieces


def _begins_table(records: Sequence[Record], header: Sequence[str]) -> bool:
    """Whether a new table begins here: another width and a header of its own, or the header so far once more."""
    if len(records) < 2 or not _is_header(records):
        return False
    fields, below = records[0][1], records[1][1]
    if _cells(fields) == _cells(header):
        return True
    extent = _extent(fields)
    return extent not in (_extent(header), 1) and _extent(below) == extent and _contrasts(records)


def _split_title(piece: list[Record]) -> tuple[str, list[Record]]:
    """The title above a table and the table: single cells above its header."""
    start = 0
    while (
        start < len(piece) - 1
        and len(_cells(piece[start][1])) == 1
        and max((_extent(fields) for _, fields in piece[start + 1 :]), default=1) > 1
    ):
        start += 1
    if not start:
        return (_title(piece), []) if len(piece) == 1 and len(_cells(piece[0][1])) == 1 else ("", piece)
    return _title(piece[start - 1 : start]), piece[start:]


def _title(records: list[Record]) -> str:
    cell = _cells(records[0][1])[0]
    match = TITLE.match(cell)
    title = match[1].strip() if match else ""
    return title if 0 < len(title) <= LONGEST_TITLE and "\n" not in title else ""


def _is_header(records: Sequence[Record]) -> bool:
    """Whether the first line names what stands below it: words, all different, nearly one for each column."""
    if len(records) < 2:
        return False
    if not _may_be_names(records[0]):
        return False
    names = _cells(records[0][1])
    is_varied = len({name.casefold() for name in names}) >= HEADER_FILL * len(names)
    return is_varied and len(names) >= HEADER_FILL * max(_extent(fields) for _, fields in records)


def _may_be_names(record: Record) -> bool:
    """Whether a line has two words or more, no number among them and no key first."""
    cells = _cells(record[1])
    return len(cells) > 1 and not any(map(_is_measured, cells)) and not KEY.match(cells[0])


def _contrasts(records: Sequence[Record]) -> bool:
    """Whether a column of numbers or dates stands below words."""
    (_, header), *rows = records
    for index in range(len(header)):
        below = [fields[index].strip() for _, fields in rows if index < len(fields) and fields[index].strip()]
        below = [cell for cell in below if cell not in NULL_AMONG_NUMBERS]
        measured = sum(map(_is_measured, below))
        if header[index].strip() and not _is_measured(header[index]) and measured > MOSTLY * len(below):
            return True
    return False


def _is_keys(records: Sequence[Record]) -> bool:
    """Whether most lines are a key and its value."""
    filled = [_cells(fields) for _, fields in records if fill(fields)]
    marked = sum(bool(KEY.match(cells[0])) or cells[0] in ("#", "##") for cells in filled)
    if marked > len(filled) / 2:
        return True
    if len(filled) < 2 or any(len(cells) > 2 for cells in filled):
        return False
    values = [cells[1] for cells in filled[1:] if len(cells) == 2]
    measured = sum(map(_is_measured, values))
    keys = [cells[0] for cells in filled]
    return 0 < measured < len(values) and len(set(keys)) == len(keys) and not any(map(_is_measured, keys))


def _continues(table: Block, piece: Sequence[Record]) -> bool:
    """Whether the lines are further rows of a table: as wide, and with numbers where it has numbers."""
    header = table.records[0][1]
    sample = table.records[1:50]
    for _, fields in piece:
        if _extent(fields) > _extent(header) or _cells(fields) == _cells(header):
            return False
    numeric = [
        index
        for index in range(len(header))
        if (cells := [fields[index] for _, fields in sample if index < len(fields) and fields[index].strip()])
        and all(map(_is_measured, cells))
    ]
    if not numeric:
        return len(_cells(piece[0][1])) >= HEADER_FILL * len(_cells(header))
    return any(index < len(fields) and _is_measured(fields[index]) for _, fields in piece for index in numeric)


def _is_measured(cell: str) -> bool:
    return MEASURED.match(cell) is not None


def _cells(fields: Sequence[str]) -> list[str]:
    return [cell.strip() for cell in fields if cell.strip()]


def _extent(fields: Sequence[str]) -> int:
    for index in range(len(fields), 0, -1):
        if fields[index - 1].strip():
            return index
    return 0
