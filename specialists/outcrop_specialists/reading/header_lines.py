"""Reads the further lines of a header: units, a second line of names, methods, detection limits, format codes.

A second line of names stands below group names (`Interval` over `From` and `To`) or continues names; a column keeps
the nearest name, and where two columns would be called alike what stands above or below tells them apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outcrop_specialists.columns.censored import BEFORE, WORD
from outcrop_specialists.columns.chemistry import is_oxide, symbol_of
from outcrop_specialists.columns.units import is_doubtful_unit, is_unit, split_unit
from outcrop_specialists.reading.limit_rows import is_limit_label, is_upper, limits_of
from outcrop_specialists.reading.types import NULL_AMONG_NUMBERS, NUMBER

if TYPE_CHECKING:
    from outcrop_specialists.reading.header import Head, Record

MOST_LINES = 6
MOSTLY = 0.5
ALIKE_LIMITS = 0.8
MADE_UP = re.compile(r"^Unnamed: [0-9]+$")
"""What pandas calls a column without a name."""
RDB_FORMAT = re.compile(r"^[0-9]+[sdnx]$")
UNIT_LABEL = re.compile(r"^(?:units?|uom|einheit(?:en)?|unit[ée]s?|eenheid)\b", re.IGNORECASE)
METHOD_LABEL = re.compile(r"^(?:(?:analytical |lab )?methods?|method code|analyte|procedure|scheme)\b", re.IGNORECASE)


def take_header_lines(head: Head, notes: list[str]) -> None:
    """Take further lines of the header off the rows of the sample, into names and units; every one is noted."""
    for _ in range(MOST_LINES):
        below = [record for record in head.rest if _filled(record[1])]
        if len(below) < 2:
            return
        line, cells = below[0][0], [cell.strip() for cell in below[0][1]]
        cells += [""] * (len(head.names) - len(cells))
        rows = [fields for _, fields in below[1:] if any(is_number(cell) for cell in fields)] or [
            fields for _, fields in below[1:]
        ]
        told = _take(head, line, cells[: len(head.names)], rows)
        if told is None:
            return
        notes.append(told)
        head.lines.append(below[0][1])
        head.rest = [record for record in head.rest if record[0] > line]


def take_groups(head: Head, above: Record, notes: list[str]) -> None:
    """Use a line of group names directly above the names: for names that are missing or double, and for units."""
    groups = ["" if MADE_UP.match(cell.strip()) else cell.strip() for cell in above[1]]
    if (
        len(groups) != len(head.names)
        or _filled(groups) < 2
        or any(map(is_number, groups))
        or groups[0].startswith("#")
    ):
        return
    names = [name.strip() for name in head.names]
    spread = _spread(groups, names)
    count = Counter(name for name in names if name)
    head.names = [
        group if not name else f"{name} ({over})" if count[name] > 1 and over and over != name else name
        for name, group, over in zip(names, groups, spread, strict=True)
    ]
    for index, over in enumerate(spread):
        unit = split_unit(over)[1] if over else None
        if unit and split_unit(names[index])[1] is None and index not in head.units:
            head.units[index] = unit
    notes.append(f"line {above[0]} above the names holds names of groups of columns")


def is_number(text: str) -> bool:
    return re.match(NUMBER, text.strip()) is not None


def stands_for_number(cell: str) -> bool:
    return cell in NULL_AMONG_NUMBERS or re.match(BEFORE, cell) is not None or re.match(WORD, cell) is not None


def _take(head: Head, line: int, cells: list[str], rows: list[list[str]]) -> str | None:
    """What the line is, taken into the head; None for a row of data."""
    if all(RDB_FORMAT.match(cell) for cell in cells):
        return f"line {line} below the header holds format codes and was skipped"
    labels = [cell for cell in cells[:2] if cell]
    numeric = [index for index in range(len(cells)) if _is_numeric(rows, index)]
    if is_limit_label(cells, rows) or _are_limits(cells, rows):
        if not is_upper(cells):
            head.limits.update(limits_of(cells))
        return f"line {line} below the header holds detection limits of {len(limits_of(cells))} columns and is no row"
    if any(map(is_number, cells)):
        return None
    words = [index for index in numeric if cells[index] and not stands_for_number(cells[index])]
    if _are_units(cells, words, is_labelled=any(UNIT_LABEL.match(label) for label in labels)):
        head.units.update({index: cell for index, cell in enumerate(cells) if cell and is_unit(cell)})
        return f"line {line} below the header holds the units of {sum(map(is_unit, filter(None, cells)))} columns"
    if any(METHOD_LABEL.match(label) for label in labels) and words:
        _tell_apart(head, cells)
        return f"line {line} below the header holds methods and was used only to tell double names apart"
    if (
        len(words) >= 2
        and len(words) >= MOSTLY * len(numeric)
        and (_continues(cells, words) or _names_under_groups(head.names, cells, rows))
    ):
        return _join(head, line, cells, words)
    return None


def _are_units(cells: Sequence[str], words: Sequence[int], *, is_labelled: bool) -> bool:
    units = [index for index in words if is_unit(cells[index])]
    if is_labelled:
        return len(units) > MOSTLY * len(words) or (not words and any(is_unit(cell) for cell in cells[1:] if cell))
    is_doubtful = all(is_doubtful_unit(cells[index]) for index in words) and (len(words) == 1 or bool(cells[0]))
    return bool(words) and len(units) == len(words) and not is_doubtful


def _are_limits(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """A line without an identifier whose numbers are the limits of the results below it."""
    if cells[0] or sum(map(is_number, cells)) < 2 or any(not _cell(fields, 0) for fields in rows):
        return False
    agree = known = 0
    for index, cell in enumerate(cells):
        if not is_number(cell):
            continue
        matches = (re.match(BEFORE, _cell(fields, index)) for fields in rows)
        limits = {float(found["number"].replace(",", ".")) for found in matches if found and "<" in found["sign"]}
        known += bool(limits)
        agree += float(cell) in limits
    return known >= 2 and agree >= ALIKE_LIMITS * known


def _continues(cells: Sequence[str], words: Sequence[int]) -> bool:
    """A row of data has its identifier first and remarks such as n.m.; a line of the header lacks it or has units,
    or names elements."""
    chemical = sum(_is_chemical(cells[index]) for index in words)
    has_units = any(_is_sure_unit(cells[index]) for index in words)
    return not cells[0] or has_units or chemical > MOSTLY * len(words)


def _names_under_groups(upper: Sequence[str], cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a line names each column below group names that stand over several: names that tell the columns of a
    group apart, and are no values of them."""
    names = [name.strip() for name in upper]
    repeated = sum(names.count(name) > 1 for name in names if name)
    if repeated < 2 or repeated <= MOSTLY * len(names) or not all(cells) or len(set(cells)) < len(cells):
        return False
    return not any(cell.strip() in cells for fields in rows for cell in fields)


