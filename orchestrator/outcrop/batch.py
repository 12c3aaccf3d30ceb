"""A batch: many objectives, one line each; every job ends in exactly one recorded outcome, also across a crash.

The batch has a run of its own whose journal says which job began and ended; each job opens its own run when it starts.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from outcrop.batch_checks import Checks
from outcrop.batch_outcomes import BatchOutcome as BatchOutcome
from outcrop.batch_outcomes import JobOutcomes
from outcrop.batch_outcomes import Standing as Standing
from outcrop.batch_results import write_results
from outcrop.batch_resume import COUNTED, ENDED, STARTED, Before, Retry, last_batch, take_up
from outcrop.budget import Amount, Budget, Ceiling
from outcrop.desk import Desk
from outcrop.jobs import BadLine as BadLine
from outcrop.jobs import Job as Job
from outcrop.jobs import Line as Line
from outcrop.jobs import read_jobs as read_jobs
from outcrop.journal import Journal, now
from outcrop.launching import Launcher, gone
from outcrop.ledger import Terms
from outcrop.models import ModelChoice, ModelTable
from outcrop.models.api_batch import SENDING, SENT, Mailbox
from outcrop.plans.following import Follow
from outcrop.records import Entry
from outcrop.recovery import open_run
from outcrop.run import Run
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop.shared import LOCAL, Shared
from outcrop.telemetry import Providers
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError, OutcropError, UnknownNameError, UsageError
from outcrop_schemas.outcome import STATUSES, RunOutcome, Status

if TYPE_CHECKING:
    from outcrop.telemetry import MeterProvider, TracerProvider

JobWatcher = Callable[[Line, RunOutcome, Standing], None]


class Batch:
    """The jobs of one file on `workers` specialists, those of higher priority first.

    `backend` is `local`, or `dask:ADDRESS` of a cluster that starts the specialists, as many as its nodes have threads.
    `resume` goes on with the last batch of this file. A job in whose midst the orchestrator was killed then ends as
    `interrupted`, since nobody knows what its specialist did, unless `retry` names that status; jobs that ended in a
    status of `retry`, or failed with a dispatch that did, are run again. After `max_failures` failed jobs no further
    ones begin. Lines that are no jobs are told to `on_bad`, all of them before the first job begins; the others run.
    `launcher` is one of your own, or `auto`, `nursery` or `cold`. `tracer_provider` and `meter_provider` are those of
    an application that uses OpenTelemetry. Raises what opening a workspace raises.
    """

    def __init__(
        self,
        jobs: str | Path,
        *,
        workspace: str | Path = ".",
        workers: int | None = None,
        model: ModelChoice | None = None,
        resume: bool = False,
        retry: Collection[str] = (),
        max_failures: int | None = None,
        on_job: JobWatcher = lambda line, outcome, standing: None,
        on_bad: Callable[[BadLine], None] = lambda bad: None,
        settings: Settings | None = None,
        api_batch: bool = False,
        backend: str = LOCAL,
        launcher: Launcher | str = "auto",
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        self._providers = Providers(tracer_provider, meter_provider)
        self._path, self._workspace = Path(jobs), Workspace(workspace)
        self._settings = settings or Settings.load(self._workspace.folder)
        self._workers, self._backend, self._launcher = self._settings.chosen_workers(workers), backend, launcher
        if api_batch and self._workers is None:
            # They wait for hours with nothing to do, and many turns make a batch.
            self._workers = limits.API_BATCH_WORKERS
        for status in retry:
            if status not in STATUSES:
                raise UnknownNameError("status", status, known=STATUSES)
        if retry and not resume:
            again = ",".join(retry)
            raise UsageError(
                f"retry goes on with a batch that was run before: `outcrop batch JOBS --resume --retry {again}`"
            )
        if max_failures is not None and max_failures < 1:
            raise UsageError(f"max_failures must be at least 1, not {max_failures}")
        self._choice, self._max_failures = model, max_failures
        # Turns of --api-batch wait for hours; what was asked before the end is found again, and not asked twice.
        self._retry = Retry(frozenset(retry), {"cancelled", "interrupted"} if api_batch else {"cancelled"})
        self._resume, self._on_job, self._on_bad = resume, on_job, on_bad
        self._mailbox = Mailbox(self._settings.api_batch_seconds, self._settings.api_batch_poll_seconds)
        self._is_by_api_batch = api_batch
        self._checks = Checks(self._workspace)

    async def start(self) -> BatchOutcome:
        """Run what is not finished yet. Cancelling ends the jobs under way; `resume` takes them up again."""
        lines, bad = read_jobs(self._path)
        async with AsyncExitStack() as stack:
            shared = await stack.enter_async_context(self._shared())
            workflow = stack.enter_context(shared.telemetry.within("outcrop.batch"))
            desk, before = await self._open(shared)
            stack.push_async_callback(desk.close)
            workflow.known_as(desk.folder.run_id)
            if self._is_by_api_batch:
                stack.push_async_callback(self._mailbox.close)
                self._mailbox.open(desk.note)
            result = await self._work(desk, lines, bad, before)
            workflow.counted(result.outcomes.statuses, is_good=result.is_good)
            return result

    def _shared(self) -> AbstractAsyncContextManager[Shared]:
        settings = self._settings
        if not self._is_by_api_batch:
            models = ModelTable(self._choice, settings)
            return self._opened(models)
        models = ModelTable(self._choice, settings, wrap=self._mailbox.model)
        if not models.paid_names():
            raise UsageError(
                "an API batch sends turns to the Message Batches API: choose a model of it, as `anthropic`"
            )
        prices = settings.price_list()
        terms = Terms(prices, models.is_free, prices.batch_factor, self._mailbox.claim)
        return self._opened(models, terms)

    def _opened(self, models: ModelTable, terms: Terms | None = None) -> AbstractAsyncContextManager[Shared]:
        calls, backend, providers = self._settings.model_calls, self._backend, self._providers
        return Shared.opened(
            self._workspace,
            models,
            self._workers,
            calls,
            self._launcher,
            terms=terms,
            backend=backend,
            providers=providers,
        )

    async def _open(self, shared: Shared) -> tuple[Desk, Before]:
        """A new run for the batch, or the last one of this file with what it has finished."""
        folder = last_batch(self._workspace, self._path) if self._resume else None
        if folder is None:
            about = {
                "kind": "batch",
                "objective": None,
                "jobs": str(self._path.resolve()),
                "workers": shared.places.count,
            }
            return await Desk.open(shared, about), Before()
        open_run(folder)
        journal, records, _ = Journal.reopen(folder.journal)
        desk = Desk(shared, folder, journal)
        self._mailbox.recall(record.body for record in records.of("event", SENDING, SENT))
        before = await take_up(desk, records, self._retry, is_paid=bool(shared.models.paid_names()))
        shared.budget.spent += sum(before.spent.values(), Amount())
        return desk, before

    async def _work(self, desk: Desk, lines: list[Line], bad: list[BadLine], before: Before) -> BatchOutcome:
        outcomes = JobOutcomes(desk.folder.journal)
        result = BatchOutcome(desk.folder.path, outcomes)
        rest = []
        for line in lines:
            if place := before.ended.get(line.key):
                outcomes.add(line.number, place, outcomes.read(place))
                result.resumed += 1
            else:
                rest.append(line)
        # Not those that have ended: their files may be gone by now.
        todo, wrong = await self._checks.parted(rest, desk.shared)
        result.bad_lines = sorted([*bad, *wrong], key=lambda one: one.number)
        for one in result.bad_lines:
            self._on_bad(one)
            await desk.note("bad_line", {"line": one.number, "reason": one.reason})
        # Those that begin are recorded each; how many there are is known to whoever looks after a kill by this alone.
        await desk.note(COUNTED, {"jobs": len(outcomes) + len(todo)})
        if len(todo) > limits.COLD_STARTS:
            desk.shared.launcher.warm()
        queue = deque(sorted(todo, key=lambda line: (-line.job.priority, line.number)))
        began, failed = time.monotonic(), 0  # those that failed before it was resumed do not count
        budget = desk.shared.budget

        async def take_jobs() -> None:
            nonlocal failed
            while queue and (self._max_failures is None or failed < self._max_failures):
                if said := gone(desk.shared.launcher):
                    result.stopped_because = said
                    return
                line = queue.popleft()
                outcome, place = await self._run(desk, line, before.spent.get(line.key, Amount()))
                failed += not outcome.is_good
                outcomes.add(line.number, place, outcome)
                ended = len(outcomes) - result.resumed
                standing = Standing(ended, len(todo) - ended, time.monotonic() - began, budget.spent)
                self._on_job(line, outcome, standing)

        def conclude() -> None:
            for line in rest:
                if line.number not in outcomes and (place := before.again.get(line.key)):
                    outcomes.add(line.number, place, outcomes.read(place))
            result.not_begun = len(queue)
            result.spending = outcomes.spending(budget)
            write_results(result, {line.number: line.job.id for line in lines})

        try:
            workers = desk.shared.places.count
            at_a_time = max(workers, limits.API_BATCH_JOBS) if self._is_by_api_batch else workers
            async with asyncio.TaskGroup() as group:
                for _ in range(min(at_a_time, len(todo))):
                    group.create_task(take_jobs())
        except asyncio.CancelledError:
            conclude()
            raise
        except BaseExceptionGroup as broken:
            raise broken.exceptions[0] from broken
        conclude()
        return result

    async def _run(self, desk: Desk, line: Line, spent: Amount) -> tuple[RunOutcome, Entry]:
        """One job from its start record to its end record; what it came to, and where that is recorded."""
        body = {"job": line.key, "line": line.number, "id": line.job.id}
        opened: list[RunFolder] = []

        async def on_open(folder: RunFolder) -> None:
            opened.append(folder)
            await desk.note(STARTED, {**body, "run_id": folder.run_id})

        try:
            async with asyncio.timeout(line.job.seconds) as limit:
                outcome = await self._start(line.job, _under_its_ceiling(desk.shared, line.job, spent), on_open)
        except JournalError:
            # What cannot be recorded cannot be taken up again: the batch ends here.
            raise
        except OutcropError as error:
            outcome = _failed(line, str(error), opened)
        except Exception as error:  # noqa: BLE001 - the boundary of one job: its siblings go on
            if limit.expired():
                outcome = _failed(line, f"the job took longer than its {line.job.seconds:g} s", opened, "timeout")
            else:
                outcome = _failed(line, f"{type(error).__name__}: {error}", opened)
        return outcome, await desk.note(ENDED, {**body, "outcome": outcome.model_dump(mode="json")})

    async def _start(self, job: Job, shared: Shared, on_open: Callable[[RunFolder], Awaitable[None]]) -> RunOutcome:
        if job.plan is None:
            return await Run(job.objective, job.data, shared=shared, pins=job.pins, on_open=on_open).start()
        return await Follow(self._checks.plans[job.plan], job.data, job.map, job.pins, on_open=on_open).start(shared)


def _under_its_ceiling(shared: Shared, job: Job, spent: Amount) -> Shared:
    """The same, with a ceiling of the job's own beneath that of the batch. What it spent before counts."""
    if job.ceiling == Ceiling():
        return shared
    return replace(shared, budget=Budget(job.ceiling, spent, within=shared.budget))


def _failed(line: Line, reason: str, opened: list[RunFolder], status: Status = "error") -> RunOutcome:
    """The outcome of a job that could not be begun, or broke in a way that nobody foresaw."""
    return RunOutcome(
        run_id=opened[0].run_id if opened else "",
        objective=line.job.objective,
        status=status,
        errors=[reason.encode("utf-8", "backslashreplace").decode()],
        data=line.job.data,
        model="",
        started_at=now(),
        duration_s=0.0,
        run_folder=str(opened[0].path) if opened else "",
    )
