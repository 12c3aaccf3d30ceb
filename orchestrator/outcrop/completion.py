"""One line of a stream that could be a completion: is it one, of this dispatch, and is it valid?

Repairs that keep a result are made and said: invalid UTF-8, lone surrogates, numbers that JSON has no word for, text
glued in front. Anything else is a fault that names its field.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from outcrop.salvage import TooLargeToSearchError, decoder, find_completion
from outcrop.text import shorten
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ProtocolError
from outcrop_schemas.protocol import Completion

# Of a line that is too long, or holds too much to be searched, so much is looked at from its end.
TAIL_BYTES = 1 << 20
_TAILS = (TAIL_BYTES, TAIL_BYTES // 4, TAIL_BYTES // 16)
_BOM = b"\xef\xbb\xbf"
# Deeper values are legal JSON, but what reads an outcome chokes on them; results alone may be deeper (see `cap`).
_NESTING = 100
_RESULTS_NESTING = 800
_SURROGATE = re.compile("[\ud800-\udfff]")
_IS_COMPLETION = re.compile(rb'"type"\s*:\s*"completion"')
# What a mark of JSON stands for in memory, in bytes, at most: a list, an object with its first keys, an entry with its
# value, a key that no other object has.
_LIST, _OBJECT, _ENTRY, _KEY = 88, 216, 64, 80
_SHARED_KEYS = 16
_HEAVIEST = 216
_BLOCK_BYTES = 128 << 10
_HEAVIEST = 216
_FOREIGN_ID_CHARS = 80
# A longer line that does not name this dispatch is not read to learn whose it is.
_FOREIGN_BYTES = 1 << 20
# Lists that an outcome has twenty entries of, a thousand at most: what is made of more takes memory for nothing.
_ENTRIES = 5_000
_LISTS = ("artifacts", "findings", "recommendations", "blockers", "errors", "claims")
_EVIDENCE = ("supports", "contradicts", "new_hypotheses")


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
    is_ours = dispatch_id.encode() in line
    if _is_too_heavy(line):
        if is_ours and _IS_COMPLETION.search(line):
            raise ProtocolError(
                f"the completion has too many values: reading its {len(line)} bytes would take more than "
                f"{limits.COMPLETION_MEMORY_BYTES >> 20} MiB; write tables to a file and name it in artifacts",
                field="results",
            )
        return None
    if not is_ours and len(line) > _FOREIGN_BYTES:
        return None
    repairs: list[str] = []
    is_strict, value, _ = _tried(wire.loads, line)
    if not is_strict and is_ours:
        value = _without_odd_values(_load_leniently(line, dispatch_id, repairs), repairs)
    return _validated(value, dispatch_id, repairs)


def _tried(load: Callable[[Any], Any], text: bytes | str) -> tuple[bool, Any, str]:
    """Whether it can be read, the value, what is wrong. The error itself would hold the whole text while it lives."""
    try:
        return True, load(text), ""
    except RecursionError:
        raise ProtocolError("the completion is nested too deep to read") from None
    except ValueError as error:
        return False, None, str(error)


def parse_tail(tail: bytes, dispatch_id: str, length: int) -> Parsed | None:
    """The completion that ends a line of which only the tail was kept. Raises ProtocolError for an invalid one."""
    repairs: list[str] = []
    found = _validated(_cut_from_the_end(tail.strip(), dispatch_id, length, repairs), dispatch_id, repairs)
    return found if isinstance(found, Parsed) else None


def _cut_from_the_end(tail: bytes, dispatch_id: str, length: int, repairs: list[str]) -> Any:
    """Text behind it would mean that it may be part of something larger whose beginning is not looked at."""
    place = None
    for size in _TAILS:
        tail = tail[-size:]
        with contextlib.suppress(TooLargeToSearchError):
            # A shorter one has less in it.
            place = find_completion(tail, dispatch_id)
            break
    if place is None or place.end != len(tail):
        return None
    repairs.append(f"the completion was cut from the end of a line of {length} bytes")
    return _without_odd_values(decoder().decode(_text_of(tail[place.begin :], repairs)), repairs)


def _validated(value: Any, dispatch_id: str, repairs: list[str]) -> Parsed | Foreign | None:
    if not isinstance(value, dict) or value.get("type") != "completion":
        return None
    if value.get("dispatch_id") != dispatch_id:
        named = value.get("dispatch_id", "none")
        return Foreign(shorten(named, _FOREIGN_ID_CHARS) if isinstance(named, str) else type(named).__name__)
    _check_depth(value)
    _bound_lists(value, repairs)
    try:
        return Parsed(Completion.model_validate(value), tuple(repairs))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(map(str, fault["loc"]))
        raise ProtocolError(f"the completion is invalid at {field}: {fault['msg']}", field=field) from error


def _is_too_heavy(line: bytes) -> bool:
    """Whether its values would take more memory than there is for them, by the marks that make values."""
    limit = limits.COMPLETION_MEMORY_BYTES
    if len(line) * _HEAVIEST <= limit or _weight(_marks(line)) <= limit:
        return False
    # Marks inside strings make no values, where the line is nothing but JSON. Each string stands beside a mark.
    bare = line.replace(rb"\\", b"").replace(rb"\"", b"") if line.startswith(b"{") else b""
    return not bare or bare.count(b'"') // 2 * _ENTRY > limit or _weight(_marks_outside_strings(bare)) > limit


def _marks(piece: bytes) -> Counter[bytes]:
    return Counter({mark: piece.count(mark) for mark in (b"[", b"{", b",", b":")})


def _marks_outside_strings(bare: bytes) -> Counter[bytes]:
    marks: Counter[bytes] = Counter()
    is_inside = 0
    for at in range(0, len(bare), _BLOCK_BYTES):
        parts = bare[at : at + _BLOCK_BYTES].split(b'"')
        marks += _marks(b"".join(parts[is_inside::2]))
        is_inside ^= len(parts) - 1 & 1
    return marks


def _weight(marks: Counter[bytes]) -> int:
    # Records share their keys; the keys of wide objects are all their own.
    keys = max(marks[b":"] - _SHARED_KEYS * marks[b"{"], 0)
    return _LIST * marks[b"["] + _OBJECT * marks[b"{"] + _ENTRY * marks[b","] + _KEY * keys


def _bound_lists(value: dict[str, Any], repairs: list[str]) -> None:
    """Cut what would be made into objects by the hundred thousand, and say so."""
    evidence = value.get("evidence")
    holders = [(value, _LISTS), *([(evidence, _EVIDENCE)] if isinstance(evidence, dict) else [])]
    for holder, names in holders:
        for name in names:
            entries = holder.get(name)
            if isinstance(entries, list) and len(entries) > _ENTRIES:
                repairs.append(f"of {len(entries)} {name} the first {_ENTRIES} were read")
                del entries[_ENTRIES:]


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
    said: list[str] = []
    is_read, value, wrong = _tried(decoder().decode, _text_of(line, said))
    if is_read:
        repairs += said
        return value
    try:
        place = find_completion(line, dispatch_id)
    except TooLargeToSearchError:
        value = _cut_from_the_end(line[-TAIL_BYTES:], dispatch_id, len(line), repairs)
        if value is None and _IS_COMPLETION.search(line):
            raise ProtocolError(
                "the completion is not alone on its line, and has too many values to be cut from it"
            ) from None
        return value
    if place is None:
        if not line.startswith(b"{"):
            return None
        raise ProtocolError(f"the completion is not valid JSON: {wrong}")
    value = decoder().decode(_text_of(line[place.begin : place.end], repairs))
    if place.begin:
        repairs.append(f"{place.begin} bytes of other text stood before the completion on its line")
    if behind := len(line[place.end :].strip()):
        repairs.append(f"{behind} bytes of other text stood behind the completion on its line")
    return value


def _text_of(piece: bytes, repairs: list[str]) -> str:
    text = piece.decode("utf-8", "replace")
    replaced = text.count("\ufffd") - piece.count("\ufffd".encode())
    if replaced > 0:
        repairs.append(f"invalid UTF-8 was replaced in {replaced} places")
    return text


def _without_odd_values(value: Any, repairs: list[str]) -> Any:
    """Replace, in place, what standard JSON cannot carry further; counts go into `repairs`."""
    counts = {"numbers": 0, "surrogates": 0}

    def clean(item: Any) -> Any:
        if isinstance(item, float) and not math.isfinite(item):
            counts["numbers"] += 1
            return None
        if isinstance(item, str) and _SURROGATE.search(item):
            counts["surrogates"] += 1
            return _SURROGATE.sub("\ufffd", item)
        return item

    root = [value]
    waiting: list[Any] = [root]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict) and any(_SURROGATE.search(key) for key in holder):
            entries = [(clean(key), child) for key, child in holder.items()]
            holder.clear()
            holder.update(entries)
        for key, child in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if isinstance(child, dict | list):
                waiting.append(child)
            elif isinstance(child, float | str) and (new := clean(child)) is not child:
                # The keys stay, so that this may be done while they are gone through.
                holder[key] = new
    if counts["numbers"]:
        repairs.append(f"{counts['numbers']} numbers that are not finite or too large became null")
    if counts["surrogates"]:
        repairs.append(f"lone surrogates were replaced in {counts['surrogates']} texts")
    return root[0]
