"""A schema of others reduced to the part of JSON Schema that servers of models take.

One tool whose schema such a server refuses would have every request refused in which it is offered. What is left out
here is still checked by the server whose tool it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from outcrop_specialists.outside_schemas import is_schema

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_DEPTH = 60
_TEXTS = frozenset({"description", "examples", "default"})
_VALUES = frozenset({
    "type", "required", "enum", "const", "pattern", "format", "uniqueItems", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties",
    "maxProperties", *_TEXTS,
})  # fmt: skip
_SCHEMAS = frozenset({"items", "additionalProperties", "not", "contains", "propertyNames"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
# Older drafts have other names for the same.
_DEFINITIONS, _OLD_DEFINITIONS = "$defs", "definitions"
_NOT_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref")


class _UnfitError(Exception):
    """There is no such part of it."""


def plain(given: Any, *, has_texts: bool = True) -> dict[str, Any] | None:
    """The schema of an object, reduced, with or without its texts for people; None where it is none."""
    if not isinstance(given, dict) or given.get("type", "object") != "object":
        return None
    definitions = {**_mapping(given.get(_OLD_DEFINITIONS)), **_mapping(given.get(_DEFINITIONS))}
    top = {name: value for name, value in given.items() if name not in _NOT_AT_THE_TOP}
    try:
        found = _Reduction(definitions, has_texts).of(top, 0) | {"type": "object"}
        if definitions:
            found[_DEFINITIONS] = {
                name: _Reduction(definitions, has_texts).of(one, 0) for name, one in definitions.items()
            }
    except _UnfitError:
        return None
    return found if is_schema(found) else None


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


class _Reduction:
    def __init__(self, definitions: Mapping[str, Any], has_texts: bool) -> None:
        self._definitions, self._has_texts = definitions, has_texts

    def of(self, schema: Any, depth: int) -> Any:
        """A schema below another one. Raises _UnfitError."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict) or depth > _DEPTH:
            raise _UnfitError
        found: dict[str, Any] = {}
        for name, value in schema.items():
            if name == "properties":
                found[name] = self._properties(value, depth)
            elif name == "items" and isinstance(value, list):
                found["prefixItems"] = [self.of(one, depth + 1) for one in value]
            elif name in _SCHEMAS:
                found[name] = self.of(value, depth + 1)
            elif name in _LISTS and isinstance(value, list) and value:
                found[name] = [self.of(one, depth + 1) for one in value]
            elif name == "$ref":
                found[name] = self._reference(value)
            elif name in _VALUES and self._is_kept(name, value, schema):
                found[name] = value
        return found

    def _properties(self, value: Any, depth: int) -> dict[str, Any]:
        if not isinstance(value, dict) or not all(map(_PROPERTY.fullmatch, value)):
            raise _UnfitError
        return {name: self.of(one, depth + 1) for name, one in value.items()}

    def _reference(self, value: Any) -> str:
        """A reference to a definition of the schema itself, and to nothing else."""
        place, _, name = str(value).removeprefix("#/").partition("/")
        if place not in (_DEFINITIONS, _OLD_DEFINITIONS) or name not in self._definitions:
            raise _UnfitError
        return f"#/{_DEFINITIONS}/{name}"

    def _is_kept(self, name: str, value: Any, schema: Mapping[str, Any]) -> bool:
        if name in _TEXTS:
            return self._has_texts and (name != "description" or isinstance(value, str))
        if name == "required":
            return isinstance(value, list) and all(one in _mapping(schema.get("properties")) for one in value)
        if name in ("enum", "examples"):
            return isinstance(value, list) and bool(value)
        if name in ("pattern", "format"):
            return isinstance(value, str) and (name == "format" or _is_expression(value))
        # A switch beside a bound, as an old draft has it.
        return not (isinstance(value, bool) and name.startswith("exclusive"))


def _is_expression(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
