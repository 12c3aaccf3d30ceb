"""Which facts another text lacks: whether a fact's own words stand there, whole, as valid, and of what they were said.

A figure that goes on is another one (12 in 12'345, 1.5 in 1.5 x 10^3, 5 in 5 k EUR, 5 in 5 ppb where no unit was told),
and what is quoted as no longer valid does not stand there. In doubt a fact is lost: then it is only told again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from outcrop_specialists.context.fact_signs import MULTIPLIER, is_withdrawn, unit_behind
from outcrop_specialists.context.records import Record

_WHITE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")


def lost(facts: Iterable[str], *texts: str) -> list[str]:
    """Those facts whose words stand in none of the texts. A `path = value` stands there with all its names, or with
    its last one where no other fact has that name and nothing before it says of what it is; a record with every
    figure, each with the labels; a line under a heading with the heading."""
    facts = list(facts)
    shown = _Shown(texts)
    names = Counter(name for fact in dict.fromkeys(facts) for name in _last_names(fact))
    return [fact for fact in facts if not shown.has(fact, names)]


class _Shown:
    """Texts in which facts are looked for, by the rarest word of what must stand there."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._whole = "\n".join(_WHITE.sub(" ", text).strip() for text in texts)
        self._at: dict[str, list[int]] = {}
        for word in _WORD.finditer(self._whole):
            self._at.setdefault(word[0], []).append(word.start())

    def has(self, fact: str, names: Mapping[str, int]) -> bool:
        if isinstance(fact, Record):
            return self._stands(fact) or all(self._has_field(fact, name, value, names) for name, value in fact.fields)
        if "\n" in fact:
            return self._has_under_heading(fact)
        path, value = _named(fact)
        return self._has_value(path, value, names, {path}) if path else self._stands(fact)

    def _stands(self, words: str) -> bool:
        return next(self._places(words), None) is not None

    def _has_value(self, path: str, value: str, names: Mapping[str, int], told: set[str]) -> bool:
        is_prose = _last_name(path) in _PROSE or value.count(" ") >= _TELLING_BLANKS
        if len(value) >= _TELLING_CHARS and (is_prose or "/" in value):
            return self._stands(value)
        parts = _parts(path)
        beside = parts[-1:] if names[parts[-1]] == 1 and not _has_number(parts) else parts
        return any(self._is_named(place, path, names) for place in self._places(value, told, " ".join(beside)))

    def _has_field(self, record: Record, name: str, value: str, names: Mapping[str, int]) -> bool:
        path = f"{record.path}.{name}".lstrip(".")
        value = value.strip('"')
        told = {path, *record.labels}
        if not record.labels:
            return self._has_value(path, value, names, told)
        return any(self._is_labelled(place, record, name) for place in self._places(value, told, name))

    def _has_under_heading(self, fact: str) -> bool:
        *headings, line = (_bare(part) for part in fact.split("\n"))
        for place in self._places(line, set(headings)):
            before = self._whole[max(0, place - _HEADING_NEAR_CHARS) : place].rpartition("\n")[2]
            if all(heading in before for heading in headings):
                return True
        return False

    def _places(self, words: str, told: Iterable[str] = (), beside: str = "") -> Iterator[int]:
        """Where these words stand, valid, and are not a part of longer ones, after those `beside` them. What was
        `told` besides may follow as the unit of a figure."""
        left = _LEFT_OF_FIGURE if words[:1].isdigit() else _LEFT
        for place in self._candidates(words, beside):
            end = place + len(words)
            before = self._whole[max(0, place - _NEAR_CHARS) : place].rpartition("\n")[2]
            close = before[-_CLOSE_CHARS:]
            is_part = left.search(close) or (_GROUP.match(words) and _BEFORE_GROUP.search(close))
            if not is_part and not self._goes_on(words, end, told) and not self._is_withdrawn(before, end):
                yield place

    def _candidates(self, words: str, beside: str) -> Iterator[int]:
        own = [(len(self._at.get(word[0], ())), word.start(), word[0]) for word in _WORD.finditer(words)]
        near = [(len(self._at.get(word, ())), word) for word in _WORD.findall(beside)]
        if not own or not min(own)[0] or (near and not min(near)[0]):
            return
        count, offset, rarest = min(own)
        if not near or count <= min(near)[0]:
            yield from (p - offset for p in self._at[rarest] if self._whole.startswith(words, max(0, p - offset)))
            return
        found: dict[int, None] = {}
        for begin in self._at[min(near)[1]]:
            end = begin + _NEAR_CHARS + len(words)
            place = self._whole.find(words, begin, end)
            while place >= 0:
                found[place] = None
                place = self._whole.find(words, place + 1, end)
        yield from found

    def _goes_on(self, words: str, end: int, told: Iterable[str]) -> bool:
        """Whether the words that end here go on, or are a figure that is another one by what follows."""
        whole = self._whole
        if not words[-1].isalnum():
            # The point of a sentence may be the one of a figure.
            return words[-1] in ".," and words[-2:-1].isdigit() and _AFTER_POINT.match(whole, end) is not None
        if _RIGHT.match(whole, end):
            return True
        if not words[-1].isdigit():
            return False
        if _MORE.match(whole, end) or (_SHORT_FIGURE.search(words) and _GROUPED.match(whole, end)):
            return True
        unit = unit_behind(whole, end)
        return bool(unit) and unit.lower() not in _words_of(told)

    def _is_withdrawn(self, before: str, end: int) -> bool:
        after = self._whole[end : end + _AFTER_CHARS].partition("\n")[0]
        return is_withdrawn(before[-_BEFORE_CHARS:], after)

    def _is_named(self, place: int, path: str, names: Mapping[str, int]) -> bool:
        told = self._before_value(place)
        if told.endswith(path):
            return _STARTS.search(told[: -len(path)]) is not None
        parts = _parts(path)
        if _has_number(parts):
            return False
        *others, last = parts
        if others and _is_of(told, others, last):
            return True
        alone = re.search(rf"(?<![\w.]){re.escape(last)}$", told)
        return bool(alone and names[last] == 1 and _STARTS.search(told[: alone.start()]))

    def _is_labelled(self, place: int, record: Record, name: str) -> bool:
        """Whether a figure stands next to its name and one of its labels, and the other labels in the same sentence."""
        told = self._before_value(place)
        around = f"{told} " + self._whole[place : place + _AFTER_CHARS].partition("\n")[0]
        words = {label: re.search(rf"(?<!\w){re.escape(label)}(?!\w)", around) for label in record.labels}
        return all(words.values()) and any(_is_of(told, [label], name) for label in record.labels)

    def _before_value(self, place: int) -> str:
        """What stands before a value, without the sign that joins them."""
        before = self._whole[max(0, place - _NEAR_CHARS) : place].rpartition("\n")[2]
        told = before.removesuffix('"').removesuffix("'").rstrip()
        return _EQUALS.sub("", told).rstrip(" \"'")


