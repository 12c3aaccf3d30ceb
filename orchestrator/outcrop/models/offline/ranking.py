"""Reads what is ranked by, which way and how many: "the ten samples with the least lead", "sort from low to high"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from outcrop.models.offline.forms import Forms
from outcrop.models.offline.mentions import Mentions
from outcrop.models.offline.schema import Property
from outcrop.models.offline.vocabulary import DETERMINERS, POLITE, word_set
from outcrop.models.offline.words import Word

RANK = "rank_by_metric"
ORDER, TOP, BOTTOM, N = "order", "top", "bottom", "n"
Side = Literal["top", "bottom"]

HIGHEST = word_set("most greatest largest biggest highest richest maximum max top best strongest descending decreasing")
LOWEST = word_set("least smallest lowest fewest poorest minimum min bottom weakest worst ascending increasing")
ENDS = {"low": BOTTOM, "small": BOTTOM, "little": BOTTOM, "high": TOP, "large": TOP, "big": TOP, "great": TOP}
"""Ends of an order, as in "from low to high"; alone they are no order."""
SORTING = word_set("sort order rank arrange sorted ordered ranked")
FIGURES = word_set(
    "mean average median total sum percentile quartile deviation variance correlation correlations share"
)
HAVING = word_set("with having have has had that whose of in by")
NOT_ROWS = word_set("elements element columns column variables features metals groups group clusters terms analytes")
NOT_VALUES = word_set("missing null empty blank gaps duplicates outliers anomalies")
LOOKING = word_set("show list find give get see display print select pick")
ALL_ROWS = 10_000_000
"""What a sort takes where the number of rows is not known: as many as the tool allows."""


def is_ranking(words: Sequence[Word]) -> bool:
    """Whether a clause asks for rows in order, or for those with the greatest or the least of something."""
    said = [word for word in words if word.lower not in POLITE and word.kind != "mark"]
    lower = [word.lower for word in said]
    if not said or set(lower) & (NOT_VALUES | FIGURES):
        return False
    if lower[0] in SORTING:
        rest = [word for word in lower[1:] if word not in DETERMINERS]
        return bool(rest) and rest[0] not in NOT_ROWS
    if _is_counted_end(said):
        return True
    for at, word in enumerate(said):
        if word.lower not in HIGHEST | LOWEST or at + 1 == len(said):
            continue
        rows = [place for place, other in enumerate(said) if other.stem in ("row", "interv", "specimen")]
        before = [place for place in rows if place < at]
        if before and set(lower[before[-1] : at]) & HAVING:
            return True
        if any(at < place <= at + 2 for place in rows) and set(lower[at:]) & (HAVING | {"for"}):
            return True
    return False


def _is_counted_end(said: Sequence[Word]) -> bool:
    """ "Top 10 zinc values", "show me the five lowest pH readings": so many of the greatest or the least."""
    first = next((at for at, word in enumerate(said) if word.lower not in LOOKING | DETERMINERS | {"me", "us"}), 0)
    one, other = said[first : first + 1], said[first + 1 : first + 2]
    if not other or {word.lower for word in said[first + 2 :]} & NOT_ROWS or len(said) == first + 2:
        return False
    ends = [word for word in (*one, *other) if word.lower in HIGHEST | LOWEST]
    return len(ends) == 1 and any(word.number is not None for word in (*one, *other))


def ranking_forms(words: Sequence[Word], properties: Sequence[Property], mentions: Mentions, rows: int | None) -> Forms:
    """Order and number of rows for a tool that ranks; nothing for any other."""
    forms, known = Forms(), {prop.name: prop for prop in properties}
    if not (ORDER in known and N in known and {TOP, BOTTOM} <= set(known[ORDER].choices)):
        return forms
    if not mentions.found and not any(word.text in "+-*/" for word in words):
        forms.refusals.append("the column to rank by is not said")
    if any(word.text == "%" or word.lower in ("percent", "percentage") for word in words):
        forms.refusals.append("a share of the rows cannot be ranked out; say how many rows")
    _order(words, mentions, forms)
    # "Show rows" asks for a look into the table elsewhere.
    forms.used.update(at for at, word in enumerate(words) if word.lower in LOOKING or word.stem == "row")
    if forms.arguments.get(ORDER) == known[ORDER].default:
        del forms.arguments[ORDER]
    is_sort = any(word.lower in SORTING - {"rank", "ranked"} for word in words[:3])
    counts = [at for at in range(len(words)) if mentions.at(at) is None and _is_count(words, at, mentions)]
    if len(counts) == 1:
        value = words[counts[0]].number
        forms.arguments[N] = int(value or 0)
        forms.used.update(counts)
    elif counts:
        forms.refusals.append(f"{' and '.join(words[at].text for at in counts)}: one number of rows is needed")
    elif is_sort:
        forms.arguments[N] = rows or ALL_ROWS
        forms.notes.append("A sort keeps every row that has a value")
    elif _is_single(words):
        forms.arguments[N] = 1
    return forms


def _order(words: Sequence[Word], mentions: Mentions, forms: Forms) -> None:
    """The way of the order. Of "from low to high" the first end counts, of "lowest last" the other one."""
    found: list[tuple[int, Side]] = []
    for at in range(len(words)):
        side = side_of(words, at)
        if side and mentions.at(at) is None:
            found.append((at, side))
    for (at, side), (following, other) in pairwise(found):
        between = [words[place].lower for place in range(at + 1, following) if mentions.at(place) is None]
        if side != other and [word for word in between if word not in DETERMINERS | {"down", "up"}] == ["to"]:
            forms.arguments[ORDER] = side
            forms.used.update((at, following))
            return
    sides = {side for _, side in found}
    if len(sides) > 1:
        forms.refusals.append("the greatest and the least are two orders; ask for each in a step of its own")
    elif sides:
        at, side = found[-1]
        is_turned = words[at + 1].lower == "last" if at + 1 < len(words) else False
        forms.arguments[ORDER] = {TOP: BOTTOM, BOTTOM: TOP}[side] if is_turned else side
        forms.used.update(place for place, _ in found)


def side_of(words: Sequence[Word], at: int) -> Side | None:
    """Which end of an order a word names; "low" and "high" do so beside "to" or "first" only."""
    word = words[at].lower
    if word in HIGHEST or word in LOWEST:
        return "top" if word in HIGHEST else "bottom"
    near = {words[place].lower for place in (at - 1, at + 1) if 0 <= place < len(words)}
    end = ENDS.get(word.removesuffix("er") if word in ("higher", "lower") else word)
    if end and near & {"to", "first", "last"}:
        return "top" if end == TOP else "bottom"
    return None


def _is_count(words: Sequence[Word], at: int, mentions: Mentions) -> bool:
    """Whether a number says how many rows: "ten samples", "top 10", "the 5 lowest", "five copper values"."""
    if words[at].number is None or words[at].text[-1:].isalpha() is (words[at].kind == "number"):
        return False
    after = [word for place, word in enumerate(words[at + 1 : at + 4], at + 1) if mentions.at(place) is None]
    before = words[at - 1].lower if at else ""
    is_said = any(
        word.stem in ("row", "interv", "valu", "specimen") or word.lower in HIGHEST | LOWEST for word in after
    )
    return is_said or before in HIGHEST | LOWEST | {"first"}


def _is_single(words: Sequence[Word]) -> bool:
    """ "The sample with the highest copper" is one."""
    return any(word.lower in ("sample", "row", "record", "interval", "specimen") for word in words)
