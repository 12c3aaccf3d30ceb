"""Splits the data lines of a LAS section into one list of texts for each curve, whatever separates them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.aligned import WORDS
from outcrop_specialists.reading.header import Record, is_number
from outcrop_specialists.reading.las_header import Item, Section

DELIMITERS = {"SPACE": " ", "": " ", "COMMA": ",", "TAB": "\t"}
NAMES = {" ": "blanks", ",": "commas", "\t": "tabs"}
SAMPLED = 200
RUN_ON = re.compile(r"(?<=[0-9])-(?=[0-9]|\.[0-9])")
UNIT = re.compile(r"[\[(].*$")


@dataclass(frozen=True)
class Declared:
    """What the header says of the data: whether a row goes over several lines, and the word after DLM."""

    is_wrapped: bool
    delimiter: str


def split_data(
    file: str, section: Section, records: list[Record], curves: list[Item], declared: Declared, notes: list[str]
) -> tuple[list[Item], list[Sequence[str]]]:
    """The curves with names made unique, and the texts of each. Raises DataError where values and curves do not fit."""
    if not curves:
        curves = _curves_of_title(file, section, records)
    width = len(curves)
    if declared.is_wrapped:
        columns = _unwrapped(file, records, width)
        return _unique(curves, notes), columns
    delimiter = _delimiter(records, width, DELIMITERS.get(declared.delimiter, " "))
    if delimiter != DELIMITERS.get(declared.delimiter, " "):
        said = f"DLM says {declared.delimiter}" if declared.delimiter else "the header does not say so"
        notes.append(f"values are separated by {NAMES[delimiter]} ({said})")
    rows = [(line, _split(file, line, fields[0], delimiter)) for line, fields in records]
    widths = {len(fields) for _, fields in rows}
    if widths == {width + 1} and not any(fields[-1] for _, fields in rows):
        notes.append(f"{len(rows)} lines end with a separator, which was dropped")
        rows = [(line, fields[:-1]) for line, fields in rows]
    elif len(widths) == 1 and widths != {width}:
        curves, lacking = _curves_by_title(file, section, curves, widths.pop(), rows[0][0], notes)
        curves = [*curves, *lacking]
        rows = [(line, [*fields, *[""] * len(lacking)]) for line, fields in rows]
    elif widths != {width}:
        rows = _repaired(file, rows, width, notes)
    else:
        _note_other_order(section, curves, notes)
    return _unique(curves, notes), list(zip(*(fields for _, fields in rows), strict=True))


def _unwrapped(file: str, records: list[Record], width: int) -> list[Sequence[str]]:
    """In a wrapped file a row is as many values as there are curves, however the lines are cut."""
    split: Callable[[str], list[str]] = _words if any('"' in fields[0] for _, fields in records) else str.split
    lines = [split(fields[0]) for _, fields in records]
    values = [value for words in lines for value in words]
    if len(values) % width:
        raise DataError(
            f"{file}: the wrapped data hold {len(values)} values, which is no multiple of the {width} curves: the last "
            f"row, in line {records[-1][0]}, has {len(values) % width}; a value lacks or is too much there or above"
        )
    return [values[index::width] for index in range(width)]


def _delimiter(records: list[Record], width: int, declared: str) -> str:
    """The declared one, unless another gives more lines as many values as there are curves."""
    sample = [fields[0] for _, fields in records[:SAMPLED]]

    def fitting(delimiter: str) -> int:
        return sum(_count(text, delimiter) == width for text in sample)

    return max((declared, *(each for each in NAMES if each != declared)), key=fitting)


def _count(text: str, delimiter: str) -> int:
    try:
        return len(_split("", 0, text, delimiter))
    except DataError:
        return 0


def _split(file: str, line: int, text: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return _words(text) if '"' in text else text.split()
    if '"' not in text:
        return [value.strip() for value in text.split(delimiter)]
    try:
        (fields,) = csv.reader(
            text.strip(" ").splitlines(keepends=True), delimiter=delimiter, skipinitialspace=True, strict=True
        )
    except (csv.Error, ValueError) as error:
        raise DataError(f"{file}: line {line} cannot be split into values: {error}") from error
    return [field.strip() for field in fields]


def _words(text: str) -> list[str]:
    return [quoted or bare for quoted, bare in WORDS.findall(text)]


def _title_names(section: Section) -> list[str]:
    """The names that stand behind ~A, without units."""
    words = section.title.partition("|")[0].split()[1:]
    return [UNIT.sub("", word) for word in words]


def _curves_of_title(file: str, section: Section, records: list[Record]) -> list[Item]:
    names = _title_names(section)
    width = _count(records[0][1][0], " ")
    if len(names) != width:
        raise DataError(f"{file}: has no section that names the curves of {section.title.split()[0]!r}; add it")
    return [Item(section.line, name, "", "", "") for name in names]


def _curves_by_title(
    file: str, section: Section, curves: list[Item], width: int, line: int, notes: list[str]
) -> tuple[list[Item], list[Item]]:
    """The curves in the order of the data where the ~A line names them, and those without data."""
    written = _title_names(section)
    names = [name.casefold() for name in written]
    by_name = {curve.mnemonic.casefold(): curve for curve in curves}
    if len(names) != width or len(set(names)) != width or len(by_name) != len(curves):
        raise DataError(
            f"{file}: line {line} has {width} values but the header names {len(curves)} curves, and nothing says which "
            "belong together; correct the curve section or name the columns behind ~A"
        )
    lacking = [curve for name, curve in by_name.items() if name not in names]
    extra = [name for name in written if name.casefold() not in by_name]
    if extra and lacking:
        raise DataError(
            f"{file}: the curve section and the line {section.title.split()[0]!r} name different columns, such as "
            f"{lacking[0].mnemonic!r} and {extra[0]!r}; correct one of the two"
        )
    what = f"no data for {', '.join(repr(curve.mnemonic) for curve in lacking)}" if lacking else "more data than curves"
    notes.append(f"CHECK: {width} values a line for {len(curves)} curves ({what}): placed by the names behind ~A")
    found = [by_name.get(name.casefold(), Item(section.line, name, "", "", "")) for name in written]
    return found, lacking


def _repaired(file: str, rows: list[Record], width: int, notes: list[str]) -> list[Record]:
    """Numbers that run into each other (12.5-999.25) parted; else a file that is wrapped and does not say so."""
    parted = [(line, _part(fields) if len(fields) < width else fields) for line, fields in rows]
    if all(len(fields) == width for _, fields in parted):
        count = sum(fields != other for (_, fields), (_, other) in zip(rows, parted, strict=True))
        notes.append(f"{count} lines had numbers that run into each other before a minus sign: parted there")
        return parted
    values = [value for _, fields in rows for value in fields]
    if len(values) % width == 0 and max(len(fields) for _, fields in rows) < width:
        flat = [values[start : start + width] for start in range(0, len(values), width)]
        if _is_monotone([fields[0] for fields in flat]):
            notes.append("CHECK: WRAP says NO, but rows go over several lines; read as wrapped")
            return [(rows[0][0], fields) for fields in flat]
    line, fields = next((line, fields) for line, fields in rows if len(fields) != width)
    raise DataError(f"{file}: line {line} has {len(fields)} values for {width} curves; correct the line")


def _part(fields: list[str]) -> list[str]:
    return [part for field in fields for part in RUN_ON.sub(" -", field).split()]


def _is_monotone(texts: Sequence[str]) -> bool:
    if not all(map(is_number, texts)):
        return False
    values = list(map(float, texts))
    steps = [after - before for before, after in pairwise(values)]
    return all(step > 0 for step in steps) or all(step < 0 for step in steps)


def _note_other_order(section: Section, curves: Sequence[Item], notes: list[str]) -> None:
    names = [name.casefold() for name in _title_names(section)]
    known = [curve.mnemonic.casefold() for curve in curves]
    if names != known and sorted(names) == sorted(known):
        notes.append("CHECK: the ~A line names the curves in another order than the curve section, which was followed")


def _unique(curves: Sequence[Item], notes: list[str]) -> list[Item]:
    """No two curves of one name, none without."""
    taken = {curve.mnemonic for curve in curves}
    found: list[Item] = []
    double = []
    for position, curve in enumerate(curves, start=1):
        name = curve.mnemonic or f"column_{position}"
        if name in {each.mnemonic for each in found}:
            number = 2
            while f"{name}_{number}" in taken:
                number += 1
            name = f"{name}_{number}"
            taken.add(name)
            double.append(f"curve {position} {curve.mnemonic!r} is now {name!r}")
        found.append(Item(curve.line, name, curve.unit, curve.value, curve.description, curve.format))
    if double:
        more = f" and {len(double) - 8} more" if len(double) > 8 else ""
        notes.append(f"{len(double)} mnemonics stand more than once: {', '.join(double[:8])}{more}")
    return found
