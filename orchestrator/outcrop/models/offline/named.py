"""Binds columns to arguments that are named beside them: "ordered by depth", "weighted by length", "index SampleID".

Such an argument takes a column but has no place of its own in a sentence; its schema says "Column ..." of it, or a role
of its own kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from outcrop.models.offline.cues import Cued
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.schema import Property
from outcrop.models.offline.vocabulary import DETERMINERS
from outcrop.models.offline.words import Word

_COLUMN = re.compile(r"^(?:\w+ )?columns?\b", re.IGNORECASE)
_OF_OTHER_TABLE = re.compile(r"\b(?:collar table|right (?:file|table)|other table|new table)\b")
_PASSED = (
    frozenset(("of", "by", "from", "in", "=", ":", "as", "is", "column", "columns", "with", "on", "to")) | DETERMINERS
)
_LISTED = frozenset((",", "and", "&"))

# Stems, beside those of the argument's own name, that stand before its column.
CUES: dict[str, frozenset[str]] = {
    name: frozenset(said.split())
    for name, said in {
        "order_by": "order sort along",
        "order": "order sort along",
        "within": "within each per everi",
        "weight": "weight",
        "weights": "weight",
        "index": "by per each index everi",
        "id_columns": "by per each keep id repeat everi",
        "divisor": "divisor denomin divid",
        "values": "valu fill",
        "unit_column": "unit",
        "standard_column": "name",
    }.items()
}
NEEDS_PAIR = frozenset(("weight", "weights", "order_by", "order"))
OWN_ROLES = {"hole_id": "hole", "depth_from": "depth_from", "depth_to": "depth_to", "depth": "depth", "z": "z"}


def is_named(prop: Property) -> bool:
    """Whether an argument takes columns that are named for it."""
    takes_text = prop.kind == "string" or (prop.is_list and prop.item_kind == "string")
    is_said = bool(prop.role) or bool(_COLUMN.match(prop.description))
    is_elsewhere = bool(_OF_OTHER_TABLE.search(prop.description)) and not prop.is_required
    return takes_text and not prop.is_column and not prop.choices and is_said and not is_elsewhere


def bind_named(
    words: Sequence[Word], properties: Sequence[Property], named: list[Cued], profile: Profile
) -> dict[str, Any]:
    """Arguments for the columns that are named for one; those columns are taken out of `named`."""
    wanted = [prop for prop in properties if is_named(prop)]
    arguments: dict[str, Any] = {}
    last: tuple[Property, int] | None = None
    for each in list(named):
        mention = each.mention
        prop = next((prop for prop in wanted if _stands_for(words, mention.first, mention.end, prop)), None)
        goes_on = last and last[0].is_list and all(word.lower in _LISTED for word in words[last[1] : mention.first])
        if prop is None and last and goes_on:
            prop = last[0]
        if prop is None or (not prop.is_list and prop.name in arguments):
            last = None
            continue
        if prop.is_list:
            arguments.setdefault(prop.name, []).append(each.column)
        else:
            arguments[prop.name] = each.column
        if prop.role != "divisor":
            # The part by which the others are divided is one of them.
            named.remove(each)
        last = (prop, mention.end)
    _object_of_pivot(wanted, named, arguments)
    return arguments


def bind_own(
    properties: Sequence[Property], left: Sequence[Cued], profile: Profile, arguments: dict[str, Any]
) -> set[str]:
    """Columns that no other argument took and that are what an argument is for by their role: the hole, depths."""
    names = {prop.name: prop for prop in properties if is_named(prop)}
    taken = set()
    for each in left:
        column = profile.column(each.column)
        name = OWN_ROLES.get(column.role if column else "", "")
        if name in names and arguments.setdefault(name, each.column) == each.column:
            taken.add(each.column)
    return taken


def _stands_for(words: Sequence[Word], first: int, end: int, prop: Property) -> bool:
    """Whether the argument's own words, or what people say for it, stand right before the column."""
    cues = {*(stem for stem in prop.stems if stem != "column"), *CUES.get(prop.name, ())} - {"log", "target"}
    if prop.name in OWN_ROLES.values():
        # "The holes by copper": a hole is named as its column only right beside it.
        return first > 1 and words[first - 1].text in ("=", ":") and words[first - 2].stem in prop.stems
    if prop.name == "columns":
        after = [word.lower for word in words[end : end + 2]]
        return after in (["into", "columns"], ["to", "columns"], ["as", "columns"]) or _is_before(
            words, first, {"column"}
        )
    return _is_before(words, first, cues)


def _is_before(words: Sequence[Word], first: int, cues: set[str]) -> bool:
    at = first - 1
    while at >= 0:
        if words[at].stem in cues:
            return True
        if words[at].lower not in _PASSED | {"per", "each"}:
            return False
        at -= 1
    return False


def _object_of_pivot(wanted: Sequence[Property], named: list[Cued], arguments: dict[str, Any]) -> None:
    """ "Pivot analyte ...": what a required argument is still to be found for, where one column and one is left."""
    lacking = [prop for prop in wanted if prop.is_required and prop.name not in arguments]
    if len(lacking) == 1 and len(named) == 1 and arguments:
        arguments[lacking[0].name] = [named[0].column] if lacking[0].is_list else named[0].column
        named.clear()
