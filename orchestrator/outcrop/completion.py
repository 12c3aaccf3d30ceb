"""One line of a stream that could be a completion: is it one, of this dispatch, and is it valid?

Repairs that keep a result are made and said: invalid UTF-8, lone surrogates, numbers that JSON has no word for, text
glued in front. Anything else is a fault that names its field.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from outcrop_schemas import wire
from outcrop_schemas.errors import ProtocolError
from outcrop_schemas.protocol import Completion

_BOM = b"\xef\xbb\xbf"
# Objects tried when a completion is glued behind other text; each try is linear in the line.
_SALVAGE_TRIES = 64
_HUGE_DIGITS = 4_000
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Parsed:
    """A valid completion and what had to be repaired to read it."""

    completion: Completion
    repairs: tuple[str, ...]


@dataclass(frozen=True)
class Foreign:
    """A completion that is not this dispatch's."""

    dispatch_id: str


def parse_candidate(line: bytes, dispatch_id: str) -> Parsed | Foreign | None:
    """Read one line. None: it is no completion at all. Raises ProtocolError for an invalid one."""
    line = line.strip().removeprefix(_BOM).strip()
    repairs: list[str] = []
    try:
        value = wire.loads(line)
    except ValueError:
        value = _without_odd_values(_load_leniently(line, dispatch_id, repairs), repairs)
    if not isinstance(value, dict) or value.get("type") != "completion":
        return None
    if value.get("dispatch_id") != dispatch_id:
        return Foreign(str(value.get("dispatch_id", "none")))
    try:
        return Parsed(Completion.model_validate(value), tuple(repairs))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(map(str, fault["loc"]))
        raise ProtocolError(f"the completion is invalid at {field}: {fault['msg']}", field=field) from error


def _load_leniently(line: bytes, dispatch_id: str, repairs: list[str]) -> Any:
    """Read what strict JSON refuses but a result can be saved from. Raises ProtocolError."""
    text = line.decode("utf-8", "replace")
    replaced = text.count("\ufffd") - line.count("\ufffd".encode())
    if replaced > 0:
        repairs.append(f"invalid UTF-8 was replaced in {replaced} places")
    try:
        return _decoder().decode(text)
    except RecursionError:
        raise ProtocolError("the completion is nested too deep to read") from None
    except ValueError as error:
        salvaged = _salvage(text, dispatch_id)
        if salvaged is None:
            if dispatch_id not in text:
                return None
            raise ProtocolError(f"the completion is not valid JSON: {error}") from error
        value, before, after = salvaged
        if before:
            repairs.append(f"{before} characters of other text stood before the completion on its line")
        if after:
            repairs.append(f"{after} characters of other text stood behind the completion on its line")
        return value


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(parse_int=_parse_int)


def _parse_int(digits: str) -> float | int:
    # A 5,000-digit integer raises in int() and is no measurement anyway: it becomes null like other huge numbers.
    return int(digits) if len(digits) <= _HUGE_DIGITS else math.inf


def _salvage(text: str, dispatch_id: str) -> tuple[dict[str, Any], int, int] | None:
    """The completion of this dispatch inside a line that holds more than it."""
    if dispatch_id not in text:
        return None
    decoder, position = _decoder(), text.find("{")
    for _ in range(_SALVAGE_TRIES):
        if position < 0:
            return None
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        if isinstance(value, dict) and value.get("type") == "completion" and value.get("dispatch_id") == dispatch_id:
            return value, position, len(text[end:].strip())
        position = text.find("{", end)
    return None


def _without_odd_values(value: Any, repairs: list[str]) -> Any:
    """Replace what standard JSON cannot carry further; counts go into `repairs`."""
    counts = {"numbers": 0, "surrogates": 0}

    def walk(item: Any) -> Any:
        if isinstance(item, float) and not math.isfinite(item):
            counts["numbers"] += 1
            return None
        if isinstance(item, str) and _SURROGATE.search(item):
            counts["surrogates"] += 1
            return _SURROGATE.sub("\ufffd", item)
        if isinstance(item, dict):
            return {walk(key): walk(child) for key, child in item.items()}
        return [walk(child) for child in item] if isinstance(item, list) else item

    try:
        clean = walk(value)
    except RecursionError:
        raise ProtocolError("the completion is nested too deep to read") from None
    if counts["numbers"]:
        repairs.append(f"{counts['numbers']} numbers that are not finite or too large became null")
    if counts["surrogates"]:
        repairs.append(f"lone surrogates were replaced in {counts['surrogates']} texts")
    return clean
