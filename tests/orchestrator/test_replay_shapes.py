"""Runs of more than twenty shapes: every prompt of each is rebuilt, and those with files make the same files again."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from installed import outcrop

from outcrop import Pool, Run, ScriptedModel
from outcrop.again import run_again
from outcrop.batch import Batch
from outcrop.launching.nursery import NurseryLauncher
from outcrop.memory import Memory
from outcrop.models.scripted import turn
from outcrop.plans.following import Follow, without_model
from outcrop.plans.inspecting import export
from outcrop.recovery import RunRecord, open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder, all_runs
from outcrop.settings import Settings
from outcrop.stepping import steps
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.messages import ModelRequest, ModelResponse, TextBlock, ThinkingBlock, Usage

ROWS = [f"s{n},{n % 7 + n / 10:.1f},{(n * 13) % 11},{'granite' if n % 3 else 'shale'}" for n in range(40)]
TABLE = "\n".join(["sample,Cu_ppm,Zn_ppm,rock", *ROWS, ROWS[3], ROWS[9]]) + "\n"
DATA = ["soils.csv"]
ACCOUNT = {"done": "Duplicates are gone.", "state": "One table is left.", "remains": "Say so."}
Made = Path | list[Path]


class Kept(NurseryLauncher):
    """One nursery for all runs."""

    async def close(self) -> None:
        """It is ended by who made it."""

    async def end(self) -> None:
        await super().close()


class Place:
    """A workspace in which runs are made one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "soils.csv").write_text(TABLE)
        (folder / "other.csv").write_text(TABLE.replace("Cu_ppm", "Cu (ppm)"))
        (folder / "notes.txt").write_text("Laboratory notes: zinc by ICP, copper by AAS.\n" * 30)
        (folder / "few.txt").write_text("".join(f"line {n}\n" for n in range(40)))
        for number in range(7):
            lines = (f"{number} {n} of a long text that fills what there is\n" for n in range(1_500))
            (folder / f"long{number}.txt").write_text("".join(lines))
        self.launcher = Kept(folder / ".outcrop" / "cache")

    async def run(self, objective: str = "look at the soils", data: list[str] = DATA, **more: Any) -> Path:
        work = Run(objective, data, workspace=self.folder, launcher=self.launcher, **more)
        return Path((await work.start()).run_folder)

    async def scripted(self, lead: list[Any], cleaning: list[Any] | None = None, **more: Any) -> Path:
        models = {"lead": ScriptedModel(lead), "cleaning": ScriptedModel(cleaning or [], name="cleaner")}
        return await self.run(model=models, **more)

    def pool(self, **more: Any) -> Pool:
        return Pool(workers=2, workspace=self.folder, launcher=self.launcher, **more)


@pytest.fixture
async def place(workspace: Path) -> AsyncIterator[Place]:
    made = Place(workspace)
    yield made
    await made.launcher.end()


def order(objective: str = "drop duplicates", **more: Any) -> tuple[str, dict[str, Any]]:
    return "dispatch", {"specialist": "cleaning", "objective": objective, "data": DATA, **more}


def done(said: str = "done", **more: Any) -> ModelResponse:
    return turn(("complete", {"status": "success", "summary": said, **more}), turn_id="end")


def cleaned(name: str = "c") -> list[ModelResponse]:
    call = turn(("remove_duplicates", {"path": "soils.csv"}), turn_id=name)
    return [call, done("2 removed", results={"removed": 2})]


async def a_plan(place: Place) -> Path:
    record = open_run(
        next(folder for folder in all_runs(Workspace(place.folder)) if "cluster the samples" in about(folder))
    )
    async with without_model(Workspace(place.folder), Settings(), place.launcher) as shared:
        outcome = await Follow(await export(record, shared), ["other.csv"], {}).start(shared)
    return Path(outcome.run_folder)


def about(folder: RunFolder) -> str:
    return str(open_run(folder).about.get("objective"))


async def a_pool(place: Place) -> Path:
    """Several dispatches of specialists, one that fails and two programs of one's own, of which one is too slow."""
    async with place.pool(model="offline") as pool:
        program = [sys.executable, "-c", PROGRAM]
        work = [
            pool.dispatch("analytics", "summarise Cu_ppm", DATA),
            pool.dispatch("cleaning", "remove duplicates", DATA),
            pool.dispatch("analytics", "summarise Zn_ppm", ["soils.csv"], {"of": "the laboratory"}),
            pool.dispatch("mine", "answer", command=program),
            pool.dispatch("slow", "wait", command=[sys.executable, "-c", SLOW], timeout=0.5, grace=0.1),
        ]
        outcomes = await asyncio.gather(*work)
        assert [one.status for one in outcomes[3:]] == ["success", "timeout"]
        return pool.run_folder.path


