"""What is done again where a node is lost before it said that it had started anything: without a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from outcrop import Pool
from outcrop.launching import Child, LaunchSpec, Swept
from outcrop.launching.cold import ColdLauncher
from outcrop.settings import Settings
from outcrop_schemas import limits
from outcrop_schemas.errors import NodeLostError


class Losing(ColdLauncher):
    """Loses the first nodes."""

    def __init__(self, losses: int) -> None:
        super().__init__()
        self.losses, self.launches = losses, 0

    async def launch(self, spec: LaunchSpec) -> Child:  # type: ignore[override]
        if "outcrop_specialists.guard.probe" in (spec.argv or ()):
            return await super().launch(spec)
        self.launches += 1
        if self.launches <= self.losses:
            raise NodeLostError("n1 was lost before it had started it: it is a test")
        return await super().launch(spec)


@pytest.mark.parametrize("losses", [0, 1, limits.LOST_NODES - 1])
async def test_a_call_of_a_tool_only_reads_and_is_run_again(losses: int, workspace: Path) -> None:
    (workspace / "a.csv").write_text("x\n1\n")
    async with Pool(workspace=workspace, launcher=Losing(losses)) as pool:
        outcome = await pool._open_desk().call_tool("list_files", {})
    assert outcome.status == "success", outcome.errors
    assert "a.csv" in str(outcome.results)


async def test_a_call_that_loses_too_many_nodes_is_told(workspace: Path) -> None:
    async with Pool(workspace=workspace, launcher=Losing(99)) as pool:
        outcome = await pool._open_desk().call_tool("list_files", {})
    assert outcome.status == "crashed"
    assert "set aside" in outcome.errors[0]


@pytest.mark.parametrize(("allowed", "status", "launches"), [(0, "crashed", 1), (1, "success", 2), (2, "success", 2)])
async def test_a_dispatch_is_done_again_where_it_may_be(
    allowed: int, status: str, launches: int, workspace: Path, program: Any
) -> None:
    launcher, settings = Losing(1), Settings(cluster_retry_lost=allowed)
    async with Pool(workspace=workspace, launcher=launcher, settings=settings) as pool:
        outcome = await pool.dispatch("mine", command=program("complete(1)"))
    assert (outcome.status, launcher.launches) == (status, launches)


class Vanishing(ColdLauncher):
    """Its nodes are gone when what ran there is to be ended: nobody says that it ended."""

    def __init__(self) -> None:
        super().__init__()
        self.launches = 0

    async def launch(self, spec: LaunchSpec) -> Child:  # type: ignore[override]
        child = await super().launch(spec)
        if "outcrop_specialists.guard.probe" in (spec.argv or ()):
            return child
        self.launches += 1
        ended = child.stop

        async def stop(grace_seconds: float) -> Swept:
            swept = await ended(grace_seconds)
            child.lost = "n1 did not say that it ended this: it is a test"
            return swept

        child.stop = stop  # type: ignore[method-assign]
        return child


async def test_an_answer_is_kept_where_the_node_is_lost_after_it(workspace: Path, program: Any) -> None:
    launcher, settings = Vanishing(), Settings(cluster_retry_lost=2)
    async with Pool(workspace=workspace, launcher=launcher, settings=settings) as pool:
        outcome = await pool.dispatch("mine", command=program("complete(1)"))
        (workspace / "a.csv").write_text("x\n1\n")
        called = await pool._open_desk().call_tool("list_files", {})
    assert (outcome.status, outcome.results, launcher.launches) == ("success", {"answer": 1}, 2)
    assert outcome.warnings == ["n1 did not say that it ended this: it is a test"]
    assert called.status == "success"
