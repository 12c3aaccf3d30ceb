"""A collector on loopback: takes OTLP/HTTP, decodes it, and gives what came as spans and metrics."""

from __future__ import annotations

import gzip
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Told:
    """One span as it arrived."""

    name: str
    trace: str
    id: str
    parent: str
    start: int
    end: int
    is_error: bool
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


class Collector:
    """`with Collector() as collector:`, then `environment()` leads to it."""

    def __init__(self) -> None:
        self.spans: list[Told] = []
        self.metrics: dict[str, Any] = {}
        self.resources: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.headers.append({name.lower(): value for name, value in self.headers.items()})
                collector.take(self.path, body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> Collector:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def environment(self, **more: str) -> dict[str, str]:
        return {"OUTCROP_TELEMETRY": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": self.address, **more}

    def take(self, path: str, body: bytes) -> None:
        if path == "/v1/traces":
            self._take_spans(ExportTraceServiceRequest.FromString(body))
        else:
            assert path == "/v1/metrics", path
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope in resource.scope_metrics:
                    self.metrics.update({metric.name: metric for metric in scope.metrics})

    def _take_spans(self, request: Any) -> None:
        for resource in request.resource_spans:
            self.resources.append(_values(resource.resource.attributes))
            for scope in resource.scope_spans:
                for span in scope.spans:
                    ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
                    times = (span.start_time_unix_nano, span.end_time_unix_nano)
                    events = [(event.name, _values(event.attributes)) for event in span.events]
                    told = Told(
                        span.name, *ids, *times, span.status.code == 2, _values(span.attributes), events
                    )  # 2 is ERROR
                    self.spans.append(told)


def _values(attributes: Any) -> dict[str, Any]:
    return {one.key: _value(one.value) for one in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)
