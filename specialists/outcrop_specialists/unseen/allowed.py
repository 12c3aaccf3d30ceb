"""The white list for what a run says: a figure is shown where code vouches for it, or the chat knows it, else not.

The black list (`echo.py`) finds cells in whatever words; this needs to find none. What is not on the list is replaced
by a mark, token by token, however it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from outcrop_specialists.citing import Cited, figures_in
from outcrop_specialists.unseen.echo import RARE
from outcrop_specialists.unseen.letters import is_figure, is_foreign, is_odd_sign, plain, scripts_in
from outcrop_specialists.unseen.number_words import worded_numbers
from outcrop_specialists.unseen.spoken import words_of
from outcrop_specialists.unseen.vouched import Vouched

if TYPE_CHECKING:
    import polars as pl

MARK = "[…]"
MOST_LABELS = 60
"""A column of words with more of them that hold a figure has no names of groups."""
OBJECTIVE_FIGURES = 20
"""An objective with more figures of the chat's own makes none of them known."""
SHORT_DIGITS = 2
"""A figure of no more digits may be a piece of a longer one that is spelled apart."""
SIGNS_BETWEEN = 2
_PART_LETTERS = 3
"""Letters of an identifier that so few rows have, should its figures be gone."""
_PIECE = re.compile(r"[^\s,;=()\[\]{}<>|\"“”„‘’]+")
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_ALNUM = re.compile(r"[^\W_]+")
_ENDS = "'`*_.!?:…"
_MARKER = re.compile(r"\s*(\d{1,2})[.)](?=\s|$)")
_FOLDED = re.compile(rf"(?:{re.escape(MARK)}[\s,;/|.:\-]*){{2,}}")
TERMS = re.compile(
    r"(?<![\w.])(?:"
    r"[pPqQ](?:1|5|10|25|50|75|90|95|99)|(?:1|5|10|25|50|75|90|95|99)(?:st|th)?(?: |-)percentiles?"
    r"|Q[1-4]|R2|r2|R\^2|r\^2|chi2|log(?:2|10|1p)|F1|[123]D|[123] ?(?:sd|SD|sigma|σ)(?!\w)|DL/2"
    r"|(?:90|95|99) ?%(?= (?:CI|confidence))|1\.5 ?(?:x |× ?|times )?IQR|[pP] ?[<>] ?0\.(?:05|01|001)"
    r")(?![\w]|\.\d)"
)
"""Terms of statistics that hold a figure."""


@dataclass
class Shown:
    """What was held back of the texts."""

    figures: int = 0
    words: int = 0


