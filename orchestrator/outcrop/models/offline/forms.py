"""Binds what has a form of its own: a formula after "=", "Cu/Ni", "EPSG:28350", "from ppm to %", "from 2 to 6".

A form is looked for only where the tool has an argument of that kind, known by its name and shape in the schema.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from outcrop.models.offline.mentions import Mention, Mentions
from outcrop.models.offline.schema import Property
from outcrop.models.offline.vocabulary import word_set
from outcrop.models.offline.words import PERCENTILE, Word
from outcrop_specialists.columns.units import is_unit

LONGEST_UNIT = 5
WGS_WORDS = word_set("wgs wgs84 longitude latitude lat lon degrees geographic")
_CRS = re.compile(r"\bEPSG\s*[: ]\s*(\d{4,6})\b|\bWGS[\s-]?84\b", re.IGNORECASE)
_UNCLEAR_CRS = re.compile(r"\b(utm|mga|gda|amg|nad|etrs|osgb|lambert|grid|zone)\w*", re.IGNORECASE)
_SOURCE = re.compile(r"\b(?:from|are in|is in|given in|currently)\s+(?:the\s+)?$", re.IGNORECASE)
_ASSIGNED = re.compile(
    r"(?<![\w.`])(?:`(?P<quoted>[^`]+)`|(?P<name>[^\W\d]\w*))\s*(?<![<>=!])=(?!=)\s*(?P<formula>\S.*)$"
)
_FORMULA = re.compile(r"(?:(?:^|\s)(?=[(\w`]))(?P<formula>[(\w`][^=;]*[-+*/][^=;]*)$")
_DRAWN = re.compile(r"^The (?P<noun>\w+) to draw\b")
_MODES = {"above": "above", "over": "above", "exceeding": "above", "below": "below", "under": "below"}
_NOTHING = word_set("nothing missing null blank empty nan none na")
_ARITHMETIC = frozenset("+-*/()")


@dataclass
class Forms:
    """Arguments bound from forms, the places used, and why a form cannot be kept."""

    arguments: dict[str, Any] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)


def text_forms(clause: str, words: Sequence[Word], properties: Sequence[Property], asked: Collection[int]) -> Forms:
    """What is read before columns are looked for: formulas, reference systems, the hole to draw."""
    forms, known = Forms(), {prop.name: prop for prop in properties}
    if "expression" in known and "operator" not in known:
        _formula(clause, words, known, asked, forms)
    systems = [prop for prop in properties if prop.name.endswith("_crs")]
    if systems:
        _systems(clause, words, {prop.name for prop in systems}, forms)
    for prop in properties:
        if noun := _DRAWN.match(prop.description):
            _drawn(clause, words, prop, noun["noun"], forms)
    return forms


def column_forms(words: Sequence[Word], properties: Sequence[Property], mentions: Mentions, taken: set[int]) -> Forms:
    """What is read once columns are known: ratios, new names, units, values to replace, ranges, boxes."""
    forms, known = Forms(), {prop.name: prop for prop in properties}
    if "pairs" in known:
        _pairs(words, mentions, forms)
    if "rename" in known:
        _rename(words, mentions, forms)
    if "to_units" in known:
        _units(words, known, mentions, forms)
    if "values" in known and known["values"].is_list and not known["values"].item_kind:
        _values(words, mentions, taken, forms)
    if {"least", "most"} <= known.keys():
        _range(words, taken, forms)
    if "mode" in known and "unit" in known and "percentile" in known["unit"].choices:
        _percentile(words, mentions, forms)
    if "box" in known:
        _box(words, taken, forms)
    return forms


def _formula(
    clause: str, words: Sequence[Word], known: dict[str, Property], asked: Collection[int], forms: Forms
) -> None:
    found = _ASSIGNED.search(clause)
    if found and "name" in known:
        forms.arguments |= {"name": found["quoted"] or found["name"], "expression": _trimmed(found["formula"])}
        forms.used |= _places(words, found.start(), len(clause))
        return
    if not known["expression"].is_required and "column" not in known:
        return
    after = max((words[at].end for at in asked if at < len(words)), default=0)
    formula = _FORMULA.search(clause[after:])
    if formula and known["expression"].is_required:
        start = after + formula.start("formula")
        forms.arguments["expression"] = _trimmed(clause[start:])
        forms.used |= _places(words, start, len(clause))


def shale_volume(words: Sequence[Word], properties: Sequence[Property], mentions: Mentions) -> Forms:
    """A linear shale volume between two percentiles of one curve: (GR - clean) / (shale - clean), held to 0 to 1."""
    forms, stems = Forms(), [word.stem for word in words]
    is_asked = ("shale" in stems and "volum" in stems) or "vsh" in stems
    takes = {"name", "expression"} <= {prop.name for prop in properties}
    percents = sorted({plain(word) for word in words if word.kind == "number"})
    is_told = "quantil" in stems and len(percents) == 2 and 0 <= percents[0] < percents[1] <= 100
    if not (is_asked and takes and is_told and "linear" in stems and len(mentions.columns) == 1):
        return forms
    curve = quoted_column(mentions.columns[0])
    low, high = (f"percentile({curve}, {percent})" for percent in percents)
    forms.arguments = {"name": "Vsh", "expression": f"clip(({curve} - {low}) / ({high} - {low}), 0, 1)"}
    forms.used = set(range(len(words)))
    forms.notes.append(f"Vsh = {forms.arguments['expression']}: values beyond the two points are held at 0 and 1")
    return forms


def _trimmed(formula: str) -> str:
    return formula.strip().rstrip(".,; ")


def _systems(clause: str, words: Sequence[Word], names: set[str], forms: Forms) -> None:
    """Reference systems by code: after "from" the source, else the target."""
    for found in _CRS.finditer(clause):
        is_source = "source_crs" in names and bool(_SOURCE.search(clause[: found.start()]))
        name = "source_crs" if is_source or "target_crs" not in names else "target_crs"
        name = name if name in names else "box_crs"
        code = f"EPSG:{found[1]}" if found[1] else "WGS 84"
        if forms.arguments.setdefault(name, code) != code:
            forms.refusals.append(f"{forms.arguments[name]} and {code}: one {name} is needed")
        forms.used |= _places(words, found.start(), found.end())
    if "target_crs" not in names or "target_crs" in forms.arguments:
        return
    unclear = _UNCLEAR_CRS.search(clause)
    if unclear or not {word.lower for word in words} & WGS_WORDS:
        said = f'"{unclear[0]}" is no code; ' if unclear else ""
        forms.refusals.append(f"{said}the reference system wanted is not said as a code such as EPSG:4326")


def _drawn(clause: str, words: Sequence[Word], prop: Property, noun: str, forms: Forms) -> None:
    """ "For hole B1-116": a name with a digit after the noun of what is drawn."""
    nouns = {"hole": "hole|well|borehole|drillhole"}.get(noun, noun)
    found = re.search(rf"\b(?:{nouns})\s+(?P<name>[\w./-]*\d(?:[\w./-]*\w)?)", clause, re.IGNORECASE)
    if found:
        forms.arguments[prop.name] = found["name"]
        forms.used |= _places(words, found.start("name"), found.end("name"))


def _pairs(words: Sequence[Word], mentions: Mentions, forms: Forms) -> None:
    """ "Cu/Ni", "Cu to Ni", "Cu over Ni", "Cu divided by Ni": each a ratio."""
    pairs: list[str] = []
    for left, right in pairwise(mentions.found):
        between = [word.lower for word in words[left.end : right.first]]
        if between in (["/"], ["to"], ["over"], ["divided", "by"], ["by"]) and left.first not in forms.used:
            pairs.append(f"{left.column}/{right.column}")
            forms.used.update(range(left.first, right.end))
    if pairs:
        forms.arguments["pairs"] = pairs


def _rename(words: Sequence[Word], mentions: Mentions, forms: Forms) -> None:
    """ "Rename Cu to copper": new names that are no columns."""
    names: dict[str, str] = {}
    if not any(word.stem == "renam" for word in words):
        return
    for mention in mentions.found:
        following = words[mention.end : mention.end + 2]
        if len(following) == 2 and following[0].lower in ("to", "as", "into") and mentions.at(mention.end + 1) is None:
            names[mention.column] = following[1].inner
            forms.used.update(range(mention.first, mention.end + 2))
    if names:
        forms.arguments["rename"] = names


def unit_at(words: Sequence[Word], at: int) -> tuple[str, int] | None:
    """The longest unit that begins at a place, and the place after it: `uS/cm` is three words."""
    for size in range(min(LONGEST_UNIT, len(words) - at), 0, -1):
        part = words[at : at + size]
        is_close = all(left.end == right.start for left, right in pairwise(part))
        said = "".join(word.text for word in part)
        if is_close and is_unit(said):
            return said, at + size
    return None


def _units(words: Sequence[Word], known: dict[str, Property], mentions: Mentions, forms: Forms) -> None:
    for at, word in enumerate(words[:-1]):
        name = {"to": "to_units", "into": "to_units", "in": "to_units", "as": "to_units", "from": "from_units"}.get(
            word.lower
        )
        found = unit_at(words, at + 1)
        if name is None or found is None or name not in known or mentions.at(at + 1) or name in forms.arguments:
            continue
        forms.arguments[name] = [found[0]]
        forms.used.update(range(at, found[1]))


def _values(words: Sequence[Word], mentions: Mentions, taken: set[int], forms: Forms) -> None:
    """Numbers and quotations to be replaced, and after "by" or "with" what to write instead."""
    values: list[Any] = []
    for at, word in enumerate(words):
        if at in taken or mentions.at(at) or word.kind not in ("number", "quoted"):
            continue
        value = word.inner if word.kind == "quoted" else plain(word)
        if at and words[at - 1].lower in ("by", "with", "to", "into", "as"):
            forms.arguments["replacement"] = value
        elif value not in values:
            values.append(value)
        forms.used.add(at)
    if not values:
        forms.refusals.append("the values to be replaced are not said as figures or in quotes")
    else:
        forms.arguments["values"] = values
        forms.used.update(
            at
            for at in range(1, len(words))
            if words[at].lower in _NOTHING and words[at - 1].lower in ("to", "as", "by")
        )


def _range(words: Sequence[Word], taken: set[int], forms: Forms) -> None:
    """ "From 2 to 6", "two to six", "2-6", "between 2 and 6", "up to 8"."""
    numbers = [at for at, word in enumerate(words) if word.number is not None and at not in taken]
    for first, second in pairwise(numbers):
        between = [word.lower for word in words[first + 1 : second]]
        joined = between in (["to"], ["-"], ["–"]) or (between == ["and"] and words[first - 1].lower == "between")
        is_signed = not between and words[second].text[:1] in "-−"
        if joined or is_signed:
            low, high = plain(words[first]), abs(plain(words[second]))
            forms.arguments |= {"least": low, "most": high}
            forms.used |= {first, second}
            return
    for at in numbers:
        if [word.lower for word in words[max(0, at - 2) : at]] == ["up", "to"]:
            forms.arguments["most"] = plain(words[at])
            forms.used.add(at)


def _percentile(words: Sequence[Word], mentions: Mentions, forms: Forms) -> None:
    """ "Above the 95th percentile": a threshold that the column itself sets."""
    for at, word in enumerate(words):
        before = [each.lower for each in words[max(0, at - 2) : at] if each.lower != "the"]
        mode = _MODES.get(before[-1]) if before else None
        is_percentile = any(each.lower in ("percentile", "percentiles") for each in words[at + 1 : at + 2])
        named = PERCENTILE.fullmatch(word.text)
        if mode and mentions.at(at) is None and (named or (word.kind == "number" and is_percentile)):
            value = float(named[1]) if named else plain(word)
            forms.arguments |= {"mode": mode, "value": value, "unit": "percentile"}
            forms.used.update({at - 1, at, *({at + 1} if is_percentile else ())})
            return


def _box(words: Sequence[Word], taken: set[int], forms: Forms) -> None:
    numbers = [at for at, word in enumerate(words) if word.kind == "number" and at not in taken]
    if len(numbers) == 4:
        forms.arguments["box"] = [plain(words[at]) for at in numbers]
        forms.used.update(numbers)


def plain(word: Word) -> float | int:
    """The value of a number, whole where it is whole."""
    value = word.number
    assert value is not None
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def arithmetic_of(clause: str, words: Sequence[Word], found: Sequence[Mention]) -> tuple[str, set[int]] | None:
    """Columns joined by signs of arithmetic, as text, with their places: "by Cu * length"."""
    if len(found) < 2:
        return None
    first, last = found[0], found[-1]
    inside = range(first.first, last.end)
    own = {at for mention in found for at in range(mention.first, mention.end)}
    others = [words[at] for at in inside if at not in own]
    if not others or any(word.text not in _ARITHMETIC and word.kind != "number" for word in others):
        return None
    said, at = "", first.first
    for mention in found:
        said += "".join(word.text for word in words[at : mention.first]) + quoted_column(mention.column)
        at = mention.end
    return said, set(inside)


def quoted_column(name: str) -> str:
    """A column as it stands in an expression."""
    is_plain = re.fullmatch(r"[^\W\d]\w*", name) and name.lower() not in _RESERVED
    return name if is_plain else f"`{name}`"


_RESERVED = word_set("and or not in between is null true false")


def _places(words: Sequence[Word], start: int, end: int) -> set[int]:
    return {at for at, word in enumerate(words) if word.start < end and word.end > start}
