"""Pins: facts that stand word for word in every request."""

from __future__ import annotations

from collections.abc import Mapping

from outcrop_schemas import limits
from outcrop_schemas.errors import UsageError
from outcrop_specialists.brief import pinned


class Pins:
    """A bounded set of facts by key, in the order they were pinned."""

    def __init__(self, facts: Mapping[str, str] | None = None) -> None:
        self._facts: dict[str, str] = {}
        for key, value in (facts or {}).items():
            self.set(key, value)

    def set(self, key: str, value: str) -> None:
        """Pin a fact, or replace the one of this key. Raises UsageError beyond the limits."""
        if not key.strip() or "\n" in key:
            raise UsageError(f"a pin needs a key of one line, not {key!r}")
        if len(key) + len(value) > limits.PIN_CHARS:
            raise UsageError(f"pin {key!r} has {len(key) + len(value)} characters, {limits.PIN_CHARS} are allowed")
        if key not in self._facts and len(self._facts) >= limits.PIN_COUNT:
            raise UsageError(f"there are {limits.PIN_COUNT} pins already; replace one of {', '.join(self._facts)}")
        self._facts[key] = value

    def as_dict(self) -> dict[str, str]:
        return dict(self._facts)

    def render(self) -> str | None:
        """The pins as a model sees them; None where there are none."""
        if not self._facts:
            return None
        return pinned(self._facts)
