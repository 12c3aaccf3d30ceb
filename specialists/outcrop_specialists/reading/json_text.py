"""Reads JSON lines, or one JSON array of objects, as a table. JSON says what is text, so text is not made numbers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.nested import flattened
from outcrop_specialists.reading.several import Candidate
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.reading.times import ISO_TIME, times_of
from outcrop_specialists.reading.types import EXACT_FLOAT, ISO_DATE, NUMBER, Typed, note_sentinels

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".json", ".jsonl", ".ndjson", ".geojson")
SMALLEST, LARGEST = -(2**63), 2**63 - 1
BEGINS_LIKE_JSON = re.compile(r'^\s*(?:\[\s*\{|\{\s*")')


def is_json(path: Path, text: str) -> bool:
    return path.suffix.lower() in SUFFIXES or BEGINS_LIKE_JSON.match(text[:1000]) is not None


def json_tables(path: Path, text: str, notes: list[str]) -> list[Candidate]:
    """The one table of JSON lines or of an array; of one object each of its lists of records. Raises DataError."""
    if text.lstrip().startswith("["):
        return [_single(_table(path, _array(path, text), notes))]
    whole = _one_object(path, text)
    if whole is None:
        return [_single(_table(path, _lines(path, text), notes))]
    lists = {
        key: value
        for key, value in whole.items()
        if isinstance(value, list) and value and all(isinstance(record, dict) for record in value)
    }
    if not lists:
        raise DataError(f"{path.name}: is one JSON object and not a list of records; save its records one a line")
    header = {key: str(value) for key, value in whole.items() if isinstance(value, str | int | float)}

    def read(key: str) -> Table:
        told = [*notes, f"the records are those of {key!r}"]
        return replace(_table(path, lists[key], told), header=header)

    return [Candidate(key, "data", len(records), partial(read, key), what="list") for key, records in lists.items()]


def _single(table: Table) -> Candidate:
    return Candidate("", "data", table.frame.height, lambda: table)


def _table(path: Path, records: list[dict[str, Any]], notes: list[str]) -> Table:
    """The records as rows, columns in order of first appearance. Raises DataError, naming the line or record."""
    import polars as pl

    records = flattened(records, notes)
    if not records or not any(records):
        raise DataError(f"{path.name}: holds no records")
    names = list(dict.fromkeys(key for record in records for key in record))
    lacking = sum(len(record) < len(names) for record in records)
    if lacking:
        notes.append(f"{lacking} of {len(records)} records lack some of the {len(names)} keys: read as missing")
    typed = Typed()
    typed.columns = [_column(name, [record.get(name) for record in records], typed) for name in names]
    note_sentinels(typed.columns, typed)
    return Table(path, pl.DataFrame(typed.columns), (*notes, *typed.notes()))


def _array(path: Path, text: str) -> list[dict[str, Any]]:
    try:
        found = _loads(text)
    except ValueError as error:
        raise DataError(f"{path.name}: is not valid JSON: {error}") from error
    for number, record in enumerate(found, start=1):
        if not isinstance(record, dict):
            raise DataError(f"{path.name}: record {number} is no JSON object")
    return list(found)


def _lines(path: Path, text: str) -> list[dict[str, Any]]:
    records = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = _loads(line)
        except ValueError as error:
            raise DataError(
                f"{path.name}: line {number} is not a JSON object (expected one a line): {error}"
            ) from error
        if not isinstance(record, dict):
            raise DataError(f"{path.name}: line {number} is no JSON object")
        records.append(record)
    return records


def _one_object(path: Path, text: str) -> dict[str, Any] | None:
    """The object that the text is, where it has a list in it; None for lines of records."""
    body = text.strip()
    first = body.partition("\n")[0]
    try:
        _loads(first)
        if len(first) < len(body):
            return None
    except ValueError:
        if first.rstrip()[-1:] not in ("{", "[", ",", ":"):
            return None
    try:
        found = _loads(body)
    except ValueError as error:
        if first.strip() == "{":
            raise DataError(f"{path.name}: is not valid JSON: {error}") from error
        return None
    return found if isinstance(found, dict) and any(isinstance(value, list) for value in found.values()) else None


def _loads(text: str) -> Any:
    # Not orjson: it turns integers beyond 64 bits into floats.
    try:
        found = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if "\\ud" in text or "\\uD" in text:
        json.dumps(
            found, ensure_ascii=False
        ).encode()  # a lone surrogate is no text; UnicodeEncodeError is a ValueError
    return found


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _constant(name: str) -> None:
    if name != "NaN":
        raise ValueError(f"{name} is not a value")


def _column(name: str, values: list[Any], typed: Typed) -> pl.Series:
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {int} and all(SMALLEST <= value <= LARGEST for value in values if value is not None):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds in ({float}, {int, float}) and all(abs(v) <= EXACT_FLOAT for v in values if isinstance(v, int)):
        return pl.Series(name, values, dtype=pl.Float64)
    column = pl.Series(name, [_as_text(value) for value in values], dtype=pl.String)
    if kinds <= {str}:
        return _text(column, typed)
    if kinds <= {list, dict}:
        typed.note("nested values kept as JSON text", name)
    else:
        typed.note("kept as text (mixed kinds of values, or integers that would lose digits)", name)
    return column


def _text(column: pl.Series, typed: Typed) -> pl.Series:
    blank = (column.str.strip_chars() == "").fill_null(False)
    if blank.any():
        typed.note("empty text read as missing", column.name, int(blank.sum()))
        column = column.set(blank, None)
    filled = column.drop_nulls()
    if len(filled) and filled.str.contains(ISO_DATE).all():
        dates = column.str.to_date("%Y-%m-%d", strict=False)
        return dates if dates.null_count() == column.null_count() else column
    if len(filled) and filled.str.contains(ISO_TIME).all():
        times = times_of(column)
        return column if times is None else times
    if len(filled) and filled.str.contains(NUMBER).all():
        typed.note("numbers written as text kept as text", column.name)
    return column


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
