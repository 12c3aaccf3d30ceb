"""The record of requests and answers: each piece once, put together again byte for byte, and never a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers.messages_api import KEY, Fault, MessagesApi
from servers.turns import answer, call, in_turn, text
from warm import warm

from outcrop import Run
from outcrop.blocks import FILE_NAME, Blocks, BlockWriter
from outcrop.exchanges import ExchangeWriter, read_exchanges
from outcrop.models.scripted import turn
from outcrop.settings import Settings
from outcrop_schemas.errors import BudgetError, JournalError, ModelError
from outcrop_schemas.messages import Message, ModelRequest, ModelResponse, TextBlock, ToolResultBlock, ToolSchema

SYSTEM = "You are a specialist. " * 200
TOOLS = [ToolSchema(name=f"tool_{n}", description="d" * 400, input_schema={"type": "object"}) for n in range(20)]


def conversation(turns: int, tail: bool = False) -> list[tuple[ModelRequest, ModelResponse]]:
    """Growing requests and their answers. With a tail, the last message ends in words that change every time."""
    messages = [Message(role="user", content=[TextBlock(text="the objective")])]
    exchanges = []
    for number in range(turns):
        answered = turn(("tool_1", {"n": number, "why": "w" * 300}), turn_id=f"m{number}")
        shown = messages
        if tail:
            last = messages[-1]
            shown = [*messages[:-1], Message(role="user", content=[*last.content, TextBlock(text=f"turn {number}")])]
        exchanges.append((ModelRequest(system=SYSTEM, tools=TOOLS, messages=shown), answered))
        result = ToolResultBlock(tool_use_id=answered.tool_uses()[0].id, content=f"result {number} " + "r" * 2_000)
        messages = [
            *messages,
            Message(role="assistant", content=answered.content),
            Message(role="user", content=[result]),
        ]
    return exchanges


def recorded(folder: Path, exchanges: list[tuple[ModelRequest, ModelResponse]], agents: int = 1) -> int:
    """The bytes that these exchanges take in a run where so many agents have the same conversation."""
    folder.mkdir()
    blocks = BlockWriter(folder)
    for agent in range(agents):
        writer = ExchangeWriter(folder / f"d{agent}.jsonl", blocks)
        for request, response in exchanges:
            writer.record(request, "m", response, 0.1)
        writer.close()
    return sum(path.stat().st_size for path in folder.iterdir())


@pytest.mark.parametrize("tail", [False, True])
def test_a_long_conversation_costs_as_much_as_what_is_said_in_it(tmp_path: Path, tail: bool) -> None:
    sizes = {turns: recorded(tmp_path / str(turns), conversation(turns, tail)) for turns in (15, 30, 60)}
    # Linear: what the second half of it adds is what the first half took.
    assert sizes[60] - sizes[30] < 1.1 * 2 * (sizes[30] - sizes[15])
    said = sum(len(response.model_dump_json()) + 2_050 for _, response in conversation(60))
    constant = len(ModelRequest(system=SYSTEM, tools=TOOLS, messages=[]).as_bytes())
    assert sizes[60] < constant + 2 * said
    sent = sum(len(request.as_bytes()) for request, _ in conversation(60, tail))
    assert sizes[60] < sent / 20


def test_what_agents_have_in_common_is_stored_once_in_a_run(tmp_path: Path) -> None:
    one = recorded(tmp_path / "one", conversation(1))
    assert recorded(tmp_path / "hundred", conversation(1), agents=100) < one + 100 * 1_000
    assert (tmp_path / "hundred" / FILE_NAME).read_bytes().count(b'"piece":"You are a specialist.') == 1


def test_requests_and_answers_come_back_byte_for_byte(tmp_path: Path) -> None:
    exchanges = conversation(7, tail=True)
    recorded(tmp_path / "run", exchanges, agents=2)
    for agent in range(2):
        found = read_exchanges(tmp_path / "run" / f"d{agent}.jsonl")
        assert [one.request for one in found] == [request.as_bytes() for request, _ in exchanges]
        assert [one.response for one in found] == [response for _, response in exchanges]
        assert all(one.is_intact for one in found)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.tuples(TEXTS, st.dictionaries(TEXTS, VALUES, max_size=3)), min_size=1, max_size=5))
def test_anything_that_is_json_comes_back(tmp_path_factory: pytest.TempPathFactory, said: Any) -> None:
    folder = tmp_path_factory.mktemp("run")
    writer = ExchangeWriter(folder / "lead.jsonl")
    sent = []
    for number, (words, value) in enumerate(said):
        request = ModelRequest(system=words, messages=[Message(role="user", content=[TextBlock(text=words)])])
        writer.record(request, "m", turn(("tool", value), text=words, turn_id=str(number)), 0.0)
        sent.append((request.as_bytes(), turn(("tool", value), text=words, turn_id=str(number))))
    writer.close()
    found = read_exchanges(folder / "lead.jsonl")
    assert [(one.request, one.response, one.is_intact) for one in found] == [(*one, True) for one in sent]


def test_what_is_known_of_a_call_goes_along(tmp_path: Path) -> None:
    [(request, response)] = conversation(1)
    told = ModelResponse.model_validate({**response.model_dump(), "request_id": "req_1"})
    writer = ExchangeWriter(tmp_path / "lead.jsonl")
    about = {"parameters": {"max_tokens": 9}, "failed_attempts": [{"type": "overloaded_error"}], "empty": {}}
    writer.record(request, "claude-x", told, 1.5, about)
    writer.record(request, "claude-x", ModelError("no", error_type="api_error", request_id="req_2"), 0.5)
    writer.record(request, "claude-x", BudgetError("none left"), 0.0)
    writer.close()
    first, second, third = read_exchanges(tmp_path / "lead.jsonl")
    assert first.about["request_id"] == "req_1"
    assert first.about["model"] == "claude-x"
    assert first.about["seconds"] == 1.5
    assert first.about["parameters"] == {"max_tokens": 9}
    assert "empty" not in first.about
    assert second.about["request_id"] == "req_2"
    assert isinstance(third.error, BudgetError)


def test_a_torn_end_is_passed_over_and_a_piece_that_is_not_whole_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    recorded(folder, conversation(3))
    path = folder / "d0.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert len(read_exchanges(path)) == 2
    path.write_bytes(whole)
    pieces = folder / FILE_NAME
    pieces.write_bytes(pieces.read_bytes()[:-40])
    with pytest.raises(JournalError, match=r"line 3 is damaged: the piece [0-9a-f]{32} is not recorded"):
        read_exchanges(path)
    pieces.write_bytes(pieces.read_bytes().replace(b"result 0", b"result 9"))
    with pytest.raises(JournalError, match="was changed"):
        read_exchanges(path)


def test_a_piece_is_written_once_whoever_puts_it(tmp_path: Path) -> None:
    writer = BlockWriter(tmp_path)
    [name] = writer.put({"a": 1})
    assert writer.put({"a": 1}, {"a": 1}) == [name, name]
    assert (tmp_path / FILE_NAME).read_bytes().count(b"\n") == 1
    assert Blocks(tmp_path).get(name) == {"a": 1}
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_of_pieces_of_which_one_is_no_json_none_counts_as_written(tmp_path: Path) -> None:
    writer = BlockWriter(tmp_path)
    with pytest.raises(ValueError, match="not JSON"):
        writer.put({"a": 1}, {"b": "\ud800"})
    [name] = writer.put({"a": 1})
    assert Blocks(tmp_path).get(name) == {"a": 1}


def test_pieces_are_read_as_far_as_they_are_asked_for(tmp_path: Path) -> None:
    """A long run's first turns are there at once; what is written meanwhile is found, what is torn is not there."""
    first, second, third = BlockWriter(tmp_path).put({"a": 1}, {"b": 2}, {"c": 3})
    path = tmp_path / FILE_NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"what nobody reads" * 1_000 + lines[1][:-5])
    blocks = Blocks(tmp_path)
    assert blocks.get(first) == {"a": 1}
    with pytest.raises(ValueError, match="is not recorded"):
        blocks.get(second)
    path.write_bytes(b"".join(lines[:2]))
    assert blocks.get(second) == {"b": 2}
    path.write_bytes(b"".join(lines))
    assert blocks.get(third) == {"c": 3}
    assert blocks.get(first) == {"a": 1}