def _join(head: Head, line: int, cells: list[str], words: list[int]) -> str:
    """Join a second line of names with the first. Units among its cells become units."""
    upper = [name.strip() for name in head.names]
    sure = [index for index in words if _is_sure_unit(cells[index])]
    has_units = len(sure) >= MOSTLY * sum(not _is_chemical(cells[index]) for index in words) > 0
    is_unit_cell = [
        bool(cell) and ((has_units and is_unit(cell)) or (bool(above) and _is_sure_unit(cell)))
        for cell, above in zip(cells, upper, strict=True)
    ]
    is_name = [bool(cell) and not unit for cell, unit in zip(cells, is_unit_cell, strict=True)]
    head.units.update({index: cell for index, cell in enumerate(cells) if is_unit_cell[index]})
    over = _spread(upper, [cell if is_name[index] else "" for index, cell in enumerate(cells)])
    singles = [i for i in range(len(cells)) if is_name[i] and upper[i] and not _is_group(upper, is_name, i)]
    # An element below a method or a laboratory is the name; other words below single names go on from them.
    renamed = [i for i in singles if _is_chemical(cells[i]) and not _is_chemical(upper[i])]
    named = sum(is_name)
    units = f", and units of {sum(is_unit_cell)} columns" if any(is_unit_cell) else ""
    if len(singles) - len(renamed) > MOSTLY * named:
        _tell_apart(head, [cell if is_name[index] else "" for index, cell in enumerate(cells)])
        used = "used only to tell double ones apart"
        return f"line {line} below the header holds a second name of {named} columns{units}, {used}"
    joined = []
    for index, cell in enumerate(cells):
        if not is_name[index]:
            joined.append(upper[index])
        else:
            joined.append(f"{upper[index]} {cell}" if index in singles and index not in renamed else cell)
    count = Counter(joined)
    head.names = [
        f"{name} ({over[index]})" if count[name] > 1 and over[index] not in ("", name) else name
        for index, name in enumerate(joined)
    ]
    for index, group in enumerate(over):
        unit = split_unit(group)[1]
        if unit and index not in head.units and split_unit(joined[index])[1] is None:
            head.units[index] = unit
    return f"line {line} is a second line of the header: {named} names from it, below groups or blanks{units}"


def _is_sure_unit(cell: str) -> bool:
    """Whether a word is a unit and nothing else: `S`, `K` and `Mg` are elements as well."""
    return is_unit(cell) and not is_doubtful_unit(cell) and symbol_of(cell) != cell


def _spread(groups: Sequence[str], names: Sequence[str]) -> list[str]:
    """For each column with a name the group over it: the nearest to the left, if all columns between have names."""
    found, current = [], ""
    for group, name in zip(groups, names, strict=True):
        current = group or (current if name else "")
        found.append(current if name else "")
    return found


def _is_group(upper: Sequence[str], is_name: Sequence[bool], index: int) -> bool:
    """Whether the upper name also stands over the column to the right or, repeated, to the left."""
    following = index + 1
    if following < len(upper) and is_name[following] and upper[following] in ("", upper[index]):
        return True
    return index > 0 and is_name[index - 1] and upper[index - 1] == upper[index]


def _tell_apart(head: Head, others: Sequence[str]) -> None:
    count = Counter(name.strip() for name in head.names)
    head.names = [
        f"{name.strip()} ({other})" if count[name.strip()] > 1 and other and other != name.strip() else name
        for name, other in zip(head.names, others, strict=True)
    ]


def _is_numeric(rows: Sequence[Sequence[str]], index: int) -> bool:
    values = [value for fields in rows if (value := _cell(fields, index)) and value not in NULL_AMONG_NUMBERS]
    return (
        bool(values)
        and all(is_number(value) or stands_for_number(value) for value in values)
        and any(map(is_number, values))
    )


def _cell(fields: Sequence[str], index: int) -> str:
    return fields[index].strip() if index < len(fields) else ""


def _is_chemical(text: str) -> bool:
    word = re.split(r"[\s_(]", text, maxsplit=1)[0]
    return symbol_of(word) is not None or is_oxide(word)


def _filled(fields: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in fields)
