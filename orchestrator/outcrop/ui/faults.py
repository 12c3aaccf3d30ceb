"""What may go wrong while something is looked at that others wrote, or remove meanwhile."""

from __future__ import annotations

from outcrop.recovery import SHAPE
from outcrop_schemas.errors import OutcropError

LOOKING = (OutcropError, OSError, *SHAPE)