async def test_no_key_is_in_anything_that_a_run_leaves(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [Fault("status", 529), Fault("status", 400, f"bad header authorization: Bearer {KEY}")]
    script = in_turn(answer(text("I see."), call("complete", status="success", summary="done")))
    with MessagesApi(script, faults=faults) as api:
        for name, value in api.environment().items():
            monkeypatch.setenv(name, value)
        settings = Settings(model="claude-haiku-5-5")
        failed = await Run("count", workspace=workspace, launcher=warm(), settings=settings).start()
        good = await Run("count", workspace=workspace, launcher=warm(), settings=settings).start()
    assert (failed.status, good.status) == ("error", "success")
    files = [path for path in workspace.rglob("*") if path.is_file()]
    assert len(files) > 8
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    [exchange] = read_exchanges(Path(failed.run_folder) / "exchanges" / "lead.jsonl")
    assert [attempt["type"] for attempt in exchange.about["failed_attempts"]] == [
        "overloaded_error",
        "invalid_request_error",
    ]
    [exchange] = read_exchanges(Path(good.run_folder) / "exchanges" / "lead.jsonl")
    assert exchange.about["request_id"].startswith("req_")
    assert exchange.about["parameters"] == {"max_tokens": 16_000, "thinking": {"type": "adaptive"}}
    assert json.loads(exchange.request)["messages"]
