"""What each column of a clause is named for: by its preposition, "by Species", "Au against As", "all except Zn"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from outcrop.models.offline.mentions import Mention, Mentions
from outcrop.models.offline.polarity import EXCEPTING_PAIRS
from outcrop.models.offline.vocabulary import DETERMINERS
from outcrop.models.offline.words import Word

Cue = Literal["main", "by", "color", "against", "with", "except", "x", "y"]

_BY = frozenset(("by", "per", "each", "every", "across", "within", "according"))
_COLOR = frozenset(("color", "shade"))
_AGAINST = frozenset(("against", "versus", "vs", "vs."))
_EXCEPT = frozenset(
    ("except", "excluding", "without", "ignoring", "omitting", "besides", "not", "excepting", "exclude")
)
_WHOLE = frozenset(("everything", "all", "anything", "elements", "columns", "variables"))
_MAIN = frozenset(("on", "of", "for", "in", "from", "using", "between", "among", "where", "summarise", "summarize"))
_LISTED = frozenset((",", "and", "&", "or", "/", "+", "(", "then", "to"))
_SKIPPED = DETERMINERS | {"column", "columns", "variable", "element", "type", "of", "log10", "ln", "log"}


@dataclass(frozen=True)
class Cued:
    """A column with the cue under which it stands."""

    mention: Mention
    cue: Cue
    is_continued: bool = False
    """Whether it only goes on a list: no word before it says what it is for."""

    @property
    def column(self) -> str:
        return self.mention.column


def cued(words: Sequence[Word], mentions: Mentions) -> list[Cued]:
    """The columns of a clause in order, each under its own cue or that of the list it goes on."""
    found: list[Cued] = []
    for mention in mentions.found:
        direct = _axis(words, mention) or _direct(words, mention, mentions)
        goes_on = direct is None and bool(found) and _goes_on(words, found[-1].mention, mention)
        if goes_on:
            direct = found[-1].cue
        found.append(Cued(mention, direct or "main", is_continued=goes_on))
    return found


def _direct(words: Sequence[Word], mention: Mention, mentions: Mentions) -> Cue | None:
    """The cue of the preposition right before a column; None where there is none."""
    at = mention.first - 1
    while at >= 0 and words[at].lower in _SKIPPED - _BY - {"of"} and mentions.at(at) is None:
        at -= 1
    if at < 0 or mentions.at(at) is not None:
        return None
    while at > 1 and words[at].lower == "of" and words[at - 1].lower in ("log", "log10", "ln", "logarithm"):
        at -= 2
        if mentions.at(at) is not None:
            return None
    word, before = words[at].lower, words[at - 1] if at else None
    if before is not None and (before.lower in _EXCEPT or (before.lower, word) in EXCEPTING_PAIRS):
        # "but not on Cu", "not including Cu", "apart from Cu".
        return "except"
    if word == "but" and before is not None and before.lower in _WHOLE:
        # "Everything but Au".
        return "except"
    if word == "than" and before is not None and before.lower == "other":
        return "except"
    if word == "as" and before is not None and before.lower in ("x", "y"):
        return "x" if before.lower == "x" else "y"
    if word in ("by", "with", "to") and any(near.stem in _COLOR for near in words[max(0, at - 2) : at]):
        return "color"
    if word in _AGAINST:
        return "against"
    if word in _EXCEPT:
        return "except"
    if word in _BY:
        return "by"
    if word == "with":
        return "with"
    return "main" if word in _MAIN else None


def _axis(words: Sequence[Word], mention: Mention) -> Cue | None:
    """`x = Au`, `x: Au`, `Au (x)`, `Au on the x axis`."""
    before = [word.lower for word in words[max(0, mention.first - 2) : mention.first]]
    if len(before) == 2 and before[1] in ("=", ":") and before[0] in ("x", "y"):
        return "x" if before[0] == "x" else "y"
    after = [word.lower for word in words[mention.end : mention.end + 5] if word.lower not in ("the", "-")]
    if after[:1] in (["on"], ["as"], ["("]) and after[1:2] in (["x"], ["y"]):
        return "x" if after[1] == "x" else "y"
    return None


def _goes_on(words: Sequence[Word], previous: Mention, mention: Mention) -> bool:
    between = words[previous.end : mention.first]
    return all(word.lower in _LISTED | DETERMINERS for word in between)