class Allowed:
    """What may be shown: `asked` are the user's words, `objective` the chat's, `counts` what code counted.

    A figure of the objective is known like one of the user's, unless there are many: by naming all that it may be the
    chat could have a cell picked out."""

    def __init__(self, asked: Sequence[str], objective: str = "", counts: Iterable[int] = ()) -> None:
        words = "\n".join(map(plain, asked))
        self.asked = f"{words}\n{plain(objective)}"
        self.figures = Vouched()
        self.held = Shown()
        self.passed: set[float] = set()
        """Figures that were shown."""

        self.vouched: set[str] = set()
        """Those of them that code vouches for, as they stand. Of others nobody is told whether they are true."""

        self._numbers: set[float] = set()
        self._written: set[str] = set()
        self._phrases: set[str] = set()
        self._words: set[str] = set()
        self._scripts = scripts_in(self.asked)
        self._parts: set[str] = set()
        self.know_counts(counts)
        self._hear(words)
        if len(_numbers_in(objective) - _numbers_in(words)) <= OBJECTIVE_FIGURES:
            self._hear(plain(objective))
        self._known_words = set(words_of(self.asked))

    def _hear(self, words: str) -> None:
        for figure in figures_in(words):
            self._numbers.add(float(figure.values[0]))
            self._written.add(figure.values[0])
        for piece in _with_figures(words):
            self._know(piece.strip(_ENDS))

    def know_names(self, names: Iterable[str]) -> None:
        """Names of columns and files that the chat is told anyway."""
        for name in names:
            self._know(plain(name))
            self._words.update(words_of(plain(name)))
            self._scripts |= scripts_in(name)

    def know_files(self, paths: Iterable[str]) -> None:
        """Files that code named: their names, but no word of them beside."""
        for path in paths:
            self._know(plain(path))
            self._know(PurePosixPath(plain(path)).name)

    def know_counts(self, counts: Iterable[int]) -> None:
        for count in counts:
            self._numbers.add(float(count))
            self._written.add(str(count))

    def know_labels(self, frame: pl.DataFrame) -> None:
        """The names of groups: cells with letters and figures that more than `RARE` rows share."""
        import polars as pl

        for series in frame.get_columns():
            if series.dtype != pl.String or not len(series):
                continue
            counted = series.drop_nulls().value_counts().filter(pl.col("count") > RARE)
            labels = counted[series.name].filter(counted[series.name].str.contains(r"\p{N}"))
            if len(labels) <= MOST_LABELS:
                for label in labels.to_list():
                    self._know(plain(label))

    def guard_identifiers(self, frame: pl.DataFrame, texts: Sequence[str]) -> None:
        """Hold back the letters of identifiers that few rows have: without their figures, too, these are told."""
        import polars as pl

        said = {word.lower() for text in texts for word in _WORD.findall(plain(text)) if len(word) >= _PART_LETTERS}
        wanted = sorted({*said, *(word[::-1] for word in said)} - self._words - self._known_words)
        for series in frame.get_columns():
            if series.dtype != pl.String or not wanted:
                continue
            cells = series.drop_nulls().filter(
                series.drop_nulls().str.contains(r"\p{N}") & ~series.drop_nulls().str.contains(r"\s")
            )
            parts = pl.DataFrame({"part": cells.str.to_lowercase().str.extract_all(r"\p{L}+").list.unique()})
            counted = parts.explode("part").filter(pl.col("part").is_in(wanted)).group_by("part").len()
            rare = counted.filter(pl.col("len") <= RARE)["part"].to_list()
            self._parts |= {each for part in rare for each in (part, part[::-1])}

    def says_number(self, text: str) -> bool:
        return float(text) in self._numbers

    def says(self, text: str) -> bool:
        """Whether nothing of a text would be held back but for its figures' sake."""
        text = plain(text)
        if _NUMBER.fullmatch(text):
            return self.says_number(text)
        return not any(True for _ in self._unknown(text, self._known_spans(text, "")))

    def shown(self, text: str, before: str = "", marker: int = 0) -> tuple[str, int]:
        """A statement as it may be shown, which stands behind `before`; `marker` is the number of the last entry of a
        list, if a new line begins here, else -1. Given back with the number of this one."""
        spans = self._known_spans(text, before)
        entry = _MARKER.match(text) if marker >= 0 else None
        if entry and int(entry[1]) == marker + 1:
            marker += 1
            spans.append(entry.span(1))
        gone = [*self._unknown(text, spans), *self._worded(text, before)]
        self.held.figures += len(gone)
        words = list(self._withheld_words(text))
        self.held.words += len(words)
        return _without(text, [*gone, *words]), max(marker, 0)

    def _know(self, name: str) -> None:
        words = words_of(name)
        is_plain_number = not any(map(str.isalpha, name))
        if any(map(is_figure, name)) and not is_plain_number:
            self._phrases.add(" ".join(words))

    def _known_spans(self, text: str, before: str) -> list[tuple[int, int]]:
        """Where figures stand that may be shown."""
        return [
            *(match.span() for match in TERMS.finditer(text)),
            *self._names(text),
            *((figure.start, figure.start + len(figure.text)) for figure in self._figures(text, before)),
        ]

    def _names(self, text: str) -> Iterator[tuple[int, int]]:
        words = list(_ALNUM.finditer(text))
        most = max((phrase.count(" ") + 1 for phrase in self._phrases), default=0)
        for first in range(len(words)):
            said = ""
            for last in range(first, min(first + most, len(words))):
                said = f"{said} {words[last][0].lower()}".lstrip()
                if said in self._phrases:
                    yield words[first].start(), words[last].end()

    def _figures(self, text: str, before: str) -> Iterator[Cited]:
        figures = figures_in(text)
        for place, figure in enumerate(figures):
            value = float(figure.values[0])
            here = text[: figure.start]
            is_known = figure.values[0] in self._written and not _is_part(text, figures, place)
            is_vouched = self.figures.has(figure, f"{before}{here}", self)
            if is_vouched:
                self.vouched.add(figure.text)
            if is_known or is_vouched:
                self.passed.add(value)
                yield figure

    def _unknown(self, text: str, known: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """The tokens that hold a figure at no known place."""
        for match in _PIECE.finditer(text):
            start, end = match.start(), match.end()
            places = [place for place in range(start, end) if is_figure(text[place]) or is_odd_sign(text[place])]
            if any(not any(first <= place < last for first, last in known) for place in places):
                stripped = match[0].rstrip(_ENDS)
                yield start, start + max(len(stripped), max(places) + 1 - start)

    def _worded(self, text: str, before: str) -> Iterator[tuple[int, int]]:
        for number in worded_numbers(text):
            if number.value is not None:
                said = " ".join(text[: number.start].rpartition("\n")[2].split()[-20:])
                after = " ".join(text[number.end :].split()[:20])
                figure = Cited(number.value, (number.value,), said, after, number.start)
                is_known = number.value in self._written
                if is_known or self.figures.has(figure, before + text[: number.start], self):
                    continue
            if text[number.start : number.end].lower() not in self._words:
                yield number.start, number.end

    def _withheld_words(self, text: str) -> Iterator[tuple[int, int]]:
        foreign_before = -SIGNS_BETWEEN - 1
        for match in _WORD.finditer(text):
            word = match[0]
            if word.lower() in self._parts:
                yield match.span()
            elif is_foreign(word, self._scripts) and word.lower() not in self._words:
                is_symbol = len(word) == 1 and scripts_in(word) == {"GREEK"}
                # A word that is spelled apart has a sign or two between its letters.
                if not is_symbol or match.start() - foreign_before <= SIGNS_BETWEEN:
                    yield match.span()
                foreign_before = match.end()


def _with_figures(text: str) -> list[str]:
    return [piece for piece in _PIECE.findall(plain(text)) if any(map(is_figure, piece))]


def _numbers_in(text: str) -> set[str]:
    """Every run of figures in a text, whatever it is joined to: `4.21&4.22` are two."""
    text = plain(text)
    return {*_DIGITS.findall(text), *(value for figure in figures_in(text) for value in figure.values)}


def _is_part(text: str, figures: Sequence[Cited], place: int) -> bool:
    """Whether a short figure may be a piece of a longer one, with no letter between: `4 . 2 1` is one number."""
    if not _is_short(figures[place]):
        return False
    for before, after in pairwise(figures[max(0, place - 1) : place + 2]):
        between = text[before.start + len(before.text) : after.start]
        if _is_short(before) and _is_short(after) and not any(map(str.isalpha, between)):
            return True
    return not any(map(str.isalpha, text))


def _is_short(figure: Cited) -> bool:
    return sum(map(str.isdigit, figure.text)) <= SHORT_DIGITS


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    found: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if end <= done:
            continue
        found += [text[done : max(start, done)], MARK]
        done = end
    found.append(text[done:])
    return _FOLDED.sub(_one_mark, "".join(found))


def _one_mark(match: re.Match[str]) -> str:
    tail = match[0].rpartition(MARK)[2]
    return MARK + tail
