"""The part of JSON Schema (draft 2020-12) that a tool's input may use, checked keyword by keyword."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}\Z")
_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}
_NUMBERS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_COUNTS = {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
_SCHEMAS = {"items", "additionalProperties", "not", "contains", "propertyNames"}
_LISTS = {"anyOf", "oneOf", "allOf", "prefixItems"}
_KNOWN = (
    _NUMBERS | _COUNTS | _SCHEMAS | _LISTS
    | {
        "type", "properties", "required", "enum", "const", "default", "description", "pattern", "format", "examples",
        "uniqueItems", "$defs", "$ref",
    }
)  # fmt: skip


def schema_faults(schema: Any, root: dict[str, Any], where: str) -> Iterator[str]:
    """What is wrong with a schema, with its place."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield f"{where}: a schema is an object or a boolean"
        return
    for key, value in schema.items():
        here = f"{where}.{key}"
        if key not in _KNOWN:
            yield f"{here}: keyword is not part of the supported JSON Schema"
        elif key in ("properties", "$defs"):
            yield from _named(value, root, here, is_property=key == "properties")
        elif key in _SCHEMAS:
            yield from schema_faults(value, root, here)
        elif key in _LISTS:
            if not isinstance(value, list) or not value:
                yield f"{here}: must be a non-empty list of schemas"
            for number, child in enumerate(value):
                yield from schema_faults(child, root, f"{here}.{number}")
        else:
            yield from _value_faults(key, value, schema, root, here)


def _named(value: Any, root: dict[str, Any], where: str, *, is_property: bool) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where}: must be an object"
        return
    for name, child in value.items():
        if is_property and not _PROPERTY.match(name):
            yield f"{where}: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$': {name!r}"
        yield from schema_faults(child, root, f"{where}.{name}")


def _value_faults(key: str, value: Any, schema: dict[str, Any], root: dict[str, Any], where: str) -> Iterator[str]:
    if key == "type" and not (set([value] if isinstance(value, str) else value) <= _TYPES):
        yield f"{where}: {value!r} is no type"
    if key in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float)):
        yield f"{where}: must be a number"
    if key in _COUNTS and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        yield f"{where}: must be a whole number from 0 on"
    if key == "required" and not set(value) <= set(schema.get("properties", {})):
        yield f"{where}: {sorted(set(value) - set(schema.get('properties', {})))} are no properties"
    if key in ("enum", "examples") and (not isinstance(value, list) or not value):
        yield f"{where}: must be a non-empty list"
    if key in ("description", "format", "pattern") and not isinstance(value, str):
        yield f"{where}: must be text"
    if key == "pattern":
        try:
            re.compile(value)
        except re.error as error:
            yield f"{where}: is no regular expression: {error}"
    if key == "$ref" and value.removeprefix("#/$defs/") not in root.get("$defs", {}):
        yield f"{where}: {value!r} is not to be found in $defs"
