"""What a collector is told of by the installed command: one tree of spans across processes, and metrics."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import installed
import psutil
import pytest
from processes import name_of
from servers.otlp import Collector, Told

OBJECTIVE = "summarise Au_ppm by rock and plot a histogram of Au_ppm"
COMPLETES = """
import json, os, sys
request = json.loads(sys.stdin.buffer.readline())
print(json.dumps({"type": "completion", "dispatch_id": request["dispatch_id"], "status": "success",
                  "results": {name: value for name, value in os.environ.items() if "TRACE" in name or "OTEL" in name}}))
"""


def outcrop(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return installed.outcrop(folder, *arguments, env={**os.environ, **environment})


def assays(folder: Path) -> Path:
    folder.mkdir()
    rows = "".join(f"{'AB'[number % 2]}SECRETCELL,{number / 10}\n" for number in range(60))
    (folder / "assays.csv").write_text("rock,Au_ppm\n" + rows)
    return folder


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """What came of a run with two specialists at work at a time."""
    folder = assays(tmp_path_factory.mktemp("telemetry") / "workspace")
    with Collector() as collector:
        headers = {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Basic dXNlcjpwYXNz"}
        done = outcrop(
            folder, "run", OBJECTIVE, "--data", "assays.csv", "--workers", "2", "--set", "telemetry_content=false",
            **collector.environment(**headers),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        yield collector


def of(told: Collector, beginning: str) -> list[Told]:
    return sorted((span for span in told.spans if span.name.startswith(beginning)), key=lambda span: span.start)


def parent_of(told: Collector, span: Told) -> Told:
    [parent] = [one for one in told.spans if one.id == span.parent]
    return parent


def test_the_spans_of_a_run_are_one_tree_with_the_right_parents(told: Collector) -> None:
    assert len({span.trace for span in told.spans}) == 1
    [root] = [span for span in told.spans if not span.parent]
    assert root.name == "invoke_workflow outcrop"
    assert {span.attributes["gen_ai.conversation.id"] for span in told.spans} == {
        root.attributes["gen_ai.conversation.id"]
    }
    [lead] = of(told, "invoke_agent lead")
    assert parent_of(told, lead) == root
    dispatches = of(told, "invoke_agent analytics") + of(told, "invoke_agent plotting")
    assert len(dispatches) == 2
    for dispatch in dispatches:
        called = parent_of(told, dispatch)
        assert called.name == "execute_tool dispatch"
        assert parent_of(told, called) == lead
    assert max(span.start for span in dispatches) < min(span.end for span in dispatches)
    for chat in of(told, "chat offline"):
        asked = parent_of(told, chat)
        assert asked in [lead, *dispatches]
        assert chat.attributes["gen_ai.agent.id"] == asked.attributes["gen_ai.agent.id"]
    tools = {span.name: parent_of(told, span).name for span in of(told, "execute_tool")}
    assert tools["execute_tool list_files"] == "invoke_agent lead"
    assert tools["execute_tool summarize"] == "invoke_agent analytics"
    assert tools["execute_tool plot_histogram"] == "invoke_agent plotting"


TOOL_CALLS = [
    ("summarize", {"path": "assays.csv", "columns": ["Au_ppm"]}),
    ("summarize", {"path": "assays.csv", "columns": ["SECRETNAME"]}),
    ("dispatch", {"specialist": "analytics", "objective": "mean of Au_ppm", "data": ["assays.csv"]}),
    ("run_research", {"objective": "mean of Au_ppm", "data": ["assays.csv"]}),
    ("run_research", {"objective": "mean of Au_ppm", "data": ["SECRETNAME.csv"]}),
    ("list_runs", {}),
]


def asked_over_mcp(folder: Path, environment: dict[str, str]) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}
    asked = [("initialize", about)]
    asked += [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in TOOL_CALLS]
    with subprocess.Popen(
        [installed.OUTCROP, "mcp", "--model", "offline"], cwd=folder, env={**os.environ, **environment},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        assert server.stdin
        assert server.stdout
        for number, (method, params) in enumerate(asked):
            print(
                json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}),
                file=server.stdin,
                flush=True,
            )
            while json.loads(server.stdout.readline()).get("id") != number:
                pass
        server.stdin.close()
        assert server.wait(60) == 0


def talked(folder: Path, environment: dict[str, str]) -> None:
    said = "which files are there?\nmean of Au_ppm in assays.csv\n"
    done = installed.outcrop(folder, "chat", "--model", "offline", input=said, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("serve", [asked_over_mcp, talked])
def test_all_that_one_server_or_one_chat_does_is_one_tree_too(tmp_path: Path, serve: Any) -> None:
    folder = assays(tmp_path / "workspace")
    with Collector() as told:
        serve(folder, told.environment())
    [root] = [span for span in told.spans if not span.parent]
    assert root.name == f"invoke_workflow outcrop.{'mcp' if serve is asked_over_mcp else 'chat'}"
    assert len({span.trace for span in told.spans}) == 1
    beneath = [span.name for span in told.spans if span.parent == root.id]
    if serve is asked_over_mcp:
        assert sorted(beneath) == sorted(f"execute_tool {name}" for name, _ in TOOL_CALLS)
        run = of(told, "invoke_workflow outcrop")[1]
        assert parent_of(told, run).name == "execute_tool run_research"
        assert {parent_of(told, span).name for span in of(told, "invoke_agent analytics")} == {"execute_tool dispatch"}
        assert [span.is_error for span in of(told, "execute_tool run_research")] == [False, True]
        assert [span.is_error for span in of(told, "execute_tool summarize") if span.parent == root.id] == [False, True]
    else:
        assert {"chat offline", "execute_tool list_files", "execute_tool research"} == set(beneath)
        [run] = of(told, "invoke_workflow outcrop")[1:]
        assert parent_of(told, run).name == "execute_tool research"
    everything = "".join(f"{span.name} {span.attributes} {span.events}" for span in told.spans)
    assert not [word for word in ("SECRET", "mean of Au", "assays.csv") if word in everything]


def test_no_span_is_outside_the_time_of_its_parent(told: Collector) -> None:
    for span in told.spans:
        assert 0 < span.start <= span.end
        if span.parent:
            parent = parent_of(told, span)
            assert parent.start <= span.start
            assert span.end <= parent.end


def test_a_model_call_tells_what_the_conventions_ask_for(told: Collector) -> None:
    for chat in of(told, "chat offline"):
        assert chat.attributes["gen_ai.operation.name"] == "chat"
        assert chat.attributes["gen_ai.provider.name"] == "outcrop"
        assert chat.attributes["gen_ai.request.model"] == chat.attributes["gen_ai.response.model"] == "offline"
        assert chat.attributes["gen_ai.response.finish_reasons"] == ["tool_use"]
        assert chat.attributes["gen_ai.usage.input_tokens"] > 0


def test_content_is_told_to_nobody_unless_asked_for(told: Collector) -> None:
    everything = "".join(f"{span.name} {span.attributes} {span.events}" for span in told.spans)
    assert "SECRETCELL" not in everything
    assert "summarise Au_ppm" not in everything
    assert "assays.csv" not in everything


def test_metrics_arrive_with_the_units_of_the_conventions(told: Collector) -> None:
    units = {name: metric.unit for name, metric in told.metrics.items()}
    assert units["gen_ai.client.operation.duration"] == "s"
    assert units["gen_ai.client.token.usage"] == "{token}"
    assert {"outcrop.dispatch.duration", "outcrop.dispatches", "outcrop.queue.depth"} <= units.keys()
    tokens = told.metrics["gen_ai.client.token.usage"].histogram.data_points
    assert list(tokens[0].explicit_bounds)[:3] == [1, 4, 16]
    assert sum(point.as_int for point in told.metrics["outcrop.dispatches"].sum.data_points) == 2
    assert [point.as_int for point in told.metrics["outcrop.queue.depth"].sum.data_points] == [0]


def test_the_service_has_our_name_and_the_collector_its_headers(told: Collector) -> None:
    assert told.resources[0]["service.name"] == "outcrop"
    assert {one["authorization"] for one in told.headers} == {"Basic dXNlcjpwYXNz"}


def test_content_is_told_when_asked_for_and_the_key_never(tmp_path: Path) -> None:
    folder = assays(tmp_path / "workspace")
    secret = "sk-ant-a-key-that-nobody-may-see-0123456789"
    with Collector() as collector:
        wanted = collector.environment(OUTCROP_TELEMETRY_CONTENT="true", ANTHROPIC_API_KEY=secret)
        objective = f"summarise Au_ppm by rock; note {secret}"
        outcrop(folder, "run", objective, "--data", "assays.csv", "--model", "offline", **wanted)
    everything = "".join(f"{span.attributes}" for span in collector.spans)
    [summary] = of(collector, "execute_tool summarize")
    assert "assays.csv" in summary.attributes["gen_ai.tool.call.arguments"]
    assert "SECRETCELL" in summary.attributes["gen_ai.tool.call.result"]
    for chat in of(collector, "chat"):
        assert json.loads(chat.attributes["gen_ai.input.messages"])[0]["parts"]
        assert json.loads(chat.attributes["gen_ai.output.messages"])[0]["role"] == "assistant"
    [root] = of(collector, "invoke_workflow")
    assert root.attributes["outcrop.objective"].startswith("summarise Au_ppm by rock")
    assert secret not in everything


def test_a_command_is_told_where_in_the_trace_it_is_and_nothing_of_the_collector(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(COMPLETES)
    above = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with Collector() as collector:
        given = collector.environment(TRACEPARENT=above, OTEL_SERVICE_NAME="assays", OTEL_EXPORTER_OTLP_HEADERS="a=b")
        done = outcrop(tmp_path, "dispatch", "--json", "--", sys.executable, "mine.py", **given)
    found = json.loads(done.stdout)["results"]
    [dispatch], [root] = of(collector, "invoke_agent"), of(collector, "invoke_workflow")
    assert found == {"TRACEPARENT": f"00-{dispatch.trace}-{dispatch.id}-01"}
    # The whole is part of the trace that it was started in.
    assert (root.trace, root.parent) == tuple(above.split("-")[1:3])
    assert dispatch.parent == root.id
    assert collector.resources[0]["service.name"] == "assays"


def test_a_command_with_an_sdk_of_its_own_joins_in(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import json, os, sys\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "from opentelemetry.sdk.trace.export import SimpleSpanProcessor\n"
        "from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter\n"
        "from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator\n"
        "request = json.loads(sys.stdin.buffer.readline())\n"
        "provider = TracerProvider()\n"
        "provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))\n"
        "parent = TraceContextTextMapPropagator().extract({'traceparent': os.environ['TRACEPARENT']})\n"
        "provider.get_tracer('mine').start_span('assay the core', parent).end()\n"
        "print(json.dumps({'type': 'completion', 'dispatch_id': request['dispatch_id'], 'status': 'success',"
        " 'results': {}}))\n"
    )
    with Collector() as collector:
        endpoint = f"OTEL_EXPORTER_OTLP_ENDPOINT={collector.address}"
        command = ["dispatch", "--unconfined", "--env", endpoint, "--json", "--", sys.executable, "mine.py"]
        done = outcrop(tmp_path, *command, **collector.environment())
    assert json.loads(done.stdout)["status"] == "success", done.stdout
    [own] = of(collector, "assay the core")
    assert parent_of(collector, own).name == "invoke_agent command"
    assert len({span.trace for span in collector.spans}) == 1


def test_what_is_interrupted_is_told_as_cancelled(tmp_path: Path) -> None:
    with Collector() as collector:
        environment = {**os.environ, **collector.environment()}
        command = [installed.OUTCROP, "dispatch", "--grace", "0.5", "--", "sleep", "60"]
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        deadline = time.monotonic() + 60
        while not any(name_of(child) == "sleep" for child in psutil.Process(process.pid).children(recursive=True)):
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    [dispatch] = of(collector, "invoke_agent")
    assert dispatch.is_error
    assert dispatch.attributes["outcrop.status"] == dispatch.attributes["error.type"] == "cancelled"
    assert of(collector, "invoke_workflow")


@pytest.fixture
def silent() -> Iterator[str]:
    """A collector that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://user:hunter2@127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("kind", ["dead", "silent"])
