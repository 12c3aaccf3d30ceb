"""Splits an objective into clauses, one task each.

Sentence ends, semicolons and "then" always split. A comma, "and", "but" or a colon splits only where a task begins
after it: a question, a verb of data work or a phrase by which people ask for a tool. "on Rb, K, La and Th and map them"
splits before "map" only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from outcrop.models.offline.cards import Card
from outcrop.models.offline.retrieval import LOOSENESS, terms_of
from outcrop.models.offline.vocabulary import (
    CONDITIONS,
    DETERMINERS,
    FILLERS,
    HARMLESS_CONDITIONS,
    POLITE,
    PRONOUNS,
    QUESTIONS,
    STOP,
    TASK_VERBS,
)
from outcrop.models.offline.words import Word, name_key, words_of

SENTENCE_MARKS = frozenset(".!?;•")
SOFT_MARKS = frozenset(",:&–—")
JOINING = frozenset({"and", "but", "or"})
AROUND = SENTENCE_MARKS | SOFT_MARKS | frozenset("-*")
SEQUENCE = frozenset({"then", "afterwards", "afterward"})
REFUSING = frozenset({"not", "do", "don't", "never", "skip", "avoid", "no", "without"})
SEQUELS = SEQUENCE | frozenset(("after", "finally", "next", "lastly", "last", "second", "third"))
COLOR = "color"
NAME_WORDS = 5
PHRASE_WORDS = 8
"""So many words on an asked-for phrase must have begun and ended."""


@dataclass(frozen=True)
class Clause:
    """One task of an objective in its own words."""

    text: str
    sentence: int = 0
    is_sequel: bool = False
    opens_list: bool = False
    """Whether a colon follows it."""
    """Whether it says itself that it comes after what was said before: "then", "finally"."""

    @property
    def is_negated(self) -> bool:
        """Whether it says what is not to be done."""
        words = [word.lower for word in words_of(self.text) if word.lower not in POLITE]
        return bool(words) and (words[0] in REFUSING - {"do"} or words[:2] == ["do", "not"])

    @property
    def is_conditional(self) -> bool:
        """Whether it depends on a condition, which no planner of this kind can weigh."""
        words = words_of(self.text)
        return any(_is_condition(words, at) for at in range(len(words)))


class Splitter:
    """Splits by the words that the tools at hand are asked for with. `columns` are names (folded) of columns."""

    def __init__(self, cards: Iterable[Card], columns: Collection[str] = ()) -> None:
        self._tools: dict[tuple[str, ...], set[str]] = {}
        for card in cards:
            for phrase in card.asked_for:
                self._tools.setdefault(phrase, set()).add(card.name)
        self._beginning: dict[str, list[tuple[str, ...]]] = {}
        self._having: dict[str, list[tuple[str, ...]]] = {}
        for phrase in self._tools:
            self._beginning.setdefault(phrase[0], []).append(phrase)
            for each in set(phrase):
                self._having.setdefault(each, []).append(phrase)
        self._columns = {name_key(name) for name in columns}

    def split(self, objective: str) -> list[Clause]:
        """The clauses in order; what holds no word is left out."""
        words = words_of(objective)
        clauses: list[Clause] = []
        start, is_conditional, sentence, depth = 0, False, 0, 0
        so_far = _SoFar(self._having, self._tools)
        following, closing = _following(words), _closing(words)
        for at in range(1, len(words)):
            is_conditional = is_conditional or _is_condition(words, at - 1)
            depth = max(0, depth + (at - 1 in closing) - (words[at - 1].text == ")"))
            so_far.take(words[at - 1])
            is_task_end = not is_conditional and not depth and self._ends_task(words, at, following, so_far)
            is_sentence_end = self._ends_sentence(objective, words, at)
            if is_task_end or is_sentence_end:
                clauses += _clause(objective, words[start:at], sentence)
                start, is_conditional, sentence, depth = at, False, sentence + is_sentence_end, 0
                so_far = _SoFar(self._having, self._tools)
        return clauses + _clause(objective, words[start:], sentence)

    def _ends_sentence(self, text: str, words: Sequence[Word], at: int) -> bool:
        """Whether a sentence, or an entry of a list, ends before the word at this place."""
        word, before = words[at], words[at - 1]
        gap = text[before.end : word.start]
        if before.text in SENTENCE_MARKS and (gap or before.text in ";•"):
            return True
        return "\n" in gap and (gap.count("\n") > 1 or _is_bullet(text, word))

    def _ends_task(self, words: Sequence[Word], at: int, next_said: Sequence[int], so_far: _SoFar) -> bool:
        """Whether a task ends before the word at this place, because another one begins; `so_far` is what it asked."""
        word, before = words[at], words[at - 1]
        if word.lower in SEQUENCE:
            return True
        if word.lower not in JOINING and before.text not in SOFT_MARKS:
            return False
        at = next_said[at]
        return at < len(words) and words[at].kind == "word" and self._begins_task(words, at, so_far)

    def _begins_task(self, words: Sequence[Word], at: int, before: _SoFar) -> bool:
        word, following = words[at], words[at + 1 : at + 2]
        if word.lower in QUESTIONS:
            # ", which" mostly goes on about what was just named.
            return bool(following) and (word.lower != "which" or words[at - 1].text != ",")
        if word.lower in REFUSING - {"no", "without"}:
            # "but not As" leaves a column out, "but do not plot it" is a task refused.
            return bool(following) and (word.lower != "not" or following[0].lower in TASK_VERBS)
        if word.stem == COLOR and following and following[0].lower in DETERMINERS:
            return True
        at += word.lower in DETERMINERS
        asked = self._asked_at(words, at)
        is_listed = not following or following[0].text in ",.;" or following[0].lower in JOINING
        if self._is_column(words, at):
            return False
        so_far = before.tools
        if not so_far and before.terms < 2 and not before.has_pronoun:
            # "check and remove duplicates": two verbs with one object.
            return False
        if word.lower in TASK_VERBS:
            return bool(asked - so_far) if is_listed else True
        return bool(asked) and not asked & so_far and not self._tools_that_begin(word) & so_far

    def _asked_at(self, words: Sequence[Word], at: int) -> set[str]:
        """The tools of which an asked-for phrase begins here, all of it."""
        stems = tuple(term.stem for term in terms_of(words[at : at + PHRASE_WORDS]))
        if not stems or at >= len(words) or words[at].stem != stems[0]:
            return set()
        begun = self._beginning.get(stems[0], ())
        return set().union(*(self._tools[phrase] for phrase in begun if stems[: len(phrase)] == phrase))

    def _is_column(self, words: Sequence[Word], at: int) -> bool:
        """Whether a column's name begins here and the clause goes on after it as after a name."""
        for size in range(NAME_WORDS, 0, -1):
            part = words[at : at + size]
            if len(part) == size and " ".join(map(_key, part)) in self._columns:
                following = words[at + size : at + size + 1]
                is_listed = not following or following[0].kind == "mark" or following[0].lower in STOP - DETERMINERS
                return size > 1 or is_listed
        return False

    def _tools_that_begin(self, word: Word) -> set[str]:
        return set().union(*(self._tools[phrase] for phrase in self._beginning.get(word.stem, ())))


