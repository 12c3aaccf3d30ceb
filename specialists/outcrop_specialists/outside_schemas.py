"""JSON Schemas of others: whether one is, and what fits it. The one door to jsonschema, which comes with the MCP SDK.

A hostile schema must neither hang nor fetch: regular expressions of others are passed over, and what a schema refers to
elsewhere is never looked up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outcrop_schemas.errors import ArgumentError

_VALUE_CHARS = 200
# What validators of others raise beside their own errors, on schemas that nobody thought of.
_ODD = (RecursionError, ValueError, TypeError, ArithmeticError, LookupError)


def is_schema(given: Mapping[str, Any]) -> bool:
    """Whether it is a schema by the draft that it names, or by the latest one."""
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]

    try:
        validator_for(given).check_schema(given)
    except (SchemaError, *_ODD):
        return False
    return True


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raises ArgumentError, which names the first fault. What cannot be checked is left to the server."""
    try:
        from jsonschema.exceptions import best_match
        from jsonschema.validators import extend, validator_for
        from referencing import Registry
        from referencing.exceptions import Unresolvable
    except ImportError:
        return
    kind = extend(validator_for(schema), {"pattern": _passed, "patternProperties": _passed})
    try:
        fault = best_match(kind(schema, registry=Registry()).iter_errors(arguments))
    except (Unresolvable, *_ODD):
        return
    if fault is not None:
        where = ".".join(str(part) for part in fault.absolute_path) or "arguments"
        raise ArgumentError(where[:_VALUE_CHARS], fault.message[:_VALUE_CHARS])


def _passed(*_: Any) -> tuple[()]:
    return ()
