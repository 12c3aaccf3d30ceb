"""The lines of a text with the headings under which they stand: a title of a list, the names of a table's columns.

`Mean values (ppm):` is what the figures below it are of, and so is the first row of a table. What needs no heading to
be understood (a sentence) has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from outcrop_specialists.context.fact_signs import is_unit
from outcrop_specialists.context.fact_words import sentences

HEADING_CHARS = 200
_LABEL_CHARS, _SHORT_CHARS = 100, 60
_TITLE = re.compile(r"#{1,6}\s+\S|.*[^\s:][*_]{0,2}[:：][*_]{0,2}$")
_ITEM = re.compile(r"(?:[-*+•–]|\d{1,3}[.)]|[a-z]\))\s+\S")
_RULE = re.compile(r"\|?[\s:|+=-]*-{2,}[\s:|+=-]*\|?$")
_FIGURE = re.compile(r"\d")
_FIGURE_CELL = re.compile(r"\s*\"?[<>≤≥~≈]?\s*[-+−]?\d[\d.,'’ ]*(?:[eE][-+]?\d+)?\s*%?\"?\s*")
_CELL_CHARS, _CELL_WORDS = 40, 5
_BLANKS, _GAP = "  ", re.compile(r"\s{2,}")
_DELIMITERS = ("|", "\t", ";", ",", _BLANKS)
_LETTERS = re.compile(r"[^\W\d_]{2,}")
# A line of figures with nothing but units and names of months does not say of what they are.
_MONTH = re.compile(r"(?:jan|feb|mar|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])", re.IGNORECASE)


def pieces(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every sentence and line, in their order, each with the headings that belong to it (the outermost first)."""
    lines = [line for line in text.splitlines() if line.strip()]
    title = header = label = ""
    delimiter = ""
    for number, raw in enumerate(lines):
        line = raw.strip()
        if header and (_RULE.match(line) or _is_row_of(header, line, delimiter)):
            if not _RULE.match(line):
                yield (title, header) if title else (header,), line
            label = ""
            continue
        header = ""
        if _TITLE.match(line) and len(line) <= HEADING_CHARS and not _is_item_of(line, title):
            title, label = line, ""
            yield (), line
            continue
        if delimiter := _table_begins(line, [each.strip() for each in lines[number + 1 : number + 3]]):
            header = line
            yield (title,) if title else (), line
            continue
        is_item = _ITEM.match(line) is not None or raw[0] in " \t"
        is_short = len(line) <= _SHORT_CHARS and _FIGURE.search(line) is not None and line[-1] not in ".!?;:"
        if title and not is_item and not is_short:
            title = ""
        above = title or (label if _is_bare(line) else "")
        for sentence in [line] if above and is_short else sentences(line):
            yield (above,) if above else (), sentence
        label = line if len(line) <= _LABEL_CHARS and not _is_bare(line) else label if _is_bare(line) else ""


def _is_item_of(line: str, title: str) -> bool:
    """Whether a line that ends like a title is an entry of a list itself."""
    return bool(title) and _ITEM.match(line) is not None and not line.startswith("#")


def _is_bare(line: str) -> bool:
    """Whether a line has figures and does not say of what."""
    return bool(_FIGURE.search(line)) and all(is_unit(word) or _MONTH.match(word) for word in _LETTERS.findall(line))


def _table_begins(line: str, following: list[str]) -> str:
    """The delimiter of a table whose columns this line names; empty where none begins."""
    rows = [each for each in following if not _RULE.match(each)]
    for delimiter in _DELIMITERS if rows else ():
        cells = _cells(line, delimiter)
        if len(cells) < 2 or not _is_row_of(line, rows[0], delimiter):
            continue
        is_ruled = delimiter == "|" and rows[0] != following[0]
        if is_ruled or (_are_names(cells) and any(map(_FIGURE_CELL.fullmatch, _cells(rows[0], delimiter)))):
            return delimiter
    return ""


def _is_row_of(header: str, line: str, delimiter: str) -> bool:
    count, names = len(_cells(line, delimiter)), len(_cells(header, delimiter))
    # Columns that blanks set apart may have names but for the first.
    return count == names or (delimiter == _BLANKS and count == names + 1)


def _cells(line: str, delimiter: str) -> list[str]:
    return _GAP.split(line) if delimiter == _BLANKS else line.split(delimiter)


def _are_names(cells: list[str]) -> bool:
    return all(
        len(cell) <= _CELL_CHARS and cell.count(" ") < _CELL_WORDS and not _FIGURE_CELL.fullmatch(cell)
        for cell in cells
    )
