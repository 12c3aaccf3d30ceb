"""The context window in a whole run: what filled it is known, and one that was compacted is replayed byte for byte."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Pool, Run, ScriptedModel
from outcrop.gateway import Gateway
from outcrop.models import ModelTable
from outcrop.models.scripted import turn
from outcrop.rates import RateGovernor
from outcrop.recovery import open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop.steps import agents_of, steps_of
from outcrop_schemas import limits, wire
from outcrop_schemas.messages import (
    Message,
    ModelRequest,
    ModelResponse,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
)
from outcrop_schemas.outcome import RunOutcome
from outcrop_specialists.brief import EARLIER
from outcrop_specialists.context.segments import estimated, pieces, scaled
from outcrop_specialists.context.selection.embedding import find_embedder
from outcrop_specialists.roles import get_role
from outcrop_specialists.tools.registry import all_tools

CHARS_A_TOKEN = 3.7
DONE = {"status": "success", "summary": "done", "results": {}}


class Counting:
    """Has the work done by a specialist who looks again and again, and counts tokens as a server does."""

    name = "counting"

    def __init__(self, *, is_free: bool, looks: int = 12) -> None:
        self.is_free, self._looks = is_free, looks
        self.requests: list[ModelRequest] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        answer = self._answer(request)
        tokens = round(len(request.as_bytes()) / CHARS_A_TOKEN)
        return answer.model_copy(update={"usage": Usage(input_tokens=tokens, output_tokens=10)})

    def _answer(self, request: ModelRequest) -> ModelResponse:
        number = len(self.requests)
        if not request.tools:
            return turn(text="It went well.", turn_id=f"s{number}")
        if any(tool.name == "dispatch" for tool in request.tools):
            asked = sum(message.role == "assistant" for message in request.messages)
            work = {"specialist": "analytics", "objective": "look", "data": ["assays.csv"]}
            calls = ("complete", {"status": "success", "summary": "done"}) if asked else ("dispatch", work)
            return turn(calls, turn_id=f"l{number}")
        looked = sum(not one.tools or "dispatch" not in {t.name for t in one.tools} for one in self.requests)
        if looked > self._looks:
            return turn(("complete", DONE), turn_id=f"e{number}")
        return turn(("query_data", {"path": "assays.csv", "operation": "head", "n": looked}), turn_id=f"t{number}")


async def run_in_a_small_window(
    workspace: Path, *, is_free: bool, filled: float = 0.88, looks: int = 12
) -> tuple[RunOutcome, Counting]:
    rows = "".join(f"S{number:04d},{number % 7}.{number % 90},granite\n" for number in range(400))
    (workspace / "assays.csv").write_text(f"sample,Au,rock\n{rows}")
    first = await Run(
        "look", ["assays.csv"], workspace=workspace, launcher=warm(), model=Counting(is_free=True, looks=0)
    ).start()
    [_, specialist] = agents_of(record := open_run_of(first))
    # So small that the schemas of the tools fill that share of it.
    room = int(steps_of(record, specialist)[0].total / filled) + limits.MODEL_OUTPUT_TOKENS
    settings = Settings(roles={"analytics": {"window_tokens": room, "tools": "all"}})
    model = Counting(is_free=is_free, looks=looks)
    outcome = await Run(
        "look", ["assays.csv"], workspace=workspace, launcher=warm(), model=model, settings=settings
    ).start()
    return outcome, model


@pytest.mark.parametrize(("is_free", "filled"), [(True, 0.88), (False, 0.88), (False, 0.78), (True, 0.78)])
async def test_a_compacted_run_is_rebuilt_byte_for_byte(workspace: Path, is_free: bool, filled: float) -> None:
    outcome, model = await run_in_a_small_window(
        workspace, is_free=is_free, filled=filled, looks=12 if filled > 0.8 else 36
    )
    assert outcome.status == "success", outcome.errors
    run = open_run_of(outcome)
    asked = [request for request in model.requests if any(EARLIER in str(m.content) for m in request.messages)]
    assert asked, "it was compacted"
    summaries = [step for name in agents_of(run) for step in steps_of(run, name) if step.purpose == "compaction"]
    # One that is free is not asked, and one that costs neither where the next turn would need a summary again.
    assert bool(summaries) == (not is_free and filled < 0.8), "a model that costs sums up itself"
    assert [(one.agent, one.difference) for one in await asyncio.to_thread(verify, run) if one.difference] == []


def open_run_of(outcome: RunOutcome) -> Any:
    return open_run(RunFolder(Path(outcome.run_folder)))


async def test_the_ledger_of_a_recorded_conversation_is_what_the_server_reported(workspace: Path) -> None:
    outcome, _ = await run_in_a_small_window(workspace, is_free=True)
    run = open_run_of(outcome)
    for agent in agents_of(run):
        steps = steps_of(run, agent)
        assert all(step.is_reported for step in steps)
        assert [sum(step.segments.values()) for step in steps] == [step.total for step in steps]
    assert outcome.usage["input_tokens"] == sum(step.total for name in agents_of(run) for step in steps_of(run, name))


def test_what_is_anchored_on_the_last_report_is_within_two_percent_of_the_next() -> None:
    from outcrop_specialists.context.tokens import TokenMeter

    meter, text = TokenMeter(), "Cu 0.42 % in DDH-104 from 12 to 14.5 m, as the laboratory says. "
    for turns in range(4, 40):
        request = ModelRequest(
            system="You look.", messages=[{"role": "user", "content": [{"type": "text", "text": text * turns * 20}]}]
        )  # type: ignore[list-item]
        estimate, real = sum(estimated(request).values()), round(len(request.as_bytes()) / CHARS_A_TOKEN)
        if turns > 4:
            assert abs(meter.tokens(estimate) - real) <= 0.02 * real
        meter.reported(estimate, Usage(input_tokens=real // 4, cache_read_input_tokens=real - real // 4))


@pytest.mark.parametrize("total", [0, 1, 7, 1_000, 123_457])
def test_shares_add_up_exactly(total: int) -> None:
    found = scaled({"system": 3, "tools": 3, "conversation": 1}, total)
    assert sum(found.values()) == total


async def test_a_specialist_is_offered_what_its_work_needs_and_finds_the_rest(workspace: Path) -> None:
    (workspace / "a.csv").write_text("sample,Au\n" + "".join(f"s{n},{n / 7}\n" for n in range(30)))
    model = ScriptedModel(
        [
            turn(("inspect_dataset", {"path": "a.csv"}), turn_id="a"),
            turn(("find_tools", {"query": "how sure are we of a fit of one column by others"}), turn_id="b"),
            # One that nobody offered: it is carried out all the same.
            turn(("check_missing", {"path": "a.csv"}), ("no_such_tool", {}), turn_id="c"),
            turn(("complete", DONE), turn_id="d"),
        ]
    )
    settings = Settings(roles={"analytics": {"tools": "select"}})
    async with Pool(workers=1, model=model, workspace=workspace, launcher=warm(), settings=settings) as pool:
        outcome = await pool.dispatch("analytics", "cluster the samples into 3 groups", ["a.csv"])
        folder = pool.run_folder
        log = folder.transcript(outcome.dispatch_id).read_text("utf-8")
    assert outcome.status == "success", outcome.errors
    offered = [[tool.name for tool in request.tools] for request in model.requests]
    assert {"find_tools", "read_result", "inspect_dataset", "cluster", "complete"} <= set(offered[0])
    assert len(offered[0]) <= limits.TOOLS_OFFERED + 4 < len(get_role("analytics").tools)
    assert "regression" in offered[2]
    assert "check_missing" in offered[3]
    for before, after in itertools.pairwise(offered):
        # The list only grows at its end, `complete` aside, so that its beginning stays in the cache.
        assert after[: len(before) - 1] == before[:-1]
    results = model.requests[3].as_bytes().decode()
    assert "missing" in results
    assert '\\"type\\":\\"unknown_name\\"' in results
    assert '"tools\\":\\"select\\"' in log
    embedder = find_embedder()
    assert ("embedder" in log) == (embedder is not None)
    assert embedder is None or embedder.name in log
    assert '\\"missed\\":\\"check_missing\\"' in log
    checked = await asyncio.to_thread(verify, open_run(folder))
    assert [each.difference for each in checked] == [None]


@pytest.mark.parametrize(("chars", "is_said"), [(20_000, False), (40_000, True)])
async def test_tool_results_that_fill_the_window_are_a_warning_of_the_outcome(
    tmp_path: Path, chars: int, is_said: bool
) -> None:
    (tmp_path / "exchanges").mkdir()
    settings = Settings(roles={"analytics": {"window_tokens": 40_000}})
    models = ModelTable(ScriptedModel([turn(text="I see.")]), settings)
    line = Gateway(models, RunFolder(tmp_path), RateGovernor(1)).line("d1", "analytics")
    call = Message(role="assistant", content=[ToolUseBlock(id="t1", name="look", input={})])
    result = Message(role="user", content=[ToolResultBlock(tool_use_id="t1", content="w" * chars)])
    start = Message(role="user", content=[TextBlock(text="Objective:\nlook")])
    await line.create(ModelRequest(system="s", messages=[start, call, result]))
    line.close()
    assert any("tool results filled 33% of the window" in told for told in line.warnings) == is_said


def test_the_parts_of_the_ledger_are_near_those_of_a_real_tokenizer() -> None:
    """The total is the server's; how it falls to the segments must be true too, or nobody knows which one grew."""
    wordllama = pytest.importorskip("wordllama", reason="its tokenizer is a real one; the extra `embed` brings it")
    tokenizers = pytest.importorskip("tokenizers")
    [file] = (Path(wordllama.__file__).parent / "tokenizers").glob("*tokenizer*.json")
    real = tokenizers.Tokenizer.from_file(str(file))
    rows = [{"hole": f"DDH-{n:03d}", "from": n * 1.5, "Au_ppm": round(n / 7, 3), "lith": "granite"} for n in range(60)]
    said = "Zinc rises with depth in the northern holes; the laboratory repeats three samples. " * 12
    call = ToolUseBlock(id="t1", name="query_data", input={"path": "assays.csv", "operation": "head"})
    request = ModelRequest(
        system="You work on tables of exploration data, and never guess a figure. " * 20,
        messages=[
            Message(
                role="user", content=[TextBlock(text="Objective:\nsum up gold by lithology, with the deepest hole")]
            ),
            Message(role="assistant", content=[TextBlock(text=said), call]),
            Message(role="user", content=[ToolResultBlock(tool_use_id="t1", content=wire.dumps(rows).decode())]),
        ],
        tools=[tool.schema() for tool in all_tools()[:8]],
    )
    counted: dict[str, int] = {}
    for segment, text in pieces(request):
        counted[segment] = counted.get(segment, 0) + len(real.encode(text).ids)
    total = sum(counted.values())
    told = scaled(estimated(request), total)
    assert sum(told.values()) == total
    for segment, tokens in counted.items():
        assert abs(told[segment] - tokens) <= max(0.12 * total, 20), (segment, told[segment], tokens)  # type: ignore[index]
