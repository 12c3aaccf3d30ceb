"""Prompts that a server can cache: what sixty dispatches read from the cache, computed from the requests themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from servers.messages_api import MODELS, MessagesApi
from servers.prefix_cache import PrefixCache
from servers.strict import MOST_BREAKPOINTS, breakpoints
from servers.turns import Answer, Body, answer, call

from outcrop.history import History
from outcrop.lead.agent import lead_agent, lead_prompt, render_tail
from outcrop.lead.toolbox import digest, lead_schemas
from outcrop.models.anthropic import AnthropicModel
from outcrop.models.anthropic.sending import body_of
from outcrop.pins import Pins
from outcrop_schemas.messages import ModelRequest, ModelResponse, ToolSchema
from outcrop_schemas.outcome import Exit, Outcome
from outcrop_specialists.agent import Agent, Asks
from outcrop_specialists.brief import opening
from outcrop_specialists.completion import SpecialistAnswer
from outcrop_specialists.roles import get_role

DISPATCHES = 60
SHARE = 0.9
ROLES = ("cleaning", "analytics", "plotting")
Serving = Callable[..., MessagesApi]


def outcome_of(number: int) -> Outcome:
    """An outcome as long as those of a real run: a summary, twelve figures of two columns, one file."""
    role = ROLES[number % 3]
    figures = {name: number / 7 for name in ("mean", "sd", "min", "p5", "p25", "p50", "p75", "p95", "max", "sum")}
    return Outcome(
        dispatch_id=f"d{number:04d}-{number:016x}",
        specialist=role,
        objective=f"summarise au and cu of part {number} and say what stands out",
        status="error" if number % 9 == 8 else "success",
        summary=f"2 columns of {number} rows summarised. au: mean {number / 7}; cu: mean {number / 3}.",
        results={
            "rows": number,
            "columns": {"au": figures, "cu": figures},
            "rule": "sd with n - 1; percentiles type 7",
        },
        errors=["depth_from: there is no such column; the closest is from_m"] if number % 9 == 8 else [],
        started_at="2026-11-30T00:00:00Z",
        duration_s=number / 10,
        exit=Exit(),
    )


class LeadTools:
    """The lead's tools with dispatches that end at once: real schemas, real digests, a real history."""

    def __init__(self, history: History, pins: Pins, work: Callable[[int], Any]) -> None:
        self._history, self._pins, self._work, self._count = history, pins, work, 0

    def schemas(self) -> list[ToolSchema]:
        return lead_schemas()

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        if name == "pin":
            self._pins.set(arguments["key"], arguments["value"])
            return "{}"
        outcome = outcome_of(self._count)
        self._count += 1
        self._history.take("start", outcome.dispatch_id, outcome.model_dump(mode="json"))
        await self._work(self._count)
        self._history.take("end", outcome.dispatch_id, outcome.model_dump(mode="json"))
        return digest(outcome)


class SpecialistTools:
    """A specialist's real schemas; every call gives the same result."""

    def __init__(self, role: str) -> None:
        self._tools = get_role(role).tools

    def schemas(self) -> list[ToolSchema]:
        return [tool.schema() for tool in self._tools]

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        return '{"summary":"looked","results":{"rows":100}}' * 30


def script(body: Body) -> Answer:
    """The lead gives out one piece of work a turn, and pins a fact now and then; a specialist looks twice."""
    turns = len(body["messages"]) // 2
    if body["system"][0]["text"] != lead_prompt():
        if turns < 2:
            return answer(call("inspect_dataset", path=f"{turns}.csv"))
        return answer(call("complete", status="success", summary="done", results={}))
    if turns >= DISPATCHES:
        return answer(call("complete", status="success", summary="all done"))
    work = call("dispatch", specialist=ROLES[turns % 3], objective=f"summarise au and cu of part {turns}")
    return answer(work, *([call("pin", key=f"fact {turns}", value="au is in ppm")] if turns % 12 == 5 else []))


def without_pins(body: Body) -> Answer:
    """A pin begins what follows the system prompt anew, whatever marks there are."""
    given = script(body)
    return answer(*(block for block in given["content"] if block["name"] != "pin"))


class Changed:
    """The model, with every request changed before it is sent."""

    def __init__(self, model: AnthropicModel, change: Callable[[ModelRequest, int], ModelRequest]) -> None:
        self._model, self._change, self._count = model, change, 0

    async def create(self, request: ModelRequest) -> ModelResponse:
        self._count += 1
        return await self._model.create(self._change(request, self._count))


