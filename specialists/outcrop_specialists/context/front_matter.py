"""The front matter of a file: the part of YAML that says texts by name, and what of it was not understood.

Read are `key: text` at the left margin, plain or in quotes with their escapes, over further indented lines or as a
block (`|`, `>`), and comments. Lists and mappings are passed over: only who asks for such a field is told of it. Not
read are anchors, aliases, tags and complex keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_KEY = re.compile(r"""(?:([^\W\d][\w.-]*)|"([^"\\]+)"|'([^']+)')[ \t]*:(?:[ \t]+(.*)|$)""")
_BLOCK = re.compile(r"[|>](?:[+-]?[1-9]?|[1-9][+-])[ \t]*(?:#.*)?")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_DOUBLE, _SINGLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL), re.compile(r"'((?:[^']|'')*)'")
_NOT_READ = {
    "&": "an anchor", "*": "an alias", "!": "a tag", "[": "a list", "{": "a mapping", "%": "a directive",
    "@": "a reserved sign", "`": "a reserved sign",
}  # fmt: skip
_LIST_OR_MAPPING = "it is a list or a mapping, no text"
_SHOWN_CHARS = 60


class FrontMatterError(ValueError):
    """What stands there is not read: the reason."""


class FrontMatter:
    """The fields of a front matter; a text is made of one when it is asked for."""

    def __init__(self, text: str) -> None:
        self._fields = dict(_fields(text))

    def text(self, key: str) -> str:
        """The text of a field on one line, empty where there is none. Raises FrontMatterError."""
        try:
            said = " ".join(_text(self._fields.get(key, [""])).split())
            said.encode()
        except FrontMatterError as error:
            raise FrontMatterError(f"{key}: {error}") from error
        except UnicodeEncodeError as error:
            raise FrontMatterError(f"{key}: it holds half of a character") from error
        return said


def _fields(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each key with its lines: what stands behind it, and the lines that go on. Raises FrontMatterError."""
    key, lines = "", list[str]()
    for number, line in enumerate(text.splitlines(), 2):  # the first line is the mark above
        found = _KEY.fullmatch(line)
        if found:
            if key:
                yield key, lines
            key, lines = found[1] or found[2] or found[3], [(found[4] or "").strip()]
        elif not line.strip() or line.startswith("#"):
            continue
        elif key and (line[0].isspace() or line.startswith("- ") or line == "-"):
            lines.append(line)
        else:
            raise FrontMatterError(f"line {number} is not understood: {line[:_SHOWN_CHARS]!r}")
    if key:
        yield key, lines


def _text(lines: list[str]) -> str:
    first, more = lines[0], [line.strip() for line in lines[1:]]
    if _BLOCK.fullmatch(first):
        return "\n".join(more)
    if _COMMENT.match(first):
        first = ""
    if not first:
        more = [line for line in more if not line.startswith("#")]
        if any(line.startswith("-") for line in lines[1:]) or (more and _is_nested(more[0])):
            raise FrontMatterError(_LIST_OR_MAPPING)
    said = "\n".join([first, *more]).strip()
    if said[:1] in ('"', "'"):
        return _quoted(said)
    if said[:1] in _NOT_READ:
        raise FrontMatterError(f"it begins with {said[0]!r}, {_NOT_READ[said[0]]}, which is not read; put it in quotes")
    plain = "\n".join(_COMMENT.sub("", line) for line in said.split("\n"))
    return "" if plain.strip() in ("~", "null") else plain


def _is_nested(line: str) -> bool:
    return line.startswith(("- ", "? ")) or line == "-" or _KEY.fullmatch(line) is not None


def _quoted(said: str) -> str:
    found = (_DOUBLE if said[0] == '"' else _SINGLE).match(said)
    if found is None:
        raise FrontMatterError("a quote is opened and not closed")
    behind = said[found.end() :]
    if behind.strip() and not (behind[0].isspace() and behind.lstrip().startswith("#")):
        raise FrontMatterError(f"behind the closing quote stands {behind.strip()[:_SHOWN_CHARS]!r}")
    if said[0] == "'":
        return found[1].replace("''", "'")
    # A line that ends in a backslash goes on without a blank.
    return _ESCAPE.sub(_unescaped, found[1].replace("\\\n", ""))


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        number = int(code, 16)
        if number > 0x10FFFF:
            raise FrontMatterError(f"{found[0]} is no character")
        return chr(number)
    if found[4] not in _ESCAPED:
        raise FrontMatterError(f"{found[0]!r} is no escape; write the backslash twice")
    return _ESCAPED[found[4]]
