"""Whether a clause keeps the rows that meet its conditions or leaves them out: verbs, passives, "all except"."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from outcrop.models.offline.vocabulary import word_set
from outcrop.models.offline.words import Word

Polarity = Literal["keep", "remove", "unclear"]

REMOVING = frozenset(
    ("remov", "exclud", "omit", "reject", "purg", "eras", "ignor", "weed", "cull", "suppress", "strip")
)
# These remove with "out", "off" or "away" only: "filter out", "leave out", "throw away"; and "get rid of".
PARTICLES = word_set("out off away aside rid")
SEPARABLE = frozenset(("filter", "leav", "screen", "throw", "take", "cut", "get", "select", "sort", "thrown", "left"))
KEEPING = frozenset(("keep", "kept", "extract", "restrict", "limit"))
EXCEPTING = word_set("except excepting excluding exclude excludes without but besides save omitting barring minus")
EXCEPTING_PAIRS = frozenset((("other", "than"), ("apart", "from"), ("aside", "from"), ("rather", "than")))
DENYING = word_set("not non don't never no nor neither doesn't isn't aren't cannot can't unless hardly shouldn't")


def polarity_of(words: Sequence[Word], conditions: Collection[int]) -> Polarity:
    """What becomes of the rows that meet the conditions; the places of those say nothing here."""
    free = [at for at in range(len(words)) if at not in conditions]
    if any(words[at].lower in DENYING for at in free):
        return "unclear"
    first = min(conditions, default=len(words))
    excepted = [at for at in free if _is_except(words, at)]
    removing = [at for at in free if _removes(words, at) and at not in excepted]
    keeping = [at for at in free if words[at].stem in KEEPING]
    if any(at > first for at in excepted) or len(excepted) > 1 or (removing and keeping):
        return "unclear"
    if excepted and any(at > excepted[0] for at in (*removing, *keeping)):
        return "unclear"
    return "remove" if bool(removing) is not bool(excepted) else "keep"


def _is_except(words: Sequence[Word], at: int) -> bool:
    """ "excluding" at the front is a verb: "Excluding samples with ..."."""
    pair = (words[at].lower, words[at + 1].lower) if at + 1 < len(words) else ("", "")
    is_verb = words[at].stem in REMOVING and not any(words[before].kind == "word" for before in range(at))
    if is_verb or (words[at].stem in REMOVING and at and words[at - 1].lower in ("be", "is", "are", "to", "please")):
        return False
    is_first = not any(words[before].kind == "word" for before in range(at))
    # "Save the table" keeps it.
    return (words[at].lower in EXCEPTING and not (is_first and words[at].lower == "save")) or pair in EXCEPTING_PAIRS


def _removes(words: Sequence[Word], at: int) -> bool:
    if words[at].stem in REMOVING:
        return True
    following = [word.lower for word in words[at + 1 : at + 2]]
    # "leave samples with Zn > 100 out": the particle may stand at the end.
    is_split = words[at].stem in SEPARABLE - {"get"} and words[-1].lower in PARTICLES
    return words[at].stem in SEPARABLE and (bool(PARTICLES & set(following)) or is_split)


def is_removing(words: Sequence[Word]) -> bool:
    """Whether a clause as a whole speaks of leaving something out."""
    return any(_removes(words, at) or _is_except(words, at) for at in range(len(words)))