async def sixty_dispatches(asks: Asks, *, with_specialists: bool = True) -> None:
    history, pins = History(), Pins({"coordinate system": "EPSG:28350"})

    async def specialist(number: int) -> None:
        role = get_role(ROLES[number % 3])
        if with_specialists:
            start = opening(f"summarise au and cu of part {number}", ["assays.csv"])
            tools = SpecialistTools(role.name)
            await Agent(asks, tools, system=role.prompt(), opening=start, answer=SpecialistAnswer).run()

    tools = LeadTools(history, pins, specialist)
    agent = lead_agent(
        asks,
        tools,
        "answer everything",
        ["assays.csv"],
        pins.as_dict(),
        lambda: render_tail(pins.render(), history.render()),
    )
    end = await agent.run()
    assert end.stop == "completed"
    assert end.turns == DISPATCHES + 1


def share_read(usages: list[dict[str, Any]]) -> float:
    read = sum(usage["cache_read_input_tokens"] for usage in usages)
    return read / sum(
        usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
        for usage in usages
    )


def usages_of(api: MessagesApi, *, of_lead: bool) -> list[dict[str, Any]]:
    return [
        seen.usage
        for seen in api.seen
        if seen.usage is not None and (seen.body["system"][0]["text"] == lead_prompt()) == of_lead
    ]


async def test_nine_tenths_of_all_input_of_sixty_dispatches_are_read_from_the_cache(serving: Serving) -> None:
    api = serving(cache=PrefixCache(least_tokens=1_024))
    api.script = script
    await sixty_dispatches(model := AnthropicModel(MODELS[0]))
    await model.close()
    assert api.refusals == []
    lead, others = usages_of(api, of_lead=True), usages_of(api, of_lead=False)
    assert len(lead) == DISPATCHES + 1
    assert len(others) == DISPATCHES * 3
    shares = {"lead": share_read(lead), "specialists": share_read(others)}
    assert min(shares.values()) >= SHARE, shares
    assert {breakpoints(seen.body) for seen in api.seen} == {3, MOST_BREAKPOINTS}


def tail_first(request: ModelRequest, number: int) -> ModelRequest:
    """Pins and history before the conversation instead of after it."""
    if not request.tail_blocks:
        return request
    messages = [message.model_copy() for message in request.messages]
    tail = messages[-1].content[-request.tail_blocks :]
    messages[-1] = messages[-1].model_copy(update={"content": messages[-1].content[: -request.tail_blocks]})
    messages[0] = messages[0].model_copy(update={"content": [*tail, *messages[0].content]})
    return request.model_copy(update={"messages": messages, "tail_blocks": 0})


def tools_in_another_order(request: ModelRequest, number: int) -> ModelRequest:
    half = number % len(request.tools)
    return request.model_copy(update={"tools": request.tools[half:] + request.tools[:half]})


def a_clock_in_the_system_prompt(request: ModelRequest, number: int) -> ModelRequest:
    return request.model_copy(update={"system": f"{request.system}\nIt is {number} o'clock."})


@pytest.mark.parametrize("change", [tail_first, tools_in_another_order, a_clock_in_the_system_prompt])
async def test_a_change_that_breaks_the_prefix_is_seen(
    serving: Serving, change: Callable[[ModelRequest, int], ModelRequest]
) -> None:
    def at_work(body: Body) -> Answer:
        system = [{"type": "text", "text": lead_prompt()}]
        return script({**body, "system": system})

    api = serving(cache=PrefixCache(least_tokens=1_024))
    api.script = at_work
    model = AnthropicModel(MODELS[0])
    await sixty_dispatches(Changed(model, change), with_specialists=False)
    await model.close()
    assert share_read([seen.usage for seen in api.seen if seen.usage]) < SHARE


async def test_a_mark_on_what_changes_reads_less(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the hint which blocks come last, the moving breakpoint writes what is never read again."""
    api = serving(cache=PrefixCache(least_tokens=1_024))
    api.script = without_pins
    model = AnthropicModel(MODELS[0])
    unaware = Changed(model, lambda request, _: request.model_copy(update={"tail_blocks": 0}))
    await sixty_dispatches(unaware, with_specialists=False)
    await model.close()
    written = sum(seen.usage["cache_creation_input_tokens"] for seen in api.seen if seen.usage)
    aware = serving(cache=PrefixCache(least_tokens=1_024))
    aware.script = without_pins
    other = AnthropicModel(MODELS[0])
    await sixty_dispatches(other, with_specialists=False)
    await other.close()
    assert sum(seen.usage["cache_creation_input_tokens"] for seen in aware.seen if seen.usage) < written / 2


def test_where_the_marks_stand_does_not_change_what_is_said() -> None:
    request = ModelRequest(system="s", messages=[], tools=[])
    assert "cache_control" not in request.as_bytes().decode()
    assert body_of(request)["system"][0]["cache_control"] == {"type": "ephemeral"}
