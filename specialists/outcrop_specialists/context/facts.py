"""What a summary must not lose: concrete facts in a text, found by rule, and which of them another text lacks.

Two kinds. Of what somebody said (an objective, an answer, a model's own words) a whole sentence is kept when it holds
something concrete: a figure, a date, a path, an identifier, a word that binds (must, never, at most, deadline …). Of
what a tool gave (JSON) it is one `key = value` for each figure, path, identifier and error. A fact counts as present
where its exact words stand in the other text, white space apart: a paraphrase that dropped a digit has lost it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from outcrop_schemas import wire
from outcrop_specialists.context.projection import artifacts_of

SENTENCE_CHARS = 400
VALUE_CHARS = 200
LEAVES_OF_A_RESULT = 200

_DIGIT = re.compile(r"\d")
_MONTH = r"(?:january|february|march|april|june|july|august|september|october|november|december)"
_PATH = r"(?:[\w.~-]*/)+[\w.-]+|\b[\w-]+\.(?:csv|tsv|xlsx?|parquet|jsonl?|las|png|pdf|txt|log|dat|md|py|toml)\b"
_BINDING = (
    r"\b(?:must|never|always|only|avoid|forbid\w*|not allowed|do not|don't|cannot|can't|shall|should not|at most|"
    r"at least|no later|no more|no less|not later|before|until|deadline|due|prefer\w*|require[sd]?|except|unless|"
    r"without|instead|exactly|agreed|decided|promised|approved|refused|keep|exclude[sd]?|today|tomorrow)\b"
)
_ERROR = r"\w*(?:error|exception|warning)\b|\bfailed\b|\btraceback\b"
_WORDS = re.compile("|".join((_MONTH, _PATH, _BINDING, _ERROR)), re.IGNORECASE)
# A code without a digit: two capitals or more.
_CODE = re.compile(r"\b[A-Z]{2,}[A-Z_-]*\b")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z0-9\"'(•-])|\n+")
_WHITE = re.compile(r"\s+")


def sentences_with_facts(text: str) -> list[str]:
    """The sentences and lines of a text that hold something concrete, each as it stands (white space joined)."""
    found = []
    for sentence in _SENTENCE_END.split(text):
        plain = _joined(sentence)
        if len(plain) > SENTENCE_CHARS:
            found += [piece for piece in _split(plain) if _is_concrete(piece)]
        elif plain and _is_concrete(plain):
            found.append(plain)
    return list(dict.fromkeys(found))


def facts_of_result(text: str) -> list[str]:
    """`path = value` of a tool's JSON result for figures, short texts and errors; of other text its sentences."""
    try:
        value = wire.loads(text)
    except ValueError:
        return sentences_with_facts(text)[:LEAVES_OF_A_RESULT]
    if not isinstance(value, dict | list):
        return sentences_with_facts(text)[:LEAVES_OF_A_RESULT]
    found: dict[str, None] = {}
    for path, leaf in _leaves(value):
        if isinstance(leaf, str):
            for said in [_joined(leaf)] if len(leaf) <= VALUE_CHARS else sentences_with_facts(leaf):
                if said and _is_concrete(said):
                    found[f"{path} = {said}"] = None
        elif leaf is not None:
            found[f"{path} = {wire.dumps(leaf).decode()}"] = None
        if len(found) >= LEAVES_OF_A_RESULT:
            break
    # Files stand at the end of a result; they are never among those that are too many.
    return list(found | dict.fromkeys(artifacts_of(value) if isinstance(value, dict) else ()))


def lost(facts: Iterable[str], *texts: str) -> list[str]:
    """Those facts whose words stand in none of the texts. Of a `path = value` the last name and the value count."""
    whole = " " + " ".join(_joined(text) for text in texts) + " "
    return [fact for fact in facts if not _stands_in(fact, whole)]


def remember(known: dict[str, None], found: Sequence[str]) -> None:
    """Add facts to those that are known; one that comes again counts as new."""
    for fact in found:
        known.pop(fact, None)
        known[fact] = None


def listed(title: str, found: Sequence[str], chars: int) -> list[str]:
    """A titled list of the newest facts that fit; nothing where there are none."""
    if not found:
        return []
    kept, older = newest(found, chars)
    more = [f"({older} older ones are in the archive only)"] if older else []
    return ["\n".join([f"{title}:", *more, *(f"- {fact}" for fact in kept)])]


def first(found: Sequence[str], chars: int) -> list[str]:
    """The first facts that fit."""
    kept: list[str] = []
    for fact in found:
        chars -= len(fact) + 1
        if chars < 0:
            break
        kept.append(fact)
    return kept


def newest(found: Sequence[str], chars: int) -> tuple[list[str], int]:
    """The newest facts that fit, in their order, and the number of the others."""
    kept: list[str] = []
    for fact in reversed(found):
        chars -= len(fact) + 3
        if chars < 0:
            break
        kept.append(fact)
    return kept[::-1], len(found) - len(kept)


def _stands_in(fact: str, whole: str) -> bool:
    if fact in whole:
        return True
    path, equals, value = fact.partition(" = ")
    if not equals or " " in path:
        return False
    name = path.rsplit(".", 1)[-1]
    pattern = rf"\b{re.escape(name)}\b[\"']?\s*(?:=|:|is|of|was)?\s*[\"']?{re.escape(value.strip(chr(34)))}(?![\w.]*\d)"
    return re.search(pattern, whole) is not None


def _is_concrete(text: str) -> bool:
    return any(pattern.search(text) for pattern in (_DIGIT, _WORDS, _CODE))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _leaves(child, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from _leaves(child, f"{path}[{number}]")
    else:
        yield path or "value", value


def _split(text: str) -> list[str]:
    """A long sentence in pieces that end between words."""
    pieces, rest = [], text
    while len(rest) > SENTENCE_CHARS:
        cut = rest.rfind(" ", 0, SENTENCE_CHARS)
        cut = cut if cut > 0 else SENTENCE_CHARS
        pieces.append(rest[:cut])
        rest = rest[cut:].strip()
    return [*pieces, rest]


def _joined(text: str) -> str:
    return _WHITE.sub(" ", text).strip()
