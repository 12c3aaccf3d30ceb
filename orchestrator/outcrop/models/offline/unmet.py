"""Refuses restrictions of the rows that nothing carries out: a figure of all rows is no answer to a part of them.

"The ten largest copper values", "the northern half", "east of 501000", "deeper than 10 m", "every second sample",
"after removing outliers": where no argument, condition or filter took such words, the step is refused with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from outcrop.models.offline.mentions import Mentions
from outcrop.models.offline.polarity import REMOVING
from outcrop.models.offline.ranking import FIGURES
from outcrop.models.offline.vocabulary import DETERMINERS, NEGATIONS, QUESTIONS, word_set
from outcrop.models.offline.words import Word, squeeze

EXTREMES = word_set(
    """largest smallest greatest biggest lowest highest richest poorest deepest shallowest oldest newest youngest
    latest earliest heaviest lightest longest shortest nearest closest farthest furthest"""
)
ENDS = word_set("top bottom upper lower uppermost lowermost first last most least fewest middle central inner outer")
"""Ends that restrict only beside what they are the end of: "the top 10", "the first rows", "the upper half"."""
SHARES = word_set("half third quarter fifth tenth decile quintile quartile tercile part portion section side end")
AREAS = word_set("area region zone sector corner edge block flank margin north south east west")
COMPASS = ("north", "south", "east", "west")
DIRECTIONS = frozenset(COMPASS) | word_set("northeast northwest southeast southwest")
DIRECTIONS |= {f"{name}ern" for name in DIRECTIONS} | {f"{name}ernmost" for name in COMPASS}
DIRECTIONS |= {f"{name}most" for name in COMPASS} | {f"{name}wards" for name in COMPASS}
COMPARATIVES = word_set(
    """deeper shallower older younger newer later earlier higher lower larger smaller greater bigger more less fewer
    richer poorer longer shorter closer nearer farther further heavier lighter"""
)
LEVELS = word_set("high low elevated rich poor anomalous")
LEVEL_CUES = word_set("for with in of at where having")
BOUNDING = word_set("above below over under exceeding beyond beneath underneath")
BOUNDS = word_set("mean average median limit limits detection threshold percentile quantile background cutoff zero")
PLACING = word_set("near nearby inside outside alongside")
BEFORE_NUMBERS = word_set(
    """of in at for from since until till after before during within than beyond near around past between above below
    over under exceeding first last top bottom shallowest deepest"""
)
LENGTHS = word_set("m metre metres meter meters ft feet km cm")
PARTS_OF_NUMBERS = frozenset((("%",), ("percent",), ("per", "cent")))
NTH = word_set("other second third fourth fifth sixth seventh eighth ninth tenth nth alternate")
RANDOMLY = word_set("random randomly arbitrary")
ROWS = frozenset(("row", "valu", "specimen", "case", "interv", "hole", "well", "point", "site", "measur", "assay"))
LEFT_OUT = frozenset(("outlier", "duplic"))
NEAR = 3


def unmet_restrictions(
    words: Sequence[Word], used: Collection[int], asked: Collection[int], mentions: Mentions, rows: int | None
) -> list[str]:
    """Why the clause must not be done for all rows, with the words of each restriction that was not carried out."""
    looker = _Looker(words, used, asked, mentions, rows)
    return [f'"{said}" restricts the rows, and nothing here does that; filter the rows first' for said in looker.find()]


class _Looker:
    def __init__(
        self, words: Sequence[Word], used: Collection[int], asked: Collection[int], mentions: Mentions, rows: int | None
    ) -> None:
        self._words, self._used, self._asked, self._mentions, self._rows = words, used, asked, mentions, rows
        self._lower = [word.lower for word in words]

    def find(self) -> list[str]:
        """The words of each restriction, told once where several of them lie side by side."""
        found: list[str] = []
        told = 0
        for at in range(len(self._words)):
            if at >= told and self._restricts(at):
                is_counted = at > told and self._is_free(at - 1) and self._words[at - 1].number is not None
                first, told = at - is_counted, at + NEAR
                found.append(" ".join(word.text for word in self._words[first:told]))
        return found

    def _restricts(self, at: int) -> bool:
        if self._is_compass(at):
            return True
        if not self._is_free(at):
            return False
        word = self._lower[at]
        return (
            (word in EXTREMES and self._is_extreme(at))
            or (word in ENDS and self._is_end(at))
            or (word in SHARES and self._is_share(at))
            or (word in COMPARATIVES and "than" in self._lower[at + 1 : at + 2])
            or (word in BOUNDING and self._is_bounding(at))
            or word in PLACING
            or (word in LEVELS and self._is_level(at))
            or (word in RANDOMLY and bool(self._things(at)))
            or (word in NTH | {"nth"} and at > 0 and self._lower[at - 1] == "every")
            or (self._words[at].number is not None and self._is_number(at))
            or self._is_left_out(at)
        )

    def _is_free(self, at: int) -> bool:
        return at not in self._used and at not in self._asked

    def _is_left_out(self, at: int) -> bool:
        """ "After removing outliers"; not "flag and remove outliers", nor what `guards.py` has refused already."""
        word = self._words[at]
        is_before = at > 0 and word.stem in REMOVING and word.lower.endswith("ing") and word.lower not in NEGATIONS
        return is_before and any(near.stem in LEFT_OUT for near in self._words[at + 1 : at + 1 + NEAR])

    def _is_compass(self, at: int) -> bool:
        """A direction, also one that was taken for the coordinate: "in the north", "east of 501000"."""
        word = self._lower[at]
        if word not in DIRECTIONS or at in self._asked:
            return False
        mention = self._mentions.at(at)
        if mention is None:
            return at not in self._used
        if squeeze(mention.column) == squeeze(self._words[at].text):
            return False
        after, before = self._lower[at + 1 : at + 2], self._lower[max(0, at - 1) : at]
        beside = {*after, *before}
        return bool(beside & {"of", "the", "-", "to", *SHARES, *AREAS}) and "against" not in beside

    def _is_extreme(self, at: int) -> bool:
        """ "The ten largest copper values", but neither "the highest mean" nor "which group has the highest copper"."""
        if self._is_of_a_figure(at):
            return False
        is_question = bool(QUESTIONS & set(self._lower[:2])) and "has" in self._lower[:at]
        has_rows = any(word.stem in ROWS for word in self._words[:at])
        if is_question and not has_rows:
            return False
        is_counted = at > 0 and self._words[at - 1].number is not None
        return is_counted or bool(self._things(at))

    def _is_level(self, at: int) -> bool:
        """ "For high gold", "with low lead"."""
        is_said = at > 0 and self._lower[at - 1] in LEVEL_CUES
        return is_said and self._mentions.at(at + 1) is not None and not self._is_of_a_figure(at)

    def _is_end(self, at: int) -> bool:
        if self._is_of_a_figure(at):
            return False
        word, after = self._lower[at], self._lower[at + 1 : at + 2]
        if word in ("most", "least", "fewest"):
            is_stated = at > 1 and self._lower[at - 1] == "the" and "at" not in self._lower[at - 1 : at]
            return is_stated and self._mentions.at(at + 1) is not None
        if word in ("upper", "lower") and after and after[0].startswith("quartile"):
            return self._lower[max(0, at - 2) : at] in (["of", "the"], ["in", "the"])
        return bool(self._things(at, is_near=True))

    def _is_of_a_figure(self, at: int) -> bool:
        """ "The highest mean", "the top 10 correlations": a choice among figures, not among rows."""
        after = [word.lower for word in self._words[at + 1 : at + 1 + NEAR] if word.number is None]
        return bool(FIGURES & set(after[:1]))

    def _things(self, at: int, *, is_near: bool = False) -> list[int]:
        """What a choosing word right before it chooses among: rows, values, a column, a share, a number of them."""
        found: list[int] = []
        for place in range(at + 1, min(len(self._words), at + 1 + NEAR)):
            word = self._words[place]
            is_number = word.number is not None and place not in self._used
            is_thing = word.stem in ROWS or self._lower[place] in SHARES | AREAS or is_number
            is_thing = is_thing or (not is_near and self._mentions.at(place) is not None)
            if is_thing:
                found.append(place)
            elif self._lower[place] not in DETERMINERS | {"of"} and self._mentions.at(place) is None:
                break
        return found

    def _is_share(self, at: int) -> bool:
        """ "Half of the samples", "the northern half"; not "half the detection limit"."""
        word = self._lower[at]
        if word not in ("half", "third", "quarter", "fifth", "tenth", "part", "portion"):
            return False
        is_linked = self._lower[at + 1 : at + 2] in (["of"], ["the"], ["all"])
        return is_linked and any(each.stem in ROWS for each in self._words[at + 1 : at + 4])

    def _is_bounding(self, at: int) -> bool:
        """ "Below the detection limit", "above average"; numbers are looked at by themselves."""
        after = range(at + 1, min(len(self._words), at + 1 + NEAR))
        plain = BOUNDS & FIGURES
        is_taken = any(
            place in self._used or (place in self._asked and self._lower[place] not in plain) for place in after
        )
        return any(self._lower[place] in BOUNDS for place in after) and not is_taken

    def _is_number(self, at: int) -> bool:
        """A number of rows or a bound: "the first 50 rows", "ten samples", "from 2015", "within 500 m"."""
        word = self._words[at]
        after = self._words[at + 1 : at + 1 + NEAR]
        if self._rows is not None and word.number == self._rows and after and after[0].stem in ROWS:
            return False
        is_length = bool(after) and after[0].lower in LENGTHS
        counts = is_length or any(each.stem in ROWS for each in self._until_break(at)) or self._follows_percent(at)
        if word.kind != "number" or not at:
            return counts
        before, is_choice = self._lower[at - 1], self._is_of_a_figure(at)
        is_row_number = self._words[at - 1].stem in ROWS - {"valu"}
        return counts or is_row_number or (before in BEFORE_NUMBERS and not is_choice)

    def _until_break(self, at: int) -> Iterator[Word]:
        for place in range(at + 1, min(len(self._words), at + 1 + NEAR)):
            word = self._words[place]
            if word.kind == "mark" or self._lower[place] in ("of", "and", "or", "by", "per", "in", "for", "to"):
                return
            yield word

    def _follows_percent(self, at: int) -> bool:
        return any(tuple(self._lower[at + 1 : at + 1 + len(said)]) == said for said in PARTS_OF_NUMBERS)
