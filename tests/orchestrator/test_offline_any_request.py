"""Whatever the offline model is asked, it answers with a valid turn, and the same request with the same bytes."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop.lead.toolbox import lead_schemas
from outcrop.models.offline.model import OfflineModel
from outcrop_schemas import wire
from outcrop_schemas.messages import Block, Message, ModelRequest, ModelResponse, TextBlock, ToolResultBlock, ToolSchema
from outcrop_specialists.agent import Agent
from outcrop_specialists.brief import opening
from outcrop_specialists.completion import LeadAnswer, SpecialistAnswer, complete_tool
from outcrop_specialists.roles import get_role

Json = dict[str, Any]
OBJECTIVES = Path(__file__).parents[2].parent / "shared" / "data" / "objectives.json"
COLUMNS = ["Longitude", "Latitude", "Au", "Cu", "As", "In", "group", "Hole Type", "alcohol", "x_1"]
LISTED = [{"name": name, "type": "number", "role": "measure", "unit": None} for name in COLUMNS]

WORDS = (
    "cluster summarise correlate plot map histogram of on by and , . ; then the samples groups them into 3 0.5 Au Cu "
    "As In above between log10 k-means not if use using with keep rows where is \"x y\" wine.csv 'a' to all except "
    "95th outliers missing duplicates remove - ( ) / = > % P95 \n which how one"
)
OBJECTIVE = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(WORDS.split(" ")), max_size=40).map(" ".join),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)
KEYS = st.sampled_from(
    [
        "results",
        "summary",
        "artifacts",
        "notes",
        "findings",
        "blockers",
        "status",
        "columns",
        "tables",
        "files",
        "error",
    ]
)
RESULT = st.one_of(
    st.text(max_size=50),
    ANYTHING.map(lambda value: wire.dumps(value).decode()),
    st.dictionaries(KEYS, st.dictionaries(KEYS, ANYTHING, max_size=4) | ANYTHING, max_size=6).map(
        lambda value: wire.dumps(value).decode()
    ),
)
FREELY = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@cache
def lead_tools() -> tuple[ToolSchema, ...]:
    return (*lead_schemas(), complete_tool(LeadAnswer))


@cache
def specialist_tools(role: str) -> tuple[ToolSchema, ...]:
    return (*(tool.schema() for tool in get_role(role).tools), complete_tool(SpecialistAnswer))


def ask(request: ModelRequest) -> ModelResponse:
    return asyncio.run(OfflineModel().create(request))


def check(response: ModelResponse, tools: tuple[ToolSchema, ...], answer: type[LeadAnswer | SpecialistAnswer]) -> None:
    """A turn calls offered tools only, with ids of their own, or completes with a valid answer."""
    calls = response.tool_uses()
    assert calls
    assert response.stop_reason == "tool_use"
    assert len({call.id for call in calls}) == len(calls)
    assert {call.name for call in calls} <= {tool.name for tool in tools}
    for call in calls:
        if call.name == "complete":
            answer.model_validate(call.input)


class Anybody:
    """A toolbox that answers whatever it is told to, in turn."""

    def __init__(self, schemas: list[ToolSchema], results: list[str]) -> None:
        self._schemas, self._results, self._count = schemas, results, 0

    def schemas(self) -> list[ToolSchema]:
        return self._schemas

    async def call(self, name: str, arguments: Json, call_id: str) -> str:
        if name == "inspect_dataset":
            return wire.dumps({"results": {"rows": 9, "columns": LISTED}}).decode()
        if name == "list_files" and arguments.get("tables"):
            tables = [{"path": path, "rows": 9, "columns": LISTED} for path in arguments["tables"]]
            return wire.dumps({"results": {"files": [], "tables": tables}}).decode()
        self._count += 1
        return self._results[self._count % len(self._results)] if self._results else "{}"


@FREELY
@given(OBJECTIVE, st.lists(RESULT, max_size=4))
def test_any_objective_of_a_lead_ends_in_a_valid_answer(objective: str, results: list[str]) -> None:
    agent = Agent(
        OfflineModel(),
        Anybody(list(lead_schemas()), results),
        system="",
        opening=opening(objective, ["wine.csv", "soil.csv"]),
        answer=LeadAnswer,
        max_turns=100,
    )
    end = asyncio.run(agent.run())
    assert end.stop == "completed", end.reason


@FREELY
@given(OBJECTIVE, st.sampled_from(["cleaning", "analytics", "plotting"]), st.lists(RESULT, max_size=4), ANYTHING)
def test_any_objective_of_a_specialist_ends_in_a_valid_answer(
    objective: str, role: str, results: list[str], previous: Any
) -> None:
    agent = Agent(
        OfflineModel(),
        Anybody([tool.schema() for tool in get_role(role).tools], results),
        system=get_role(role).prompt(),
        opening=opening(objective, ["wine.csv"], {"previous": previous}),
        answer=SpecialistAnswer,
    )
    end = asyncio.run(agent.run())
    assert end.stop == "completed", end.reason


@FREELY
@given(st.lists(st.text(max_size=60), max_size=4), st.lists(RESULT, max_size=3), st.booleans())
def test_any_state_of_a_conversation_has_a_valid_turn(blocks: list[str], results: list[str], is_lead: bool) -> None:
    content: list[Block] = [TextBlock(text=text) for text in [*blocks, *opening("map Au", ["a.csv"]), "Context:\n{"]]
    messages = [Message(role="user", content=content)]
    tools = lead_tools() if is_lead else specialist_tools("plotting")
    answer = LeadAnswer if is_lead else SpecialistAnswer
    for result in [*results, "{}"]:
        response = ask(ModelRequest(system="", messages=messages, tools=list(tools)))
        check(response, tools, answer)
        calls = response.tool_uses()
        returned: list[Block] = [
            ToolResultBlock(tool_use_id=call.id, content=result, is_error=call.name == "complete") for call in calls
        ]
        messages += [Message(role="assistant", content=response.content), Message(role="user", content=returned)]


@pytest.mark.parametrize("tools", [(), lead_tools()[:1], specialist_tools("analytics")[-1:]])
def test_a_request_without_messages_or_tools_is_answered(tools: tuple[ToolSchema, ...]) -> None:
    response = ask(ModelRequest(system="", messages=[], tools=list(tools)))
    assert response.tool_uses()


@FREELY
@given(OBJECTIVE)
def test_the_same_request_gives_the_same_bytes(objective: str) -> None:
    texts: list[Block] = [TextBlock(text=text) for text in opening(objective, ["a.csv"])]
    request = ModelRequest(system="s", messages=[Message(role="user", content=texts)], tools=list(lead_tools()))
    first, second = ask(request), ask(ModelRequest.model_validate_json(request.as_bytes()))
    assert first.model_dump_json() == second.model_dump_json()


def test_the_answer_does_not_depend_on_the_process(tmp_path: Path) -> None:
    """Sets are ordered by the hash seed: two processes with different seeds must agree."""
    script = tmp_path / "ask.py"
    script.write_text(
        "import asyncio, sys\n"
        "from outcrop.models.offline.model import OfflineModel\n"
        "from outcrop_schemas.messages import ModelRequest\n"
        "request = ModelRequest.model_validate_json(sys.stdin.read())\n"
        "print(asyncio.run(OfflineModel().create(request)).model_dump_json())\n",
        "utf-8",
    )
    objective = (
        "remove duplicates, cluster on Au and Cu into 3 groups, find outliers in Au, map them and plot the groups"
    )
    listing = wire.dumps({"results": {"files": [], "tables": [{"path": "a.csv", "rows": 9, "columns": LISTED}]}})
    opened: list[Block] = [TextBlock(text=text) for text in opening(objective, ["a.csv"])]
    messages = [Message(role="user", content=opened)]
    first = ask(ModelRequest(system="", messages=messages, tools=list(lead_tools())))
    returned: list[Block] = [ToolResultBlock(tool_use_id=first.tool_uses()[0].id, content=listing.decode())]
    messages += [Message(role="assistant", content=first.content), Message(role="user", content=returned)]
    request = ModelRequest(system="", messages=messages, tools=list(lead_tools())).as_bytes()
    answers = {
        subprocess.run(
            [sys.executable, "-P", str(script)],
            input=request,
            capture_output=True,
            check=True,
            timeout=60,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
    assert b"remove_duplicates" in answers.pop()


def test_tokens_are_estimated_from_characters_and_the_id_from_the_request() -> None:
    texts: list[Block] = [TextBlock(text=text) for text in opening("map Au", ["a.csv"])]
    request = ModelRequest(system="s", messages=[Message(role="user", content=texts)], tools=list(lead_tools()))
    response = ask(request)
    assert response.usage.input_tokens == len(request.as_bytes().decode()) // 3
    assert response.usage.output_tokens > 0
    assert response.model == OfflineModel.name == "offline"
    other = ask(request.model_copy(update={"system": "t"}))
    assert other.id != response.id


def test_importing_the_model_loads_no_data_library() -> None:
    script = "import sys, outcrop.models.offline.model; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, check=True, text=True, timeout=60)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert not loaded & {
        "polars",
        "numpy",
        "sklearn",
        "scipy",
        "matplotlib",
        "python_calamine",
        "anthropic",
        "rapidfuzz",
    }


@pytest.mark.skipif(not OBJECTIVES.exists(), reason="the shared research objectives are not beside this checkout")
@pytest.mark.parametrize("number", range(6))
def test_the_research_objectives_get_a_plan_and_honest_blockers(number: int) -> None:
    entry = wire.loads(OBJECTIVES.read_bytes())[number]
    outcome = {"status": "success", "summary": "done", "results": {"rows": 9}}
    agent = Agent(
        OfflineModel(),
        Anybody(list(lead_schemas()), [wire.dumps(outcome).decode()]),
        system="",
        opening=opening(entry["objective"], entry["files"]),
        answer=LeadAnswer,
    )
    end = asyncio.run(agent.run())
    assert isinstance(end.answer, LeadAnswer)
    assert any(text.startswith("Planned by the offline model (no language model): ") for text in end.answer.findings)
    said = " ".join(entry["objective"].split())
    quoted = [text.split('"')[1] for text in end.answer.blockers if text.startswith("Not understood:")]
    # Where every clause has a tool there is nothing to quote.
    is_planned = not any("no step was found for" in text for text in end.answer.findings)
    assert end.answer.status == (("partial" if quoted else "success") if is_planned else "error")
    assert all(clause in said for clause in quoted)
