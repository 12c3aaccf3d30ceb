"""The first lines of a data file, each cut where it is long: rows of a table are never read page by page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.long_text import Cursor
from outcrop_specialists.reading.pages import fitting_part, json_chars

CUT = "…"
LINE_ENDS = ("\n", "\r\n", "\r")


@dataclass(frozen=True)
class Lines:
    """Which lines are asked for: from `start` on, `count` of them, in the first one from a character on."""

    start: int
    count: int | None
    start_char: int


@dataclass(frozen=True)
class _Line:
    number: int
    text: str
    left_out: int = 0
    is_counted: bool = True


@dataclass(frozen=True)
class DataLines:
    """What is shown of them. `is_guarded` says that there are more lines than are shown of any data file."""

    shown: list[_Line]
    is_guarded: bool
    start_char: int = 0
    next_line: int | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def has_cut(self) -> bool:
        return any(line.left_out for line in self.shown)

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.shown:
            found |= {"start_line": self.shown[0].number, "end_line": self.shown[-1].number}
        if self.start_char:
            found["start_char"] = self.start_char
        found["text"] = "".join(line.text + (CUT + "\n") * (line.left_out > 0) for line in self.shown)
        cut = [self._cut(line) for line in self.shown if line.left_out]
        if cut:
            found["cut_lines"] = cut
        if self.next_line:
            found["next"] = {"start_line": self.next_line}
        return found

    def _cut(self, line: _Line) -> dict[str, Any]:
        begins = self.start_char if line is self.shown[0] else 0
        more = {"line": line.number, "start_char": begins + len(line.text), "left_out_chars": line.left_out}
        return more if line.is_counted else {**more, "at_least": True}


def data_lines(cursor: Cursor, wanted: Lines, most_chars: int, until: float) -> DataLines:
    """Of a file of more than `limits.DATA_LINES` lines those wanted among the first few, of a shorter one those wanted.

    A line that does not end before the time `until` is the last one that is looked at. Raises ArgumentError where the
    file has no such line or character.
    """
    found = _looked_at(cursor, wanted, until)
    is_guarded = len(found) > limits.DATA_LINES or not found[-1].is_counted
    last = limits.DATA_LINES_SHOWN if is_guarded else len(found)
    if wanted.start > last and not is_guarded:
        raise ArgumentError("start_line", f"there is no line {wanted.start}: it has {len(found)} lines")
    notes = []
    start, start_char = wanted.start, wanted.start_char
    if start > last:
        notes.append(f"a data file of more than {limits.DATA_LINES} lines is not read line by line: lines beyond the "
                     f"first {last} are not given")  # fmt: skip
        start, start_char = 1, 0
    asked = found[start - 1 : last]
    asked = asked if wanted.count is None else asked[: wanted.count]
    shown: list[_Line] = []
    for line in asked:
        most_chars -= json_chars(line.text)
        if most_chars < 0 and shown:
            return DataLines(shown, is_guarded, start_char, line.number, notes)
        shown.append(line)
    next_line = shown[-1].number + 1 if shown and shown[-1].number < last else None
    if any(line.left_out for line in shown):
        notes.append(f"lines of more than {limits.READ_LINE_CHARS} characters are cut: cut_lines says how much was "
                     "left out and the start_char to go on with")  # fmt: skip
    return DataLines(shown, is_guarded, start_char, next_line, notes)


def _looked_at(cursor: Cursor, wanted: Lines, until: float) -> list[_Line]:
    """The first lines, so many that a long file is known for one."""
    found: list[_Line] = []
    while len(found) <= limits.DATA_LINES and not cursor.is_at_end:
        number = cursor.line
        if number == wanted.start and cursor.skip_chars(wanted.start_char):
            raise ArgumentError("start_char", f"line {number} has only {cursor.char} characters")
        text = fitting_part(cursor.peek(limits.READ_LINE_CHARS), limits.READ_LINE_CHARS)
        cursor.advance(text)
        if cursor.line == number and (end := cursor.peek(2)) in LINE_ENDS:
            cursor.advance(end)
            text += end
        if cursor.line > number or cursor.is_at_end:
            found.append(_Line(number, text))
            continue
        left, is_all = cursor.skip_line(until)
        found.append(_Line(number, text, left, is_all))
        if not is_all:
            break
    return found
