"""Text as words with their places, folded so that spelling and endings do not matter.

British and American spelling, plurals and endings, and everyday synonyms of the verbs of data work fold into one stem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from threading import local
from typing import Any, Literal, get_args

from outcrop.models.offline.vocabulary import ABBREVIATIONS, DATA_ENDINGS, FOLDED, NUMERALS

Kind = Literal["word", "number", "date", "quoted", "file", "mark"]

K_MEANS = re.compile(r"k[-\s]?means", re.IGNORECASE)
PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)", re.IGNORECASE)
KINDS: tuple[Kind, ...] = get_args(Kind)

LONGEST_FILE, LONGEST_QUOTE = 200, 300
STEMS_KEPT = 50_000

_TOKEN = re.compile(
    rf"""
    (?P<quoted>"[^"\n]{{1,{LONGEST_QUOTE}}}"|“[^”\n]{{1,{LONGEST_QUOTE}}}”|‘[^’\n]{{1,{LONGEST_QUOTE}}}’
        |`[^`\n]{{1,{LONGEST_QUOTE}}}`|(?<!\w)'[^'\n]{{1,{LONGEST_QUOTE}}}'(?!\w))
    |(?P<file>[\w./\-]{{0,{LONGEST_FILE}}}[\w\-]\.(?:{"|".join(DATA_ENDINGS)})(?![\w]))
    |(?P<abbreviation>(?<!\w)(?:{"|".join(map(re.escape, ABBREVIATIONS))}))
    |(?P<date>(?<![\w.])\d{{4}}-\d{{2}}-\d{{2}}(?!\w))
    |(?P<number>(?<![\w.])[-+−]?(?:\d{{1,3}}(?:,\d{{3}})+(?![\d,])|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?:st|nd|rd|th)?(?!\w))
    |(?P<method>(?<!\w)k[-\s]?means(?!\w))
    |(?P<word>[^\W_]+['’][^\W_]+(?!\w)|\w+)
    |(?P<mark>\S)
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Word:
    """A word, number, quotation, file name or punctuation mark of a text, with its place."""

    text: str
    start: int
    end: int
    kind: Kind

    @property
    def lower(self) -> str:
        return self.text.casefold()

    @property
    def inner(self) -> str:
        """What stands between the quotation marks."""
        return self.text[1:-1].strip() if self.kind == "quoted" else self.text

    @property
    def stem(self) -> str:
        return stem(self.text)

    @property
    def number(self) -> float | None:
        """The value of a number, also one written as a word (two to twenty, and the tens); None for anything else."""
        if self.kind == "word":
            return NUMERALS.get(self.lower)
        if self.kind != "number":
            return None
        return float(re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", self.lower).replace(",", "").replace("−", "-"))


def words_of(text: str) -> list[Word]:
    """The words and marks of `text` in order; their places are offsets into it."""
    words = []
    for match in _TOKEN.finditer(text):
        kind: Kind = next((kind for kind in KINDS if kind == match.lastgroup), "word")
        words.append(Word(match.group(), match.start(), match.end(), kind))
    return words


@lru_cache(maxsize=STEMS_KEPT)
def stem(word: str) -> str:
    """The folded stem of one word: Clustering → cluster, summarised → summar, colours → color, P95 → quantil."""
    if PERCENTILE.fullmatch(word):
        return FOLDED["percentil"]
    if K_MEANS.fullmatch(word):
        return "kmean"
    lower = american(word.casefold().replace("’", "'"))
    found: str = _stemmer().stemWord(lower)
    return FOLDED.get(lower, FOLDED.get(found, found))


def american(word: str) -> str:
    """British spelling folded into American."""
    word = re.sub(r"(?<=[a-z]{3})is(?=(?:e|ed|es|er|ing|ation|ations)$)", "iz", word)
    word = re.sub(r"(?<=anal)ys(?=(?:e|ed|es|ing)$)", "yz", word)
    word = re.sub(r"(col|vap|behavi|neighb)our", r"\1or", word)
    word = re.sub(r"^(cent|met|lit)re(?=d?$)", r"\1ere" if word.endswith("d") else r"\1er", word)
    return re.sub(r"^(cent|met|lit)res$", r"\1ers", word).replace("grey", "gray")


def stems_of(text: str) -> list[str]:
    """The stems of the words of `text`, without marks."""
    return [word.stem for word in words_of(text) if word.kind != "mark"]


def name_key(text: str) -> str:
    """What names that differ in spelling, endings, blanks and underscores only have in common."""
    return " ".join(word.stem if word.kind == "word" else word.text for word in words_of(text.replace("_", " ")))


def squeeze(text: str) -> str:
    """Letters and digits only, case folded: `Color intensity`, `color_intensity` and `color-intensity` are one."""
    return "".join(character for character in text.casefold() if character.isalnum())


def _stemmer() -> Any:
    """A stemmer for each thread: it keeps the word it works on in itself."""
    if not hasattr(_OF_THREAD, "stemmer"):
        import snowballstemmer

        _OF_THREAD.stemmer = snowballstemmer.stemmer("english")
    return _OF_THREAD.stemmer


_OF_THREAD = local()