class _SoFar:
    """What a clause has asked for up to a word, kept word by word: looking back each time would be quadratic."""

    def __init__(
        self, having: Mapping[str, Sequence[tuple[str, ...]]], tools: Mapping[tuple[str, ...], set[str]]
    ) -> None:
        self._having, self._of_phrase = having, tools
        self._recent: deque[str] = deque(maxlen=PHRASE_WORDS + LOOSENESS)
        self.terms = 0
        self.has_pronoun = False
        self.tools: set[str] = set()

    def take(self, word: Word) -> None:
        """One word more. A phrase stands in the clause once all its words are among the last few."""
        if not terms_of([word]):
            self.has_pronoun = self.has_pronoun or (word.lower in PRONOUNS and bool(self.terms))
            return
        self._recent.append(word.stem)
        self.terms += 1
        recent = list(self._recent)
        for phrase in self._having.get(word.stem, ()):
            wanted = set(phrase)
            if wanted <= set(recent[-len(wanted) - LOOSENESS :]):
                self.tools |= self._of_phrase[phrase]


def _following(words: Sequence[Word]) -> list[int]:
    """For each place the next one with a word that is neither polite nor a comma."""
    found = [len(words)] * (len(words) + 1)
    for at in range(len(words) - 1, -1, -1):
        is_passed = words[at].lower in POLITE or words[at].text == ","
        found[at] = found[at + 1] if is_passed else at
    return found


def _closing(words: Sequence[Word]) -> set[int]:
    """The places of brackets that are closed again: within them no task begins."""
    opened: list[int] = []
    closed: set[int] = set()
    for at, word in enumerate(words):
        if word.text == "(":
            opened.append(at)
        elif word.text == ")" and opened:
            closed.add(opened.pop())
    return closed


def _key(word: Word) -> str:
    return word.stem if word.kind == "word" else word.text


def _is_bullet(text: str, word: Word) -> bool:
    numbered = word.kind == "number" and text[word.end : word.end + 1] in (".", ")")
    return word.text in "-*•" or numbered


def _is_condition(words: Sequence[Word], at: int) -> bool:
    """Whether a condition begins here; "if any" and the like is none."""
    following = [word.lower for word in words[at + 1 : at + 4]]
    return words[at].lower in CONDITIONS and not HARMLESS_CONDITIONS & set(following[:3])


def _clause(text: str, words: Sequence[Word], sentence: int) -> list[Clause]:
    """The clause without the marks and connecting words around it."""
    first, end = 0, len(words)
    while first < end and (words[first].text in AROUND or words[first].lower in POLITE):
        first += 1
    while end > first and (words[end - 1].text in AROUND or words[end - 1].lower in JOINING):
        end -= 1
    kept = words[first:end]
    said = [word for word in kept if word.kind != "mark" and word.lower not in STOP | FILLERS]
    if not said or (said[0].kind == "number" and len(kept) == 1):
        return []
    is_sequel = any(word.lower in SEQUELS for word in words[:first])
    opens_list = any(word.text == ":" for word in words[end:])
    return [Clause(text[kept[0].start : kept[-1].end], sentence, is_sequel, opens_list)]
