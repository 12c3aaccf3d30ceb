"""Tells of runs as spans and metrics of OpenTelemetry, by its API alone: whose providers they are does not matter."""

# mypy does not look into namespace packages here, which opentelemetry is.
# mypy: disable-error-code="attr-defined,name-defined,misc"

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from opentelemetry import context, trace  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.context import Context  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.metrics import NoOpMeterProvider  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.trace import NoOpTracerProvider, Tracer  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # type: ignore[import-not-found,unused-ignore]

from outcrop.telemetry import names
from outcrop.telemetry.instruments import Instruments
from outcrop.telemetry.silent import SILENT_SPAN, RunSpans, Span, Telemetry, Workflow
from outcrop.telemetry.spans import LiveChat, LiveDispatch, LiveSpan, LiveTool, LiveWorkflow
from outcrop.telemetry.tools import span_of
from outcrop_schemas import wire
from outcrop_schemas.messages import ModelRequest

if TYPE_CHECKING:
    from outcrop.order import Order
    from outcrop.telemetry import Providers
    from outcrop.telemetry.exporting import Exporting
    from outcrop_schemas.protocol import ToldTools

_SCOPE = "outcrop"
_VARIABLES = ("TRACEPARENT", "TRACESTATE")
_W3C = TraceContextTextMapPropagator()


class LiveTelemetry(Telemetry):
    """Of all runs of one process. `exporting` is what is to be shut down with it, where the providers are ours."""

    def __init__(self, providers: Providers, *, with_content: bool, exporting: Exporting | None = None) -> None:
        self.tracer = (providers.tracer or NoOpTracerProvider()).get_tracer(_SCOPE)
        self.instruments = Instruments((providers.meter or NoOpMeterProvider()).get_meter(_SCOPE))
        self._with_content, self._exporting = with_content, exporting

    def workflow(self, name: str) -> LiveWorkflow:
        outside = trace.get_current_span()
        # Whoever started this process may be part of a trace already.
        parent = None if outside.get_span_context().is_valid or not self._exporting else _of_environment()
        span = self.tracer.start_span(f"invoke_workflow {name}", parent, attributes=names.workflow(name))
        return LiveWorkflow(span, outside.get_span_context(), with_content=self._with_content)

    @contextmanager
    def within(self, name: str) -> Iterator[Workflow]:
        workflow = self.workflow(name)
        with ending(workflow), trace.use_span(workflow.span, record_exception=False, set_status_on_exception=False):
            yield workflow

    def of_run(self, run_id: str) -> RunSpans:
        return LiveRun(self.tracer, self.instruments, run_id, with_content=self._with_content)

    async def close(self) -> None:
        if self._exporting:
            await self._exporting.close()


class LiveRun(RunSpans):
    """Of one run."""

    def __init__(self, tracer: Tracer, instruments: Instruments, run_id: str, *, with_content: bool) -> None:
        self._tracer, self._instruments, self._run_id = tracer, instruments, run_id
        self._with_content = with_content
        self.tells_tools: ToldTools = "content" if with_content else "times"

    def lead(self, objective: str) -> AbstractContextManager[Span]:
        attributes = names.agent("lead", "lead", self._run_id)
        if self._with_content:
            attributes |= _content(names.OBJECTIVE, objective)
        return self._began(
            "invoke_agent lead", attributes, lambda span: LiveSpan(span, with_content=self._with_content)
        )

    def dispatch(self, order: Order, dispatch_id: str) -> AbstractContextManager[Span]:
        if order.call is not None:
            # A tool of the lead's own: its span is there already.
            return _silent()
        attributes = names.agent(order.specialist, dispatch_id, self._run_id)
        if self._with_content:
            attributes |= _content(names.OBJECTIVE, order.objective)

        def made(span: trace.Span) -> LiveSpan:
            return LiveDispatch(span, self._instruments, order.specialist, with_content=self._with_content)

        return self._began(f"invoke_agent {names.short(order.specialist)}", attributes, made)

    def chat(
        self, agent_id: str, model: object, request: ModelRequest, spent: Callable[[], wire.Json | None]
    ) -> AbstractContextManager[Span]:
        attributes = names.chat(agent_id, model, self._run_id)
        if self._with_content:
            from outcrop.telemetry.content import messages_in

            attributes[names.INPUT] = messages_in(request)

        def made(span: trace.Span) -> LiveSpan:
            return LiveChat(span, self._instruments, attributes, spent, with_content=self._with_content)

        name = f"chat {attributes[names.REQUEST_MODEL]}"
        return self._began(name, attributes, made, trace.SpanKind.CLIENT)

    def tool(self, name: str, call_id: str, arguments: Mapping[str, Any]) -> AbstractContextManager[Span]:
        attributes = names.tool(name, call_id, self._run_id)
        if self._with_content:
            attributes |= _content(names.ARGUMENTS, dict(arguments))
        made = LiveTool
        return self._began(
            f"execute_tool {names.short(name)}", attributes, lambda span: made(span, with_content=self._with_content)
        )

    def tool_elsewhere(self, told: object) -> None:
        span_of(self._tracer, told, self._run_id, with_content=self._with_content)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        self._instruments.queued(1)
        try:
            yield
        finally:
            self._instruments.queued(-1)

    def carrier(self) -> dict[str, str]:
        found: dict[str, str] = {}
        _W3C.inject(found)
        return {name.upper(): value for name, value in found.items()}

    @contextmanager
    def _began(
        self,
        name: str,
        attributes: names.Attributes,
        made: Callable[[trace.Span], LiveSpan],
        kind: trace.SpanKind = trace.SpanKind.INTERNAL,
    ) -> Iterator[Span]:
        began = self._tracer.start_span(name, kind=kind, attributes=attributes)
        span = made(began)
        with ending(span), trace.use_span(began, record_exception=False, set_status_on_exception=False):
            yield span


@contextmanager
def ending(span: LiveSpan) -> Iterator[None]:
    """End it when the block is left, with what left it."""
    try:
        yield
    except BaseException as error:
        span.broke(error)
        raise
    finally:
        span.end()


@contextmanager
def _silent() -> Iterator[Span]:
    yield SILENT_SPAN


def _content(name: str, value: Any) -> names.Attributes:
    from outcrop.telemetry.content import told

    return {name: told(value)}


def _of_environment() -> Context | None:
    """The trace that the process was started in, where it was told."""
    carrier = {name.lower(): os.environ[name] for name in _VARIABLES if name in os.environ}
    return _W3C.extract(carrier, context.Context()) if carrier else None
