"""Which column of a table stands for a column that a plan needs, and why none does.

By its exact name; else by the name without case, blanks and unit; else by what it is: the only column of its place or
identity (a coordinate, a depth, a hole), or of its element. Never by being the only measure or category there is: that
two files have one each says nothing. Other than by its exact name a column stands for one only in the same unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from outcrop_schemas.plan import PlanColumn
from outcrop_specialists.columns.chemistry import symbol_of
from outcrop_specialists.columns.profile import ColumnProfile
from outcrop_specialists.columns.units import is_same_unit, split_unit

TELLING_ROLES = frozenset(
    ("longitude", "latitude", "x", "y", "z", "depth_from", "depth_to", "depth", "hole_id", "sample_id", "date")
)
PLACES = (frozenset(("x", "longitude")), frozenset(("y", "latitude")))
"""Roles of which a tool that looks for itself takes either."""
NUMBERS = frozenset(("integer", "number"))
KEYS = frozenset(("hole_id", "sample_id", "id", "cluster", "category"))
"""Roles that numbers and texts may have alike."""
_SIGNS = re.compile(r"[\s_\-.]+")


@dataclass(frozen=True)
class Mapped:
    """A column that stands for one of the plan; `how` says by what it was found where not by its exact name."""

    needed: str
    name: str
    how: str = ""


@dataclass(frozen=True)
class Misfit:
    """A column that the table does not have as the plan needs it."""

    needed: PlanColumn
    reason: str


@dataclass
class Fit:
    """How a table serves the columns of one input."""

    mapped: list[Mapped] = field(default_factory=list)
    misfits: list[Misfit] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def fit(needs: Sequence[PlanColumn], profiles: Sequence[ColumnProfile], given: Mapping[str, str]) -> Fit:
    """Find a column for each that is needed; `given` says of some which one is to be taken."""
    found = Fit()
    by_name = {profile.name: profile for profile in profiles}
    given = {need.name: given[need.name] for need in needs if need.name in given}
    chosen = {name: by_name[column] for name, column in given.items() if column in by_name}
    exactly = {
        need.name for need in needs if need.found_by == "name" and need.name in by_name and need.name not in chosen
    }
    taken = exactly | {profile.name for profile in chosen.values()}
    for need in needs:
        if need.found_by == "role" and need.name not in given:
            if not any(profile.role in _roles_like(need.role) for profile in profiles):
                found.misfits.append(Misfit(need, f"the file has no column that is {need.role}"))
            continue
        exact = chosen.get(need.name) or by_name.get(need.name)
        if exact is None:
            wanted = given.get(need.name)
            like = [profile for profile in profiles if profile.name not in taken]
            candidates, how = _alike(need, needs, like)
            if wanted is not None:
                found.misfits.append(Misfit(need, f"the file has no column {wanted!r}, which was to stand for it"))
            elif len(candidates) != 1:
                found.misfits.append(Misfit(need, _none_or_several(candidates)))
            elif reason := _other_type(need, candidates[0]) or _other_unit(need, candidates[0]):
                found.misfits.append(Misfit(need, f"{candidates[0].name!r} is like it by its {how}, but {reason}"))
            else:
                taken.add(candidates[0].name)
                found.mapped.append(Mapped(need.name, candidates[0].name, how))
        elif need.name in chosen and _is_twice(exact.name, need.name, chosen, exactly):
            found.misfits.append(Misfit(need, f"{exact.name!r} would stand for two columns"))
        elif reason := _other_type(need, exact):
            found.misfits.append(Misfit(need, f"{exact.name!r} {reason}"))
        else:
            _take(found, need, exact, is_given=need.name in chosen)
    return found


def _is_twice(name: str, needed: str, chosen: Mapping[str, ColumnProfile], exactly: set[str]) -> bool:
    return name in exactly or any(name == other.name for key, other in chosen.items() if key != needed)


def _take(found: Fit, need: PlanColumn, profile: ColumnProfile, *, is_given: bool) -> None:
    """A column by its exact name, or the one that was given; the second may have another unit, which is told."""
    reason = _other_unit(need, profile)
    # Of the very same name, what is silent about its unit is taken to have the same.
    is_silent = need.unit is None or profile.unit is None
    if reason and not is_given and not is_silent:
        found.misfits.append(Misfit(need, f"{profile.name!r} {reason}"))
        return
    if reason:
        found.warnings.append(f"{profile.name!r} is taken for {need.name!r}, though it {reason}")
    found.mapped.append(Mapped(need.name, profile.name, "your choice" if need.name != profile.name else ""))


def _alike(
    need: PlanColumn, needs: Sequence[PlanColumn], profiles: Sequence[ColumnProfile]
) -> tuple[list[ColumnProfile], str]:
    """The columns of the first likeness that any has."""
    same_name = [profile for profile in profiles if folded(profile.name) == folded(need.name)]
    if same_name:
        return same_name, "name without case, blanks and unit"
    symbol = _element(need.name, need.role)
    if symbol:
        return [profile for profile in profiles if _element(profile.name, profile.role) == symbol], f"element {symbol}"
    is_telling = need.role in TELLING_ROLES and sum(other.role == need.role for other in needs) == 1
    return [profile for profile in profiles if is_telling and profile.role == need.role], f"role {need.role}"


def _roles_like(role: str | None) -> frozenset[str]:
    return next((roles for roles in PLACES if role in roles), frozenset([role or ""]))


def folded(name: str) -> str:
    """A name without case, blanks, their stand-ins and unit."""
    return _SIGNS.sub("", split_unit(name)[0]).casefold()


def _element(name: str, role: str | None) -> str | None:
    return symbol_of(_SIGNS.split(split_unit(name)[0].strip(), maxsplit=1)[0]) if role == "element" else None


def _none_or_several(candidates: Sequence[ColumnProfile]) -> str:
    if not candidates:
        return "the file has no such column"
    return f"it could be {' or '.join(repr(profile.name) for profile in candidates)}"


def _other_type(need: PlanColumn, profile: ColumnProfile) -> str:
    if need.type is None or need.type == profile.type or {need.type, profile.type} <= NUMBERS:
        return ""
    if {need.role, profile.role} <= KEYS or need.role == profile.role == "date":
        return ""
    if not profile.distinct:
        return "holds no value at all"
    return f"is {profile.type}, not {need.type}"


def _other_unit(need: PlanColumn, profile: ColumnProfile) -> str:
    if need.unit == profile.unit or (need.unit and profile.unit and is_same_unit(need.unit, profile.unit)):
        return ""
    return f"is in {profile.unit or 'no unit that is said'}, not in {need.unit or 'one without a unit'}"
