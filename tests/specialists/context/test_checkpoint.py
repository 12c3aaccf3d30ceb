"""A phase ends with the agent's account, a fresh context starts from it, and no figure of the phase is lost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from outcrop_schemas import wire
from outcrop_schemas.messages import (
    Block,
    Message,
    ModelRequest,
    ModelResponse,
    OtherBlock,
    TextBlock,
    ToolResultBlock,
    ToolSchema,
    ToolUseBlock,
)
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.agent import Agent
from outcrop_specialists.brief import EARLIER, opening
from outcrop_specialists.completion import SpecialistAnswer
from outcrop_specialists.context.checkpoint import CHECKPOINT, Checkpoint
from outcrop_specialists.context.compaction import Compactor
from outcrop_specialists.context.pairing import paired
from outcrop_specialists.context.store import Store

ACCOUNT = {"done": "Cleaned the assays.", "state": "LB-2291 is left out.", "remains": "Draw the map of the trench."}
Call = tuple[str, dict[str, Any]]
END: Call = ("complete", {"status": "success", "summary": "s", "results": {}})


class Tools:
    def schemas(self) -> list[ToolSchema]:
        return [ToolSchema(name="look", description="Look.", input_schema={"type": "object"}), CHECKPOINT]

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        n = arguments["n"]
        found = {"summary": "looked", "results": {f"mean_{n}": n + 0.125}}
        return wire.dumps({**found, "artifacts": [{"path": f"results/look_{n}.csv", "rows": 10 + n}]}).decode()


class Says:
    def __init__(self, *turns: Sequence[Call]) -> None:
        self.turns, self.requests = list(turns), list[ModelRequest]()

    async def create(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        number = len(self.requests)
        content: list[Block] = [
            ToolUseBlock(id=f"t{number}_{n}", name=name, input=given)
            for n, (name, given) in enumerate(self.turns[number - 1])
        ]
        return ModelResponse(id=f"m{number}", model="x", content=content, stop_reason="tool_use")


async def worked(folder: Path, *turns: Sequence[Call], **options: Any) -> tuple[Says, list[Checkpoint]]:
    told: list[Checkpoint] = []

    async def on_checkpoint(checkpoint: Checkpoint) -> None:
        told.append(checkpoint)

    model = Says(*turns)
    agent = Agent(
        model,
        Tools(),
        system="You look.",
        opening=opening("look at the trench", ["a.csv"], pins={"unit": "ppm"}),
        answer=SpecialistAnswer,
        store=Store(folder),
        on_checkpoint=on_checkpoint,
        **options,
    )
    assert (await agent.run()).stop == "completed"
    return model, told


def looks(*numbers: int) -> list[list[Call]]:
    return [[("look", {"n": n})] for n in numbers]


async def test_the_work_goes_on_from_the_task_and_the_account_alone(tmp_path: Path) -> None:
    model, [told] = await worked(tmp_path / "s", *looks(1, 2), [("checkpoint", ACCOUNT)], *looks(3), [END])
    [fresh] = model.requests[3].messages
    texts = [block.text for block in fresh.content if isinstance(block, TextBlock)]
    first = model.requests[0].messages[0].content
    assert texts[:-1] == [block.text for block in first if isinstance(block, TextBlock)]
    assert texts[-1] == told.text
    assert told.text.startswith(f"{EARLIER} (3 turns are no longer shown; all of them: read_result ")
    assert all(f"> {title}: {words}" in told.text for title, words in ACCOUNT.items())
    assert told.model_dump(include={*ACCOUNT}) == ACCOUNT
    assert (told.number, told.reason, told.files) == (1, "asked", ["results/look_1.csv", "results/look_2.csv"])
    # Then it grows from there.
    assert model.requests[4].messages[0] == fresh


async def test_figures_and_files_that_the_account_leaves_out_stand_behind_it(tmp_path: Path) -> None:
    _, [told] = await worked(tmp_path / "s", *looks(1, 2), [("checkpoint", ACCOUNT)], [END])
    assert "mean_1 = 1.125" in told.text
    assert "rows = 12" in told.text
    assert "path: results/look_2.csv" in told.text
    # The turns themselves can be read.
    handle = re.search(r"read_result (\w+)", told.text)
    assert handle
    assert handle[1] == told.archive
    assert "mean_2" in Store(tmp_path / "s").page(handle[1]).text


async def test_results_that_the_agent_has_not_seen_yet_stay(tmp_path: Path) -> None:
    model, _ = await worked(tmp_path / "s", *looks(1), [("checkpoint", ACCOUNT), ("look", {"n": 7})], [END])
    opened, call, results = model.requests[2].messages
    assert EARLIER in str(opened.content)
    assert "1 turns are no longer shown" in str(opened.content)
    assert [
        block.content for block in results.content if isinstance(block, ToolResultBlock) and "7.125" in block.content
    ]
    assert paired([opened, call, results]) == [opened, call, results]


async def test_a_second_account_takes_the_place_of_the_first_and_loses_none_of_its_facts(tmp_path: Path) -> None:
    second = {"done": "Drew it.", "state": "Fine.", "remains": "Nothing."}
    turns = [*looks(1), [("checkpoint", ACCOUNT)], *looks(2), [("checkpoint", second)], [END]]
    model, [first, last] = await worked(tmp_path / "s", *turns)
    assert (last.number, last.text.count(EARLIER)) == (2, 1)
    assert "> done: Drew it." in last.text
    assert ACCOUNT["state"] in last.text
    assert ACCOUNT["remains"] not in last.text
    assert {"results/look_1.csv", "results/look_2.csv"} == set(last.files)
    assert "mean_1 = 1.125" in last.text
    # The archive leads to the one before.
    assert first.archive
    assert last.archive
    assert first.archive in Store(tmp_path / "s").page(last.archive).text
    assert len(model.requests[4].messages) == 1


async def test_an_account_that_lacks_a_part_is_refused_and_nothing_is_removed(tmp_path: Path) -> None:
    model, told = await worked(tmp_path / "s", *looks(1), [("checkpoint", {"done": "x", "state": ""})], [END])
    assert told == []
    result = model.requests[2].messages[-1].content[0]
    assert isinstance(result, ToolResultBlock)
    assert result.is_error
    assert '"type":"argument"' in result.content
    assert len(model.requests[2].messages) == 5


async def test_a_summary_that_the_window_forced_is_told_as_one_too(tmp_path: Path) -> None:
    _, told = await worked(tmp_path / "s", *looks(*range(40)), [END], window=WindowSettings(tokens=5_000), max_turns=60)
    assert told
    assert {each.reason for each in told} == {"compaction"}
    assert [each.number for each in told] == list(range(1, len(told) + 1))
    assert "mean_0 = 0.125" in told[-1].text
    assert told[-1].files[0] == "results/look_0.csv"


def test_tools_that_a_server_found_are_named() -> None:
    content = {"tool_references": [{"type": "tool_reference", "tool_name": "variogram"}]}
    found = OtherBlock.model_validate({"type": "tool_search_tool_result", "content": content})
    said = Message(role="assistant", content=[found])
    made = Compactor(Store(None)).begun_anew([Message(role="user", content=[TextBlock(text="go")]), said], 2, ACCOUNT)
    assert "> tools found by search: variogram" in str(made[0].content)


@pytest.mark.parametrize("is_checked", [True, False])
def test_an_account_without_a_figure_loses_none_because_it_is_checked(
    monkeypatch: pytest.MonkeyPatch, is_checked: bool
) -> None:
    if not is_checked:
        monkeypatch.setattr("outcrop_specialists.context.facts.lost", lambda facts, *texts: [])
    said = Message(role="assistant", content=[TextBlock(text="The fee of lot 7 is 88.40 USD.")])
    made = Compactor(Store(None)).begun_anew([Message(role="user", content=[TextBlock(text="go")]), said], 2, ACCOUNT)
    assert ("The fee of lot 7 is 88.40 USD." in str(made[0].content)) == is_checked
