"""Characters that people do not see, or that change what they see: legal in JSON, trouble on a page or a terminal."""

from __future__ import annotations

import re

# C1 controls, the soft hyphen, line ends of other standards, whatever turns the direction of a line or has no width.
_RANGES = "\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_UNSEEN = re.compile(f"[{_RANGES}]")
# A lone surrogate cannot be written at all.
_HIDDEN = re.compile(f"[\x00-\x08\x0b-\x1f{_RANGES}\ud800-\udfff]")
# Marks that stand above, below or through the letter before them: many on one letter grow over the lines around it.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06dc\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
)
# No script in use has more than four on a letter.
_STACKED = re.compile(f"(?<=[{_MARKS}]{{4}})[{_MARKS}]+")


def visible(text: str) -> str:
    """The text with such characters as escapes, and marks beyond the fourth on a letter; newlines and tabs stay."""
    # None of them is printable; nearly every text is, which is known at once.
    seen = text if text.isprintable() else _HIDDEN.sub(_escape, text)
    return seen if seen.isascii() else _STACKED.sub(lambda run: "".join(f"\\u{ord(mark):04x}" for mark in run[0]), seen)


def json_escaped(document: str) -> str:
    """A JSON document in which such characters, which only its strings can have, are JSON's own escapes."""
    return _UNSEEN.sub(lambda match: re.sub("....", r"\\u\g<0>", match[0].encode("utf-16-be").hex()), document)


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
