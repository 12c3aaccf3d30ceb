"""Reads a CSV that Outcrop wrote back as it was: types and units come from its lineage record and are not guessed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop_specialists.reading.times import times_of
from outcrop_specialists.tools.lineage import WrittenColumn, record_of, sha256_of

if TYPE_CHECKING:
    import polars as pl

PLAIN_TYPES = (
    "String", "Boolean", "Date", "Float64",
    "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64",
)  # fmt: skip
TIME_TYPES = ("Datetime(time_unit='us', time_zone=None)", "Datetime(time_unit='us', time_zone='UTC')")


def written_columns(frame: pl.DataFrame, units: Mapping[str, str]) -> list[WrittenColumn]:
    """What is to be recorded of a table so that it can be read back."""
    return [WrittenColumn(name, str(kind), units.get(name)) for name, kind in frame.schema.items()]


def read_written(path: Path) -> tuple[pl.DataFrame, dict[str, str]] | None:
    """The table as it was written and the units of its columns.

    None for a file without a record of its columns, one that was changed since, and one with types that CSV does not
    give back (durations, times in a zone other than UTC): these are read as any other file.
    """
    columns = _recorded(path)
    if columns is None:
        return None
    import polars as pl

    try:
        texts = pl.read_csv(path, infer_schema=False, truncate_ragged_lines=False)
        if texts.columns != [column.name for column in columns]:
            return None
        typed = [_typed(texts.get_column(column.name), column.type) for column in columns]
    except pl.exceptions.PolarsError:
        return None
    frame = pl.DataFrame(typed)
    return frame, {column.name: column.unit for column in columns if column.unit is not None}


def _recorded(path: Path) -> list[WrittenColumn] | None:
    record = record_of(path)
    found = record.get("columns") if record else None
    if not record or not isinstance(found, list) or not found or not all(map(_is_column, found)):
        return None
    if record.get("sha256") != sha256_of(path):
        return None
    return [WrittenColumn(each["name"], each["type"], each.get("unit")) for each in found]


def _is_column(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and isinstance(found.get("name"), str)
        and found.get("type") in (*PLAIN_TYPES, *TIME_TYPES)
        and isinstance(found.get("unit"), str | None)
    )


def _typed(text: pl.Series, kind: str) -> pl.Series:
    """Raises ComputeError where a text is not of its type."""
    import polars as pl

    # An empty field is a missing value, also the "" that stands for it in a table of one column.
    text = text.set((text == "").fill_null(False), None)
    if kind == "Boolean":
        return text == "true"
    if kind == "Date":
        return text.str.to_date("%Y-%m-%d")
    if kind in TIME_TYPES:
        times = times_of(text)
        if times is None:
            raise pl.exceptions.ComputeError(f"{text.name}: times that cannot be read")
        # All missing: which of the two types it was only the record tells.
        has_zone = kind == TIME_TYPES[1]
        return times.cast(pl.Datetime("us", "UTC" if has_zone else None))
    types: dict[str, type[pl.DataType]] = {name: getattr(pl, name) for name in PLAIN_TYPES}
    return text.cast(types[kind])
