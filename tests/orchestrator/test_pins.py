"""No request leaves without its pins: whatever drops, changes or misplaces one, nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from outcrop import Pool, Run, ScriptedModel
from outcrop.gateway import Gateway, Line
from outcrop.models import ModelTable
from outcrop.models.scripted import turn
from outcrop.pins import check_pins, read_pins, write_pins
from outcrop.rates import RateGovernor
from outcrop.runs import RunFolder
from outcrop_schemas.errors import PinMissingError, UsageError
from outcrop_schemas.messages import Message, ModelRequest, ModelResponse, TextBlock
from outcrop_specialists.brief import pinned

PINS = {"deadline": "2026-12-01 09:00, no later", "credit": "120.50 USD", "rule": "never\nvia Frankfurt"}


def asking(*texts: str) -> ModelRequest:
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


@pytest.mark.parametrize("what", DROPS)
async def test_a_request_that_lost_a_pin_on_its_way_is_not_sent(tmp_path: Path, what: str) -> None:
    model = Sent()
    asked = line(tmp_path, model)
    with pytest.raises(PinMissingError, match="a request was not sent: the pins"):
        await asked.create(asking("the work", *DROPS[what](pinned(PINS))))
    assert model.requests == []
    await asked.create(asking("the work", pinned(PINS)))
    asked.close()
    assert len(model.requests) == 1


def test_a_pin_in_the_middle_only_is_not_enough() -> None:
    start = asking("the work", pinned(PINS))
    grown = [*start.messages, Message(role="assistant", content=[TextBlock(text="…")]), *asking("more").messages]
    with pytest.raises(PinMissingError, match="deadline, credit, rule"):
        check_pins(start.model_copy(update={"messages": grown}), PINS)


def test_a_turn_that_paused_still_carries_them() -> None:
    start = asking("the work", pinned(PINS))
    paused = [*start.messages, Message(role="assistant", content=[TextBlock(text="I am searching")])]
    check_pins(start.model_copy(update={"messages": paused}), PINS)


async def test_a_specialist_inherits_them_at_the_start_and_at_the_end(workspace: Path) -> None:
    model = ScriptedModel([turn(("complete", {"status": "success", "summary": "done", "results": {}}))])
    async with Pool(workers=1, model=model, workspace=workspace) as pool:
        outcome = await pool.dispatch("analytics", "look", pins=PINS)
    assert outcome.status == "success"
    texts = [block.text for block in model.requests[0].messages[0].content if isinstance(block, TextBlock)]
    assert texts[0] == texts[-1] == pinned(PINS)
    assert model.requests[0].tail_blocks == 1


async def test_the_lead_has_them_at_the_start_and_at_the_end(workspace: Path) -> None:
    model = ScriptedModel([turn(("complete", {"status": "success", "summary": "done"}))])
    await Run("look", workspace=workspace, model=model, pins=PINS).start()
    texts = [block.text for block in model.requests[0].messages[0].content if isinstance(block, TextBlock)]
    assert texts[0] == texts[-1] == pinned(PINS)


async def test_the_pins_of_a_workspace_hold_for_every_run_in_it(workspace: Path) -> None:
    write_pins(workspace / ".outcrop", {"credit": "1 USD", **PINS, 'a "b" \\ ü': "é\u2028\t'"})
    assert read_pins(workspace / ".outcrop") == {**PINS, 'a "b" \\ ü': "é\u2028\t'"}
    model = ScriptedModel([turn(("complete", {"status": "success", "summary": "done"}))])
    await Run("look", workspace=workspace, model=model, pins={"credit": "200 EUR"}).start()
    last = model.requests[0].messages[0].content[-1]
    assert isinstance(last, TextBlock)
    assert last.text.startswith("Pinned facts:\ncredit = 200 EUR\ndeadline = 2026-12-01 09:00, no later\n")


@pytest.mark.parametrize(("text", "words"), [("a = 1", "a must be a text in quotes, not 1"), ("a", "is no TOML")])
def test_a_file_of_pins_that_is_none_is_told(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "pins.toml").write_text(text)
    with pytest.raises(UsageError, match=words):
        read_pins(tmp_path)
