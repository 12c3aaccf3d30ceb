"""What may go wrong while something is looked at that others wrote, or remove meanwhile."""

from __future__ import annotations

from outcrop_schemas.errors import OutcropError

# A record whose checksum is good may yet have another shape than ours: of another version, or made by hand.
SHAPE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
LOOKING = (OutcropError, OSError, *SHAPE)
