"""Finds what a workbook's XML says and a reader of values hides: formulas without a result, error cells."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from posixpath import normpath
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

# A formula cell whose <v> is missing or empty was written by a library that does not compute; with t="str" the empty
# <v> is a result, the empty text.
UNCOMPUTED = re.compile(
    rb'<c r="([A-Z]+[0-9]+)"(?:(?!\st="str")[^>])*>\s*<f[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>'
)
ERRORS = re.compile(rb'<c r="([A-Z]+\d+)"[^>]*\st="e"')
STYLED = re.compile(rb'<c r="([A-Z]+)\d+"([^>]*)>\s*(?:<f[^>]*(?:/>|>[^<]*</f>)\s*)?<v>[^<]')
OTHER_TYPE = re.compile(rb'\st="(?!n")')
STYLE = re.compile(rb'\ss="(\d+)"')
PERCENT = re.compile(r'^(?:[^"%]|"[^"]*")*%')
"""A % in a format that is not quoted."""
PERCENT_FORMATS: set[str | None] = {"9", "10"}
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


@dataclass(frozen=True)
class HiddenCells:
    """Addresses of the cells that would silently read as missing."""

    uncomputed: list[str]
    errors: list[str]
    percent: dict[str, int]
    """Columns with numbers that are shown as percentages, and how many."""


def find_hidden_cells(path: Path, sheet: str) -> HiddenCells:
    """The cells of one sheet of an .xlsx file; of all sheets where its file cannot be told. None in other formats."""
    try:
        with ZipFile(path) as archive:
            contents = [archive.read(member) for member in _members(archive, sheet)]
            styles = _percent_styles(archive)
    except BadZipFile:
        return HiddenCells([], [], {})  # an .xls file
    return HiddenCells(
        [found.decode() for content in contents for found in UNCOMPUTED.findall(content)],
        [found.decode() for content in contents for found in ERRORS.findall(content)],
        _percent(contents, styles),
    )


def _percent_styles(archive: ZipFile) -> set[bytes]:
    """The numbers of the cell styles that show a number as a percentage."""
    try:
        styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
    except (KeyError, ElementTree.ParseError):
        return set()
    formats = {
        each.get("numFmtId") for each in styles.iter(f"{MAIN}numFmt") if PERCENT.search(each.get("formatCode", ""))
    }
    used = styles.find(f"{MAIN}cellXfs")
    found = [] if used is None else list(used)
    return {str(i).encode() for i, each in enumerate(found) if each.get("numFmtId") in formats | PERCENT_FORMATS}


def _percent(contents: list[bytes], styles: set[bytes]) -> dict[str, int]:
    columns = (
        column.decode()
        for content in contents
        if styles
        for column, cell in STYLED.findall(content)
        if (style := STYLE.search(cell)) and style[1] in styles and not OTHER_TYPE.search(cell)
    )
    return dict(sorted(Counter(columns).items(), key=lambda each: (len(each[0]), each[0])))


def _members(archive: ZipFile, sheet: str) -> list[str]:
    names = set(archive.namelist())
    every = sorted(name for name in names if re.fullmatch(r"xl/worksheets/[^/]+\.xml", name))
    try:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return every
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    for element in book.iter():
        if element.tag.endswith("}sheet") and element.get("name") == sheet:
            target = targets.get(element.get(RELATION), "")
            member = target.lstrip("/") if target.startswith("/") else normpath(f"xl/{target}")
            return [member] if member in names else every
    return every
