"""Where two requests differ: segment by segment, a unified diff of the lines of that segment and of no other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice, zip_longest
from typing import Any

from outcrop_schemas import limits, wire
from outcrop_schemas.messages import ModelRequest
from outcrop_specialists.context.segments import SEGMENTS, pieces

FORM = "form"
"""No text differs, but what holds the texts: their order, ids of calls, fields beside them."""
_BEFORE_CHARS = 60


@dataclass(frozen=True)
class SegmentDiff:
    """How one segment differs. `lines` are those of a unified diff, of which `left_out` are not shown."""

    segment: str
    lines: tuple[str, ...]
    left_out: int = 0

    def as_json(self) -> dict[str, Any]:
        return {"segment": self.segment, "diff": list(self.lines), "left_out": self.left_out}

    def text(self) -> str:
        more = [f"({self.left_out} more lines of this diff)"] if self.left_out else []
        return "\n".join([*self.lines, *more])


@dataclass(frozen=True)
class PromptDifference:
    """The first prompt of an agent that is rebuilt otherwise; `reason` stands where there is nothing to compare."""

    step: int
    segments: tuple[SegmentDiff, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"prompt {self.step}: {self.reason}"
        *others, last = [one.segment.replace("_", " ") for one in self.segments]
        named = f"{', '.join(others)} and {last} differ" if others else f"{last} differs"
        return "\n".join([f"prompt {self.step}: {named}", *(one.text() for one in self.segments)])


def by_segment(recorded: bytes, rebuilt: bytes) -> tuple[SegmentDiff, ...]:
    """The segments in which two requests differ, in the order of `SEGMENTS`; none where they are the same."""
    if recorded == rebuilt:
        return ()
    then, now = (ModelRequest.model_validate(wire.loads(request)) for request in (recorded, rebuilt))
    of_then, of_now = _texts(then), _texts(now)
    differing = [segment for segment in SEGMENTS if of_then.get(segment) != of_now.get(segment)]
    if not differing:
        return (_diff(FORM, _pretty(wire.loads(recorded)), _pretty(wire.loads(rebuilt))),)
    return tuple(_of_texts(segment, of_then.get(segment, []), of_now.get(segment, [])) for segment in differing)


def _texts(request: ModelRequest) -> dict[str, list[str]]:
    """The texts of each segment; of tools also those that the model has not found so far."""
    found: dict[str, list[str]] = {
        "tools": [wire.dumps(tool.model_dump(mode="json", exclude_none=True)).decode() for tool in request.tools]
    }
    for segment, text in pieces(request):
        if segment != "tools":
            found.setdefault(segment, []).append(text)
    return found


def _of_texts(segment: str, then: Sequence[str], now: Sequence[str]) -> SegmentDiff:
    readable = [[line for text in texts for line in _readable(text)] for texts in (then, now)]
    if readable[0] == readable[1]:
        # JSON that was only written otherwise.
        readable = [[line for text in texts for line in text.split("\n")] for texts in (then, now)]
    return _diff(segment, *readable)


def _readable(text: str) -> list[str]:
    """A text line by line; JSON with a line for each value, and the lines of its texts."""
    if not text.startswith(("{", "[")):
        return text.split("\n")
    try:
        value = wire.loads(text)
    except ValueError:
        return text.split("\n")
    return [part for line in _pretty(value) for part in line.split("\\n")]


def _pretty(value: Any) -> list[str]:
    return json.dumps(value, indent=1, ensure_ascii=False).split("\n")


def _diff(segment: str, then: Sequence[str], now: Sequence[str]) -> SegmentDiff:
    made = unified_diff(then, now, f"{segment}, as sent", f"{segment}, rebuilt", lineterm="", n=1)
    lines = list(_shortened(made))
    shown = lines[: limits.REPLAY_DIFF_LINES]
    return SegmentDiff(segment, tuple(shown), len(lines) - len(shown))


def _shortened(lines: Iterator[str]) -> Iterator[str]:
    """Long lines are shown around the place where they differ from their counterpart."""
    yield from islice(lines, 2)
    removed: list[str] = []
    added: list[str] = []
    for line in lines:
        if line.startswith("-") and not added:
            removed.append(line[1:])
        elif line.startswith("+"):
            added.append(line[1:])
        else:
            yield from _paired(removed, added)
            removed, added = ([line[1:]], []) if line.startswith("-") else ([], [])
            if not removed:
                yield _window(line, 0)
    yield from _paired(removed, added)


def _paired(removed: Sequence[str], added: Sequence[str]) -> Iterator[str]:
    starts = [max(0, _shared(*pair) - _BEFORE_CHARS) for pair in zip_longest(removed, added, fillvalue="")]
    for mark, lines in (("-", removed), ("+", added)):
        yield from (mark + _window(line, start) for line, start in zip(lines, starts, strict=False))


def _shared(one: str, other: str) -> int:
    """How many characters two lines begin with alike."""
    place = next((at for at, (this, that) in enumerate(zip(one, other, strict=False)) if this != that), None)
    return min(len(one), len(other)) if place is None else place


def _window(line: str, start: int) -> str:
    if len(line) <= limits.REPLAY_DIFF_CHARS:
        return line
    end = start + limits.REPLAY_DIFF_CHARS
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
