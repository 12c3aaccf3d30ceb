"""Telemetry inside a program: its own providers, its own spans above ours, and what comes of failures."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from servers.messages_api import Fault
from servers.otlp import Collector
from servers.turns import answer, call
from warm import warm

from outcrop import Pool, Run, ScriptedModel
from outcrop.batch import Batch
from outcrop.launching.nursery import NurseryLauncher
from outcrop.models.scripted import turn
from outcrop.settings import Settings
from outcrop.telemetry import open_telemetry
from outcrop.telemetry.content import messages_in
from outcrop.telemetry.tools import span_of
from outcrop_schemas import limits
from outcrop_schemas.messages import Message, ModelRequest, TextBlock

DONE = ("complete", {"status": "success", "summary": "done"})
CLEANED = ("complete", {"status": "success", "summary": "done", "results": {}})
DISPATCH = ("dispatch", {"specialist": "cleaning", "objective": "look at it", "data": ["a.csv"]})


class Application:
    """A program that uses OpenTelemetry itself."""

    def __init__(self) -> None:
        self.memory, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.memory))
        self.meters = MeterProvider([self.reader])
        self.tracer = self.provider.get_tracer("application")

    @property
    def given(self) -> dict[str, Any]:
        return {"tracer_provider": self.provider, "meter_provider": self.meters}

    def spans(self, beginning: str = "") -> list[ReadableSpan]:
        return [span for span in self.memory.get_finished_spans() if span.name.startswith(beginning)]

    def parents(self) -> dict[str, str | None]:
        """The name of each span's parent, by its own name."""
        names = {span.context.span_id: span.name for span in self.spans()}
        return {span.name: names.get(span.parent.span_id) if span.parent else None for span in self.spans()}

    def metric(self, name: str) -> dict[Any, float]:
        found: Any = self.reader.get_metrics_data()
        for metric in found.resource_metrics[0].scope_metrics[0].metrics:
            if metric.name == name:
                return {tuple(sorted(point.attributes.items())): point.value for point in metric.data.data_points}
        return {}


@pytest.fixture
def application() -> Application:
    return Application()


async def test_a_run_inside_a_span_of_the_application_is_its_child(workspace: Path, application: Application) -> None:
    (workspace / "a.csv").write_text("x,y\n1,2\n")
    models = {"lead": ScriptedModel([turn(DISPATCH), turn(DONE)]), "cleaning": ScriptedModel([turn(CLEANED)])}
    with application.tracer.start_as_current_span("request"):
        await Run("look", ["a.csv"], workspace=workspace, launcher=warm(), model=models, **application.given).start()
    parents = application.parents()
    assert parents["invoke_workflow outcrop"] == "request"
    assert parents["invoke_agent cleaning"] == "execute_tool dispatch"
    assert len({span.context.trace_id for span in application.spans()}) == 1


async def test_a_dispatch_of_a_pool_belongs_to_who_asked_for_it(workspace: Path, application: Application) -> None:
    async with Pool(workspace=workspace, **application.given) as pool:
        await pool.dispatch("one", command=["true"])
        with application.tracer.start_as_current_span("request"):
            await pool.dispatch("two", command=["true"])
    parents = application.parents()
    assert parents["invoke_agent one"] == "invoke_workflow outcrop.pool"
    assert parents["invoke_agent two"] == "request"
    about = (("gen_ai.agent.name", "one"), ("outcrop.status", "no_completion"))
    assert application.metric("outcrop.dispatches")[about] == 1
    assert application.metric("outcrop.queue.depth") == {(): 0}


async def test_a_forked_specialist_is_told_of_where_it_belongs(workspace: Path, application: Application) -> None:
    (workspace / "a.csv").write_text("rock,Au_ppm\nA,1\nB,2\n")
    launcher = NurseryLauncher(workspace / ".outcrop" / "cache")
    async with Pool(workspace=workspace, launcher=launcher, model="offline", workers=2, **application.given) as pool:
        launcher.warm()
        await asyncio.wait_for(launcher.ready.wait(), 120)
        work = ("analytics", "summarise Au_ppm by rock", ["a.csv"])
        outcomes = await asyncio.gather(*(pool.dispatch(*work) for _ in range(3)))
    assert {outcome.launch for outcome in outcomes} == {"nursery"}
    dispatches = {span.context.span_id: span for span in application.spans("invoke_agent analytics")}
    tools = application.spans("execute_tool summarize")
    assert {span.parent.span_id for span in tools if span.parent} == dispatches.keys()
    for tool in tools:
        assert tool.parent is not None
        above = dispatches[tool.parent.span_id]
        assert above.start_time <= tool.start_time <= tool.end_time <= above.end_time  # type: ignore[operator]


