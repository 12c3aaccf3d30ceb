"""A page of a text: whole lines as far as they fit, of a line that fits no page the piece that does. Pages put one
behind the other are the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.long_text import Cursor


@dataclass(frozen=True)
class Page:
    """`text` from `start_line` (from 1) and `start_char` (from 0) on; `next_line` and `next_char` say where to go on,
    which is at the end where `is_last`."""

    text: str
    start_line: int
    start_char: int
    next_line: int
    next_char: int
    is_last: bool

    @property
    def end_line(self) -> int:
        """The last line of which something is here."""
        return self.next_line if self.next_char else max(self.start_line, self.next_line - 1)

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"start_line": self.start_line, "end_line": self.end_line}
        if self.start_char:
            found["start_char"] = self.start_char
        found["text"] = self.text
        if not self.is_last:
            found["next"] = {"start_line": self.next_line}
            if self.next_char:
                found["next"]["start_char"] = self.next_char
        return found


def go_to(cursor: Cursor, start_line: int, start_char: int) -> None:
    """Bring a cursor that is at the start to a place. Raises ArgumentError where the text ends before."""
    cursor.skip_lines(start_line - 1)
    if cursor.line < start_line or (start_line > 1 and cursor.is_at_end):
        lines = cursor.count_lines()[0]
        raise ArgumentError("start_line", f"there is no line {start_line}: it has {lines} lines")
    lacking = cursor.skip_chars(start_char)
    if lacking:
        raise ArgumentError("start_char", f"line {start_line} has {start_char - lacking} characters")


def page_from(cursor: Cursor, lines: int | None, most_chars: int) -> Page:
    """The page that begins where the cursor is: at most so many lines, and characters of it as JSON text."""
    start_line, start_char, room = cursor.line, cursor.char, most_chars
    pieces: list[str] = []
    while lines is None or cursor.line - start_line < lines:
        piece = cursor.peek(room + 1)
        if not piece:
            break
        fitting = fitting_part(piece, room)
        if fitting != piece and pieces:
            break
        cursor.advance(fitting)
        pieces.append(fitting)
        room -= json_chars(fitting)
        if cursor.char or room <= 0:
            break
    return Page("".join(pieces), start_line, start_char, cursor.line, cursor.char, cursor.is_at_end)


def fitting_part(text: str, room: int) -> str:
    """The longest beginning of a text that takes at most so many characters of JSON; one character at least."""
    if json_chars(text) <= room:
        return text
    least, most = 1, min(len(text), max(room, 1))
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if json_chars(text[:middle]) <= room else (least, middle - 1)
    return text[:least]


def json_chars(text: str) -> int:
    """Characters that a text takes within JSON, its quotes not counted."""
    return len(wire.dumps(text).decode()) - 2
