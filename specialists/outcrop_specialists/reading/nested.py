"""Makes flat records of nested ones: {"at": {"x": 1}} becomes at.x, a GeoJSON point its coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

DEEPEST = 8
POINT = ("longitude", "latitude", "altitude")
"""The order of GeoJSON (RFC 7946, section 4): WGS 84, longitude first."""


def flattened(records: list[dict[str, Any]], notes: list[str]) -> list[dict[str, Any]]:
    """The records with dotted names for what was nested; lists stay. Notes say what was done.

    Records are left as they are where a dotted name is there already.
    """
    if all(_is_feature(record) for record in records) and records:
        return _features(records, notes)
    if not any(isinstance(value, dict) for record in records for value in record.values()):
        return records
    found = [dict(_pairs(record, "", 0)) for record in records]
    if any(len(flat) != sum(1 for _ in _pairs(record, "", 0)) for flat, record in zip(found, records, strict=True)):
        return records
    nested = dict.fromkeys(key for record in records for key, value in record.items() if isinstance(value, dict))
    more = f" and {len(nested) - 8} more" if len(nested) > 8 else ""
    notes.append(f"nested records became columns with dotted names: {', '.join(map(repr, list(nested)[:8]))}{more}")
    return found


def _pairs(record: dict[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        if isinstance(value, dict) and value and depth < DEEPEST:
            yield from _pairs(value, f"{prefix}{key}.", depth + 1)
        else:
            yield f"{prefix}{key}", value


def _is_feature(record: dict[str, Any]) -> bool:
    return record.get("type") == "Feature" and isinstance(record.get("properties"), dict | None)


def _features(records: list[dict[str, Any]], notes: list[str]) -> list[dict[str, Any]]:
    """Features of GeoJSON: their properties, and the coordinates of points."""
    taken = {key for record in records for key in record["properties"] or {}}
    names = [f"geometry.{name}" if name in taken else name for name in POINT]
    found, points, shapes = [], 0, 0
    for record in records:
        flat = {"id": record["id"]} if "id" in record and "id" not in taken else {}
        flat |= record["properties"] or {}
        geometry = record.get("geometry") or {}
        if geometry.get("type") == "Point":
            flat |= dict(zip(names, geometry.get("coordinates") or [], strict=False))
            points += 1
        elif geometry:
            shapes += 1
        found.append(flat)
    if points:
        place = f"{names[0]!r} and {names[1]!r}"
        notes.append(f"GeoJSON: {points} points read as {place} (WGS 84 unless the file says otherwise)")
    if shapes:
        notes.append(f"{shapes} features are lines or areas, whose coordinates were left out")
    return flattened(found, notes) if any(isinstance(v, dict) for flat in found for v in flat.values()) else found
