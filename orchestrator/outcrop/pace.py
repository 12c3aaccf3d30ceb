"""How fast one model may be asked: learnt from the headers of its answers and from its refusals.

The server says with each answer how many requests and tokens are left and when all of them will be there again. Nothing
is known before the first answer, so the first call goes alone. A server that says nothing is asked in rounds that
double; what it refused is then its measure. All times are those of the event loop, in seconds.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from outcrop_schemas import limits

_PREFIX = "anthropic-ratelimit-"
_KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
_SLACK_SECONDS = 0.02
# A round this large never refused: the server has no limit that we could reach.
_FREE_ROUND = 64
# So many calls must go well in a row before a server that says nothing is asked faster than what it refused.
_CALM_CALLS = 20
_SENT_KEPT = 1_000
# A `Date` header has whole seconds; a clock that is further off is another clock.
_SKEW_SECONDS = 2.0


@dataclass(frozen=True)
class _Allowance:
    """What is left of one thing (requests, input tokens, …), and when it is whole again."""

    limit: float
    left: float
    whole_at: float

    def at(self, now: float) -> float:
        # Nothing is taken for granted before it is whole: some servers refill all along, others all at once.
        return self.limit if now >= self.whole_at else self.left


class Pace:
    """The pace of one model. Each call that goes out is `sent`, and then `heard`, `refused` or `lost`."""

    def __init__(self) -> None:
        self._allowances: dict[str, _Allowance] = {}
        self._unheard: dict[int, int] = {}
        self._number = self._last_heard = self._refused_after = 0
        self._paused_until, self._refusals = 0.0, 0
        self._round: float = 1
        self._round_left: float = 1
        self._sent: deque[float] = deque(maxlen=_SENT_KEPT)
        self._spacing, self._next_at, self._calm = 0.0, 0.0, 0
        self._heard_when_sent: dict[int, int] = {}

    def opens_at(self, now: float, tokens: int) -> float:
        """When a call of so many new tokens may go: not after `now` for at once, infinity where an answer must come."""
        at = max(self._paused_until, self._next_at)
        if at > now:
            return at
        if self._refusals and self._unheard:
            return math.inf  # after a refusal one call goes alone, to hear how things stand
        if not self._allowances:
            return now if self._round_left > 0 else math.inf
        return max(self._opens(name, one, now, tokens) for name, one in self._allowances.items())

    def sent(self, now: float, tokens: int) -> int:
        """A call goes out; its number."""
        self._number += 1
        self._unheard[self._number] = tokens
        self._heard_when_sent[self._number] = self._last_heard
        self._round_left -= 1
        self._next_at = now + self._spacing
        self._sent.append(now)
        return self._number

    def heard(self, number: int, headers: Mapping[str, str], now: float) -> None:
        """The headers of a call that was taken."""
        if number not in self._unheard:
            return
        if number > self._refused_after:
            self._paused_until, self._refusals = 0.0, 0
        self._learn(number, headers, now)
        self._ended(number, went_well=True)

    def refused(self, number: int, retry_after: float | None, headers: Mapping[str, str], now: float) -> None:
        """Too many (429): nobody asks before `retry_after`; where the server says no more, what went is too much."""
        if number not in self._unheard:
            return
        self._learn(number, headers, now)
        is_told = retry_after is not None and math.isfinite(retry_after)
        wait = retry_after if retry_after is not None and is_told else limits.RETRY_FIRST_SECONDS * 2**self._refusals
        wait = min(max(wait, 0.0), limits.RETRY_AFTER_SECONDS)
        # Calls of one burst that were refused together tell nothing new.
        is_again = self._spacing > 0 and number > self._refused_after
        self._refusals, self._refused_after = self._refusals + 1, self._number
        self._paused_until = max(self._paused_until, now + wait + _SLACK_SECONDS)
        if not self._allowances:
            taken = max(len(self._sent) - len(self._unheard), 1)
            learnt = (now - self._sent[0] + wait) / taken
            self._spacing = min(max(learnt, self._spacing * (2 if is_again else 1)), limits.RETRY_AFTER_SECONDS)
        self._ended(number, went_well=False)

    def lost(self, number: int) -> None:
        """A call that ended without headers."""
        if number in self._unheard:
            self._ended(number, went_well=False)

    def _opens(self, name: str, one: _Allowance, now: float, tokens: int) -> float:
        # More than there ever is would wait for ever; all there is must do.
        need, have = min(_need(name, tokens), one.limit), one.at(now)
        on_the_way = sum(_need(name, sent) for sent in self._unheard.values())
        if have - on_the_way >= need:
            return now
        return math.inf if have >= need else one.whole_at + _SLACK_SECONDS

    def _ended(self, number: int, *, went_well: bool) -> None:
        del self._unheard[number], self._heard_when_sent[number]
        self._last_heard = max(self._last_heard, number)
        if went_well and self._spacing:
            self._calm += 1
            if self._calm >= _CALM_CALLS:
                self._spacing, self._calm = self._spacing * 0.9, 0
        elif not went_well:
            self._calm = 0
        if not self._unheard and self._round_left <= 0:
            grown = self._round * 2 if went_well else 1
            self._round = 1 if self._spacing else math.inf if grown > _FREE_ROUND else grown
            self._round_left = self._round

    def _learn(self, number: int, headers: Mapping[str, str], now: float) -> None:
        # Answers overtake each other: of two calls under way together, the lower figure is the later one.
        overlapped = self._heard_when_sent[number] != self._last_heard
        for name in _KINDS:
            found = _allowance(headers, name, now)
            if found is None:
                continue
            before = self._allowances.get(name)
            if overlapped and before and before.whole_at > now:
                found = _Allowance(found.limit, min(before.left, found.left), max(before.whole_at, found.whole_at))
            self._allowances[name] = found


def _need(name: str, tokens: int) -> float:
    """What a call takes of an allowance. Its output is not known before, so any that is left will do."""
    return tokens if name in ("tokens", "input-tokens") else 1


def _allowance(headers: Mapping[str, str], name: str, now: float) -> _Allowance | None:
    limit, left, reset = (headers.get(f"{_PREFIX}{name}-{part}") for part in ("limit", "remaining", "reset"))
    if limit is None or left is None or reset is None:
        return None
    try:
        found = _Allowance(float(limit), float(left), now + _seconds_until(reset, headers.get("date")))
    except (ValueError, TypeError, OverflowError):
        return None
    return found if math.isfinite(found.limit) and math.isfinite(found.left) else None


def _seconds_until(reset: str, date: str | None) -> float:
    """Seconds to an RFC 3339 time by the server's clock, bounded; a time without a zone is UTC. Raises ValueError."""
    server_now = datetime.now(UTC)
    if date:
        said = _in_utc(parsedate_to_datetime(date))
        if abs((said - server_now).total_seconds()) > _SKEW_SECONDS:
            server_now = said
    when = _in_utc(datetime.fromisoformat(reset.replace("Z", "+00:00")))
    rounded = 0.0 if "." in reset else 1.0
    return min(max((when - server_now).total_seconds() + rounded, 0.0), limits.RETRY_AFTER_SECONDS)


def _in_utc(when: datetime) -> datetime:
    return when if when.tzinfo else when.replace(tzinfo=UTC)