def test_a_thread_that_asks_keeps_its_span(workspace: Path, application: Application) -> None:
    with Pool(workspace=workspace, **application.given) as pool, application.tracer.start_as_current_span("request"):
        pool.dispatch_sync("one", command=["true"])
    assert application.parents()["invoke_agent one"] == "request"


@pytest.mark.parametrize(
    ("command", "status"),
    [(["false"], "failed"), (["sh", "-c", "kill -SEGV $$"], "crashed"), (["/no/such"], "spawn_error")],
)
async def test_every_status_that_is_not_good_is_an_error(
    workspace: Path, application: Application, command: list[str], status: str
) -> None:
    async with Pool(workspace=workspace, **application.given) as pool:
        assert (await pool.dispatch("odd", command=command)).status == status
    [span] = application.spans("invoke_agent odd")
    assert span.status.status_code is trace.StatusCode.ERROR
    assert span.attributes is not None
    assert span.attributes["error.type"] == span.attributes["outcrop.status"] == status
    # Reasons quote anything; they are content.
    assert span.status.description == status
    assert not span.events


async def test_a_dispatch_that_is_cancelled_ends_its_span(workspace: Path, application: Application) -> None:
    async with Pool(workspace=workspace, **application.given) as pool:
        asked = asyncio.create_task(pool.dispatch("slow", command=["sleep", "60"], grace=0.2))
        while pool.statistics()["running"] == 0:
            await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait([asked])
    [span] = application.spans("invoke_agent slow")
    assert span.attributes is not None
    assert span.attributes["outcrop.status"] == "cancelled"


async def test_attempts_that_failed_are_events_and_cost_is_told(
    workspace: Path, application: Application, serving: Any
) -> None:
    (workspace / "a.csv").write_text("x,y\n1,2\n")
    name, given = DONE
    serving(answer(call(name, **given)), faults=[Fault("status", 529)])
    outcome = await Run("look", ["a.csv"], workspace=workspace, model="claude-haiku-5-5", **application.given).start()
    assert outcome.status == "success", outcome.errors
    [chat] = application.spans("chat claude-haiku-5-5")
    assert chat.kind is trace.SpanKind.CLIENT
    assert chat.attributes is not None
    assert chat.attributes["gen_ai.provider.name"] == "anthropic"
    assert int(str(chat.attributes["gen_ai.request.max_tokens"])) > 0
    assert float(str(chat.attributes["outcrop.cost.usd"])) > 0
    assert [event.name for event in chat.events] == ["outcrop.sent", "outcrop.attempt_failed", "outcrop.sent"]
    failed = chat.events[1].attributes
    assert failed is not None
    assert (failed["error.type"], failed["http.response.status_code"]) == ("overloaded_error", 529)
    assert sum(application.metric("outcrop.cost.usd").values()) == pytest.approx(
        float(outcome.usage["spending"]["spent_usd"])
    )


async def test_a_model_that_fails_is_told_by_its_kind(workspace: Path, application: Application) -> None:
    outcome = await Run("look", workspace=workspace, model=ScriptedModel([]), **application.given).start()
    assert outcome.status == "error"
    [chat] = application.spans("chat scripted")
    assert chat.attributes is not None
    assert chat.attributes["error.type"] == "script_exhausted"
    [root] = application.spans("invoke_workflow")
    assert root.status.status_code is trace.StatusCode.ERROR


