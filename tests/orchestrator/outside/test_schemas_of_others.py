"""Whatever a server calls a schema, what is offered of it is one that a strict server of models takes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from servers.strict_schema import schema_faults

from outcrop.outside.config import McpServer
from outcrop.outside.listing import listed
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.outside_schemas import check_arguments

NAMES = st.sampled_from([
    "type", "properties", "required", "items", "anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "definitions", "enum",
    "const", "pattern", "format", "minimum", "exclusiveMinimum", "maxLength", "description", "examples", "default",
    "if", "additionalProperties", "propertyNames", "patternProperties", "prefixItems", "uniqueItems", "$schema", "a",
])  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
    | st.sampled_from(["object", "array", "string", "#/$defs/a", "#/definitions/a", "#", "http://x/", "a", "("])
)  # fmt: skip
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5))


@given(JSON, JSON)
def test_what_is_offered_is_a_schema_whatever_was_given(schema: Any, arguments: Any) -> None:
    given_ = {"type": "object", **schema} if isinstance(schema, dict) else schema
    [tool] = listed("lab", McpServer(command=["x"]), [{"name": "t", "inputSchema": given_}]).tools
    assert list(schema_faults(tool.input_schema, tool.input_schema, "")) == []
    assert tool.input_schema["type"] == "object"
    assert len(wire.dumps(tool.input_schema)) <= limits.OUTSIDE_SCHEMA_CHARS
    with suppress(ArgumentError):
        check_arguments(tool.input_schema, {"a": arguments})
