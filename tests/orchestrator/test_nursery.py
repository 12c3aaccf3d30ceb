"""The nursery: fresh processes in milliseconds, restarted when it dies, never trusted with threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest

from outcrop import Pool, ScriptedModel
from outcrop.launching.nursery import NurseryLauncher
from outcrop.models.scripted import turn
from outcrop_schemas.messages import ModelResponse

WORK = ("query_data", {"path": "a.csv", "operation": "describe"})


def working() -> Iterator[ModelResponse]:
    """Real work of polars, scikit-learn and matplotlib, then a completion, for ever."""
    calls = [
        ("cluster", {"path": "a.csv", "columns": ["x", "y"], "n_clusters": 2}),
        ("reduce_dimensions", {"path": "a.csv", "columns": ["x", "y"]}),
        ("plot_scatter", {"path": "a.csv", "x": "x", "y": "y"}),
        ("complete", {"status": "success", "summary": "done", "results": {"n": 1}}),
    ]
    number = 0
    while True:
        number += 1
        yield turn(*calls, turn_id=f"t{number}")


@pytest.fixture
async def launcher(workspace: Path) -> NurseryLauncher:
    return NurseryLauncher(workspace / ".outcrop" / "cache")


@pytest.fixture
async def pool(workspace: Path, launcher: NurseryLauncher) -> AsyncIterator[Pool]:
    rows = "\n".join(f"{n % 7},{(n * 3) % 11}" for n in range(60))
    (workspace / "a.csv").write_text(f"x,y\n{rows}\n")
    models = {"analytics": ScriptedModel(working()), "plotting": ScriptedModel(working())}
    async with Pool(workers=2, workspace=workspace, model=models, launcher=launcher) as opened:
        launcher.warm()
        await asyncio.wait_for(launcher.ready.wait(), 120)
        yield opened


def nursery_of(launcher: NurseryLauncher) -> psutil.Process:
    assert launcher._process is not None
    return psutil.Process(launcher._process.pid)


async def test_a_specialist_from_the_nursery_is_a_process_of_its_own_and_does_real_work(pool: Pool) -> None:
    outcomes = await asyncio.gather(*(pool.dispatch("analytics", "work", ["a.csv"]) for _ in range(20)))
    assert {(outcome.status, outcome.launch) for outcome in outcomes} == {("success", "nursery")}
    assert all("a_cluster_" in outcome.artifacts[0].path for outcome in outcomes)
    assert all(outcome.isolation["write_confined"].active for outcome in outcomes)


async def test_siblings_share_no_random_numbers_and_no_environment(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await pool.dispatch("analytics", "work", ["a.csv"], environment={"MINE": "1"})
    assert first.launch == "nursery"
    transcript = pool.run_folder.transcript(first.dispatch_id).read_text()
    assert '"type":"started"' in transcript


async def test_a_nursery_that_dies_is_started_again_and_meanwhile_work_starts_cold(
    pool: Pool, launcher: NurseryLauncher
) -> None:
    nursery_of(launcher).kill()
    while launcher.ready.is_set():
        await asyncio.sleep(0.01)
    assert (await pool.dispatch("analytics", "work", ["a.csv"])).launch == "cold"
    await asyncio.wait_for(launcher.ready.wait(), 120)
    assert (await pool.dispatch("analytics", "work", ["a.csv"])).launch == "nursery"


async def test_a_nursery_that_dies_again_and_again_fails_with_the_reason(pool: Pool, launcher: NurseryLauncher) -> None:
    for _ in range(4):
        nursery_of(launcher).kill()
        while launcher._process is not None:
            await asyncio.sleep(0.01)
        launcher.warm()
    nursery_of(launcher).kill()
    while launcher._process is not None:
        await asyncio.sleep(0.01)
    outcome = await pool.dispatch("analytics", "work", ["a.csv"])
    assert outcome.status == "spawn_error"
    assert "the nursery died 5 times" in outcome.errors[0]


async def test_the_nursery_ends_with_the_pool(workspace: Path) -> None:
    launcher = NurseryLauncher(workspace / ".outcrop" / "cache")
    async with Pool(workspace=workspace, launcher=launcher):
        launcher.warm()
        process = nursery_of(launcher)
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


async def test_the_nursery_holds_no_key_and_no_data(
    pool: Pool, launcher: NurseryLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = set(nursery_of(launcher).environ())
    assert not any("KEY" in name or "TOKEN" in name for name in names)
    assert not any(opened.path.endswith(".csv") for opened in nursery_of(launcher).open_files())


async def test_a_command_never_pays_for_a_nursery(workspace: Path) -> None:
    launcher = NurseryLauncher(workspace / ".outcrop" / "cache")
    async with Pool(workspace=workspace, launcher=launcher) as opened:
        outcome = await opened.dispatch("mine", command=["true"])
    assert outcome.launch == "cold"
    assert not launcher._starts
