"""What several runs of one process share: opened once, closed in the same place. Nothing here belongs to one run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outcrop.budget import Budget, Ceiling
from outcrop.gaps.installing import PackageStore
from outcrop.hands import Hands
from outcrop.isolation import IsolationProof
from outcrop.launching import Launcher
from outcrop.launching.nursery import choose_launcher
from outcrop.ledger import Terms, check_prices
from outcrop.models import ModelTable
from outcrop.outside.servers import check_installed
from outcrop.places import Places
from outcrop.rates import RateGovernor
from outcrop.telemetry import Providers, RunSpans, Telemetry, open_telemetry
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import PoolBusyError, UsageError
from outcrop_specialists.context.skills import find_skills
from outcrop_specialists.guard.kernel import hide_from_others

if TYPE_CHECKING:
    from outcrop.waiting import Waiting

LOCAL = "local"


@dataclass(frozen=True)
class Shared:
    """What several runs of one process share."""

    workspace: Workspace
    models: ModelTable
    places: Places
    starts: asyncio.Semaphore
    governor: RateGovernor
    launcher: Launcher
    proof: IsolationProof
    hands: Hands
    budget: Budget
    terms: Terms
    skills: Mapping[str, str]
    """Name and description of each skill of the workspace."""

    problems: Sequence[str]
    """Why other folders of skills are none."""

    backend: str
    """Where specialists are started."""

    telemetry: Telemetry

    packages: PackageStore
    """What was installed for specialists of this workspace."""

    @classmethod
    @asynccontextmanager
    async def opened(
        cls,
        workspace: Workspace,
        models: ModelTable,
        workers: int | None,
        model_calls: int,
        launcher: Launcher | str = "auto",
        budget: Budget | None = None,
        terms: Terms | None = None,
        backend: str = LOCAL,
        providers: Providers | None = None,
    ) -> AsyncIterator[Shared]:
        """Hold the workspace, with places for `workers` specialists and `model_calls` model calls at a time.

        `launcher` is one of your own, or `auto`, `nursery` or `cold`. `budget` is that of the models' settings where
        none is given, `terms` their prices. `backend` says where specialists are started: `local`, or `dask:ADDRESS`
        of a cluster, which then says how many, up to `workers` where that is given. `providers` are an application's
        own for telemetry. Raises UsageError, WorkspaceError, ClusterError.
        """
        settings = models.settings
        budget = budget or Budget(Ceiling(settings.budget_usd, settings.budget_tokens))
        terms = terms or Terms(settings.price_list(), models.is_free)
        check_prices(budget.ceiling, terms.prices, models.paid_names())
        check_installed(settings.mcp)
        if workers is not None and workers < 1:
            raise UsageError(f"workers must be at least 1, not {workers}")
        async with AsyncExitStack() as stack:
            telemetry = open_telemetry(settings, providers)
            stack.push_async_callback(telemetry.close)
            workspace.hold()
            stack.callback(workspace.release)
            if backend == LOCAL:
                taken = choose_launcher(launcher, workspace.home / "cache")
                stack.push_async_callback(taken.close)
                places = Places(workers or settings.workers)
            else:
                from outcrop.cluster.dask import open_backend

                taken = cluster = await stack.enter_async_context(open_backend(backend, workspace, settings, launcher))
                places = cluster.places(workers)
            proof = IsolationProof(workspace, taken, wraps=settings.bubblewrap)
            stack.push_async_callback(proof.close)
            # Whoever holds a key must not be readable for what runs under the same user.
            hide_from_others()
            found, problems = find_skills(workspace.folder)
            hands = Hands(places.most)
            stack.callback(hands.close)
            stack.push_async_callback(models.close)
            yield cls(
                workspace,
                models,
                places,
                asyncio.Semaphore(limits.STARTS_AT_A_TIME),
                RateGovernor(model_calls),
                taken,
                proof,
                hands,
                budget,
                terms,
                {skill.name: skill.description for skill in found},
                problems,
                backend,
                telemetry,
                PackageStore(workspace.home),
            )

    @property
    def is_local(self) -> bool:
        """Whether specialists are started on this machine."""
        return self.backend == LOCAL

    @asynccontextmanager
    async def place(
        self, spans: RunSpans, until: float | None = None, waiting: Waiting | None = None
    ) -> AsyncIterator[Callable[[], None]]:
        """A free place, and then a turn to start, which ends when the function that is given is called.

        Few start at a time: two hundred at once would each take so long that none is there in time. One that is
        cancelled while it waits is given neither, since it starts nothing. Raises PoolBusyError where there is none by
        that time.
        """
        within = None if until is None else until - time.monotonic()
        try:
            with spans.waiting():
                async with asyncio.timeout(within) as wait:
                    with waiting.within(wait) if waiting else nullcontext():
                        await self.places.acquire()
            has_place = True
        except TimeoutError:
            if waiting is None or not waiting.is_cancelled:
                raise PoolBusyError("no worker was free before the deadline; nothing was started") from None
            has_place = False
        if not has_place:
            yield _nothing_to_start
            return
        with ExitStack() as place:
            place.callback(self.places.release)
            await self.starts.acquire()
            with ExitStack() as turn:
                turn.callback(self.starts.release)
                yield turn.close


def _nothing_to_start() -> None:
    """The end of a turn that nobody has."""
