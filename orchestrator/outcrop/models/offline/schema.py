"""A tool's arguments as binding sees them: a JSON schema flattened into properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from outcrop.models.offline.cards import content_stems

ROLE = "x-role"
COLUMN_ROLES = frozenset({"column", "columns", "x-column", "y-column", "label-column", "by-column"})

# What a property of this name is, where the schema does not say.
ROLE_OF_NAME = {
    "column": "column",
    "columns": "columns",
    "subset": "columns",
    "x": "x-column",
    "y": "y-column",
    "longitude": "x-column",
    "latitude": "y-column",
    "color": "label-column",
    "colour": "label-column",
    "label": "label-column",
    "label_column": "label-column",
    "group": "label-column",
    "by": "by-column",
    "group_by": "by-column",
}
REFERENCE_DEPTH = 5
# Whether one column is meant or several is said by what the argument takes, whatever its author called its role.
_OF_KIND = {"string": "column", "array": "columns"}


@dataclass(frozen=True)
class Property:
    """One argument of a tool."""

    name: str
    kind: str
    """string, integer, number, boolean, array, object; empty where the schema leaves it open."""
    role: str = ""
    item_kind: str = ""
    choices: tuple[Any, ...] = ()
    is_required: bool = False
    default: Any = None
    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    fewest: int = 0
    most: int | None = None
    fields: tuple[Property, ...] = field(default=())
    """The properties of an object, or of the objects of an array."""

    @cached_property
    def stems(self) -> tuple[str, ...]:
        return content_stems(self.name.replace("_", " "))

    @property
    def is_list(self) -> bool:
        return self.kind == "array"

    @property
    def is_column(self) -> bool:
        return self.role in COLUMN_ROLES


def properties_of(schema: Mapping[str, Any]) -> list[Property]:
    """The properties of an object schema in their order; what cannot be read as a property is left out."""
    definitions = schema.get("$defs")
    return _properties(schema, definitions if isinstance(definitions, dict) else {}, 0)


def _properties(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int) -> list[Property]:
    given, required = schema.get("properties"), schema.get("required")
    if not isinstance(given, dict) or depth > REFERENCE_DEPTH:
        return []
    names = required if isinstance(required, list) else []
    return [
        _property(name, entry, definitions, is_required=name in names, depth=depth)
        for name, entry in given.items()
        if isinstance(entry, dict)
    ]


def _property(
    name: str, entry: Mapping[str, Any], definitions: Mapping[str, Any], *, is_required: bool, depth: int
) -> Property:
    flat = _flat(entry, definitions)
    kind = str(flat.get("type") or ("string" if "enum" in flat or "const" in flat else ""))
    raw_items = flat.get("items")
    items = _flat(raw_items, definitions) if isinstance(raw_items, dict) else {}
    choices = _choices(flat) or _choices(items)
    role = flat.get(ROLE)
    if not isinstance(role, str):
        role = "" if choices else _role_of(name, kind, str(items.get("type", "")))
    return Property(
        name=name,
        kind=kind,
        role=_OF_KIND.get(kind, role) if role in _OF_KIND.values() else role,
        item_kind=str(items.get("type", "")),
        choices=choices,
        is_required=is_required,
        default=flat.get("default"),
        description=str(flat.get("description", "")),
        minimum=_bound(flat, "minimum", "exclusiveMinimum") if kind != "array" else _bound(items, "minimum"),
        maximum=_bound(flat, "maximum", "exclusiveMaximum") if kind != "array" else _bound(items, "maximum"),
        fewest=int(_bound(flat, "minItems") or 0),
        most=None if (most := _bound(flat, "maxItems")) is None else int(most),
        fields=tuple(_properties(items if kind == "array" else flat, definitions, depth + 1)),
    )


def _flat(entry: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The entry with references and "or null" resolved."""
    flat = dict(entry)
    for _ in range(REFERENCE_DEPTH):
        inner: Any = None
        reference = flat.pop("$ref", None)
        if isinstance(reference, str):
            inner = definitions.get(reference.rpartition("/")[2])
        for key in ("anyOf", "oneOf", "allOf"):
            options = flat.pop(key, None)
            if inner is None and isinstance(options, list):
                kinds = [option for option in options if isinstance(option, dict) and option.get("type") != "null"]
                # Where a value may be of several kinds, its kind is open.
                inner = kinds[0] if len(kinds) == 1 else None
        if not isinstance(inner, dict):
            break
        flat = {**inner, **flat}
    return flat


def _role_of(name: str, kind: str, item_kind: str) -> str:
    """The role of a property whose schema names none."""
    takes_text = kind == "string" or (kind == "array" and item_kind in ("string", ""))
    return ROLE_OF_NAME.get(name, "") if takes_text else ""


def _choices(flat: Mapping[str, Any]) -> tuple[Any, ...]:
    listed = flat.get("enum")
    if isinstance(listed, list):
        return tuple(listed)
    return (flat["const"],) if "const" in flat else ()


def _bound(flat: Mapping[str, Any], *names: str) -> float | None:
    return next((value for name in names if isinstance(value := flat.get(name), int | float)), None)
