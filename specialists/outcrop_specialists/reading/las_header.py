"""The sections of a LAS file (Canadian Well Logging Society, LAS 1.2, 2.0 and 3.0) and the lines of its header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from outcrop_specialists.reading.header import Record

COLONS = (r"(?:(?<=\s)|^):", r":(?=\s|$)", r":")
"""What parts value and description: the last colon behind a blank; else the first before one; else the last."""
TWO_DOTS = re.compile(r"^([^:]*?\.)\.(?=\S)")
FORMAT = re.compile(r"\{\s*([^{}]*?)\s*\}")
INDEX = re.compile(r"\s*\[\s*([0-9]+)\s*\]\s*$")
INDEX_SUFFIX = re.compile(r"_[0-9]+$")
KINDS = {"VERSION": "version", "WELL": "well", "CURVE": "curve", "PARAMETER": "parameter", "ASCII": "data"}
"""In LAS 1.2 and 2.0 the first letter of a section says what it is; of a longer word three, as in ~Cur, ~Par."""
NEVER_SWAPPED = frozenset({"STRT", "STOP", "STEP", "NULL"})


@dataclass(frozen=True)
class Item:
    """One line of a header: `GR.GAPI 40 : Gamma ray {F}`."""

    line: int
    mnemonic: str
    unit: str
    value: str
    description: str
    format: str = ""


@dataclass
class Section:
    """A section as it stands in the file. `kind` is version, well, curve (a definition of columns), parameter, data
    or other; `name` tells apart the data of LAS 3.0 (Log, Core, Lithology); `definition` names the section with its
    columns.
    """

    line: int
    title: str
    kind: str
    name: str
    definition: str = ""
    lines: list[tuple[int, str]] = field(default_factory=list)


def sections_of(text: str) -> list[Section]:
    """The sections; lines above the first are left out, lines of data keep their comments for quoted text's sake."""
    found: list[Section] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("~"):
            found.append(_section(number, line.strip()))
        elif found:
            found[-1].lines.append((number, line))
    return found


def items_of(sections: Iterable[Section], version: float | None = None) -> list[Item]:
    """The lines of header sections. In LAS 1.2 value and description of a well line stand the other way round."""
    found = []
    for section in sections:
        for number, line in section.lines:
            text = line.strip()
            if text and not text.startswith("#"):
                found.append(_item(number, text, version is not None and version < 2 and section.kind == "well"))
    return found


def value_of(items: Sequence[Item], mnemonic: str) -> str:
    """The value of a header line, empty where there is none."""
    return next((item.value or item.unit for item in items if item.mnemonic.upper() == mnemonic), "")


def number_of(text: str) -> float | None:
    """The number at the beginning of a text: `-999.25`, `2.0`, `0.1524 m`."""
    match = re.match(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?:\s|$)", text.replace(",", "."))
    return float(match[1]) if match else None


def definition_of(section: Section, sections: Sequence[Section]) -> Section | None:
    """The section that defines the columns of one with data: `~Core_Data | Core_Definition`, else one of its name.

    Of several the nearest above, as every log of a file may come with its own.
    """
    wanted = [_section(0, f"~{section.definition}").name] if section.definition else []
    for name in (*wanted, section.name, INDEX_SUFFIX.sub("", section.name)):
        found = [each for each in sections if each.kind == "curve" and each.name.casefold() == name.casefold()]
        above = [each for each in found if each.line < section.line]
        if found:
            return above[-1] if above else found[0]
    return None


def records_of_data(section: Section) -> list[Record]:
    """Lines of data as they are, without blank ones and, outside quotes, comments."""
    found: list[Record] = []
    is_open = False
    for number, line in section.lines:
        if not is_open and (not line.strip() or line.lstrip().startswith("#")):
            continue
        if is_open:
            found[-1][1][0] += "\n" + line
        else:
            found.append((number, [line]))
        is_open ^= line.count('"') % 2 == 1
    return found


def _section(number: int, line: str) -> Section:
    head, _, association = line[1:].partition("|")
    word = head.strip().split()[0] if head.strip() else ""
    base, _, ending = word.rpartition("_")
    ending = INDEX.sub("", ending).casefold()
    bare, index = INDEX.sub("", word), INDEX.search(head.strip())
    suffix = f"_{index[1]}" if index else ""
    if base and ending in ("data", "definition", "parameter"):
        kind = {"data": "data", "definition": "curve", "parameter": "parameter"}[ending]
        return Section(number, line, kind, base + suffix, association.strip())
    if association.strip():
        name = "Log" if KINDS.get(bare.upper()) == "data" or bare.upper() == "A" else bare
        return Section(number, line, "data", name + suffix, association.strip())
    kind = next(
        (kind for full, kind in KINDS.items() if word and word[:3].upper() == full[: min(3, len(word))]), "other"
    )
    name = "Log" if kind in ("curve", "data") else word
    return Section(number, line, kind, name + suffix, association.strip())


def _item(number: int, text: str, is_swapped: bool) -> Item:
    dotted = TWO_DOTS.match(text)
    mnemonic, dot, rest = (dotted[1], ".", text[dotted.end() :]) if dotted else text.partition(".")
    if not dot:
        mnemonic, _, rest = text.partition(":")
        return Item(number, mnemonic.strip(), "", "", rest.strip())
    data, description = _parted(rest)
    unit = re.match(r"\S*", data)
    assert unit is not None
    value = data[unit.end() :].strip()
    description = description.partition("|")[0].strip()
    found = FORMAT.search(description)
    if found:
        description = description.replace(found[0], "").strip()
    if is_swapped and mnemonic.strip().upper() not in NEVER_SWAPPED and description:
        value, description = description, value
    return Item(number, mnemonic.strip(), unit[0], value, description, found[1] if found else "")


def _parted(text: str) -> tuple[str, str]:
    """The part of a header line before the colon and the one behind it. Times hold colons, descriptions do too."""
    behind, before, any_colon = ([match.start() for match in re.finditer(each, text)] for each in COLONS)
    at = behind[-1] if behind else before[0] if before else any_colon[-1] if any_colon else len(text)
    return text[:at], text[at + 1 :]
