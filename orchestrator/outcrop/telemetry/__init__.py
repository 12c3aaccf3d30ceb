"""The door to OpenTelemetry: what a run tells, and to whom. Where nothing is switched on, none of it is imported."""

# mypy does not look into namespace packages here, which opentelemetry is.
# mypy: disable-error-code="attr-defined,name-defined,misc"

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from outcrop.telemetry.silent import SILENT as SILENT
from outcrop.telemetry.silent import SILENT_RUN as SILENT_RUN
from outcrop.telemetry.silent import SILENT_SPAN as SILENT_SPAN
from outcrop.telemetry.silent import RunSpans as RunSpans
from outcrop.telemetry.silent import Span as Span
from outcrop.telemetry.silent import Telemetry as Telemetry
from outcrop.telemetry.silent import Workflow as Workflow
from outcrop_schemas.errors import MissingExtraError

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider as MeterProvider  # type: ignore[import-not-found,unused-ignore]
    from opentelemetry.trace import TracerProvider as TracerProvider  # type: ignore[import-not-found,unused-ignore]

    from outcrop.settings import Settings


@dataclass(frozen=True)
class Providers:
    """Those of an embedding application, which also ends and flushes them."""

    tracer: TracerProvider | None = None
    meter: MeterProvider | None = None

    def __bool__(self) -> bool:
        return self.tracer is not None or self.meter is not None


def open_telemetry(settings: Settings, providers: Providers | None = None) -> Telemetry:
    """To the providers where some are given, else by OTLP where the settings say so. Raises MissingExtraError."""
    if providers:
        from outcrop.telemetry.live import LiveTelemetry

        return LiveTelemetry(providers, with_content=settings.telemetry_content)
    if not settings.telemetry:
        return SILENT
    try:
        from outcrop.telemetry.exporting import Exporting
    except ImportError as error:
        raise MissingExtraError("opentelemetry-sdk with its OTLP exporter", "pip install 'outcrop[otel]'") from error
    from outcrop.telemetry.live import LiveTelemetry

    exporting = Exporting()
    given = Providers(exporting.tracer_provider, exporting.meter_provider)
    return LiveTelemetry(given, with_content=settings.telemetry_content, exporting=exporting)