async def test_the_jobs_of_a_batch_are_beneath_it(workspace: Path, application: Application) -> None:
    jobs = workspace / "jobs.jsonl"
    jobs.write_text("".join(json.dumps({"objective": f"job {number}"}) + "\n" for number in range(2)))
    model = ScriptedModel([turn(DONE, turn_id="a"), turn(DONE, turn_id="b")])
    await Batch(jobs, workspace=workspace, model=model, **application.given).start()
    [batch] = application.spans("invoke_workflow outcrop.batch")
    runs = [span for span in application.spans("invoke_workflow outcrop") if span is not batch]
    assert [span.parent and span.parent.span_id for span in runs] == [batch.context.span_id] * 2
    assert batch.attributes is not None
    assert batch.attributes["outcrop.jobs.success"] == 2


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {"name": "x"},
        {"name": 5, "call_id": "c", "start_ns": 1, "end_ns": 2},
        {"name": "x", "call_id": "c", "start_ns": -1, "end_ns": 2},
        {"name": "x", "call_id": "c", "start_ns": 1 << 70, "end_ns": 2},
    ],
)
def test_what_is_no_tool_call_makes_no_span(application: Application, told: object) -> None:
    span_of(application.tracer, told, "run", with_content=True)
    assert application.spans() == []


def test_a_specialist_cannot_tell_of_another_time_nor_at_any_length(application: Application) -> None:
    with application.tracer.start_as_current_span("dispatch"):
        told = {"name": "x\x1b[31m\u202e" * 500, "call_id": "c" * 5_000, "start_ns": 5, "end_ns": (1 << 63) - 1}
        span_of(application.tracer, {**told, "result": "y" * 100_000}, "run", with_content=True)
    [span] = application.spans("execute_tool")
    [dispatch] = application.spans("dispatch")
    assert dispatch.start_time is not None
    assert span.start_time is not None
    assert span.end_time is not None
    assert dispatch.start_time <= span.start_time <= span.end_time <= time.time_ns()
    assert len(span.name) < 250
    assert "\x1b" not in span.name
    assert span.attributes is not None
    assert len(str(span.attributes["gen_ai.tool.call.result"])) <= limits.TELEMETRY_CONTENT_CHARS


@pytest.mark.parametrize(("messages", "blocks"), [(500, 1), (1, 500), (3, 3)])
def test_messages_are_bounded_json_and_the_newest_stay(messages: int, blocks: int) -> None:
    said = [
        Message(role="user", content=[TextBlock(text=f"{number}/{block} " + "x" * 3_000) for block in range(blocks)])
        for number in range(messages)
    ]
    told = messages_in(ModelRequest(system="s", messages=said))
    assert len(told) < 2 * limits.TELEMETRY_CONTENT_CHARS
    last = json.loads(told)[-1]["parts"][-1]
    assert last["content"].startswith(f"{messages - 1}/{blocks - 1} ")


def test_where_it_is_off_nothing_of_it_is_loaded(workspace: Path) -> None:
    assert Settings.load(workspace).telemetry is False
    program = (
        "import sys; from outcrop import Pool, Run, ScriptedModel; from outcrop.models.scripted import turn\n"
        "done = turn(('complete', {'status': 'success', 'summary': 'done'}))\n"
        f"print(Run('look', workspace={str(workspace)!r}, model=ScriptedModel([done])).start_sync().status)\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["success", "[]"]


class Slow(Collector):
    """A collector that takes nothing until it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.may = threading.Event(), threading.Event()

    def take(self, path: str, body: bytes) -> None:
        self.asked.set()
        self.may.wait(60)
        super().take(path, body)


async def test_spans_that_did_not_fit_the_queue_are_counted_among_the_lost(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Slow() as collector:
        for name, value in collector.environment(OTEL_METRICS_EXPORTER="none").items():
            monkeypatch.setenv(name, value)
        for name in ("OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"):
            monkeypatch.setenv(name, "10")
        telemetry = open_telemetry(Settings(telemetry=True))
        spans = telemetry.of_run("run")
        for _ in range(10):
            with spans.tool("first", "", {}):
                pass
        assert await asyncio.to_thread(collector.asked.wait, 60)
        for _ in range(50):
            with spans.tool("while it waits", "", {}):
                pass
        collector.may.set()
        await telemetry.close()
    assert 10 <= len(collector.spans) < 60
    [warning] = [record.message for record in caplog.records if "telemetry was lost" in record.message]
    assert f"({60 - len(collector.spans)} spans)" in warning
