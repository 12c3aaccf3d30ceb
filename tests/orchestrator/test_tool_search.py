"""`tools = "api"`: tools deferred for the search of the model's own server, which is carried through everything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import tool_search
from servers.messages_api import MODELS, MessagesApi
from servers.strict import faults_of
from servers.turns import Answer, Body, Script, answer, call, text, thinking
from warm import warm

from outcrop import Pool, Run, ScriptedModel
from outcrop.exchanges import read_exchanges
from outcrop.models.anthropic import AnthropicModel
from outcrop.models.anthropic.sending import body_of
from outcrop.models.api_batch import Mailbox
from outcrop.models.scripted import turn
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop.steps import steps_of
from outcrop_schemas import limits, wire
from outcrop_schemas.messages import (
    Message,
    ModelRequest,
    ModelResponse,
    OtherBlock,
    TextBlock,
    ToolSchema,
    Usage,
)
from outcrop_schemas.outcome import Outcome
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.agent import Agent
from outcrop_specialists.brief import EARLIER
from outcrop_specialists.completion import SpecialistAnswer
from outcrop_specialists.context.segments import estimated
from outcrop_specialists.roles import get_role
from outcrop_specialists.toolbox import schemas_of

Serving = Callable[..., MessagesApi]
DONE = answer(call("complete", status="success", summary="done", results={}))
ALWAYS = {"tool_search_tool_bm25", "inspect_dataset", "read_result", "checkpoint", "report_gap", "ask", "complete"}


@pytest.fixture
def table(workspace: Path) -> Path:
    rows = "".join(f"S{n:03d},{n % 7}.{n % 90},{'granite' if n % 3 else ''}\n" for n in range(400))
    (workspace / "assays.csv").write_text(f"sample,Au,rock\n{rows}")
    return workspace


async def dispatched(workspace: Path, **role: Any) -> tuple[Outcome, RunFolder]:
    settings = Settings(roles={"analytics": {"tools": "api", **role}})
    async with Pool(
        workers=1, model=AnthropicModel(MODELS[0]), workspace=workspace, launcher=warm(), settings=settings
    ) as pool:
        return await pool.dispatch("analytics", "look", ["assays.csv"]), pool.run_folder


def turns_made(body: Body) -> int:
    return sum(message["role"] == "assistant" for message in body["messages"])


async def test_a_tool_found_by_the_server_is_called_carried_out_and_replayed(serving: Serving, table: Path) -> None:
    api, given = serving(), []

    def script(body: Body) -> Answer:
        if turns_made(body):
            return DONE
        blocks = [text("I look for one."), *tool_search.searched(body, "how many values are missing in each column")]
        assert "check_missing" in tool_search.found(body, "how many values are missing in each column")
        given.extend([*blocks, call("check_missing", path="assays.csv")])
        return answer(*given)

    api.script = script
    outcome, folder = await dispatched(table)
    assert (outcome.status, outcome.warnings, api.refusals) == ("success", [], [])
    first, second = (seen.body for seen in api.seen)
    assert {tool["name"] for tool in first["tools"] if not tool.get("defer_loading")} == ALWAYS
    assert {tool.name for tool in get_role("analytics").tools} <= {tool["name"] for tool in first["tools"]}
    assert first["tools"] == second["tools"], "the list is the same from turn to turn"
    assert second["messages"][1]["content"] == given, "the turn goes back as it came"
    assert "missing" in second["messages"][2]["content"][0]["content"]
    run = open_run(folder)
    [recorded, _] = read_exchanges(run.folder.exchanges / f"{outcome.dispatch_id}.jsonl")
    assert recorded.response is not None
    assert [block.model_dump() for block in recorded.response.content if isinstance(block, OtherBlock)] == given[1:3]
    assert [one.difference for one in await asyncio.to_thread(verify, run)] == [None]
    before, after = steps_of(run, outcome.dispatch_id)
    assert sum(after.segments.values()) == after.total
    saved = estimated(ModelRequest(system="", messages=[], tools=schemas_of(get_role("analytics").tools)))["tools"]
    assert 0 < before.segments["tools"] < after.segments["tools"] < saved / 4, "what was found counts, the rest not"


async def test_the_few_tools_of_a_lead_are_never_deferred(serving: Serving, table: Path) -> None:
    api = serving()

    def script(body: Body) -> Answer:
        if "dispatch" not in {tool["name"] for tool in body["tools"]}:
            found = [*tool_search.searched(body, "missing values"), call("check_missing", path="assays.csv")]
            return DONE if turns_made(body) else answer(*found)
        work = call("dispatch", specialist="analytics", objective="look", data=["assays.csv"])
        return answer(call("complete", status="success", summary="done")) if turns_made(body) else answer(work)

    api.script = script
    settings = Settings(roles={"default": {"tools": "api"}})
    outcome = await Run(
        "look", ["assays.csv"], workspace=table, model=AnthropicModel(MODELS[0]), settings=settings
    ).start()
    assert (outcome.status, outcome.warnings, api.refusals) == ("success", [], [])
    assert "defer_loading" not in json.dumps(api.seen[0].body)
    checked = await asyncio.to_thread(verify, open_run(RunFolder(Path(outcome.run_folder))))
    assert [one.difference for one in checked] == [None, None]


def looks_again_and_again(turns: int, *, kind: str) -> Script:
    """A model that searches and looks in every turn."""

    def script(body: Body) -> Answer:
        if not body.get("tools"):
            return answer(text("It went well."))
        # Not the turns in the conversation: they grow fewer.
        number, script.asked = script.asked, script.asked + 1  # type: ignore[attr-defined]
        if number >= turns:
            return DONE
        look = call("query_data", path="assays.csv", operation="head", n=number % 20 + 1)
        call_id = f"srvtoolu_{number:06d}"
        ask = tool_search.asked("rows of a table", call_id)
        found = tool_search.result(call_id, "query_data")
        if kind == "whole":
            return answer(thinking("hm"), ask, found, look)
        # The search waits until the client's own tool has been answered.
        earlier = [tool_search.result(f"srvtoolu_{number - 1:06d}", "query_data")] if number else []
        return answer(*earlier, look, ask) if number < turns - 1 else answer(*earlier, look)

    script.asked = 0  # type: ignore[attr-defined]
    return script


@pytest.mark.parametrize("kind", ["whole", "waiting"])
@pytest.mark.parametrize("summaries", ["extract", "model"])
async def test_a_compacted_conversation_parts_no_search_from_its_result(
    serving: Serving, table: Path, kind: str, summaries: str
) -> None:
    api = serving()
    api.script = looks_again_and_again(14, kind=kind)
    outcome, folder = await dispatched(table, window_tokens=20_000, summaries=summaries)
    assert (outcome.status, outcome.errors, api.refusals) == ("success", [], [])
    compacted = [json.dumps(seen.body["messages"]) for seen in api.seen if EARLIER in json.dumps(seen.body)]
    assert len(compacted) > 3
    assert any("tool_search_tool_search_result" in each for each in compacted)
    assert [one.difference for one in await asyncio.to_thread(verify, open_run(folder))] == [None]


class Tools:
    """Many tools that say their name."""

    def schemas(self) -> list[ToolSchema]:
        shape = {"type": "object"}
        return [ToolSchema(name=f"t{n}", description="x", input_schema=shape, defer_loading=n > 0) for n in range(12)]

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        return name


PENDING = tool_search.asked("any", "srvtoolu_1")
RESULT = tool_search.result("srvtoolu_1", "t3")
ERROR = {**RESULT, "content": {"type": "tool_search_tool_result_error", "error_code": "unavailable"}}
TURNS: dict[str, list[Answer]] = {
    "a pause amid a search": [answer(text("I"), PENDING, stop="pause_turn"), answer(RESULT, call("t3"))],
    "a search that finds nothing": [answer(PENDING, tool_search.result("srvtoolu_1"))],
    "a search that failed": [answer(PENDING, ERROR, call("t1"))],
    "a search and no more": [answer(thinking("a"), PENDING, RESULT)],
    "a search that waits for a call": [answer(PENDING, call("t1")), answer(RESULT, call("t3"))],
    "a cut before the result": [answer(text("I"), PENDING, stop="max_tokens")],
    "a cut behind the result": [answer(PENDING, RESULT, call("t3"), stop="max_tokens"), answer(call("t3"))],
    "a cut behind a result that was waited for": [
        answer(PENDING, call("t1")),
        answer(RESULT, call("t3"), stop="max_tokens"),
    ],
}


@pytest.mark.parametrize("what", TURNS)
async def test_a_server_takes_back_whatever_search_it_made(serving: Serving, what: str) -> None:
    api, model = serving(*TURNS[what], DONE), AnthropicModel(MODELS[0])
    try:
        end = await Agent(model, Tools(), system="s", opening=["do it"], answer=SpecialistAnswer).run()
    finally:
        await model.close()
    assert (end.stop, api.refusals) == ("completed", [])
    kept = json.dumps([seen.body["messages"] for seen in api.seen[-1:]])
    # Of all turns in which something was found, nothing is lost.
    assert ("'t3'" in str(TURNS[what])) == ('"tool_name": "t3"' in kept)


class ReadsTwice:
    """A model whose server searches in its first turn, and then counts the prompt once for each reading."""

    name, searches_tools = "reads twice", True

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        number = len(self.requests)
        server: list[Any] = [PENDING, RESULT] if number == 2 else []
        calls: list[Any] = [call("t3", at=number)] if number < 9 else DONE["content"]
        usage = Usage(input_tokens=len(request.as_bytes()) // 3 * (4 if server else 1), output_tokens=9)
        content = {"id": f"m{number}", "model": self.name, "content": [*server, *calls], "stop_reason": "tool_use"}
        return ModelResponse.model_validate({**content, "usage": usage})


async def test_a_prompt_that_the_server_read_again_and_again_is_not_taken_for_a_long_one() -> None:
    model = ReadsTwice()
    window = WindowSettings(tokens=24_000, tools="api")
    opening = ["do it", "w" * 9_000]
    end = await Agent(model, Tools(), system="s", opening=opening, answer=SpecialistAnswer, window=window).run()
    assert end.stop == "completed"
    assert not any(EARLIER in str(request.messages[0]) for request in model.requests)


async def test_a_model_without_a_search_is_offered_what_else_it_would_be_and_that_is_said(table: Path) -> None:
    done = turn(("complete", {"status": "success", "summary": "done", "results": {}}), turn_id="a")
    model = ScriptedModel([done])
    settings = Settings(roles={"default": {"tools": "api"}})
    async with Pool(workers=1, model=model, workspace=table, launcher=warm(), settings=settings) as pool:
        outcome = await pool.dispatch("analytics", "look", ["assays.csv"])
    assert [told for told in outcome.warnings if "has no search for tools" in told]
    assert not any(tool.defer_loading for tool in model.requests[0].tools)
    assert {tool.name for tool in get_role("analytics").tools} <= {tool.name for tool in model.requests[0].tools}


def test_few_tools_are_never_deferred() -> None:
    tools = get_role("plotting").tools[: limits.TOOLS_ALL_OFFERED]
    assert not any(schema.defer_loading for schema in schemas_of(tools, is_deferring=True))


def test_a_tool_that_is_not_deferred_has_the_bytes_that_it_had_before() -> None:
    shown = ToolSchema(name="a", description="b", input_schema={})
    assert wire.dumps(shown.model_dump(mode="json", exclude_none=True)) == (
        b'{"name":"a","description":"b","input_schema":{}}'
    )


def test_turns_that_go_by_a_batch_are_searched_in_too() -> None:
    assert Mailbox(1, 1).model(AnthropicModel(MODELS[0])).searches_tools  # type: ignore[attr-defined]


def test_a_breakpoint_never_stands_at_a_deferred_tool() -> None:
    shape: dict[str, Any] = {"type": "object"}
    marked = {"cache_control": {"type": "ephemeral"}, "defer_loading": True}
    tools = [ToolSchema(name=n, description="x", input_schema=shape, **marked) for n in ("a", "b")]
    request = ModelRequest(system="s", messages=[Message(role="user", content=[TextBlock(text="hi")])], tools=tools)
    body = {"model": MODELS[0], "max_tokens": 10, **body_of(request)}
    assert faults_of(body) == []
    assert [("cache_control" in tool) for tool in body["tools"]] == [True, False, False]


SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
DEFERRED = {"name": "a", "description": "x", "input_schema": {"type": "object"}, "defer_loading": True}


@pytest.mark.parametrize(
    ("tools", "content", "fault"),
    [
        ([DEFERRED], [], "All tools cannot be deferred"),
        ([{**SEARCH, "defer_loading": True}, DEFERRED], [], "cannot be one of them"),
        ([{**SEARCH, "name": "search"}, DEFERRED], [], "must be 'tool_search_tool_bm25'"),
        ([{**SEARCH, "input_schema": {}}, DEFERRED], [], "Extra inputs"),
        (
            [SEARCH, {**DEFERRED, "cache_control": {"type": "ephemeral"}}],
            [],
            "cannot have both",
        ),
        ([{"type": "tool_search_tool_bm26", "name": "x"}, DEFERRED], [], "is no tool of this server"),
        ([SEARCH, DEFERRED], [RESULT], "unexpected `tool_use_id`"),
        ([SEARCH, DEFERRED], [PENDING, RESULT], "Tool reference 't3' not found"),
        ([SEARCH, DEFERRED], [{**PENDING, "id": "toolu_1"}], "should match pattern"),
    ],
)
def test_our_own_server_is_as_strict_as_the_api(tools: list[Any], content: list[Any], fault: str) -> None:
    messages: list[Any] = [{"role": "user", "content": [text("hi")]}]
    if content:
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": [text("on")]}]
    found = faults_of({"model": MODELS[0], "max_tokens": 10, "messages": messages, "tools": tools})
    assert any(fault in each for each in found), found


def test_the_window_of_a_model_that_searches_says_so() -> None:
    assert WindowSettings.model_validate({"tools": "api"}).tools == "api"
