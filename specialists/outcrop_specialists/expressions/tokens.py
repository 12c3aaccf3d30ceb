"""Cuts the text of an expression into tokens, each with its place in the text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, NoReturn

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError

Kind = Literal["number", "text", "name", "column", "word", "mark", "end"]
WORDS = frozenset(("and", "or", "not", "in", "between", "is", "null", "true", "false"))
"""Reserved, in lower or in upper case; `In` with one capital is indium."""
MARKS = ("**", "//", "==", "!=", "<>", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",")
INSTEAD = {
    "=": "write == to compare",
    "&": "write and",
    "|": "write or",
    "~": "write not",
    "!": "write not, or !=",
    "^": "write ** for a power",
    ";": "write one expression",
    "{": "write a list in ( )",
    ".": "a name with other signs than letters, digits and _ stands in `backticks`",
}
EXCERPT = 20
LARGEST = 2**63 - 1

_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_COLUMN = re.compile(r"`([^`]+)`")
_MARK = re.compile("|".join(map(re.escape, MARKS)))
_ESCAPED = re.compile(r"\\(['\"\\])")


@dataclass(frozen=True)
class Token:
    """`text` as written, `value` what it stands for, `at` the place of its first character, counted from 0."""

    kind: Kind
    text: str
    at: int
    value: int | float | str = ""


@dataclass(frozen=True)
class Source:
    """The text of an expression and the argument it came in, for errors that say where."""

    text: str
    field: str = "expression"

    def fault(self, at: int, reason: str) -> ArgumentError:
        """An error that names the place, counted from 1, and what stands there."""
        rest = self.text[at : at + EXCERPT]
        what = f"at character {at + 1}, {rest!r}" if rest.strip() else "at its end"
        return ArgumentError(self.field, f"{what}: {reason}")

    def refuse(self, at: int, reason: str) -> NoReturn:
        raise self.fault(at, reason)


def tokens_of(source: Source) -> list[Token]:
    """The tokens, ended by one of kind `end`. Raises ArgumentError for what is no token of the language."""
    text = source.text
    if not text.strip():
        raise ArgumentError(source.field, "is empty; write for example `Au_ppm` > 0.1")
    if len(text) > limits.EXPRESSION_CHARS:
        raise ArgumentError(
            source.field, f"has {len(text):,} characters; at most {limits.EXPRESSION_CHARS:,} are allowed"
        )
    found: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _token(source, at)
        found.append(token)
        at += len(token.text)
    return [*found, Token("end", "", len(text))]


def _token(source: Source, at: int) -> Token:
    text = source.text
    if match := _NUMBER.match(text, at):
        return _number(source, match[0], at)
    if match := _TEXT.match(text, at):
        return Token("text", match[0], at, _ESCAPED.sub(r"\1", match[0][1:-1]))
    if match := _COLUMN.match(text, at):
        return Token("column", match[0], at, match[1])
    if match := _NAME.match(text, at):
        word = match[0].lower()
        if word in WORDS and match[0] in (word, word.upper()):
            return Token("word", match[0], at, word)
        return Token("name", match[0], at, match[0])
    if match := _MARK.match(text, at):
        return Token("mark", match[0], at, "!=" if match[0] == "<>" else match[0])
    if text[at] in "'\"`":
        source.refuse(at, f"{text[at]} is not closed")
    hint = INSTEAD.get(text[at], f"allowed are names, numbers, 'text', `columns` and {' '.join(MARKS)}")
    source.refuse(at, f"{text[at]!r} is not part of an expression; {hint}")


def _number(source: Source, text: str, at: int) -> Token:
    after = source.text[at + len(text) : at + len(text) + 1]
    if after.isalnum() or after in ("_", "."):
        source.refuse(at, "is no number; a name that begins with a digit stands in `backticks`")
    value = int(text) if text.isdigit() else float(text)
    if not math.isfinite(value) or (isinstance(value, int) and value > LARGEST):
        source.refuse(at, "is beyond 64 bits; write it as a decimal number below 1e308")
    return Token("number", text, at, value)