def test_a_collector_that_does_not_take_it_costs_one_warning(tmp_path: Path, silent: str, kind: str) -> None:
    (tmp_path / "mine.py").write_text(COMPLETES)
    endpoint = "http://127.0.0.1:9" if kind == "dead" else silent
    began = time.monotonic()
    given = {"OUTCROP_TELEMETRY": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}
    done = outcrop(tmp_path, "dispatch", "--json", "--", sys.executable, "mine.py", **given)
    assert done.returncode == 0
    assert json.loads(done.stdout)["status"] == "success"
    # Far from the ten seconds times attempts that the SDK would go on.
    assert time.monotonic() - began < 60
    [warning] = [line for line in done.stderr.splitlines() if "telemetry" in line]
    assert "was lost" in warning
    assert "hunter2" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("environment", "status"),
    [
        ({"OTEL_SDK_DISABLED": "true"}, 0),
        ({"OTEL_TRACES_EXPORTER": "jaeger"}, 2),
        ({"OTEL_TRACES_SAMPLER": "always_off"}, 0),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, 2),
        ({"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, 2),
        ({"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "smoke signals"}, 2),
    ],
)
def test_the_variables_of_the_sdk_hold(tmp_path: Path, environment: dict[str, str], status: int) -> None:
    (tmp_path / "mine.py").write_text(COMPLETES)
    with Collector() as collector:
        given = collector.environment(**environment)
        done = outcrop(tmp_path, "dispatch", "--json", "--", sys.executable, "mine.py", **given)
    assert done.returncode == status, done.stderr
    assert collector.spans == []
    assert "Traceback" not in done.stderr


def test_of_a_protocol_that_is_not_spoken_it_is_said_what_to_do(tmp_path: Path) -> None:
    given = {"OUTCROP_TELEMETRY": "true", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    done = outcrop(tmp_path, "dispatch", "--json", "--", "true", **given)
    assert done.returncode == 2
    assert "OTEL_EXPORTER_OTLP_PROTOCOL=grpc: telemetry goes out as http/protobuf only" in done.stderr
    assert "port 4318" in done.stderr
    # What is said for one signal goes before what is said for all; what is not sent needs no protocol.
    both = {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "OTEL_METRICS_EXPORTER": "none"}
    (tmp_path / "mine.py").write_text(COMPLETES)
    with Collector() as collector:
        fine = collector.environment(**given, **both)
        done = outcrop(tmp_path, "dispatch", "--json", "--", sys.executable, "mine.py", **fine)
    assert done.returncode == 0, done.stderr
    assert collector.spans


def test_without_the_extra_it_is_said_what_installs_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['opentelemetry.sdk'] = None\n"
        "from outcrop.cli.main import main; main(['dispatch', '--', 'true'])"
    )
    given: dict[str, Any] = {"cwd": tmp_path, "env": {**os.environ, "OUTCROP_TELEMETRY": "1"}}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, **given)
    assert done.returncode == 2
    assert "pip install 'outcrop[otel]'" in done.stderr