PROGRAM = (
    "import json, sys; said = json.loads(sys.stdin.readline())['dispatch_id']; "
    "print(json.dumps({'type': 'completion', 'dispatch_id': said, 'status': 'success', 'results': {'answer': 42}}))"
)
SLOW = "import threading; threading.Event().wait(60)"


async def a_lone_dispatch(place: Place) -> Path:
    async with place.pool(model="offline") as pool:
        await pool.dispatch("plotting", "plot a histogram of Cu_ppm", DATA, attach=["notes.txt", "soils.csv"])
        return pool.run_folder.path


async def one_cancelled_of_a_pool(place: Place) -> Path:
    waiting = Waiting()
    async with place.pool(model=waiting) as pool:
        task = asyncio.create_task(pool.dispatch("analytics", "look", DATA))
        await waiting.is_asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pool.run_folder.path


async def cancelled(place: Place) -> Path:
    waiting = Waiting()
    models: dict[str, Any] = {"lead": ScriptedModel([turn(order(), turn_id="a")]), "cleaning": waiting}
    work = Run("clean", DATA, workspace=place.folder, model=models, launcher=place.launcher)
    task = asyncio.create_task(work.start())
    await waiting.is_asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.desk is not None
    return work.desk.folder.path


class Waiting:
    """A model that never answers."""

    name, is_free = "waiting", True

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()

    async def create(self, request: ModelRequest) -> Any:
        self.is_asked.set()
        await asyncio.Event().wait()


async def killed(place: Place) -> Path:
    """The record as a SIGKILL in the middle of a dispatch leaves it: what was being written is torn."""
    folder = await place.scripted([turn(order(), turn_id="l"), done()], cleaned())
    copy = folder.with_name(folder.name[:-4] + "dead")
    shutil.copytree(folder, copy)
    lines = (copy / "journal.jsonl").read_bytes().splitlines(keepends=True)
    at = next(place for place, line in enumerate(lines) if b'"type":"end"' in line)
    (copy / "journal.jsonl").write_bytes(b"".join(lines[:at]) + lines[at][:50])
    lead = (copy / "exchanges" / "lead.jsonl").read_bytes().splitlines(keepends=True)
    (copy / "exchanges" / "lead.jsonl").write_bytes(lead[0])
    [own] = (copy / "exchanges").glob("d0001-*.jsonl")
    own.write_bytes(own.read_bytes()[:-30])
    return copy


async def a_batch(place: Place) -> Made:
    """Two jobs, of which one cannot be done."""
    known = {folder.run_id for folder in all_runs(Workspace(place.folder))}
    jobs = [{"objective": f"summarise {name}", "data": "soils.csv"} for name in ("Cu_ppm", "Au_ppm")]
    (place.folder / "jobs.jsonl").write_text("".join(json.dumps(job) + "\n" for job in jobs))
    await Batch(place.folder / "jobs.jsonl", workspace=place.folder, model="offline").start()
    return [folder.path for folder in all_runs(Workspace(place.folder)) if folder.run_id not in known]


def counted(response: ModelResponse, tokens: int) -> ModelResponse:
    return response.model_copy(update={"usage": Usage(input_tokens=tokens, output_tokens=10)})


