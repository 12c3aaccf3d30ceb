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
# What is tried when a completion is glued behind other text: objects before the id, how far back, characters in all.
_SALVAGE_TRIES = 16
_SALVAGE_REACH = 4_096
_SALVAGE_CHARS = 64 << 20
# From the left: so many braces may open nothing.
_SALVAGE_FAILURES = 64
# Deeper values are legal JSON, but what reads an outcome chokes on them; results alone may be deeper (see `cap`).
_NESTING = 100
_RESULTS_NESTING = 800
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
    _check_depth(value)
    try:
        return Parsed(Completion.model_validate(value), tuple(repairs))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(map(str, fault["loc"]))
        raise ProtocolError(f"the completion is invalid at {field}: {fault['msg']}", field=field) from error


def _check_depth(value: dict[str, Any]) -> None:
    """Raises ProtocolError for a field that is nested too deep; results may be as deep as JSON can be written."""
    for name, field in value.items():
        if is_deeper(field, _NESTING if name != "results" else _RESULTS_NESTING):
            raise ProtocolError(f"the completion is nested too deep at {name}", field=name)


def is_deeper(value: Any, levels: int) -> bool:
    """Whether a JSON value is nested deeper than so many levels."""
    level = [value]
    for _ in range(levels):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


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
            if not text.startswith("{") or dispatch_id not in text:
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
    """The completion of this dispatch inside a line that holds more than it; the last one, where there are several.

    Looked for around the id, then from the left, since the id may come last in a long completion. Either way reads a
    bounded number of characters: a hostile line must not hold up the orchestrator.
    """
    return _around_the_id(text, dispatch_id) or _from_the_left(text, dispatch_id)


def _around_the_id(text: str, dispatch_id: str) -> tuple[dict[str, Any], int, int] | None:
    """Only objects that open shortly before an occurrence of the id are tried."""
    decoder, budget = _decoder(), _SALVAGE_CHARS
    found = text.rfind(dispatch_id)
    while found >= 0 and budget > 0:
        for position in _openings_before(text, found):
            if budget <= 0:
                break
            end = len(text)
            try:
                value, end = decoder.raw_decode(text, position)
            except (ValueError, RecursionError) as error:
                budget -= getattr(error, "pos", end) - position + 1
                continue
            budget -= end - position
            if end > found and _is_completion_of(value, dispatch_id):
                return value, position, len(text[end:].strip())
        found = text.rfind(dispatch_id, 0, found)
    return None


def _from_the_left(text: str, dispatch_id: str) -> tuple[dict[str, Any], int, int] | None:
    """Every object that is in no other, as far as few openings in front of them are none."""
    decoder, budget, failures = _decoder(), _SALVAGE_CHARS, 0
    last, position = None, text.find("{")
    while position >= 0 and budget > 0 and failures < _SALVAGE_FAILURES:
        end = position + 1
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            failures += 1
            budget -= getattr(error, "pos", len(text)) - position + 1
        else:
            budget -= end - position
            if _is_completion_of(value, dispatch_id):
                last = value, position, len(text[end:].strip())
        position = text.find("{", end)
    return last


def _is_completion_of(value: Any, dispatch_id: str) -> bool:
    return isinstance(value, dict) and value.get("type") == "completion" and value.get("dispatch_id") == dispatch_id


def _openings_before(text: str, place: int) -> list[int]:
    """Where an object may open that holds `place`: the nearest braces before it, the outermost first."""
    openings: list[int] = []
    position = text.rfind("{", max(0, place - _SALVAGE_REACH), place)
    while position >= 0 and len(openings) < _SALVAGE_TRIES:
        openings.append(position)
        position = text.rfind("{", max(0, place - _SALVAGE_REACH), position)
    return openings[::-1]


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
