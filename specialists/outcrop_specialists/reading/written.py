"""Reads a CSV that Outcrop wrote back as it was: types and units come from its lineage record and are not guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop_specialists.reading.times import times_of
from outcrop_specialists.tools.lineage import WrittenColumn, record_of, sha256_of

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.tables import Table

PLAIN_TYPES = (
    "String", "Boolean", "Date", "Float64",
    "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64",
)  # fmt: skip
TIME_TYPES = ("Datetime(time_unit='us', time_zone=None)", "Datetime(time_unit='us', time_zone='UTC')")


@dataclass(frozen=True)
class Written:
    """A table as it was written, with the units and the qualifier columns of its columns."""

    frame: pl.DataFrame
    units: dict[str, str]
    qualifiers: dict[str, str]
    substituted: dict[str, str]


def written_columns(
    frame: pl.DataFrame, source: Table | Mapping[str, str], substituted: Mapping[str, str] | None = None
) -> list[WrittenColumn]:
    """What is to be recorded of `frame` so that it can be read back. `source` is the table that it was made from, or
    only the units of its columns; `substituted` is of columns whose results beyond a limit the tool replaced.
    """
    from outcrop_specialists.reading.tables import Table

    table = source if isinstance(source, Table) else Table(Path(), frame, units=source)
    replaced = {**table.substituted, **(substituted or {})}
    found = []
    schema = frame.schema
    for name, kind in schema.items():
        qualifier = table.qualifiers.get(name)
        if qualifier not in schema or not kind.is_numeric():
            qualifier = None
        method = replaced.get(name) if qualifier else None
        found.append(WrittenColumn(name, str(kind), table.units.get(name), qualifier, method))
    return found


def read_written(path: Path) -> Written | None:
    """The table as it was written.

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
    qualifiers = {column.name: column.qualifier for column in columns if column.qualifier in texts.columns}
    typed = [column.fill_null("") if column.name in qualifiers.values() else column for column in typed]
    return Written(
        pl.DataFrame(typed),
        {column.name: column.unit for column in columns if column.unit is not None},
        {name: qualifier for name, qualifier in qualifiers.items() if qualifier is not None},
        {column.name: column.substituted for column in columns if column.substituted is not None},
    )


def _recorded(path: Path) -> list[WrittenColumn] | None:
    record = record_of(path)
    found = record.get("columns") if record else None
    if not record or not isinstance(found, list) or not found or not all(map(_is_column, found)):
        return None
    if record.get("sha256") != sha256_of(path):
        return None
    return [
        WrittenColumn(each["name"], each["type"], each.get("unit"), each.get("qualifier"), each.get("substituted"))
        for each in found
    ]


def _is_column(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and isinstance(found.get("name"), str)
        and found.get("type") in (*PLAIN_TYPES, *TIME_TYPES)
        and all(isinstance(found.get(key), str | None) for key in ("unit", "qualifier", "substituted"))
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
