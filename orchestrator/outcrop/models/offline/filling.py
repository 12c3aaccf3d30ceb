"""Columns that a tool needs and a clause does not name: every measured one, and it is said; too few are not enough."""

from __future__ import annotations

from collections.abc import Collection, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from outcrop.models.offline.profile import Profile
from outcrop.models.offline.schema import Property

CONVERTING = "convert"
"""What changes columns takes none that are not named."""
NEVER_FILLED = frozenset(("on",))
SHOWN = 20


@dataclass
class Filled:
    """What was taken, and why it cannot be."""

    refusals: list[str] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Filling:
    """Fills the lists of columns of one call. `tool` is its name, `idle` are words that nothing took."""

    def __init__(self, tool: str, profile: Profile, arguments: MutableMapping[str, Any], idle: Sequence[str]) -> None:
        self._tool, self._profile, self._arguments, self._idle = tool, profile, arguments, idle
        self.filled = Filled()

    def fill(self, properties: Sequence[Property], bound: Collection[str]) -> Filled:
        """Fill what is required and not in `bound`, then look whether every list is long enough."""
        for prop in properties:
            if prop.role == "columns" and prop.name not in {*bound, *self._arguments, *NEVER_FILLED}:
                self._take_all(prop)
        for prop in properties:
            value = self._arguments.get(prop.name)
            if prop.is_column and prop.is_list and isinstance(value, list) and len(value) < prop.fewest:
                self._too_few(prop, value)
        target = next((p for p in properties if p.role == "target-column" and p.name in self._arguments), None)
        if target and self._idle:
            said = f'{self._arguments[target.name]} is to be set beside "{" ".join(self._idle)}"'
            self.filled.refusals.append(f"{said}, which names no column")
        return self.filled

    def _take_all(self, prop: Property) -> None:
        given = self._profile.measures
        if not prop.is_required or self._tool.startswith(CONVERTING):
            return
        if self._profile.more:
            more = self._profile.more
            self.filled.refusals.append(f"the table has {more} more columns; name those to be used")
        elif prop.is_list and len(given) >= max(1, prop.fewest):
            self._arguments[prop.name] = given
            more_named = f" and {len(given) - SHOWN} more" if len(given) > SHOWN else ""
            shown = ", ".join(given[:SHOWN]) + more_named
            self.filled.notes.append(f"No columns were named: {self._tool} took all measured ones: {shown}")

    def _too_few(self, prop: Property, value: list[str]) -> None:
        said = f"{prop.name} needs {prop.fewest} columns at least, {', '.join(value)} is named"
        if prop.is_required or self._idle:
            words = f'; "{" ".join(self._idle)}" names none' if self._idle else ""
            self.filled.refusals.append(said + words)
        else:
            del self._arguments[prop.name]
            self.filled.blockers.append(f"{said}: {self._tool} took all measured ones")
