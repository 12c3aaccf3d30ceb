"""The rate governor: whose model call goes next, for the lead and all specialists of all runs of this process.

The lead goes first (but not for ever), then one specialist role after the other, and within a role whoever has waited
longest. Nobody polls: a call that ends, headers that come and the time at which a model's pace opens wake who is next.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from outcrop.pace import Pace
from outcrop_schemas import limits
from outcrop_schemas.errors import ModelError

LEAD = "lead"
# With a specialist waiting, the lead has so many turns in a row.
_LEAD_IN_A_ROW = 4
# A call whose prompt is larger than what is left is overtaken so often by smaller ones; then they wait for it.
_OVERTAKEN = 8


@dataclass
class Turn:
    """One call that may go. Whoever holds it says what the server said."""

    governor: RateGovernor
    pace: Pace | None
    number: int = 0

    def heard(self, headers: Mapping[str, str]) -> None:
        """The server took the call and sent these headers (names in lower case)."""
        if self.pace:
            self.pace.heard(self.number, headers, _now())
            self.governor.wake()

    def refused(self, retry_after: float | None, headers: Mapping[str, str]) -> None:
        """The server refused the call for its rate (429)."""
        if self.pace:
            self.pace.refused(self.number, retry_after, headers, _now())
            self.governor.wake()

    def ended(self) -> None:
        """Whatever came of it."""
        if self.pace:
            self.pace.lost(self.number)


@dataclass
class _Waiting:
    role: str
    model: str | None
    tokens: int
    overtaken: int = 0
    granted: asyncio.Future[Turn] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class RateGovernor:
    """Hands out turns: at most `calls` at a time, and no faster than each model's pace."""

    def __init__(self, calls: int) -> None:
        self._calls, self.under_way = calls, 0
        self._waiting: dict[str, deque[_Waiting]] = {}
        self._paces: dict[str, Pace] = {}
        self._lead_in_a_row = 0
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self, role: str, model: str | None, tokens: int = 0) -> AsyncIterator[Turn]:
        """Wait for a turn and hold it. A model without a name has no pace; `tokens` is the guess of what is new.

        Raises ModelError past the limit for waiting.
        """
        turn = await self._wait(_Waiting(role, model, tokens))
        try:
            yield turn
        finally:
            turn.ended()
            self.under_way -= 1
            self.wake()

    def wake(self) -> None:
        """Give turns to whoever may go now, and set the clock for the next one."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        now, opens = _now(), math.inf
        while self.under_way < self._calls:
            found, opens = self._next(now)
            if found is None:
                break
            self._grant(found, now)
        if opens < math.inf and self.under_way < self._calls:
            self._timer = asyncio.get_running_loop().call_at(opens, self.wake)

    async def _wait(self, waiting: _Waiting) -> Turn:
        self._waiting.setdefault(waiting.role, deque()).append(waiting)
        self.wake()
        try:
            async with asyncio.timeout(limits.QUEUED_MODEL_SECONDS):
                return await waiting.granted
        except TimeoutError:
            self._leave(waiting)
            raise ModelError(
                f"no model call became free in {limits.QUEUED_MODEL_SECONDS:.0f} s",
                retryable=True,
                error_type="overloaded_error",
            ) from None
        except asyncio.CancelledError:
            self._leave(waiting)
            raise

    def _leave(self, waiting: _Waiting) -> None:
        """Nobody waits here any more. A turn that was granted in the same moment is given back."""
        queue = self._waiting.get(waiting.role)
        if queue and waiting in queue:
            queue.remove(waiting)
        if waiting.granted.done() and not waiting.granted.cancelled():
            waiting.granted.result().ended()
            self.under_way -= 1
        self.wake()

    def _next(self, now: float) -> tuple[_Waiting | None, float]:
        """Who goes next; or nobody, and when somebody may."""
        opens = math.inf
        passed: list[_Waiting] = []
        queues = [self._waiting[role] for role in self._order()]
        held = {one.model for queue in queues for one in queue if one.overtaken >= _OVERTAKEN}
        for waiting in (one for queue in queues for one in queue):
            if waiting.model in held and waiting.overtaken < _OVERTAKEN:
                continue
            pace = self._pace(waiting.model)
            at = pace.opens_at(now, waiting.tokens) if pace else now
            if at <= now:
                for one in passed:
                    one.overtaken += one.model == waiting.model
                return waiting, now
            opens = min(opens, at)
            passed.append(waiting)
        return None, opens

    def _order(self) -> list[str]:
        roles = [role for role, queue in self._waiting.items() if queue]
        others = [role for role in roles if role != LEAD]
        if LEAD not in roles:
            return others
        return [*others, LEAD] if others and self._lead_in_a_row >= _LEAD_IN_A_ROW else [LEAD, *others]

    def _grant(self, waiting: _Waiting, now: float) -> None:
        queue = self._waiting.pop(waiting.role)
        queue.remove(waiting)
        # To the end of the line of roles.
        self._waiting[waiting.role] = queue
        if not queue:
            del self._waiting[waiting.role]
        self._lead_in_a_row = self._lead_in_a_row + 1 if waiting.role == LEAD else 0
        if waiting.granted.done():
            return  # its caller was cancelled; it leaves by itself
        self.under_way += 1
        pace = self._pace(waiting.model)
        waiting.granted.set_result(Turn(self, pace, pace.sent(now, waiting.tokens) if pace else 0))

    def _pace(self, model: str | None) -> Pace | None:
        return None if model is None else self._paces.setdefault(model, Pace())


def _now() -> float:
    return asyncio.get_running_loop().time()
