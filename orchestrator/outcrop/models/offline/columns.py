"""Binds the columns of a clause to the arguments that take columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from outcrop.models.offline.cues import Cued
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.schema import Property

EASTWARD = frozenset(("longitude", "x"))
NORTHWARD = frozenset(("latitude", "y"))
DEPTHS = ("depth", "depth_from")
MOST_CALLS = 8
"""So many columns get a call each where a tool takes one at a time."""


@dataclass
class Bound:
    """Arguments that take columns; `each` is the argument and its values where every column gets a call of its own."""

    arguments: dict[str, Any] = field(default_factory=dict)
    each: tuple[str, list[str]] | None = None
    left: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        return set(self.arguments) | ({self.each[0]} if self.each else set())


class ColumnBinder:
    """Gives each named column to one argument; what no argument takes is left over and said."""

    def __init__(self, properties: Sequence[Property], profile: Profile) -> None:
        self._profile = profile
        self._x = _first(properties, "x-column")
        self._y = _first(properties, "y-column")
        self._by = _first(properties, "by-column")
        self._label = _first(properties, "label-column")
        self._many = _first(properties, "columns")
        self._one = _first(properties, "column")
        self._target = _first(properties, "target-column")
        self._depth = next((prop for prop in properties if prop.name == "depth" and prop.role == "y-column"), None)
        self._end = next((prop for prop in properties if prop.name == "to" and self._depth), None)

    def bind(self, named: Sequence[Cued]) -> Bound:
        bound, left = Bound(), list(named)
        excepted = [cued.column for cued in left if cued.cue == "except"]
        left = [cued for cued in left if cued.cue != "except"]
        left = self._bind_depth(bound, left) if self._depth else self._bind_axes(bound, left)
        left = self._bind_target(bound, left)
        left = self._bind_groups(bound, left)
        left = self._bind_rest(bound, left)
        if excepted:
            self._leave_out(bound, excepted)
        bound.left += [cued.column for cued in left]
        return bound

    def _bind_depth(self, bound: Bound, left: list[Cued]) -> list[Cued]:
        """The depth axis: the column of depths that is named, else the only one there is; intervals have an end."""
        assert self._depth
        left = self._take(bound, self._depth, left, lambda cued: self._role(cued) in DEPTHS)
        left = [cued for cued in left if self._role(cued) not in (*DEPTHS, "depth_to")]
        starts = self._profile.with_role(*DEPTHS)
        if self._depth.name not in bound.arguments and len(starts) == 1:
            bound.arguments[self._depth.name] = starts[0].name
        start = self._profile.column(bound.arguments.get(self._depth.name, ""))
        ends = self._profile.with_role("depth_to")
        if self._end and start and start.role == "depth_from" and len(ends) == 1:
            bound.arguments[self._end.name] = ends[0].name
        holes = self._profile.with_role("hole_id")
        if self._by and self._by.name not in bound.arguments and len(holes) == 1:
            bound.arguments[self._by.name] = holes[0].name
            left = [cued for cued in left if cued.column != holes[0].name]
        return left

    def _bind_target(self, bound: Bound, left: list[Cued]) -> list[Cued]:
        """One column against all others: "which elements follow gold", "correlate everything with Cu"."""
        mine = [cued for cued in left if cued.cue != "by"]
        if not self._target or len({cued.column for cued in mine}) != 1:
            return left
        bound.arguments[self._target.name] = mine[0].column
        bound.notes.append(f"{mine[0].column} is compared with every other measured column")
        return [cued for cued in left if cued not in mine]

    def _explain(self, bound: Bound, left: list[Cued]) -> list[Cued]:
        """ "Regress S on Fe": what is explained comes first, and a preposition tells it from what explains."""
        assert self._y
        names = list(dict.fromkeys(cued.column for cued in left if cued.cue != "by"))
        told = [cued for cued in left if cued.column in names[1:2] and cued.cue != "by" and not cued.is_continued]
        if len(names) < 2 or not told:
            return left
        return self._take(bound, self._y, left, lambda cued: cued.column == names[0])

    def _bind_axes(self, bound: Bound, left: list[Cued]) -> list[Cued]:
        if not (self._x and self._y):
            return self._explain(bound, left) if self._y and self._y.is_required and self._many else left
        left = self._take(bound, self._x, left, lambda cued: cued.cue == "x")
        left = self._take(bound, self._y, left, lambda cued: cued.cue == "y")
        if not self._x.is_required:
            # A map: its axes are coordinates, whatever the preposition.
            left = self._take(bound, self._x, left, lambda cued: self._role(cued) in EASTWARD)
            return self._take(bound, self._y, left, lambda cued: self._role(cued) in NORTHWARD)
        left = self._take(bound, self._x, left, lambda cued: cued.cue == "against")
        if self._x.name in bound.arguments:
            return self._take(bound, self._y, left, lambda cued: cued.cue in ("main", "with"))
        pair = [cued for cued in left if cued.cue in ("main", "with")][:2] or [
            cued for cued in left if cued.cue == "by"
        ]
        if len(pair) == 2:
            left = self._take(bound, self._x, left, lambda cued: cued is pair[0])
            left = self._take(bound, self._y, left, lambda cued: cued is pair[1])
        return left

    def _bind_groups(self, bound: Bound, left: list[Cued]) -> list[Cued]:
        """What groups or colours: `by` goes to the columns themselves where a tool has no grouping ("group by Au")."""
        target = self._by or self._label
        for cue in ("color", "by"):
            if target:
                left = self._take(bound, target, left, lambda cued, cue=cue: cued.cue == cue)
        if self._by and self._by.name not in bound.arguments and not (self._x and not self._x.is_required):
            # "Is Zn different between rock types": what is no number is what groups.
            numbers = [cued for cued in left if self._is_numeric(cued)]
            if numbers:
                left = self._take(bound, self._by, left, lambda cued: not self._is_numeric(cued))
        if target and self._x and not self._x.is_required:
            left = self._take(bound, target, left, lambda cued: cued.cue in ("main", "with"))
        return left

    def _bind_rest(self, bound: Bound, left: list[Cued]) -> list[Cued]:
        mine = [cued for cued in left if cued.cue in ("main", "with", "against", "x", "y")]
        if not mine and not (self._by or self._label):
            mine = [cued for cued in left if cued.cue == "by"]
        if not mine or not (self._many or self._one):
            return left
        names = list(dict.fromkeys(cued.column for cued in mine))
        if self._many:
            if self._many.most is not None and len(names) > self._many.most:
                return left
            bound.arguments[self._many.name] = names if self._many.is_list else names[0]
        elif self._one and len(names) == 1:
            bound.arguments[self._one.name] = names[0]
        elif self._one:
            bound.each = (self._one.name, names[:MOST_CALLS])
            return [cued for cued in left if cued not in mine or cued.column in names[MOST_CALLS:]]
        return [cued for cued in left if cued not in mine]

    def _leave_out(self, bound: Bound, excepted: list[str]) -> None:
        """ "All except Zn": the columns that would be taken, without those named."""
        is_whole = self._many is not None and self._many.name == "subset"
        if not self._many or not self._many.is_list or is_whole or (self._profile.more and not bound.names):
            bound.left += excepted
            return
        given = bound.arguments.get(self._many.name) or self._profile.measures
        kept = [name for name in given if name not in excepted]
        bound.arguments[self._many.name] = kept
        bound.notes.append(f"columns without {', '.join(excepted)}: {', '.join(kept)}")

    def _take(self, bound: Bound, prop: Property, left: list[Cued], wanted) -> list[Cued]:  # type: ignore[no-untyped-def]
        """Give the first column that is wanted to `prop`, unless it has one."""
        if prop.name in bound.arguments:
            return left
        for position, cued in enumerate(left):
            if wanted(cued):
                bound.arguments[prop.name] = [cued.column] if prop.is_list else cued.column
                return left[:position] + left[position + 1 :]
        return left

    def _is_numeric(self, cued: Cued) -> bool:
        column = self._profile.column(cued.column)
        return column is None or column.is_numeric or not column.type

    def _role(self, cued: Cued) -> str:
        column = self._profile.column(cued.column)
        return column.role if column else ""


def _first(properties: Sequence[Property], role: str) -> Property | None:
    return next((prop for prop in properties if prop.role == role), None)
