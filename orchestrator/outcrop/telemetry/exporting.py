"""The SDK with its OTLP exporter, as the OTEL_ variables set it up. A collector that is not there costs a warning."""

# mypy does not look into namespace packages here, which opentelemetry is.
# mypy: disable-error-code="attr-defined,name-defined,misc"

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.sdk.metrics import MeterProvider  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.sdk.metrics.export import (  # type: ignore[import-not-found,unused-ignore]
    ConsoleMetricExporter,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import Resource  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider  # type: ignore[import-not-found,unused-ignore]
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExportResult  # type: ignore[import-not-found,unused-ignore]

from outcrop_schemas import limits
from outcrop_schemas.errors import UsageError

_log = logging.getLogger(__name__)
_KINDS = ("otlp", "console", "none")
_PROTOCOL = "http/protobuf"


class Exporting:
    """Both providers, of this process. Raises UsageError for variables that make no sense."""

    def __init__(self) -> None:
        # The SDK says of each attempt that it failed; here that is said once, at the end.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        self._lost: dict[str, int] = {}
        try:
            resource = Resource.create(_about_us())
            self.tracer_provider = TracerProvider(resource=resource, shutdown_on_exit=False)
            self._spans = _span_processor()
            if self._spans:
                self.tracer_provider.add_span_processor(self._spans)
            metrics = _metric_exporter(self._lost)
            readers = [PeriodicExportingMetricReader(metrics)] if metrics else []
            self.meter_provider = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
        except ValueError as error:
            raise UsageError(f"telemetry: the OTEL_ variables make no sense: {error}") from error

    async def close(self) -> None:
        """Deliver what is left, for so many seconds at most, and say what was lost."""
        loop, done = asyncio.get_running_loop(), asyncio.Event()
        # Not one of the loop's own threads: the end of the loop would wait for it.
        threading.Thread(target=self._shut_down, args=(loop, done), name="outcrop-telemetry", daemon=True).start()
        try:
            await asyncio.wait_for(done.wait(), limits.TELEMETRY_FLUSH_SECONDS)
        except TimeoutError:
            self._lost.setdefault("what was not sent in time", 1)
        if isinstance(self._spans, _CountedSpans) and (lost := self._spans.lost):
            self._lost["spans"] = lost
        if self._lost:
            where = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "the default endpoint of OTLP/HTTP")
            what = ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in self._lost.items())
            _log.warning("outcrop: telemetry was lost (%s): the collector at %s did not take it", what, _bare(where))

    def _shut_down(self, loop: asyncio.AbstractEventLoop, done: asyncio.Event) -> None:
        try:
            self.tracer_provider.shutdown()
            self.meter_provider.shutdown(timeout_millis=limits.TELEMETRY_FLUSH_SECONDS * 1000)
        except Exception as error:  # noqa: BLE001 - the boundary to the SDK: telemetry fails no run
            self._lost[f"the end of it ({type(error).__name__})"] = 1
        with contextlib.suppress(RuntimeError):
            # Nobody waits any more: the loop is closed.
            loop.call_soon_threadsafe(done.set)


class _Spans(OTLPSpanExporter):
    """Counts what the collector took."""

    taken = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        if result is SpanExportResult.SUCCESS:
            self.taken += len(spans)
        return result


class _CountedSpans(BatchSpanProcessor):
    """Knows what was lost, wherever that was: the SDK drops what does not fit its queue, and tells nobody how many."""

    def __init__(self, exporter: _Spans) -> None:
        super().__init__(exporter)
        self._spans, self._ended, self._lock = exporter, 0, threading.Lock()

    def on_end(self, span: ReadableSpan) -> None:
        if span.context and span.context.trace_flags.sampled:
            with self._lock:
                self._ended += 1
        super().on_end(span)

    @property
    def lost(self) -> int:
        return self._ended - self._spans.taken


class _Metrics(OTLPMetricExporter):
    """Notes where metrics are lost."""

    lost: dict[str, int]

    def export(
        self, metrics_data: MetricsData, timeout_millis: float | None = 10_000, **kwargs: Any
    ) -> MetricExportResult:
        result = super().export(metrics_data, timeout_millis, **kwargs)
        if result is not MetricExportResult.SUCCESS:
            self.lost["metrics"] = 1
        return result


def _span_processor() -> BatchSpanProcessor | None:
    kind = _kind("OTEL_TRACES_EXPORTER")
    if kind == "otlp":
        _check_protocol("TRACES")
        return _CountedSpans(_Spans())
    # stdout is for the answer.
    return BatchSpanProcessor(ConsoleSpanExporter(out=sys.stderr)) if kind == "console" else None


def _metric_exporter(lost: dict[str, int]) -> MetricExporter | None:
    kind = _kind("OTEL_METRICS_EXPORTER")
    if kind == "otlp":
        _check_protocol("METRICS")
        exporter = _Metrics()
        exporter.lost = lost
        return exporter
    return ConsoleMetricExporter(out=sys.stderr) if kind == "console" else None


def _kind(variable: str) -> str:
    kind = os.environ.get(variable, "").strip().lower() or "otlp"
    if kind not in _KINDS:
        raise UsageError(f"{variable}={kind}: telemetry knows {', '.join(_KINDS)}")
    return kind


def _check_protocol(signal: str) -> None:
    """Raises UsageError for a protocol of OTLP that is not spoken here: the SDK's exporter would pass over it."""
    for variable in (f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        asked = os.environ.get(variable, "").strip().lower()
        if asked and asked != _PROTOCOL:
            raise UsageError(
                f"{variable}={asked}: telemetry goes out as {_PROTOCOL} only; take the variable away, or set it to "
                "that, and give the collector's address for OTLP/HTTP, mostly port 4318, as OTEL_EXPORTER_OTLP_ENDPOINT"
            )
        if asked:
            return


def _about_us() -> dict[str, str]:
    """The service, unless a variable names it."""
    named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return {"service.version": version("outcrop"), **({} if named else {"service.name": "outcrop"})}


def _bare(endpoint: str) -> str:
    """An address without the login that it may have."""
    scheme, slashes, rest = endpoint.partition("://")
    return scheme + slashes + rest.rpartition("@")[2]
