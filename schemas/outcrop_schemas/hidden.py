"""Characters that people do not see, or that change what they see: legal in JSON, trouble on a page or a terminal."""

from __future__ import annotations

import re

# C1 controls, the soft hyphen, line ends of other standards, whatever turns the direction of a line or has no width.
_RANGES = "\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_UNSEEN = re.compile(f"[{_RANGES}]")
# A lone surrogate cannot be written at all.
_HIDDEN = re.compile(f"[\x00-\x08\x0b-\x1f{_RANGES}\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with such characters as escapes; newlines and tabs stay."""
    # None of them is printable; nearly every text is, which is known at once.
    return text if text.isprintable() else _HIDDEN.sub(_escape, text)


def json_escaped(document: str) -> str:
    """A JSON document in which such characters, which only its strings can have, are JSON's own escapes."""
    return _UNSEEN.sub(lambda match: re.sub("....", r"\\u\g<0>", match[0].encode("utf-16-be").hex()), document)


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