class Paid(ScriptedModel):
    """Scripted turns that cost something; a request without tools asks for a summary."""

    is_free = False

    async def create(self, request: ModelRequest) -> ModelResponse:
        if not request.tools:
            return counted(turn(text="Four places of few.txt were looked at.", turn_id="s"), 1_000)
        return counted(await super().create(request), len(request.as_bytes()) // 4)


class Dear(ScriptedModel):
    """After its first turn there is no room under the ceiling."""

    is_free = False

    async def create(self, request: ModelRequest) -> ModelResponse:
        return counted(await super().create(request), 190_000)


def in_a_small_window(model: type[ScriptedModel]) -> Callable[[Place], Awaitable[Path]]:
    """So small that turns are summed up; by rule also so that in the end results are cut as they arrive."""

    async def made(place: Place) -> Path:
        looks = [
            turn(("query_data", {"path": "soils.csv", "operation": "head", "n": n}), turn_id=f"t{n}") for n in LOOKS
        ]
        many = turn(*(("read_file", {"path": f"long{n}.txt"}) for n in range(7)), turn_id="many")
        settings = Settings(roles={"plotting": {"window_tokens": limits.MODEL_OUTPUT_TOKENS + 24_000, "tools": "all"}})
        turns = [*looks, *([] if model is Paid else [many]), done(results={})]
        async with place.pool(model=model(turns, name="claude-haiku-4-5"), settings=settings) as pool:
            outcome = await pool.dispatch("plotting", "look at it", DATA)
            assert outcome.status == "success", outcome.errors
            folder = pool.run_folder.path
        told = (folder / "exchanges" / f"{outcome.dispatch_id}.jsonl").read_text()
        assert ('"whole_results":' in told) == (model is ScriptedModel)
        assert model is Paid or '"purpose":"compaction"' not in told
        return folder

    return made


LOOKS = range(1, 31)


async def with_skills_and_memory(place: Place) -> Made:
    skill = place.folder / "skills" / "units" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: units\ndescription: Which units we use\n---\nAlways ppm.\n")
    Memory(place.folder / ".outcrop").remember("The soils were sieved to 180 µm.", "me")
    lead = [
        turn(("read_skill", {"name": "units"}), ("remember", {"fact": "Zinc is in ppm."}), turn_id="a"),
        turn(order(), turn_id="b"),
    ]
    first = await place.scripted([*lead, done()], [turn(("read_skill", {"name": "units"}), turn_id="s"), *cleaned()])
    second = await place.run("summarise zinc of the soils", model="offline")
    return [first, second]


def thinking(place: Place) -> Awaitable[Path]:
    thought = ThinkingBlock(thinking="First the duplicates.", signature="c2ln")
    first = turn(order(), turn_id="t").model_copy(
        update={"content": [thought, TextBlock(text="I begin. "), *turn(order(), turn_id="t").content]}
    )
    paused = ModelResponse(id="p", model="m", content=[TextBlock(text="Wait")], stop_reason="pause_turn")
    cut = ModelResponse(id="q", model="m", content=[TextBlock(text="It was")], stop_reason="max_tokens")
    return place.scripted([paused, first, cut, done()], cleaned())


async def selected(place: Place) -> Path:
    turns = [
        turn(("find_tools", {"query": "which values are missing"}), turn_id="f"),
        turn(("check_missing", {"path": "soils.csv"}), ("no_such_tool", {}), turn_id="g"),
        done(results={}),
    ]
    settings = Settings(roles={"analytics": {"tools": "select"}})
    async with place.pool(model=ScriptedModel(turns), settings=settings) as pool:
        await pool.dispatch("analytics", "how complete is it", DATA)
        return pool.run_folder.path


def read_on(request: ModelRequest) -> ModelResponse:
    """The archive of the turns that are gone, by its handle."""
    [handle] = re.findall(r"all of them: read_result (\w+)", request.as_bytes().decode())
    return turn(("read_result", {"handle": handle}), turn_id="r")


TWO = [turn(order("one"), order("two"), ("list_files", {}), turn_id="l"), done()]
SAME = [
    ("query_data", {"path": "soils.csv", "operation": "describe"}),
    ("complete", {"status": "success", "summary": "x"}),
]
SHAPES: Mapping[str, Callable[[Place], Awaitable[Made]]] = {
    "offline, one step": lambda p: p.run("summarise Cu_ppm by rock", model="offline"),
    "offline, several dispatches": lambda p: p.run(
        "remove duplicates, cluster the samples into 2 groups on Cu_ppm and Zn_ppm and plot both",
        model="offline",
        workers=2,
    ),
    "offline, what cannot be done": lambda p: p.run("summarise Au_ppm", model="offline"),
    "offline, nothing given": lambda p: p.run("which files are there", [], model="offline"),
    "pins and attachments": lambda p: p.run(
        "summarise Zn_ppm", model="offline", pins={"limit": "5 ppm — exactly"}, attach=["notes.txt", "soils.csv"]
    ),
    "skills and memory": with_skills_and_memory,
    "pins set on the way": lambda p: p.scripted(
        [turn(("pin", {"key": "a", "value": "1"}), order(), ("pin", {"key": "b", "value": "2"}), turn_id="l"), done()],
        cleaned(),
    ),
    "a dispatch that cannot begin and one that fails": lambda p: p.scripted(
        [
            turn(order(data=["none.csv"]), order(), turn_id="l"),
            turn(("check_missing", {"path": "x"}), turn_id="m"),
            done(),
        ]
    ),
    "dispatches of one turn at the same time": lambda p: p.scripted(
        TWO, [lambda request, n=n: turn(SAME[n >= 2], turn_id=f"w{n}") for n in range(4)]
    ),
    "checkpoints": lambda p: p.scripted(
        [
            turn(order(), turn_id="l"),
            turn(("checkpoint", ACCOUNT), turn_id="m"),
            turn(("list_files", {}), turn_id="n"),
            done(),
        ],
        [*cleaned()[:1], turn(("checkpoint", ACCOUNT), turn_id="k"), done()],
    ),
    "what was put aside is read again": lambda p: p.scripted(
        [turn(order(), turn_id="l"), turn(("checkpoint", ACCOUNT), turn_id="m"), read_on, done()], cleaned()
    ),
    "thinking, a pause and a turn that was cut off": thinking,
    "no answer of the model": lambda p: p.scripted([turn(order(), turn_id="l")], cleaned()),
    "answers that are none": lambda p: p.scripted([turn(("complete", {}), turn_id=f"n{n}") for n in range(3)]),
    "nothing called": lambda p: p.scripted([turn(text="hm", turn_id=f"n{n}") for n in range(3)]),
    "the same call again and again": lambda p: p.scripted(
        [turn(("list_files", {}), turn_id=f"n{n}") for n in range(3)]
    ),
    "the limit of turns": lambda p: p.scripted(
        [turn(("pin", {"key": "k", "value": str(n)}), turn_id=f"n{n}") for n in range(3)],
        settings=Settings(roles={"lead": {"turns": 3}}),
    ),
    "a ceiling that was reached": lambda p: p.run(
        model={"lead": Dear([turn(order(), turn_id="l"), done()]), "cleaning": ScriptedModel(cleaned())},
        settings=Settings(budget_tokens=200_000),
    ),
    "tools that are looked for": selected,
    "a small window and a free model": in_a_small_window(ScriptedModel),
    "a small window and a model that costs": in_a_small_window(Paid),
    "cancelled": cancelled,
    "killed": killed,
    "a pool with programs and a timeout": a_pool,
    "a lone dispatch": a_lone_dispatch,
    "a dispatch of a pool, cancelled": one_cancelled_of_a_pool,
    "a plan on another table": a_plan,
    "jobs of a batch": a_batch,
}


IN_SHORT = (
    "offline, several dispatches",
    "skills and memory",
    "what was put aside is read again",
    "a plan on another table",
)
"""Those that are always done again; the others with OUTCROP_LONG."""
BY_COMMAND = ("a small window and a model that costs", "killed")


async def test_runs_of_more_than_twenty_shapes_are_rebuilt_and_make_the_same_files(place: Place) -> None:
    records: list[tuple[str, RunRecord]] = []
    for shape, make in SHAPES.items():
        made = await make(place)
        records += [(shape, open_run(RunFolder(path))) for path in (made if isinstance(made, list) else [made])]
    assert len(SHAPES) > 20
    statuses = {outcome.status for _, record in records for outcome in record.outcomes}
    assert statuses >= {"success", "partial", "error", "cancelled", "interrupted", "timeout"}
    ends = {record.answer.status for _, record in records if record.answer}
    assert ends >= {"success", "partial", "error", "budget", "cancelled"}
    for shape, record in records:
        differing = [one for one in await asyncio.to_thread(verify, record) if one.difference]
        assert (shape, differing) == (shape, [])
        ended = {step.agent for step in steps(record) if step.what == "outcome"}
        assert (shape, ended) == (shape, {outcome.dispatch_id for outcome in record.outcomes})
    for shape, record in records:
        if shape in BY_COMMAND:
            said = await asyncio.to_thread(outcrop, place.folder, "replay", "--verify", record.folder.run_id)
            assert (shape, said.returncode) == (shape, 0), said.stdout
    for shape, record in records:
        has_files = record.answer and record.answer.status != "cancelled" and record.answer.artifacts
        if has_files and (shape in IN_SHORT or os.environ.get("OUTCROP_LONG")):
            again = await run_again(record, record, Settings(), launcher=place.launcher)
            assert (shape, again.differences, again.statuses) == (shape, [], {})
            assert (shape, again.files) == (shape, {path: "same" for path in again.files})
            assert again.files
