"""Servers that imitate the API: what they leave out costs no good turn, and what they do not count is not free."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from servers.ledger import Took
from servers.messages_api import MODELS, MessagesApi
from servers.strict import faults_of
from servers.turns import answer, text

from outcrop.budget import Budget, Ceiling
from outcrop.exchanges import read_exchanges
from outcrop.gateway import Gateway, Line
from outcrop.ledger import RunLedger, Terms
from outcrop.models import ModelTable
from outcrop.models.anthropic import AnthropicModel
from outcrop.models.anthropic.reading import usage_of
from outcrop.models.anthropic.sending import body_of
from outcrop.pace import Pace
from outcrop.prices import public_prices
from outcrop.rates import RateGovernor
from outcrop.retry import RetryPolicy
from outcrop.runs import RunFolder
from outcrop_schemas.errors import BudgetError, ModelError
from outcrop_schemas.messages import (
    Message,
    ModelRequest,
    ModelResponse,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    Usage,
)

REQUEST = ModelRequest(system="You answer.", messages=[Message(role="user", content=[TextBlock(text="hello")])])
Serving = Callable[..., MessagesApi]
Event = tuple[str, dict[str, Any]]
LEFT_OUT: dict[str, Any] = {"input_tokens": 10, "output_tokens": 1}


def line_to(tmp_path: Path, ledger: Any) -> Line:
    (tmp_path / "exchanges").mkdir()
    models = ModelTable(AnthropicModel(MODELS[0], max_tokens=300))
    policy = RetryPolicy(attempts=3, first_seconds=0.01, longest_seconds=0.02)
    return Gateway(models, RunFolder(tmp_path), RateGovernor(8), ledger=ledger, retry=policy).line("d1", "analytics")


def start(usage: Any = LEFT_OUT, **more: Any) -> Event:
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODELS[0], "content": [], "stop_reason": None,
        "stop_sequence": None, **({} if usage is None else {"usage": usage}), **more,
    }  # fmt: skip
    return "message_start", {"type": "message_start", "message": message}


def block(index: int, kind: Mapping[str, Any], *deltas: dict[str, Any]) -> Iterator[Event]:
    yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": kind}
    for delta in deltas:
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": index}


def says(words: str, index: int = 0) -> list[Event]:
    return list(block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": words}))


def thinks(**signature: Any) -> list[Event]:
    return list(
        block(0, {"type": "thinking", "thinking": "", **signature}, {"type": "thinking_delta", "thinking": "hm"})
    )


def end(stop: Any = "end_turn", usage: Any = LEFT_OUT) -> list[Event]:
    delta = {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}}
    return [
        ("message_delta", delta if usage is None else {**delta, "usage": usage}),
        ("message_stop", {"type": "message_stop"}),
    ]


def raw(*events: Event | list[Event]) -> dict[str, Any]:
    """A turn that is sent as these events."""
    flat = [one for each in events for one in (each if isinstance(each, list) else [each])]
    return {**answer(text("")), "raw_events": flat}


COUNTED = {"output_tokens": 7}
LATE = {**LEFT_OUT, **COUNTED}
WHOLE, MOST = Usage(input_tokens=10, output_tokens=7), Usage(input_tokens=10, output_tokens=300)
# What is sent, and whether the server's account can be believed.
ACCEPTED = {
    "all that there should be": (raw(start(), says("hi"), end(usage=COUNTED)), True),
    "no usage anywhere": (raw(start(None), says("hi"), end(usage=None)), False),
    "no usage at the start": (raw(start(None), says("hi"), end(usage=COUNTED)), False),
    "no usage at the start, all of it at the end": (raw(start(None), says("hi"), end(usage=LATE)), True),
    "no usage at the end": (raw(start(), says("hi"), end(usage=None)), False),
    "a usage that is none": (raw(start("many"), says("hi"), end(usage=[1])), False),
    "a usage of nulls": (raw(start({"input_tokens": None}), says("hi"), end(usage={"output_tokens": None})), False),
    "a usage of zeros": (raw(start({"input_tokens": 0}), says("hi"), end(usage={"output_tokens": 0})), False),
    "a usage in words": (raw(start({"input_tokens": "ten"}), says("hi"), end(usage=COUNTED)), False),
    "a usage of fractions": (raw(start({"input_tokens": 10.5}), says("hi"), end(usage=COUNTED)), False),
    "a usage of less than nothing": (raw(start({"input_tokens": -10}), says("hi"), end(usage=COUNTED)), False),
    "an output of less than nothing": (raw(start(), says("hi"), end(usage={"output_tokens": -7})), False),
    "thinking without a signature": (raw(start(), thinks(), says("hi", 1), end(usage=COUNTED)), True),
    "thinking with null for it": (raw(start(), thinks(signature=None), says("hi", 1), end(usage=COUNTED)), True),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
async def test_what_a_server_leaves_out_costs_no_turn_and_makes_none_free(
    serving: Serving, tmp_path: Path, name: str
) -> None:
    turn, is_counted = ACCEPTED[name]
    api, ledger = serving(turn), Took()
    line = line_to(tmp_path, ledger)
    response = await line.create(REQUEST)
    line.close()
    assert response.content[-1] == TextBlock(text="hi")
    assert api.statuses == [200]
    # None counts as the worst case.
    assert ledger.took == [WHOLE if is_counted else None]
    assert min(line.usage.model_dump().values()) >= 0
    [exchange] = read_exchanges(tmp_path / "exchanges" / "d1.jsonl")
    assert (exchange.is_intact, exchange.response) == (True, response)


USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
WRONG = {
    "a stop reason that is a number": (raw(start(), says("hi"), end(5, COUNTED)), WHOLE),
    "no id and no model": (raw(start(id=None, model=None), says("hi"), end(usage=COUNTED)), WHOLE),
    "a block that there is none of": (raw(start(), says("hi", 3), end(usage=COUNTED)), MOST),
    "half a character": (raw(start(), says("\ud83d"), end(usage=COUNTED)), WHOLE),
    "one id twice": (raw(start(), [*block(0, USE), *block(1, USE)], end("tool_use", COUNTED)), WHOLE),
    "an odd block with an odd usage": (raw(start("many"), says("hi", 3), end(usage=COUNTED)), None),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_turn_that_cannot_be_read_is_not_asked_for_again_and_charged_at_what_is_known(
    serving: Serving, tmp_path: Path, name: str
) -> None:
    turn, took = WRONG[name]
    api, ledger = serving(turn), Took()
    line = line_to(tmp_path, ledger)
    with pytest.raises(ModelError, match=r"a turn (that cannot be (read|recorded)|with two calls of one id)") as caught:
        await line.create(REQUEST)
    line.close()
    assert (caught.value.retryable, api.statuses, ledger.took) == (False, [200], [took])


async def test_an_input_that_is_no_object_is_asked_for_again(serving: Serving, tmp_path: Path) -> None:
    called = list(block(0, USE, {"type": "input_json_delta", "partial_json": "[1]"}))
    odd = raw(start(), called, end("tool_use", COUNTED))
    api, line = serving(odd, answer(text("hi"))), line_to(tmp_path, Took())
    assert (await line.create(REQUEST)).content == [TextBlock(text="hi")]
    line.close()
    assert api.statuses == [200, 200]


async def test_a_server_that_does_not_count_comes_to_the_ceiling_all_the_same(serving: Serving, tmp_path: Path) -> None:
    api = serving(raw(start({"input_tokens": 0}), says("hi " * 500), end(usage={"output_tokens": 0})))

    async def note(kind: str, body: Mapping[str, Any]) -> None:
        pass

    budget = Budget(Ceiling(usd=Decimal("0.10")))
    line = line_to(tmp_path, RunLedger(budget, Terms(public_prices()), note))

    async def ask_for_ever() -> None:
        while True:
            await line.create(REQUEST)

    with pytest.raises(BudgetError):
        await ask_for_ever()
    line.close()
    assert 0 < len(api.seen) < 20
    assert Decimal("0.05") < budget.spent.usd <= Decimal("0.10")


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"input_tokens": 3, "output_tokens": 4.0}, Usage(input_tokens=3, output_tokens=4)),
        ({"input_tokens": 3, "cache_creation": "none"}, Usage(input_tokens=3)),
        ({"input_tokens": 3, "output_tokens": float("nan")}, Usage()),
        ({"input_tokens": True, "output_tokens": 3}, Usage()),
        ({"input_tokens": 3, "output_tokens": float("inf")}, Usage()),
        ({"input_tokens": 3, "cache_read_input_tokens": -1}, Usage()),
        ({"input_tokens": 3, "cache_creation": {"ephemeral_1h_input_tokens": [1]}}, Usage()),
        (None, Usage()),
        ([3], Usage()),
        ("3", Usage()),
    ],
)
def test_an_account_with_an_odd_figure_says_nothing(said: Any, found: Usage) -> None:
    assert usage_of(said) == found


def test_what_a_turn_took_is_known_only_where_it_was_counted() -> None:
    def of(usage: Usage, *content: TextBlock) -> Usage | None:
        turn = ModelResponse(id="m", model="m", content=list(content), stop_reason="end_turn", usage=usage)
        return turn.counted_usage()

    words, prompt = TextBlock(text="hi"), Usage(input_tokens=3)
    assert of(prompt, words) is None
    assert of(Usage(output_tokens=3), words) is None
    assert of(prompt) == prompt
    whole = Usage(cache_read_input_tokens=3, output_tokens=1)
    assert of(whole, words) == whole


def test_thinking_that_nothing_proves_is_not_sent_back() -> None:
    unsigned, signed = ThinkingBlock(thinking="hm"), ThinkingBlock(thinking="hm", signature="c2ln")
    use = ToolUseBlock(id="toolu_1", name="look", input={})
    question = REQUEST.messages[0]
    turns = [[unsigned, use], [unsigned], [signed, unsigned, TextBlock(text="so")]]
    messages = [question]
    for content in turns:
        messages += [Message(role="assistant", content=content), question]
    sent = [one["content"] for one in body_of(REQUEST.model_copy(update={"messages": messages}))["messages"][1::2]]
    assert [[one["type"] for one in content] for content in sent] == [["tool_use"], ["text"], ["thinking", "text"]]
    assert sent[1] == [{"type": "text", "text": "(nothing)"}]


def marked(words: str, **ttl: str) -> TextBlock:
    return TextBlock.model_validate({"type": "text", "text": words, "cache_control": {"type": "ephemeral", **ttl}})


@pytest.mark.parametrize("count", range(8))
@pytest.mark.parametrize("has_tools", [True, False])
def test_breakpoints_of_a_caller_are_kept_as_far_as_there_is_room(count: int, has_tools: bool) -> None:
    """Ours are needed for the conversation; those of the caller beyond the most that the API takes go, oldest first."""
    tool = {"name": "look", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}
    own = [{**tool, "name": f"t{number}", "cache_control": {"type": "ephemeral"}} for number in range(count // 2)]
    content = [marked(f"w{number}", **({"ttl": "1h"} if number % 2 else {})) for number in range(count)]
    request = ModelRequest.model_validate(
        {
            "system": "s" if has_tools else "",
            "messages": [{"role": "user", "content": [one.model_dump() for one in [*content, TextBlock(text="x")]]}],
            "tools": [*own, tool] if has_tools else [],
        }
    )  # fmt: skip
    body = {"model": MODELS[0], "max_tokens": 9, "stream": True, **body_of(request)}
    assert faults_of(body) == []
    blocks = [one for message in body["messages"] for one in message["content"]]
    places = [*body.get("tools", []), *body.get("system", []), *blocks]
    kept = [one["cache_control"] for one in places if "cache_control" in one]
    assert len(kept) == min(4, (3 if has_tools else 1) + count + (len(own) if has_tools else 0))
    assert kept == [{"type": "ephemeral"}] * len(kept)
    assert "cache_control" in blocks[-1]
    # The request itself is as the caller made it.
    assert "cache_control" not in request.messages[0].content[-1].model_dump()
    assert all("cache_control" in one.model_dump() for one in request.messages[0].content[:-1])


def rates(reset: str, limit: str = "50", left: str = "10", kind: str = "requests", **more: str) -> dict[str, str]:
    before = f"anthropic-ratelimit-{kind}"
    return {f"{before}-limit": limit, f"{before}-remaining": left, f"{before}-reset": reset, **more}


ODD_RATES = {
    "a time without a zone": rates("2026-11-30T14:30:00"),
    "a day": rates("2026-11-30"),
    "a time that is none": rates("soon"),
    "a Date of an unknown zone": rates("2026-11-30T14:30:00Z", date="Mon, 30 Nov 2026 14:18:35 -0000"),
    "a Date that is none": rates("2026-11-30T14:30:00Z", date="garbage"),
    "a Date of no year": rates("2026-11-30T14:30:00Z", date="Mon, 30 Nov 99999 14:18:35 GMT"),
    "no number": rates("2026-11-30T14:30:00Z", "nan", "nan"),
    "no end": rates("2026-11-30T14:30:00Z", "inf", "1e400", "tokens"),
    "less than nothing": rates("2026-11-30T14:30:00Z", "-5", "-5"),
    "nothing": rates("2026-11-30T14:30:00Z", "0", "0"),
    "the last year": rates("9999-12-31T23:59:59Z"),
}


@pytest.mark.parametrize("name", ODD_RATES)
async def test_odd_headers_about_rates_cost_no_turn(serving: Serving, tmp_path: Path, name: str) -> None:
    api, ledger = serving(answer(text("hi")), headers=ODD_RATES[name]), Took()
    line = line_to(tmp_path, ledger)
    response = await line.create(REQUEST)
    line.close()
    assert (api.statuses, ledger.took) == ([200], [response.usage])
    pace = Pace()
    pace.heard(pace.sent(0.0, 9), ODD_RATES[name], 0.1)
    assert pace.opens_at(200.0, 9) <= 200.0
    pace.refused(pace.sent(200.0, 9), float("nan"), ODD_RATES[name], 200.1)
    assert pace.opens_at(400.0, 9) <= 400.0


async def test_whoever_hears_of_rates_cannot_cost_a_turn(serving: Serving) -> None:
    class Raising:
        def heard(self, headers: Mapping[str, str]) -> None:
            raise TypeError("can't subtract offset-naive and offset-aware datetimes")

        def refused(self, retry_after: float | None, headers: Mapping[str, str]) -> None:
            raise KeyError("reset")

    serving(answer(text("hi")))
    model = AnthropicModel(MODELS[0], max_tokens=300)
    response = await model.attempt(await model.prepared(REQUEST), Raising())
    assert response.content == [TextBlock(text="hi")]


@pytest.mark.parametrize(("asked", "sent"), [(None, 300), (7, 7), (300, 300), (64_000, 300)])
async def test_a_request_is_bounded_by_what_its_role_may_have(serving: Serving, asked: int | None, sent: int) -> None:
    api = serving()
    await AnthropicModel(MODELS[0], max_tokens=300).create(REQUEST.model_copy(update={"max_tokens": asked}))
    assert api.seen[0].body["max_tokens"] == sent
