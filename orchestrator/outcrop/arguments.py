"""Numbers that a program passes in, checked under the name of their argument."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from outcrop_schemas.errors import UsageError


def whole(name: str, given: Any, least: int) -> int:
    """A whole number of at least `least`. Raises UsageError."""
    # A switch is no number, though Python counts with it.
    if isinstance(given, bool) or not isinstance(given, Integral) or given < least:
        raise UsageError(f"{name} must be a whole number, at least {least}, not {given!r}")
    return int(given)


def seconds(name: str, given: Any, *, may_be_zero: bool = False) -> float:
    """A finite number of seconds. Raises UsageError."""
    found = _finite(given)
    if found is None or found < 0 or (found == 0 and not may_be_zero):
        wanted = "a number of seconds that is not below 0" if may_be_zero else "a positive number of seconds"
        raise UsageError(f"{name} must be {wanted}, not {given!r}")
    return found


def _finite(given: Any) -> float | None:
    if isinstance(given, bool) or not isinstance(given, Real):
        return None
    try:
        found = float(given)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None
