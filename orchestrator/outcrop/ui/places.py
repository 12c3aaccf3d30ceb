"""Where things that begin and end stand in a journal, in a few bytes each: dispatches of a run, jobs of a batch."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from outcrop_schemas import limits
from outcrop_schemas.outcome import GOOD, STATUSES

_NUMBERS: dict[str, int] = {status: number for number, status in enumerate(STATUSES, 1)}
_UNDER_WAY = 0


class Place(NamedTuple):
    """Where a record stands."""

    at: int
    length: int


class Pair(NamedTuple):
    """One of them: where its start stands, where its end, and how it ended; both empty while it goes on."""

    number: int
    start: Place
    end: Place | None
    status: str


class Pairs:
    """All of them in the order they began, some 25 bytes each, so that a run of any length fits in memory."""

    def __init__(self) -> None:
        self._start_at, self._start_length = array("Q"), array("I")
        self._end_at, self._end_length = array("Q"), array("I")
        self._status = array("B")
        self.open: dict[str, int] = {}
        self.statuses: Counter[str] = Counter()
        self.bad: deque[int] = deque(maxlen=limits.REPORT_FAILED)
        """The last of those that did not succeed."""

    def __len__(self) -> int:
        return len(self._start_at)

    def __getitem__(self, number: int) -> Pair:
        start = Place(self._start_at[number], self._start_length[number])
        if self._status[number] == _UNDER_WAY:
            return Pair(number, start, None, "")
        end = Place(self._end_at[number], self._end_length[number])
        return Pair(number, start, end, STATUSES[self._status[number] - 1])

    def begin(self, name: str, place: Place) -> None:
        """It began. What begins again without having ended stays one thing."""
        if name in self.open:
            number = self.open[name]
            self._start_at[number], self._start_length[number] = place
            return
        self.open[name] = len(self)
        self._start_at.append(place.at)
        self._start_length.append(place.length)
        self._end_at.append(0)
        self._end_length.append(0)
        self._status.append(_UNDER_WAY)

    def begin_again(self, number: int, name: str, place: Place | None) -> None:
        """One that has ended goes on, from a new start where it has one: what it came to is counted no more."""
        status = STATUSES[self._status[number] - 1]
        self.statuses[status] -= 1
        if not self.statuses[status]:
            del self.statuses[status]
        self._status[number] = _UNDER_WAY
        self.open[name] = number
        if place:
            self._start_at[number], self._start_length[number] = place

    def finish(self, name: str, place: Place, status: str) -> None:
        """It ended. One whose start is lost is counted and not listed."""
        self.statuses[status] += 1
        number = self.open.pop(name, None)
        if number is None:
            return
        self._end_at[number], self._end_length[number] = place
        self._status[number] = _NUMBERS.get(status, _UNDER_WAY)
        if status not in GOOD:
            self.bad.append(number)

    def last(self, most: int) -> list[Pair]:
        """Those that are looked for: under way, failed, or the last ones; so many of each at most, in their order."""
        wanted = {*range(max(0, len(self) - most), len(self)), *self.bad, *list(self.open.values())[-most:]}
        return [self[number] for number in sorted(wanted)]

    def before(self, number: int, statuses: Collection[str] | None = None) -> Iterator[Pair]:
        """Those before a number, the last first, that have one of these statuses."""
        return self.among(range(min(number, len(self)) - 1, -1, -1), statuses)

    def among(self, numbers: Iterable[int], statuses: Collection[str] | None = None) -> Iterator[Pair]:
        """Those with these numbers that have one of these statuses (`running` while it goes on), in this order."""
        wanted = None if statuses is None else {_NUMBERS.get(status, _UNDER_WAY) for status in statuses}
        for number in numbers:
            if wanted is None or self._status[number] in wanted:
                yield self[number]

    def count(self, until: int, statuses: Collection[str] | None = None) -> int:
        """How many of those before a number have one of these statuses."""
        part = self._status[:until]
        if statuses is None:
            return len(part)
        return sum(part.count(number) for number in {_NUMBERS.get(status, _UNDER_WAY) for status in statuses})
