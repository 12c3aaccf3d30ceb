"""No request leaves without its pins: whatever drops, changes or misplaces one, nothing is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from warm import warm

from outcrop import Pool, Run, ScriptedModel
from outcrop.gateway import Gateway, Line
from outcrop.models import ModelTable
from outcrop.models.scripted import turn
from outcrop.pins import Pins, check_pins, read_pins, write_pins
from outcrop.rates import RateGovernor
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop_schemas.errors import PinMissingError, UsageError
from outcrop_schemas.messages import Message, ModelRequest, ModelResponse, TextBlock
from outcrop_specialists.brief import pinned

PINS = {"deadline": "2026-12-01 09:00, no later", "credit": "120.50 USD", "rule": "never\nvia Frankfurt"}


def asking(*texts: str) -> ModelRequest:
    """One message of these blocks."""
    return ModelRequest(system="s", messages=[Message(role="user", content=[TextBlock(text=text) for text in texts])])


class Sent:
    """A model that keeps what reached it."""

    name = "sent"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        return ModelResponse(id="m", model="x", content=[TextBlock(text="yes")], stop_reason="end_turn")


def line(tmp_path: Path, model: Sent) -> Line:
    (tmp_path / "exchanges").mkdir()
    return Gateway(ModelTable(model), RunFolder(tmp_path), RateGovernor(1)).line("d1", "analytics", pins=lambda: PINS)


Drop = Callable[[str], list[str]]
DROPS: dict[str, Drop] = {
    "the whole block": lambda block: [],
    "one pin": lambda block: [block.replace("credit = 120.50 USD\n", "")],
    "a digit": lambda block: [block.replace("120.50", "120.5")],
    "half of a pin of two lines": lambda block: [block.replace("\nvia Frankfurt", "")],
    "the order": lambda block: [pinned(dict(reversed(PINS.items())))],
    "its place: glued to other text": lambda block: [f"{block}\nand so on"],
}


@pytest.mark.parametrize("place", ["start", "end"])
@pytest.mark.parametrize("what", DROPS)
async def test_a_request_that_lost_a_pin_on_its_way_is_not_sent(tmp_path: Path, what: str, place: str) -> None:
    model = Sent()
    asked = line(tmp_path, model)
    whole, lost = [pinned(PINS)], DROPS[what](pinned(PINS))
    start, end = (lost, whole) if place == "start" else (whole, lost)
    with pytest.raises(PinMissingError, match=f"a request was not sent: the pins .* at its {place}"):
        await asked.create(asking(*start, "the work", *end))
    assert model.requests == []
    await asked.create(asking(*whole, "the work", *whole))
    asked.close()
    assert len(model.requests) == 1


def test_a_pin_in_the_middle_only_is_not_enough() -> None:
    start = asking(pinned(PINS), "the work", pinned(PINS))
    grown = [*start.messages, Message(role="assistant", content=[TextBlock(text="…")]), *asking("more").messages]
    with pytest.raises(PinMissingError, match="deadline, credit, rule"):
        check_pins(start.model_copy(update={"messages": grown}), PINS)


def test_a_turn_that_paused_still_carries_them() -> None:
    start = asking(pinned(PINS), "the work", pinned(PINS))
    paused = [*start.messages, Message(role="assistant", content=[TextBlock(text="I am searching")])]
    check_pins(start.model_copy(update={"messages": paused}), PINS)


async def test_a_specialist_inherits_them_at_the_start_and_at_the_end(workspace: Path) -> None:
    model = ScriptedModel([turn(("complete", {"status": "success", "summary": "done", "results": {}}))])
    async with Pool(workers=1, model=model, workspace=workspace, launcher=warm()) as pool:
        outcome = await pool.dispatch("analytics", "look", pins=PINS)
    assert outcome.status == "success"
    texts = [block.text for block in model.requests[0].messages[0].content if isinstance(block, TextBlock)]
    assert texts[0] == texts[-1] == pinned(PINS)
    assert model.requests[0].tail_blocks == 1


async def test_the_lead_has_them_at_the_start_and_at_the_end(workspace: Path) -> None:
    model = ScriptedModel([turn(("complete", {"status": "success", "summary": "done"}))])
    await Run("look", workspace=workspace, launcher=warm(), model=model, pins=PINS).start()
    texts = [block.text for block in model.requests[0].messages[0].content if isinstance(block, TextBlock)]
    assert texts[0] == texts[-1] == pinned(PINS)


def dispatch(specialist: str) -> tuple[str, dict[str, str]]:
    return ("dispatch", {"specialist": specialist, "objective": "look"})


PIN_NEW = ("pin", {"key": "deadline", "value": "NEW"})
PIN_MORE = ("pin", {"key": "more", "value": "one\ntwo"})
BEGUN = {"deadline": "OLD"}
NOW = {"deadline": "NEW"}


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([dispatch("analytics"), PIN_NEW], {"analytics": BEGUN}),
        ([PIN_NEW, dispatch("analytics")], {"analytics": NOW}),
        (
            [dispatch("cleaning"), dispatch("analytics"), PIN_NEW, dispatch("plotting"), PIN_MORE],
            {"cleaning": BEGUN, "analytics": BEGUN, "plotting": NOW},
        ),
    ],
)
async def test_the_calls_of_a_turn_with_a_pin_keep_their_order_and_each_request_has_the_pins_of_its_moment(
    workspace: Path, calls: list[tuple[str, dict[str, str]]], expected: dict[str, dict[str, str]]
) -> None:
    done = {"status": "success", "summary": "done", "results": {}}
    looks = [turn(("list_files", {}), turn_id="a"), turn(("complete", done), turn_id="b")]
    specialists = {role: ScriptedModel(looks, name=role) for role in expected}
    end = turn(("complete", {"status": "success", "summary": "done"}), turn_id="e")
    lead = ScriptedModel([turn(*calls, turn_id="l"), end])
    run = Run("look", workspace=workspace, launcher=warm(), model={"lead": lead, **specialists}, pins=BEGUN, workers=3)
    outcome = await run.start()
    assert (outcome.status, len(outcome.dispatches)) == ("success", len(expected)), outcome
    for role, pins in expected.items():
        assert [ends_of(request) for request in specialists[role].requests] == [(pinned(pins), pinned(pins))] * 2
    after = {**NOW, **({"more": "one\ntwo"} if PIN_MORE in calls else {})}
    before, last = map(ends_of, lead.requests)
    assert before == (pinned(BEGUN), pinned(BEGUN))
    assert last == (pinned(after), pinned(after))
    checked = await asyncio.to_thread(verify, open_run(RunFolder(Path(outcome.run_folder))))
    assert [each.difference for each in checked] == [None] * (1 + len(expected))


def ends_of(request: ModelRequest) -> tuple[object, object]:
    """The first and the last block of a request; the pins stand nowhere else."""
    blocks = [block for message in request.messages for block in message.content]
    assert sum(isinstance(block, TextBlock) and block.text.startswith("Pinned facts") for block in blocks) == 2
    return getattr(blocks[0], "text", None), getattr(blocks[-1], "text", None)


async def test_pins_of_a_lead_that_began_without_any_stand_at_both_ends_from_then_on(workspace: Path) -> None:
    end = turn(("complete", {"status": "success", "summary": "done"}), turn_id="e")
    model = ScriptedModel([turn(PIN_NEW, turn_id="a"), turn(PIN_MORE, turn_id="b"), turn(PIN_MORE, turn_id="c"), end])
    outcome = await Run("look", workspace=workspace, launcher=warm(), model=model).start()
    both = {**NOW, "more": "one\ntwo"}
    assert "Pinned facts" not in str(model.requests[0].messages)
    assert [ends_of(request)[0] for request in model.requests[1:]] == [pinned(NOW), pinned(both), pinned(both)]
    assert [ends_of(request)[1] for request in model.requests[1:]] == [pinned(NOW), pinned(both), pinned(both)]
    [checked] = await asyncio.to_thread(verify, open_run(RunFolder(Path(outcome.run_folder))))
    assert checked.difference is None


async def test_a_specialist_is_held_to_the_pins_of_the_run_and_not_to_its_own_copy(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever pins a fact behind the back of a dispatch: its next request is not sent."""
    made: list[Pins] = []
    monkeypatch.setattr("outcrop.run.Pins", lambda facts: made.append(Pins(facts)) or made[-1])

    def pins_then_looks(request: ModelRequest) -> ModelResponse:
        made[0].set("deadline", "NEW")
        return turn(("list_files", {}), turn_id="a")

    specialist = ScriptedModel([pins_then_looks], name="analytics")
    end = turn(("complete", {"status": "success", "summary": "done"}), turn_id="e")
    lead = ScriptedModel([turn(dispatch("analytics"), turn_id="l"), end])
    run = Run("look", workspace=workspace, launcher=warm(), model={"lead": lead, "analytics": specialist}, pins=BEGUN)
    outcome = await run.start()
    assert outcome.dispatches[0].status == "error"
    assert "a request was not sent: the pins deadline are missing or changed" in str(lead.requests[1].messages)
    assert len(specialist.requests) == 1


