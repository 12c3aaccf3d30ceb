"""What a summary must not lose: concrete facts in a text, found by rule, and which of them another text lacks.

Two kinds. Of what somebody said (an objective, an answer, a model's own words) a whole sentence is kept when it holds
something concrete (`fact_words.py`): a figure, a date, a path, an identifier, a word that binds. Of what a tool gave or
was given (JSON) it is one `path = value` for each figure, path, identifier and error. A fact counts as present where
its exact words stand in the other text as whole words, white space apart: where a digit was dropped it is lost.
Which facts stay where there is no room for all is `fact_choice.py`'s.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from outcrop_schemas import limits, wire
from outcrop_specialists.context.fact_words import is_concrete, sentences
from outcrop_specialists.context.projection import artifacts_of

SENTENCE_CHARS = 400
VALUE_CHARS = 200
_WHITE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")


def sentences_with_facts(text: str, *, is_all: bool = False) -> list[str]:
    """The sentences and lines of a text that hold something concrete (with `is_all` every one), each as it stands
    (white space joined)."""
    found = []
    for sentence in sentences(text):
        plain = _joined(sentence)
        for piece in _split(plain) if len(plain) > SENTENCE_CHARS else [plain]:
            if piece and (is_all or is_concrete(piece)):
                found.append(piece)
    return list(dict.fromkeys(found))


def facts_of_result(text: str) -> list[str]:
    """`path = value` of a tool's JSON result for figures, short texts and errors; of other text its sentences. At most
    `limits.FACTS_OF_A_RESULT`, and then one that says how many were not checked."""
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
    found = _counted(list(dict.fromkeys(_facts(value))), "fields")
    # Files stand at the end of a result; they are never among those that are too many.
    return tuple(dict.fromkeys([*found, *(artifacts_of(value) if isinstance(value, dict) else ())]))


def facts_of_call(name: str, arguments: Mapping[str, Any]) -> list[str]:
    """What a tool was asked with: every short argument, and of a long one what is concrete."""
    return _counted(list(dict.fromkeys(_facts(dict(arguments), name, is_all=True))), "arguments")


def lost(facts: Iterable[str], *texts: str) -> list[str]:
    """Those facts whose words stand in none of the texts. A `path = value` stands there with all its names, or with
    its last one where no other fact has that name and nothing before it says of what it is."""
    facts = list(facts)
    shown = _Shown(texts)
    names = Counter(_last_name(path) for path, _ in {fact: _named(fact) for fact in facts}.values())
    return [fact for fact in facts if not shown.has(fact, names)]


class _Shown:
    """Texts in which facts are looked for."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._whole = "\n".join(_joined(text) for text in texts)
        self._words = set(_WORD.findall(self._whole))

    def has(self, fact: str, names: Mapping[str, int]) -> bool:
        path, value = _named(fact)
        if not path:
            return next(self._places(fact), None) is not None
        is_prose = _last_name(path) in _PROSE or value.count(" ") >= _TELLING_BLANKS
        if len(value) >= _TELLING_CHARS and (is_prose or "/" in value):
            return next(self._places(value), None) is not None
        return any(self._is_named(place, path, names) for place in self._places(value))

    def _places(self, words: str) -> Iterator[int]:
        """Where these words stand, and are not a part of longer ones."""
        if not words or not self._words.issuperset(_WORD.findall(words)):
            return
        left = _LEFT_OF_FIGURE if words[0].isdigit() else _LEFT
        place = self._whole.find(words)
        while place >= 0:
            end = place + len(words)
            if not left.search(self._whole[max(0, place - 2) : place]) and not _cut_off(self._whole, end):
                yield place
            place = self._whole.find(words, place + 1)

    def _is_named(self, place: int, path: str, names: Mapping[str, int]) -> bool:
        before = self._whole[max(0, place - _NEAR_CHARS) : place].rpartition("\n")[2]
        told = before.removesuffix('"').removesuffix("'").rstrip()
        told = _EQUALS.sub("", told).rstrip(" \"'")
        if told.endswith(path):
            return _STARTS.search(told[: -len(path)]) is not None
        parts = [part for part in re.split(r"[.\[\]]+", path.removeprefix("results.")) if part]
        if any(part.isdigit() for part in parts):
            return False
        *others, last = map(re.escape, parts)
        in_order = _BETWEEN.join([*others, last])
        turned = rf"{last} (?:of|for|in) {_BETWEEN.join(others)}"
        if others and re.search(rf"(?<![\w.])(?:{in_order}|{turned})$", told):
            return True
        alone = re.search(rf"(?<![\w.]){last}$", told)
        return bool(alone and names[parts[-1]] == 1 and _STARTS.search(told[: alone.start()]))


_TELLING_CHARS, _TELLING_BLANKS = 6, 3
"""A text of a few words, or a path, tells itself what it is; a figure needs its name."""
_PROSE = ("summary", "message", "note")
_NEAR_CHARS = 240
_LEFT = re.compile(r"\w\Z")
_LEFT_OF_FIGURE = re.compile(r"(?:\w|[-+−.]|\d[-/:.,])\Z")
_RIGHT = re.compile(r"\w|[.,:]\d|[-/]\w|\s?%|°")
_AFTER_POINT = re.compile(r"\d")
_EQUALS = re.compile(r"[\"']?\s*(?:=|:|\b(?:is|was|of))$")
_BETWEEN = r"[\"'.:{\s]+"
_STARTS = re.compile(r"(?:^|[.;>]\s+|^\s*[-*>]\s*|\b(?:the|a|an|its|and)\s+)[\"'`]?$", re.IGNORECASE)


def _cut_off(whole: str, end: int) -> bool:
    """Whether the words that end here go on."""
    if whole[end - 1].isalnum():
        return _RIGHT.match(whole, end) is not None
    # The point of a sentence may be the one of a figure.
    return whole[end - 1] in ".," and whole[end - 2 : end - 1].isdigit() and _AFTER_POINT.match(whole, end) is not None


def _named(fact: str) -> tuple[str, str]:
    """Path and value of a fact of a result; no path where it is a sentence."""
    path, equals, value = fact.partition(" = ")
    return (path, value.strip('"')) if equals and path and " " not in path else ("", fact)


def _last_name(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def _facts(value: Any, name: str = "", *, is_all: bool = False) -> Iterator[str]:
    for path, leaf in _leaves(value, name):
        if isinstance(leaf, str):
            is_short = len(leaf) <= VALUE_CHARS
            for said in [_joined(leaf)] if is_short else sentences_with_facts(leaf):
                if said and ((is_all and is_short) or "error" in path or is_concrete(said)):
                    yield f"{path} = {said}"
        elif leaf is not None:
            yield f"{path} = {wire.dumps(leaf).decode()}"


def _counted(found: list[str], what: str) -> list[str]:
    more = len(found) - limits.FACTS_OF_A_RESULT
    if more <= 0:
        return found
    return [*found[: limits.FACTS_OF_A_RESULT], f"{more} more {what} of a result were not checked: {found[0][:80]} …"]


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
    """A long sentence in pieces that end between words, behind a comma where there is one."""
    pieces, rest = [], text
    while len(rest) > SENTENCE_CHARS:
        cut = rest.rfind(", ", SENTENCE_CHARS // 2, SENTENCE_CHARS) + 1 or rest.rfind(" ", 0, SENTENCE_CHARS)
        cut = cut if cut > 0 else SENTENCE_CHARS
        pieces.append(rest[:cut])
        rest = rest[cut:].strip()
    return [*pieces, rest]


def _joined(text: str) -> str:
    return _WHITE.sub(" ", text).strip()
