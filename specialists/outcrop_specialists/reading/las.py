"""Reads well logs in the LAS format (Canadian Well Logging Society, 1.2, 2.0 wrapped or not, 3.0) as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.las_checks import index_notes, suspect_fill_values
from outcrop_specialists.reading.las_columns import is_date_format, null_note, typed_columns
from outcrop_specialists.reading.las_data import Declared, split_data
from outcrop_specialists.reading.las_header import (
    Item,
    Section,
    definition_of,
    items_of,
    number_of,
    records_of_data,
    sections_of,
    value_of,
)
from outcrop_specialists.reading.several import Candidate
from outcrop_specialists.reading.tables import Table

FIRST_SECTION = re.compile(r"(?:\s*(?:#[^\n]*)?\n)*[ \t]*~[A-Za-z]")
ANY_SECTION = re.compile(r"^[ \t]*~[A-Za-z]", re.MULTILINE)
MAIN = "Log"
MOST_FACTS = 100


def is_las(path: Path, text: str) -> bool:
    """Whether the first line that is no comment begins a section; in a .las file any line."""
    if path.suffix.lower() == ".las" and ANY_SECTION.search(text[:20_000]):
        return True
    return FIRST_SECTION.match(text[:20_000]) is not None and "VERS" in text[:20_000].upper()


def las_tables(path: Path, text: str, notes: list[str]) -> list[Candidate]:
    """The sections of data; in LAS 3.0 the log is taken where no other is named. Raises DataError where none is."""
    sections = sections_of(text)
    version = number_of(value_of(items_of(each for each in sections if each.kind == "version"), "VERS"))
    data = [(each, records) for each in sections if each.kind == "data" and (records := records_of_data(each))]
    if not data:
        _refuse_without_data(path, sections, next((each for each in sections if each.kind == "curve"), None))
    names = [each.name for each, _ in data]
    found = []
    for number, (section, records) in enumerate(data, start=1):
        name = section.name if names.count(section.name) == 1 else f"{section.name}_{number}"
        definition = definition_of(section, sections)
        is_side = MAIN in names and section.name != MAIN
        read = partial(_read, path, sections, section, records, definition, version, notes)
        found.append(Candidate(name, "side" if is_side else "data", len(records), read, what="section"))
    return found


def _read(
    path: Path,
    sections: Sequence[Section],
    section: Section,
    records: list[tuple[int, list[str]]],
    definition: Section | None,
    version: float | None,
    notes: Sequence[str],
) -> Table:
    import polars as pl

    told = [*notes] if version else [*notes, "CHECK: the header does not say which version of LAS this is"]
    about = items_of(each for each in sections if each.kind == "version")
    well = items_of((each for each in sections if each.kind == "well"), version)
    curves = items_of([definition]) if definition else []
    declared = Declared(value_of(about, "WRAP").upper().startswith("Y"), value_of(about, "DLM").upper())
    curves, texts = split_data(path.name, section, records, curves, declared, told)
    null = number_of(value_of(well, "NULL"))
    typed, nulls = typed_columns(curves, texts, null, is_strict=(version or 0) >= 3)
    if null is not None and nulls:
        told.append(null_note(null, nulls))
    if section.name == MAIN:
        told += index_notes(typed.columns[0], curves[0], well, null)
    suspect_fill_values(typed)
    units = {curve.mnemonic: curve.unit for curve in curves if curve.unit and not is_date_format(curve.unit)}
    parameters = items_of(_own_parameters(section, sections))
    return Table(
        path,
        pl.DataFrame(typed.columns),
        (*told, *typed.notes()),
        units,
        typed.qualifiers,
        header=_facts([*about, *well, *parameters], null),
    )


def _own_parameters(section: Section, sections: Sequence[Section]) -> list[Section]:
    """The parameters between a section of data and the one above it; all where none are there."""
    after = max((each.line for each in sections if each.kind == "data" and each.line < section.line), default=0)
    every = [each for each in sections if each.kind == "parameter"]
    return [each for each in every if after < each.line < section.line] or every


def _facts(items: Sequence[Item], null: float | None) -> dict[str, str]:
    """What the header says, by mnemonic, with units; without what is empty or null."""
    found: dict[str, str] = {}
    for item in items:
        is_null = null is not None and item.mnemonic.upper() != "NULL" and number_of(item.value) == null
        if item.mnemonic and item.value and not is_null and len(found) < MOST_FACTS:
            found.setdefault(item.mnemonic, f"{item.value} {item.unit}".strip())
    return found


def _refuse_without_data(path: Path, sections: Sequence[Section], definition: Section | None) -> None:
    """Say that the marker of the data is missing, and where it probably belongs. Raises DataError."""
    width = len(items_of([definition])) if definition else 0
    for section in sections:
        for number, line in section.lines:
            words = line.split()
            if len(words) == width > 0 and all(number_of(word) is not None for word in words):
                raise DataError(
                    f"{path.name}: has no ~A section with data, but line {number}, in {section.title.split()[0]!r}, "
                    f"holds {width} numbers, as many as there are curves; if the data begin there, put a line ~A above"
                )
    raise DataError(f"{path.name}: is a LAS well log without a section of data (~A); there is nothing to read")
