"""What can be told of a run, told to nobody: how it is where telemetry is off. `live.py` has what tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from outcrop_schemas import wire
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_schemas.outcome import Outcome, RunOutcome
from outcrop_schemas.protocol import ToldTools

if TYPE_CHECKING:
    from outcrop.order import Order


class Span:
    """One piece of the work. Leaving its block ends it; an exception that leaves it says how."""

    def ended(self, outcome: Outcome | RunOutcome) -> None:
        """The work ended in this outcome."""

    def sent(self, parameters: Mapping[str, Any]) -> None:
        """The model call goes out now: what it waited before is not its time."""

    def attempt_failed(self, failure: wire.Json) -> None:
        """One attempt of the model call failed, and is made again or not."""

    def answered(self, response: ModelResponse) -> None:
        """The model answered."""

    def returned(self, result: str) -> None:
        """The tool returned this."""


class Workflow(Span):
    """A run, batch or pool as a whole."""

    def known_as(self, run_id: str, objective: str | None = None) -> None:
        """It has a record now."""

    def above(self) -> AbstractContextManager[None]:
        """What begins in this block is part of it, unless the caller has begun a span of its own meanwhile."""
        return nullcontext()

    def counted(self, statuses: Mapping[str, int], *, is_good: bool) -> None:
        """It ended with so many outcomes of each status."""

    def end(self) -> None:
        """For who cannot use a block."""


class RunSpans:
    """What one run tells. What begins within a block is its child, in other tasks and threads too."""

    tells_tools: ToldTools = "no"
    """What specialists should tell of their tool calls."""

    def lead(self, objective: str) -> AbstractContextManager[Span]:
        return nullcontext(SILENT_SPAN)

    def dispatch(self, order: Order, dispatch_id: str) -> AbstractContextManager[Span]:
        return nullcontext(SILENT_SPAN)

    def chat(
        self, agent_id: str, model: object, request: ModelRequest, spent: Callable[[], wire.Json | None]
    ) -> AbstractContextManager[Span]:
        """A model call; `spent` tells what the agent has spent so far."""
        return nullcontext(SILENT_SPAN)

    def tool(self, name: str, call_id: str, arguments: Mapping[str, Any]) -> AbstractContextManager[Span]:
        return nullcontext(SILENT_SPAN)

    def tool_elsewhere(self, told: object) -> None:
        """A specialist says that a tool ran in its process: a child of what is current here."""

    def waiting(self) -> AbstractContextManager[None]:
        """A dispatch waits for its place in this block."""
        return nullcontext()

    def carrier(self) -> dict[str, str]:
        """What a child process needs in its environment to join in."""
        return {}


class Telemetry:
    """Tells of all runs of one process."""

    def workflow(self, name: str) -> Workflow:
        """A run, batch or pool begins; it lasts until `end`."""
        return _SILENT_WORKFLOW

    @contextmanager
    def within(self, name: str) -> Iterator[Workflow]:
        """The same for a block, whose content is part of it."""
        yield _SILENT_WORKFLOW

    def of_run(self, run_id: str) -> RunSpans:
        return SILENT_RUN

    async def close(self) -> None:
        """Deliver what is left, within a bound."""


SILENT_SPAN = Span()
_SILENT_WORKFLOW = Workflow()
SILENT_RUN = RunSpans()
SILENT = Telemetry()
