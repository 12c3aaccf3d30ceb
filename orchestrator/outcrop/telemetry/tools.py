"""Tool calls in another process, as it told of them: nothing of that is believed without a bound."""

# mypy does not look into namespace packages here, which opentelemetry is.
# mypy: disable-error-code="attr-defined,name-defined,misc"

from __future__ import annotations

import time

from opentelemetry import trace  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.trace import Status, StatusCode, Tracer  # type: ignore[import-not-found,unused-ignore]
from pydantic import ValidationError

from outcrop.telemetry import names
from outcrop_schemas.protocol import ToolTold


def span_of(tracer: Tracer, told: object, run_id: str, *, with_content: bool) -> None:
    """A span beneath what is current, within its time; none where it makes no sense."""
    try:
        call = ToolTold.model_validate(told)
    except ValidationError:
        return
    now = time.time_ns()
    # Of a span that is not recorded nobody knows when it began. Another machine's clock is not ours.
    earliest = getattr(trace.get_current_span(), "start_time", None) or 0
    start = min(max(call.start_ns, earliest), now)
    attributes = names.tool(call.name, call.call_id, run_id)
    if with_content:
        from outcrop.telemetry.content import told as bounded

        given = {names.ARGUMENTS: call.arguments, names.RESULT: call.result}
        attributes |= {name: bounded(value) for name, value in given.items() if value is not None}
    span = tracer.start_span(f"execute_tool {names.short(call.name)}", start_time=start, attributes=attributes)
    if call.error:
        span.set_attribute(names.ERROR, names.short(call.error))
        span.set_status(Status(StatusCode.ERROR, names.short(call.error)))
    span.end(min(max(call.end_ns, start), now))
