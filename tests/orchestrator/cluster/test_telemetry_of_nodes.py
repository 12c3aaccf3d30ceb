"""A specialist on a node is in the trace like one here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from outcrop import Pool

pytest.importorskip("distributed", reason="the extra `dask` is not installed")

from servers.dask_cluster import Cluster


async def test_tools_and_programs_on_a_node_are_beneath_their_dispatch(
    cluster: Cluster, workspace: Path, program: Any
) -> None:
    (workspace / "a.csv").write_text("rock,Au_ppm\nA,1\nB,2\n")
    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    asks = program("complete(os.environ['TRACEPARENT'])")
    async with Pool(workspace=workspace, backend=cluster.backend, model="offline", tracer_provider=provider) as pool:
        done = await pool.dispatch("analytics", "summarise Au_ppm by rock", ["a.csv"])
        asked = await pool.dispatch("own", command=asks)
    assert done.status == "success", done.errors
    spans = {span.name: span for span in memory.get_finished_spans()}
    dispatch, tool = spans["invoke_agent analytics"], spans["execute_tool summarize"]
    own = spans["invoke_agent own"]
    assert tool.parent is not None
    assert tool.parent.span_id == dispatch.context.span_id
    assert dispatch.attributes is not None
    assert dispatch.attributes["outcrop.node"] == done.usage["node"]
    assert asked.results["answer"].startswith(f"00-{own.context.trace_id:032x}-{own.context.span_id:016x}-")
