"""Spans under way: what each kind of work says when it ends."""

# mypy does not look into namespace packages here, which opentelemetry is.
# mypy: disable-error-code="attr-defined,name-defined,misc"

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from opentelemetry import trace  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.trace import SpanContext, Status, StatusCode  # type: ignore[import-not-found,unused-ignore]

from outcrop.telemetry import names
from outcrop.telemetry.instruments import Instruments
from outcrop.telemetry.silent import Workflow
from outcrop_schemas import wire
from outcrop_schemas.errors import ModelError, OutcropError
from outcrop_schemas.messages import ModelResponse
from outcrop_schemas.outcome import Outcome, RunOutcome


class LiveSpan(Workflow):
    """One span of OpenTelemetry."""

    def __init__(self, span: trace.Span, *, with_content: bool) -> None:
        self.span, self.with_content = span, with_content

    def ended(self, outcome: Outcome | RunOutcome) -> None:
        self.span.set_attribute(names.STATUS, outcome.status)
        if not outcome.is_good:
            self.failed(outcome.status, "; ".join(outcome.errors))

    def broke(self, error: BaseException) -> None:
        """This left the block."""
        kind = kind_of(error)
        if kind == "cancelled":
            self.span.set_attribute(names.STATUS, kind)
        self.failed(kind, str(error))

    def failed(self, kind: str, reason: str) -> None:
        """The reason is content: it may quote anything."""
        self.span.set_attribute(names.ERROR, names.short(kind))
        said = names.short(reason) if self.with_content and reason else names.short(kind)
        self.span.set_status(Status(StatusCode.ERROR, said))

    def end(self) -> None:
        self.span.end()


class LiveWorkflow(LiveSpan):
    """A run, batch or pool; `outside` is what was current where it began."""

    def __init__(self, span: trace.Span, outside: SpanContext, *, with_content: bool) -> None:
        super().__init__(span, with_content=with_content)
        self._outside = outside

    def known_as(self, run_id: str, objective: str | None = None) -> None:
        self.span.set_attribute(names.CONVERSATION, run_id)
        if objective and self.with_content:
            from outcrop.telemetry.content import told

            self.span.set_attribute(names.OBJECTIVE, told(objective))

    @contextmanager
    def above(self) -> Iterator[None]:
        current = trace.get_current_span().get_span_context()
        if current.is_valid and current.span_id != self._outside.span_id:
            yield
            return
        with trace.use_span(self.span, record_exception=False, set_status_on_exception=False):
            yield

    def counted(self, statuses: Mapping[str, int], *, is_good: bool) -> None:
        for status, count in statuses.items():
            self.span.set_attribute(f"outcrop.jobs.{status}", count)
        if not is_good:
            self.failed("failed_jobs", "")


class LiveDispatch(LiveSpan):
    def __init__(self, span: trace.Span, instruments: Instruments, specialist: str, *, with_content: bool) -> None:
        super().__init__(span, with_content=with_content)
        self._instruments, self._specialist = instruments, names.short(specialist)

    def ended(self, outcome: Outcome | RunOutcome) -> None:
        super().ended(outcome)
        assert isinstance(outcome, Outcome)
        found = {
            "process.exit.code": outcome.exit.code,
            "outcrop.exit.signal": outcome.exit.signal,
            "outcrop.launch": outcome.launch,
            "outcrop.node": outcome.usage.get("node"),
            "outcrop.turns": outcome.usage.get("turns"),
        }
        self.span.set_attributes({name: value for name, value in found.items() if value is not None})
        about = {"gen_ai.agent.name": self._specialist, names.STATUS: outcome.status}
        self._instruments.dispatch(outcome.duration_s, about)


class LiveChat(LiveSpan):
    """A model call: its time is that of its last attempt, without what it waited for a turn."""

    def __init__(
        self,
        span: trace.Span,
        instruments: Instruments,
        attributes: Mapping[str, Any],
        spent: Callable[[], wire.Json | None],
        *,
        with_content: bool,
    ) -> None:
        super().__init__(span, with_content=with_content)
        kept = (names.OPERATION, names.PROVIDER, names.REQUEST_MODEL)
        self._about = {name: attributes[name] for name in kept}
        self._instruments, self._spent = instruments, spent
        self._spent_before = _usd(spent())
        self._sent_at: float | None = None

    def sent(self, parameters: Mapping[str, Any]) -> None:
        self._sent_at = time.monotonic()
        if (most := parameters.get("max_tokens")) is not None:
            self.span.set_attribute("gen_ai.request.max_tokens", most)
        self.span.add_event("outcrop.sent")

    def attempt_failed(self, failure: wire.Json) -> None:
        self.span.add_event("outcrop.attempt_failed", names.failure(failure))

    def answered(self, response: ModelResponse) -> None:
        self.span.set_attributes(names.answer(response))
        self._about[names.RESPONSE_MODEL] = names.short(response.model)
        if self.with_content:
            from outcrop.telemetry.content import messages_out

            self.span.set_attribute(names.OUTPUT, messages_out(response))
        self._instruments.tokens(response.usage.prompt_tokens, response.usage.output_tokens, self._about)

    def failed(self, kind: str, reason: str) -> None:
        super().failed(kind, reason)
        self._about[names.ERROR] = names.short(kind)

    def end(self) -> None:
        if self._sent_at is not None:
            self._instruments.operation(time.monotonic() - self._sent_at, self._about)
        if cost := _usd(self._spent()) - self._spent_before:
            self.span.set_attribute("outcrop.cost.usd", float(cost))
            self._instruments.cost(float(cost), self._about)
        super().end()


class LiveTool(LiveSpan):
    def returned(self, result: str) -> None:
        if self.with_content:
            from outcrop.telemetry.content import told

            self.span.set_attribute(names.RESULT, told(result))


def kind_of(error: BaseException) -> str:
    """How an exception is told: by its kind, never by its text."""
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt | GeneratorExit):
        return "cancelled"
    if isinstance(error, ModelError):
        return error.error_type
    return error.kind if isinstance(error, OutcropError) else type(error).__name__


def _usd(account: wire.Json | None) -> Decimal:
    return Decimal(account["spent_usd"]) if account else Decimal(0)
