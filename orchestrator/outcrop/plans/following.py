"""Follows a plan on other files: they are looked at first, then it is a run like any other, with a model of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from outcrop.events import Watcher, nobody
from outcrop.launching import Launcher
from outcrop.models import OFFLINE, ModelTable
from outcrop.models.plan import PlanModel
from outcrop.plans.binding import BoundPlan, bind
from outcrop.plans.files import check_plan
from outcrop.plans.inspecting import looking
from outcrop.run import Run
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop.shared import LOCAL, Shared
from outcrop.text import shorten
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.outcome import RunOutcome
from outcrop_schemas.plan import Plan

_TOLD = "Follow the plan of run {}: "


@asynccontextmanager
async def without_model(
    workspace: Workspace, settings: Settings, launcher: Launcher | str = "auto", backend: str = LOCAL
) -> AsyncIterator[Shared]:
    """What runs share, where no language model is asked: what settings say of one does not hold."""
    plain = settings.model_copy(update={"roles": {}})
    models = ModelTable(OFFLINE, plain)
    workers, calls = plain.chosen_workers(), plain.model_calls
    async with Shared.opened(workspace, models, workers, calls, launcher, backend=backend) as shared:
        yield shared


@dataclass
class Follow:
    """A plan on its way: `bound` is there once the files were found to fit, `run` once it began."""

    plan: Plan
    data: Sequence[str | Path]
    given: Mapping[str, str]
    pins: Mapping[str, str] | None = None
    watcher: Watcher = nobody
    on_open: Callable[[RunFolder], Awaitable[None]] | None = None
    bound: BoundPlan | None = None
    run: Run | None = None

    async def start(self, shared: Shared) -> RunOutcome:
        """Look at the files and do the work. Raises PlanError, PlanMismatchError and what a run raises."""
        check_plan(self.plan)
        files = [shared.workspace.data(path) for path in self.data]
        async with looking(shared) as look:
            bound = self.bound = await bind(self.plan, files, self.given, look)
        # What settings say of a model of one role does not hold here.
        models = ModelTable(PlanModel(bound), shared.models.settings.model_copy(update={"roles": {}}))
        following = replace(shared, models=models, terms=replace(shared.terms, is_free=models.is_free))

        async def on_open(folder: RunFolder) -> None:
            if self.on_open:
                await self.on_open(folder)
            assert self.run is not None
            assert self.run.desk is not None
            told = {"plan": bound.plan.model_dump(mode="json", by_alias=True), "files": dict(bound.files)}
            await self.run.desk.note("plan", {**told, "repairs": bound.repairs, "warnings": bound.warnings})

        said = _TOLD.format(self.plan.run) + self.plan.objective
        self.run = Run(
            shorten(said, limits.OBJECTIVE_CHARS),
            [bound.files[one.id] for one in bound.plan.inputs],
            pins=self.pins,
            watcher=self.watcher,
            shared=following,
            on_open=on_open,
        )
        return await self.run.start()
