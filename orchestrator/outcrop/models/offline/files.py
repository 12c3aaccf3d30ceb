"""Binds further data files of a step: those the clause names, else the only other one that fits."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from outcrop.models.offline.profile import Profile
from outcrop.models.offline.schema import Property
from outcrop.models.offline.tables import RASTERS, is_named, place_in
from outcrop.models.offline.words import Word, stems_of

SEVERAL = frozenset(("paths", "files"))
KEY_ROLES = ("hole_id", "sample_id", "id")
# What a table must hold to be of the kind that an argument is named for.
ROLES_OF_KIND = {"collar": (("x", "longitude"),), "interval": (("depth_from",),)}
_INTERVALS_OR_COLLARS = re.compile(r"\bintervals\b.*\bor collars\b", re.IGNORECASE)


@dataclass
class Files:
    """Arguments that take further files, notes on what was taken, and why none can be."""

    arguments: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    further: list[Profile] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)


def takes_files(properties: Sequence[Property]) -> bool:
    """Whether a tool can work on more than one file."""
    return any(_is_further(prop) or _is_several(prop) for prop in properties)


def bind_files(
    clause: str, words: Sequence[Word], properties: Sequence[Property], profile: Profile, others: Sequence[Profile],
    used: Collection[int] = (),
) -> Files:  # fmt: skip
    """Give each further file that is named to an argument; a file that none takes is refused.

    Words in `used` are something else, though a file may have their name: the column lith beside lith.csv.
    """
    files = Files()
    known = {each.path: each for each in (profile, *others)}
    named = sorted(
        (path for path in known if _is_meant(path, clause, words, used)), key=lambda path: place_in(path, clause)
    )
    rest = [known[path] for path in named if path != profile.path]
    for prop in properties:
        if _is_several(prop):
            paths = named if len(named) > 1 else list(known)
            files.arguments[prop.name] = paths
            if len(named) < 2 and len(paths) > 1:
                files.notes.append(f"No files were named: taken were {', '.join(paths)}")
            rest = []
    free = [prop for prop in properties if _is_further(prop)]
    for prop in free:
        fit = [each for each in rest if _fits(prop, each, is_only=len(free) == 1 and len(rest) == 1)]
        given = fit or ([] if rest else [each for each in others if _fits(prop, each, is_only=prop.is_required)])
        if len(given) == 1:
            files.arguments[prop.name] = given[0].path
            files.further.append(given[0])
            rest = [each for each in rest if each is not given[0]]
            if not fit:
                files.notes.append(f"{prop.name} was not named: {given[0].path} was taken")
        elif len(given) > 1 and prop.is_required:
            files.refusals.append(f"{prop.name} may be {' or '.join(each.path for each in given)}; name the file")
    for each in rest:
        files.refusals.append(f"{each.path} is named, and no argument takes it beside {profile.path}")
    files.refusals += _unknown(words, known)
    if files.further and {"three", "all", "four"} & {word.lower for word in words}:
        left = [each.path for each in others if each not in files.further and each.path not in named]
        files.blockers += [f"{path} was not taken: two tables are joined at a time" for path in left]
    return files


def common_key(profile: Profile, other: Profile) -> str | None:
    """The only identifier that two tables have in common."""
    for role in KEY_ROLES:
        names = [column.name for column in profile.with_role(role) if other.column(column.name)]
        if names:
            return names[0] if len(names) == 1 else None
    return None


def _is_meant(path: str, clause: str, words: Sequence[Word], used: Collection[int]) -> bool:
    stem = PurePosixPath(path).stem.casefold()
    is_word = any(word.lower == stem for at, word in enumerate(words) if at in used)
    return is_named(path, clause) and (not is_word or PurePosixPath(path).name in clause)


def _unknown(words: Sequence[Word], known: dict[str, Profile]) -> list[str]:
    return [
        f"{word.text} is named and is not among the data files of this step"
        for word in words
        if word.kind == "file" and not any(is_named(path, word.text) for path in known)
    ]


def _is_several(prop: Property) -> bool:
    return prop.name in SEVERAL and prop.is_list


def _is_further(prop: Property) -> bool:
    return prop.kind == "string" and prop.name.endswith("_path")


def _fits(prop: Property, profile: Profile, *, is_only: bool) -> bool:
    """Whether a file is of the kind that an argument is named for."""
    kind = next(iter(stems_of(prop.name.removesuffix("_path"))), "")
    is_raster = PurePosixPath(profile.path).suffix.lower() in RASTERS
    if kind in ("raster", "refer"):
        return is_raster
    if is_raster:
        return False
    has_roles = all(any(profile.with_role(role) for role in roles) for roles in ROLES_OF_KIND.get(kind, ()))
    if kind in stems_of(PurePosixPath(profile.path).stem.replace("_", " ").replace("-", " ")):
        return has_roles
    if _INTERVALS_OR_COLLARS.search(prop.description):
        has_roles = bool(profile.with_role("depth_from", "x", "longitude"))
    return is_only and has_roles and kind not in ("certifi",)
