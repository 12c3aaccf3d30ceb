"""The metrics, with the names, units and bucket boundaries of the conventions."""

# mypy does not look into namespace packages here, which opentelemetry is.
# mypy: disable-error-code="attr-defined,name-defined,misc"

from __future__ import annotations

from opentelemetry.metrics import Meter  # type: ignore[import-not-found,unused-ignore]

from outcrop.telemetry.names import TOKEN_TYPE, Attributes

_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = tuple(float(4**power) for power in range(14))
# A dispatch may take ten minutes, and a nursery starts one in milliseconds.
_DISPATCH_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)


class Instruments:
    """What is counted and measured."""

    def __init__(self, meter: Meter) -> None:
        self._operation = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "GenAI operation duration",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Tokens read and written",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._dispatch = meter.create_histogram(
            "outcrop.dispatch.duration",
            "s",
            "From start to outcome",
            explicit_bucket_boundaries_advisory=_DISPATCH_SECONDS,
        )
        self._dispatches = meter.create_counter("outcrop.dispatches", "{dispatch}", "Dispatches that ended")
        self._queue = meter.create_up_down_counter(
            "outcrop.queue.depth", "{dispatch}", "Dispatches without a place yet"
        )
        self._cost = meter.create_counter("outcrop.cost.usd", "USD", "Spent on models")

    def operation(self, seconds: float, attributes: Attributes) -> None:
        self._operation.record(seconds, attributes)

    def tokens(self, read: int, written: int, attributes: Attributes) -> None:
        self._tokens.record(read, {**attributes, TOKEN_TYPE: "input"})
        self._tokens.record(written, {**attributes, TOKEN_TYPE: "output"})

    def dispatch(self, seconds: float, attributes: Attributes) -> None:
        self._dispatch.record(seconds, attributes)
        self._dispatches.add(1, attributes)

    def queued(self, change: int) -> None:
        self._queue.add(change)

    def cost(self, usd: float, attributes: Attributes) -> None:
        self._cost.add(usd, attributes)