_TELLING_CHARS, _TELLING_BLANKS = 6, 3
"""A text of a few words, or a path, tells itself what it is; a figure needs its name."""
_PROSE = ("summary", "message", "note")
_CLOSE_CHARS = 6
_NEAR_CHARS, _HEADING_NEAR_CHARS, _BEFORE_CHARS, _AFTER_CHARS = 240, 800, 80, 100
_LEFT = re.compile(r"\w\Z")
_LEFT_OF_FIGURE = re.compile(r"(?:\w|[-+−.]|\d[-/:.,'’])\Z")
_RIGHT = re.compile(r"\w|[.,:'’]\d|[-/]\w|\s?%|°")
_AFTER_POINT = re.compile(r"\d")
# A power, a range, a share of uncertainty, a word that multiplies.
_MORE = re.compile(
    rf"\s?(?:[×x*·⋅∙]\s?10|\^|±|\+/-|[–—]\s?\d|-\s?\d|[½⅓⅔¼¾⅛²³‰])|\s(?:to|or|bis|oder|à|ou|a|o)\s\d|\s?(?:{MULTIPLIER})(?!\w)",
    re.IGNORECASE,
)
# Thousands set apart by a blank.
_SHORT_FIGURE = re.compile(r"(?<![\d.,])\d{1,3}\Z")
_GROUPED = re.compile(r" \d{3}(?!\d)")
_GROUP, _BEFORE_GROUP = re.compile(r"\d{3}(?!\d)"), re.compile(r"(?<!\d)\d{1,3} \Z")
_EQUALS = re.compile(r"[\"']?\s*(?:=|:|\b(?:is|was|of))$")
_BETWEEN = r"[\"'.:{\s]+"
_STARTS = re.compile(r"(?:^|[.;>]\s+|^\s*[-*>]\s*|\s[-*•]\s+|\b(?:the|a|an|its|and)\s+)[\"'`]?$", re.IGNORECASE)
_MARKS = " \t#*-+•–:：|_"


def _parts(path: str) -> list[str]:
    return [part for part in re.split(r"[.\[\]]+", path.removeprefix("results.")) if part] or [path]


def _has_number(parts: Iterable[str]) -> bool:
    return any(part.isdigit() for part in parts)


def _is_of(told: str, of_what: list[str], name: str) -> bool:
    last = re.escape(name)
    others = _BETWEEN.join(map(re.escape, of_what))
    return re.search(rf"(?<![\w.])(?:{others}{_BETWEEN}{last}|{last} (?:of|for|in) {others})$", told) is not None


def _words_of(told: Iterable[str]) -> set[str]:
    return {part.lower() for text in told for part in [text, *re.split(r"[\W_]+", text)]}


def _bare(line: str) -> str:
    return line.strip(_MARKS)


def _last_names(fact: str) -> list[str]:
    if isinstance(fact, Record):
        return [_last_name(name) for name, _ in fact.fields]
    path, _ = _named(fact)
    return [_last_name(path)] if path else []


def _named(fact: str) -> tuple[str, str]:
    """Path and value of a fact of a result; no path where it is a sentence."""
    path, equals, value = fact.partition(" = ")
    return (path, value.strip('"')) if equals and path and " " not in path else ("", fact)


def _last_name(path: str) -> str:
    return path.rsplit(".", 1)[-1]
