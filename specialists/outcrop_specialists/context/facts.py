"""What a summary must not lose: concrete facts in a text, found by rule.

Two kinds. Of what somebody said (an objective, an answer, a model's own words) a whole sentence is kept when it holds
something concrete (`fact_words.py`): a figure, a date, a path, an identifier, a name, a word that binds; a line of a
list or a table with its heading (`headings.py`), joined by a line feed. Of what a tool gave or was given (JSON) it is
the figures, paths, identifiers and errors of each record with its labels (`records.py`). Which of them another text
lacks is `presence.py`'s, which stay where there is no room for all `fact_choice.py`'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from outcrop_schemas import limits, wire
from outcrop_specialists.context.fact_words import is_concrete
from outcrop_specialists.context.headings import pieces
from outcrop_specialists.context.presence import lost
from outcrop_specialists.context.projection import artifacts_of
from outcrop_specialists.context.records import records

__all__ = ["facts_of_call", "facts_of_result", "lost", "sentences_with_facts"]

SENTENCE_CHARS = 400
_WHITE = re.compile(r"\s+")


def sentences_with_facts(text: str, *, is_all: bool = False) -> list[str]:
    """The sentences and lines of a text that hold something concrete (with `is_all` every one), each as it stands
    (white space joined), below its headings where it has any. A heading without such a line is one like any other."""
    return list(_of_text(text, is_all))


# A compaction may be tried several times with fewer and fewer turns.
@lru_cache(maxsize=512)
def _of_text(text: str, is_all: bool) -> tuple[str, ...]:
    found: list[str] = []
    used: set[str] = set()
    for headings, sentence in pieces(text):
        above = [_joined(heading) for heading in headings]
        plain = _joined(sentence)
        for piece in _split(plain) if len(plain) > SENTENCE_CHARS else [plain]:
            if piece and (is_all or is_concrete(piece)):
                used.update(above)
                found.append("\n".join([*above, piece]))
    return tuple(piece for piece in dict.fromkeys(found) if piece not in used and not _is_heading(piece, used))


def _is_heading(piece: str, used: set[str]) -> bool:
    """Whether these are the names of a table's columns below its title, which stand with its rows."""
    return "\n" in piece and used.issuperset(piece.split("\n"))


def facts_of_result(text: str) -> list[str]:
    """A line for each record of a tool's JSON result with its figures, short texts and errors; of other text its
    sentences. At most `limits.FACTS_OF_A_RESULT`, and then one that says how many were not checked."""
    return list(_of_result(text))


# The results of the last turns are looked at again at every compaction.
@lru_cache(maxsize=32)
def _of_result(text: str) -> tuple[str, ...]:
    try:
        value = wire.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict | list):
        return tuple(_counted(sentences_with_facts(text), "sentences"))
    found = _counted(list(dict.fromkeys(records(value, "", sentences_with_facts, is_concrete))), "fields")
    # Files stand at the end of a result; they are never among those that are too many.
    return tuple(dict.fromkeys([*found, *(artifacts_of(value) if isinstance(value, dict) else ())]))


def facts_of_call(name: str, arguments: Mapping[str, Any]) -> list[str]:
    """What a tool was asked with: every short argument, and of a long one what is concrete."""
    asked = records(dict(arguments), name, sentences_with_facts, is_concrete, is_all=True)
    return _counted(list(dict.fromkeys(asked)), "arguments")


def _counted(found: list[str], what: str) -> list[str]:
    more = len(found) - limits.FACTS_OF_A_RESULT
    if more <= 0:
        return found
    return [*found[: limits.FACTS_OF_A_RESULT], f"{more} more {what} of a result were not checked: {found[0][:80]} …"]


def _split(text: str) -> list[str]:
    """A long sentence in pieces that end between words, behind a comma where there is one."""
    pieces_of_it, rest = [], text
    while len(rest) > SENTENCE_CHARS:
        cut = rest.rfind(", ", SENTENCE_CHARS // 2, SENTENCE_CHARS) + 1 or rest.rfind(" ", 0, SENTENCE_CHARS)
        cut = cut if cut > 0 else SENTENCE_CHARS
        pieces_of_it.append(rest[:cut])
        rest = rest[cut:].strip()
    return [*pieces_of_it, rest]


def _joined(text: str) -> str:
    return _WHITE.sub(" ", text).strip()
