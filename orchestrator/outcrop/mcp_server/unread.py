"""Lines that are no message of the protocol: whoever asked by one is answered, so that it does not wait for ever."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from outcrop_schemas import limits, wire

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_ID = rb'(-?\d{1,15}|"[^"\\]{1,100}")'
_PLAIN = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
# What stands before or behind the parameters: inside of them an "id" is anything.
_BEFORE = re.compile(rb"\s*\{\s*(?:" + _PLAIN + rb'\s*,\s*)*"id"\s*:\s*' + _ID)
_BEHIND = re.compile(rb'[,{]\s*"id"\s*:\s*' + _ID + rb"\s*(?:,\s*" + _PLAIN + rb"\s*)*\}\s*$")


class Cut(str):
    """The beginning and the end of a line that is too long to be read."""


def refusal(line: str, is_message: Callable[[str], bool]) -> str | None:
    """The answer to a line that is no message; None where it is one, or asks for nothing."""
    if not isinstance(line, Cut) and is_message(line):
        return None
    number = _id_of(line)
    if number is None:
        return None
    if isinstance(line, Cut):
        code, reason = _INVALID_REQUEST, f"a message has at most {limits.MCP_MESSAGE_BYTES} bytes"
    else:
        code, reason = _PARSE_ERROR, "is no message of the protocol, or not of JSON in UTF-8"
    return wire.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": reason}}).decode() + "\n"


def _id_of(line: str) -> int | str | None:
    """By what the request wants to be answered; None where it is no request."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _id_within(line.encode("utf-8", "replace"))
    number = message.get("id") if isinstance(message, dict) and "method" in message else None
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


def _id_within(line: bytes) -> int | str | None:
    found = _BEFORE.match(line) or _BEHIND.search(line)
    if found is None or b'"method"' not in line:
        return None
    number: int | str = json.loads(found[1])
    return number
