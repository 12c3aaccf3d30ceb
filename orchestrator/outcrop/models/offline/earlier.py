"""Columns that are named by what they are: the major elements, and what an earlier step found to be best."""

from __future__ import annotations

from collections.abc import Sequence

from outcrop.models.offline.mentions import Mention, Mentions
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.references import Previous
from outcrop.models.offline.schema import Property
from outcrop.models.offline.vocabulary import word_set
from outcrop.models.offline.words import Word
from outcrop_specialists.columns.chemistry import is_oxide, symbol_of

MAJORS = word_set("Si Ti Al Fe Mn Mg Ca Na K P")
"""What rock analyses give in per cent, as oxides or elements; all other elements are traces."""
KINDS = frozenset(("major", "majors", "trace", "traces"))
_ELEMENTS = word_set("element elements oxide oxides")
_RANKED = frozenset(("best", "strongest", "closest"))


class Earlier:
    """Adds to `mentions` the columns that words such as these stand for; `notes` and `refusals` say how."""

    def __init__(self, words: Sequence[Word], profile: Profile, previous: Previous, mentions: Mentions) -> None:
        self._words, self._profile, self._previous, self._mentions = words, profile, previous, mentions
        self.notes: list[str] = []
        self.refusals: list[str] = []

    def add(self, properties: Sequence[Property]) -> None:
        """Look for each of them."""
        self._add_kinds()
        self._add_grade()
        if any(prop.role == "x-column" for prop in properties):
            self._add_best()
        self._mentions.found.sort(key=lambda mention: mention.first)

    def _add_kinds(self) -> None:
        """ "The major elements", where no list of them follows."""
        for at, word in enumerate(self._words[:-1]):
            is_kind = word.lower in KINDS and self._words[at + 1].lower in _ELEMENTS
            if not is_kind or self._mentions.at(at) or self._mentions.at(at + 2):
                continue
            is_major = word.lower.startswith("major")
            names = [
                column.name
                for column in self._profile.columns
                if column.is_measure and (symbol := _element(column.base)) and (symbol in MAJORS) is is_major
            ]
            self._mentions.found += [Mention(name, at, at + 2) for name in names]
            if names:
                self.notes.append(f'"{word.text} {self._words[at + 1].text}" was taken as {", ".join(names)}')

    def _add_grade(self) -> None:
        """ "Hole grade" as the column of grades in the table that has one row a hole."""
        pairs = zip(self._words, self._words[1:], strict=False)
        place = next((at for at, (a, b) in enumerate(pairs) if a.stem == "hole" and b.stem == "grade"), None)
        if place is None or not self._previous.is_about_holes:
            return
        found = self._mentions.found
        found[:] = [mention for mention in found if mention.first not in (place, place + 1)]
        grades = [name for name in self._profile.names if name.endswith("_grade")]
        if len(grades) == 1:
            found.append(Mention(grades[0], place, place + 2))
        else:
            self.refusals.append(f"the hole grade may be {' or '.join(grades) or 'no column'}; name the column")

    def _add_best(self) -> None:
        """ "The best pathfinder" as the column that an earlier ranking put first."""
        place = next((at for at, word in enumerate(self._words) if word.stem == "pathfind"), None)
        if place is None:
            return
        best = self._previous.best
        if best not in self._profile.names:
            self.refusals.append("which column follows best is not known; name it")
            return
        first = place - 1 if place and self._words[place - 1].lower in _RANKED else place
        self._mentions.found.append(Mention(best, first, place + 1))
        self.notes.append(f"{best} has the greatest correlation in the ranking before, other than the same element")


def _element(name: str) -> str:
    """The symbol of an element, or of the one in an oxide; empty for anything else."""
    if is_oxide(name):
        return name[:2] if name[1:2].islower() else name[:1]
    return symbol_of(name) or ""
