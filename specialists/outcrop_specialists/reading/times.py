"""Reads ISO timestamps: a whole column or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})"
ISO_TIME = (
    rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]{{1,6}})?)?{_ZONE}?)?$"
)
"""A time to the microsecond, with or without a zone, or a day, which is its first moment (as workbooks write it)."""
_LACKS_SECONDS = r"T([0-9]{2}:[0-9]{2})($|[Z+-])"


def times_of(values: pl.Series) -> pl.Series | None:
    """Texts that all look like ISO_TIME as Datetime in microseconds, in UTC where they have a zone.

    None where one is no time (30 February) or only some have a zone.
    """
    text = values.str.replace(" ", "T", literal=True)
    is_day = ~text.str.contains("T", literal=True)
    text = text.zip_with(~is_day.fill_null(False), text + "T00:00:00")
    text = text.str.replace(_LACKS_SECONDS, "T${1}:00${2}")
    zoned = text.str.contains(f"{_ZONE}$").drop_nulls()
    if zoned.any() and not zoned.all():
        return None
    if zoned.all():
        text = text.str.replace("Z$", "+00:00").str.replace(r"([+-][0-9]{2}):?([0-9]{2})$", "${1}${2}")
        times = text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", time_unit="us", strict=False)
    else:
        times = text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)
    return times if times.null_count() == values.null_count() else None