@pytest.mark.parametrize("pins", [{"a": "\udcff"}, {"\udcff": "a"}])
async def test_a_pin_that_is_no_text_is_refused_whoever_gives_it(workspace: Path, pins: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="holds bytes that are not UTF-8"):
        Run("look", workspace=workspace, launcher=warm(), model="offline", pins=pins)
    async with Pool(workers=1, model="offline", workspace=workspace, launcher=warm()) as pool:
        with pytest.raises(UsageError, match="holds bytes that are not UTF-8"):
            await pool.dispatch("analytics", "look", pins=pins)


async def test_the_pins_of_a_workspace_hold_for_every_run_in_it(workspace: Path) -> None:
    write_pins(workspace / ".outcrop", {"credit": "1 USD", **PINS, 'a "b" \\ ü': "é\u2028\t'"})
    assert read_pins(workspace / ".outcrop") == {**PINS, 'a "b" \\ ü': "é\u2028\t'"}
    model = ScriptedModel([turn(("complete", {"status": "success", "summary": "done"}))])
    await Run("look", workspace=workspace, launcher=warm(), model=model, pins={"credit": "200 EUR"}).start()
    last = model.requests[0].messages[0].content[-1]
    assert isinstance(last, TextBlock)
    assert last.text.startswith("Pinned facts:\ncredit = 200 EUR\ndeadline = 2026-12-01 09:00, no later\n")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"b = 'x'\na = 1", "line 2: a must be a text in quotes, not 1"),
        (b"b = 'x'\n\na", r"is no TOML: .*line 3"),
        (b"a = 'x'\nb = '\xff'\n", "line 2 is not UTF-8 text"),
        (b"b = 'x'\n[a]\nb = 'y'\n", "line 2: a must be a text"),
        (b"b = 'x'\n\"a.b\" = '" + b"x" * 1_000 + b"'\n", "line 2: pin 'a.b' has 1003 characters"),
    ],
)
def test_a_file_of_pins_that_is_none_is_told_by_its_line_and_with_what_helps(
    tmp_path: Path, raw: bytes, words: str
) -> None:
    (tmp_path / "pins.toml").write_bytes(raw)
    with pytest.raises(UsageError, match=rf"pins\.toml: {words}.* Mend or remove that line .* or remove the file"):
        read_pins(tmp_path)


@pytest.mark.parametrize("value", ["\U0001f600", "\x7f", "\x00\x1f\r\n", "\\u0041", '"""', "\u2028\u0085\ufeff"])
def test_what_is_written_is_read_again_as_it_was(tmp_path: Path, value: str) -> None:
    pins = {f"k{value.strip()}" if "\n" not in value else "k": value}
    write_pins(tmp_path, pins)
    assert read_pins(tmp_path) == pins
