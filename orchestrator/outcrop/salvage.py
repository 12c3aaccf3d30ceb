"""Finds the completion of a dispatch inside a line that holds more than it: text in front, text behind, odd numbers.

Only where objects begin and end is looked for, in a text of one character a byte, so places are places in the line.
What a line may cost is bounded by work counted, not by its length: a hostile line must not hold up the orchestrator.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

_HUGE_DIGITS = 4_000
# An object that could be a completion opens like this; braces of other text mostly do not.
_OPENING = re.compile(r'\{[ \t\r]*"')
_UNTERMINATED = "Unterminated string"
# Work in characters of a plain string. Brackets, commas and colons stand for objects, which cost so much more.
_WORK = 16 << 20
_STRUCTURE = "[{,:"
_STRUCTURE_COSTS = 300
_TRY_COSTS = 1_000
# The error of a failed try counts the line ends before it: cheap, but over the whole text.
_COUNTING_SHARE = 16
# A line with more of them is not searched: one try alone would take too long.
_STRUCTURES = 150_000
# Around an occurrence of the id: so many objects before it, so far back; and so many occurrences.
_OPENINGS, _REACH, _OCCURRENCES, _LOOKED_AT = 16, 4_096, 32, 10_000
_NAME_REACH = 64
# From the left: so many openings may open nothing.
_FAILURES = 64


@dataclass(frozen=True)
class Place:
    """Where the completion stands in its line."""

    begin: int
    end: int


class TooLargeToSearchError(ValueError):
    """The line has too many values to look for a completion in it."""


def decoder() -> json.JSONDecoder:
    """Reads JSON with the numbers that it has no word for; those are `math.inf` and the like."""
    return json.JSONDecoder(parse_int=_parse_int)


def _parse_int(digits: str) -> float | int:
    # A 5,000-digit integer raises in int() and is no measurement anyway: it becomes null like other huge numbers.
    return int(digits) if len(digits) <= _HUGE_DIGITS else math.inf


def find_completion(line: bytes, dispatch_id: str) -> Place | None:
    """The last completion of this dispatch in a line, in no other object. Raises TooLargeToSearchError.

    Looked for from the left, and around the id where that takes too much work: what stands in front may be anything.
    """
    text = line.decode("latin-1")
    if sum(map(text.count, _STRUCTURE)) > _STRUCTURES:
        raise TooLargeToSearchError
    found, is_complete = _from_the_left(text, dispatch_id)
    return found if is_complete else _around_the_id(text, dispatch_id) or found


class _Tries:
    """Tries to read objects of one text until the work is used up."""

    def __init__(self, text: str) -> None:
        self._text, self._left, self._decoder = text, _WORK, decoder()

    @property
    def is_over(self) -> bool:
        return self._left <= 0

    def read(self, position: int) -> tuple[Any, int] | None:
        """The value that begins there and its end; None where none does."""
        try:
            value, end = self._decoder.raw_decode(self._text, position)
        except json.JSONDecodeError as error:
            self._charge(position, error.pos)
            if error.msg.startswith(_UNTERMINATED):
                # It names the string's begin, and has read to the end of the text.
                self._left -= len(self._text) - error.pos
            return None
        except RecursionError:
            self._left -= _TRY_COSTS
            return None
        self._charge(position, end)
        return value, end

    def _charge(self, begin: int, end: int) -> None:
        structures = sum(self._text.count(mark, begin, end) for mark in _STRUCTURE)
        self._left -= end - begin + _STRUCTURE_COSTS * structures + _TRY_COSTS + end // _COUNTING_SHARE


def _from_the_left(text: str, dispatch_id: str) -> tuple[Place | None, bool]:
    """Every object that is in no other, and whether the text was read to its end."""
    tries, failures, last = _Tries(text), 0, None
    opening = _OPENING.search(text)
    while opening:
        if tries.is_over or failures >= _FAILURES:
            return last, False
        found = tries.read(opening.start())
        if found is None:
            failures += 1
        elif _is_completion_of(found[0], dispatch_id):
            last = Place(opening.start(), found[1])
        opening = _OPENING.search(text, opening.start() + 1 if found is None else found[1])
    return last, True


def _around_the_id(text: str, dispatch_id: str) -> Place | None:
    """Only objects that open shortly before an occurrence of the id are tried, the outermost first."""
    tries, occurrences = _Tries(text), 0
    place = len(text)
    for _ in range(_LOOKED_AT):
        place = text.rfind(dispatch_id, 0, place)
        if place < 0 or occurrences >= _OCCURRENCES:
            break
        if "dispatch_id" not in text[max(0, place - _NAME_REACH) : place]:
            continue
        occurrences += 1
        reach = max(0, place - _REACH)
        openings = [opening.start() for opening in _OPENING.finditer(text, reach, place)][-_OPENINGS:]
        for position in openings:
            if tries.is_over:
                return None
            found = tries.read(position)
            if found is None or found[1] <= place:
                continue
            if _is_completion_of(found[0], dispatch_id):
                return Place(position, found[1])
            # What is inside another object is no message.
            break
    return None


def _is_completion_of(value: Any, dispatch_id: str) -> bool:
    return isinstance(value, dict) and value.get("type") == "completion" and value.get("dispatch_id") == dispatch_id
