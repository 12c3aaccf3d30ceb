"""Checks arguments that were bound against the table: units of lengths, the hole to draw, a colour that was lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from outcrop.models.offline.named import is_named
from outcrop.models.offline.numbers import LENGTHS
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.schema import Property
from outcrop.models.offline.words import Word, squeeze
from outcrop_specialists.columns.units import is_same_unit

METRES, FEET = frozenset(("m", "metre", "metres", "meter", "meters")), frozenset(("ft", "feet"))
COLORS, COLOR_WORDS = frozenset(("color", "shade")), 4
DEPTH_LENGTHS = frozenset(("length", "min_length", "max_internal_waste"))


@dataclass
class Checked:
    """Why a call must not be made, and what was assumed."""

    refusals: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check(
    words: Sequence[Word],
    properties: Sequence[Property],
    arguments: MutableMapping[str, Any],
    profile: Profile,
    used: Collection[int],
) -> Checked:
    """Check everything; a hole that is the whole file is taken out of `arguments`. `used` are the places that were
    understood."""
    checked = Checked()
    _check_lengths(words, arguments, profile, checked)
    _check_hole(properties, arguments, profile, checked)
    if any(prop.name == "color" for prop in properties):
        _check_colour(words, arguments, profile, used, checked)
    _check_groups(properties, arguments, profile, checked)
    _check_formula(words, properties, arguments, checked)
    return checked


def _check_lengths(words: Sequence[Word], arguments: Mapping[str, Any], profile: Profile, checked: Checked) -> None:
    """A length with a unit is one in the unit of the depths or coordinates, or none that can be used."""
    units = [
        word.lower for at, word in enumerate(words) if at and word.lower in LENGTHS and words[at - 1].kind == "number"
    ]
    if not units:
        return
    if "cell_size" in arguments and profile.with_role("longitude") and not profile.with_role("x"):
        checked.refusals.append(
            f"cells of {units[0]} need coordinates in {units[0]}; these are degrees: reproject first"
        )
    if not DEPTH_LENGTHS & arguments.keys():
        return
    known = {column.unit for column in profile.with_role("depth", "depth_from", "depth_to") if column.unit}
    for unit in dict.fromkeys(units):
        if not known:
            checked.notes.append(f"The unit of the depths is not known; they were taken to be in {unit}")
        elif not any(_is_same(unit, other) for other in known):
            checked.refusals.append(
                f"the depths are in {', '.join(sorted(known))}; give lengths in that unit, not in {unit}"
            )


def _is_same(said: str, unit: str) -> bool:
    lower = unit.casefold()
    return is_same_unit(said, unit) or any({said, lower} <= same for same in (METRES, FEET))


def _check_hole(
    properties: Sequence[Property], arguments: MutableMapping[str, Any], profile: Profile, checked: Checked
) -> None:
    """ "For well P-135" in a file without a column of wells: right where the file is that well's."""
    hole = next((prop for prop in properties if prop.name == "hole" and not is_named(prop)), None)
    if hole is None or hole.name not in arguments or "hole_column" in arguments:
        return
    said = str(arguments.pop(hole.name))
    if squeeze(said) in squeeze(profile.path):
        checked.notes.append(f"{profile.path} has no column of holes: all of it was taken as {said}")
    else:
        checked.refusals.append(f"{profile.path} has no column of holes in which {said} could be found")


def _check_colour(
    words: Sequence[Word], arguments: Mapping[str, Any], profile: Profile, used: Collection[int], checked: Checked
) -> None:
    """A colour that is asked for and not bound would be lost without a word."""
    at = next((at for at, word in enumerate(words) if word.stem in COLORS and word.lower != "shades"), None)
    if at is None:
        return
    after = range(at + 1, min(len(words), at + 1 + COLOR_WORDS))
    if "color" not in arguments or not any(place in used for place in after):
        said = " ".join(word.text for word in words[at : at + 1 + COLOR_WORDS])
        checked.refusals.append(f'"{said}" names no column of {profile.path}')


def _check_groups(
    properties: Sequence[Property], arguments: Mapping[str, Any], profile: Profile, checked: Checked
) -> None:
    """ "Normalise Cu by Al" does not mean a group for each value of Al."""
    for prop in properties:
        column = profile.column(str(arguments.get(prop.name))) if prop.role == "by-column" else None
        if prop.name == "by" and column and column.role == "element" and column.is_numeric:
            checked.refusals.append(f"{column.name} is measured: its values make no groups")


def _check_formula(
    words: Sequence[Word], properties: Sequence[Property], arguments: Mapping[str, Any], checked: Checked
) -> None:
    """A new column needs its formula, a new name its old one."""
    names = {prop.name for prop in properties}
    if {"name", "expression", "derived"} <= names and not {"expression", "derived"} & arguments.keys():
        checked.refusals.append("what the new column is computed by is not said as NAME = formula")
    if "rename" in names and "rename" not in arguments and any(word.stem == "renam" for word in words):
        checked.refusals.append("the new name is not said, as in: rename A to B")
