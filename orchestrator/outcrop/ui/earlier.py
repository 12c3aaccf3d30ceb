"""Dispatches of a run by pages, newest first: of one status, or with words in their objective."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outcrop.journal import is_held
from outcrop.report.dispatches import RUNNING, WAITING
from outcrop.ui.follow import Follower
from outcrop.ui.places import Pair
from outcrop_schemas import limits
from outcrop_schemas.outcome import STATUSES

INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Row:
    """One dispatch of the list."""

    id: str
    specialist: str
    objective: str
    status: str
    begun: str
    seconds: float | None
    told: str


@dataclass(frozen=True)
class Rows:
    """What was found, and the number before which to go on; `is_out_of_time` where a search was not through."""

    rows: Sequence[Row]
    next: int | None
    is_out_of_time: bool = False


def earlier(follower: Follower, before: int | None, status: str | None, words: str) -> Rows:
    """One page; of those that wait it begins at `before`. Raises JournalError."""
    if status == WAITING:
        return _waiting(follower, before or 0, words.casefold().split())
    rows: list[Row] = []
    unended = RUNNING if is_held(follower.path) else INTERRUPTED
    statuses = statuses_meant(status or "", unended)
    number = len(follower.dispatches) if before is None else before
    until = time.monotonic() + limits.UI_SEARCH_SECONDS
    wanted = words.casefold().split()
    for pair in follower.dispatches.before(number, statuses):
        if len(rows) == limits.UI_DISPATCHES_PAGE:
            return Rows(rows, pair.number + 1)
        if wanted and time.monotonic() > until:
            return Rows(rows, pair.number + 1, is_out_of_time=True)
        if row := _row(follower, pair, wanted, unended):
            rows.append(row)
    return Rows(rows, None)


def statuses_meant(status: str, unended: str) -> Collection[str] | None:
    """The recorded statuses that one of the page means; None where all. What has no end is told as `unended`."""
    if not status:
        return None
    return {status, RUNNING} if status == unended else {status}.intersection(STATUSES)


def _waiting(follower: Follower, since: int, wanted: Sequence[str]) -> Rows:
    """Those that wait for a place, the first that will have one first: by where in the journal it is recorded, which
    stays while others begin."""
    rows: list[Row] = []
    waiting = list(follower.waiting.values()) if is_held(follower.path) else []
    places = [place for place in waiting if place.at >= since]
    until = time.monotonic() + limits.UI_SEARCH_SECONDS
    for place in places:
        is_out_of_time = time.monotonic() > until
        if len(rows) == limits.UI_DISPATCHES_PAGE or is_out_of_time:
            return Rows(rows, place.at, is_out_of_time)
        entry, record = follower.read(place)
        if _has(record.body, entry.id, wanted):
            told = "it waits for a place"
            specialist, objective = str(record.body.get("specialist", "")), str(record.body.get("objective", ""))
            rows.append(Row(entry.id, specialist, objective, WAITING, record.at, None, told))
    return Rows(rows, None)


def _has(told: Mapping[str, Any], dispatch_id: str, wanted: Sequence[str]) -> bool:
    text = f"{dispatch_id} {told.get('specialist')} {told.get('objective')}".casefold()
    return all(word in text for word in wanted)


def _row(follower: Follower, pair: Pair, wanted: Sequence[str], unended: str) -> Row | None:
    entry, record = follower.read(pair.start)
    start = record.body
    if not _has(start, entry.id, wanted):
        return None
    end: Mapping[str, Any] = follower.body(pair.end) if pair.end else {}
    return Row(
        entry.id,
        str(start.get("specialist", "")),
        str(start.get("objective", "")),
        pair.status or unended,
        record.at,
        end.get("duration_s"),
        str(end.get("summary") or "; ".join(map(str, end.get("errors", ())))),
    )
