"""A batch: many objectives, one line each; every job ends in exactly one recorded outcome, also across a crash.

The batch has a run of its own whose journal says which job began and ended; each job opens its own run when it starts.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outcrop.batch_results import write_results
from outcrop.budget import Amount, Ceiling
from outcrop.desk import Desk, Shared
from outcrop.jobs import BadLine as BadLine
from outcrop.jobs import Job as Job
from outcrop.jobs import Line as Line
from outcrop.jobs import read_jobs as read_jobs
from outcrop.journal import Journal, now
from outcrop.ledger import Account, Terms, report, spent_in
from outcrop.models import ModelChoice, ModelTable
from outcrop.models.api_batch import Mailbox
from outcrop.plans.files import read_plan
from outcrop.plans.following import Follow
from outcrop.prices import dollars
from outcrop.records import read
from outcrop.recovery import open_run
from outcrop.run import Run
from outcrop.runs import RunFolder, all_runs
from outcrop.settings import Settings
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError, OutcropError, UnknownNameError, UsageError
from outcrop_schemas.outcome import STATUSES, RunOutcome, Status
from outcrop_schemas.plan import Plan


@dataclass
class BatchOutcome:
    """What became of a batch. `outcomes` has one entry per job, by line number."""

    run_folder: Path
    outcomes: dict[int, RunOutcome] = field(default_factory=dict)
    bad_lines: list[BadLine] = field(default_factory=list)
    resumed: int = 0
    spending: dict[str, Any] | None = None
    not_begun: int = 0
    """Jobs that were left out because too many others had failed."""

    @property
    def is_good(self) -> bool:
        return not (self.bad_lines or self.not_begun) and all(outcome.is_good for outcome in self.outcomes.values())

    @property
    def failures(self) -> int:
        return sum(not outcome.is_good for outcome in self.outcomes.values())

    @property
    def results(self) -> Path:
        return self.run_folder / "results.jsonl"

    @property
    def page(self) -> Path:
        return self.run_folder / "summary.html"


@dataclass(frozen=True)
class Standing:
    """How far a batch is: jobs that ended since it was started, those left, seconds since then, and what was spent."""

    ended: int
    left: int
    seconds: float
    spent: Amount

    @property
    def per_second(self) -> float:
        return self.ended / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        return self.left / self.per_second if self.per_second else None


JobWatcher = Callable[[Line, RunOutcome, Standing], None]
UNKNOWN = (
    "the orchestrator was killed while a specialist of this job was at work, so what it did is not known; look at its "
    "files, then run it again with --retry interrupted"
)


class Batch:
    """The jobs of one file on `workers` specialists, those of higher priority first.

    `resume` goes on with the last batch of this file. A job in whose midst the orchestrator was killed then ends as
    `interrupted`, since nobody knows what its specialist did, unless `retry` names that status; jobs that ended in a
    status of `retry` are run again. After `max_failures` failed jobs no further ones begin.
    Raises what opening a workspace raises.
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
        settings: Settings | None = None,
        api_batch: bool = False,
    ) -> None:
        self._path, self._workspace = Path(jobs), Workspace(workspace)
        self._settings = settings or Settings.load(self._workspace.folder)
        self._workers = self._settings.workers if workers is None else workers
        if api_batch and workers is None and "workers" not in self._settings.model_fields_set:
            # They wait for hours with nothing to do, and many turns make a batch.
            self._workers = limits.API_BATCH_WORKERS
        for status in retry:
            if status not in STATUSES:
                raise UnknownNameError("status", status, known=STATUSES)
        if max_failures is not None and max_failures < 1:
            raise UsageError(f"max_failures must be at least 1, not {max_failures}")
        self._choice, self._retry, self._max_failures = model, {"cancelled", *retry}, max_failures
        if api_batch:
            # Their turns wait for hours; what was asked before the end is found again, and not asked twice.
            self._retry.add("interrupted")
        self._resume, self._on_job = resume, on_job
        self._mailbox = Mailbox(self._settings.api_batch_seconds, self._settings.api_batch_poll_seconds)
        self._is_by_api_batch = api_batch
        self._plans: dict[str, Plan] = {}

    async def start(self) -> BatchOutcome:
        """Run what is not finished yet. Cancelling ends the jobs under way; `resume` takes them up again."""
        lines, bad = self._with_plans(*read_jobs(self._path))
        async with AsyncExitStack() as stack:
            shared = await stack.enter_async_context(self._shared())
            shared.launcher.warm()
            desk, finished = await self._open(shared)
            stack.push_async_callback(desk.close)
            if self._is_by_api_batch:
                stack.push_async_callback(self._mailbox.close)
                self._mailbox.open(desk.note)
            return await self._work(desk, shared, lines, bad, finished)

    def _with_plans(self, lines: list[Line], bad: list[BadLine]) -> tuple[list[Line], list[BadLine]]:
        """Read the plans before anything runs; a line whose plan is none is a bad one."""
        faults: dict[str, str] = {}
        for name in dict.fromkeys(line.job.plan for line in lines if line.job.plan):
            path = self._workspace.folder / name
            try:
                self._plans[name] = read_plan(path if path.exists() else Path(name))
            except UsageError as error:
                faults[name] = str(error)
        new = [BadLine(line.number, f"plan: {faults[line.job.plan]}") for line in lines if line.job.plan in faults]
        good = [line for line in lines if line.job.plan not in faults]
        return good, sorted([*bad, *new], key=lambda one: one.number)

    def _shared(self) -> AbstractAsyncContextManager[Shared]:
        settings = self._settings
        if not self._is_by_api_batch:
            models = ModelTable(self._choice, settings)
            return Shared.opened(self._workspace, models, self._workers, settings.model_calls)
        models = ModelTable(self._choice, settings, wrap=self._mailbox.model)
        if not models.paid_names():
            raise UsageError("--api-batch sends turns to the Message Batches API: choose a model of it, as `anthropic`")
        prices = settings.price_list()
        terms = Terms(prices, models.is_free, prices.batch_factor, self._mailbox.claim)
        return Shared.opened(self._workspace, models, self._workers, settings.model_calls, terms=terms)

    async def _open(self, shared: Shared) -> tuple[Desk, dict[str, RunOutcome]]:
        """A new run for the batch, or the last one of this file with what it has finished."""
        folder = self._earlier() if self._resume else None
        if folder is None:
            about = {"kind": "batch", "objective": None, "jobs": str(self._path.resolve()), "workers": self._workers}
            return await Desk.open(shared, about), {}
        open_run(folder)
        journal, records, _ = Journal.reopen(folder.journal)
        desk = Desk(shared, folder, journal)
        bodies = [record.body for record in records if record.type == "event"]
        if shared.models.paid_names():
            shared.budget.spent += self._spent_before(bodies)
        self._mailbox.recall(bodies)
        ended = {body["job"]: body["outcome"] for body in bodies if body["kind"] == "job_end"}  # the last one counts
        finished = {
            job: RunOutcome.model_validate(outcome)
            for job, outcome in ended.items()
            if outcome["status"] not in self._retry
        }
        await self._adopt(desk, bodies, finished)
        return desk, finished

    def _earlier(self) -> RunFolder | None:
        for folder in reversed(all_runs(self._workspace)):
            try:
                about = folder.about()
            except (OSError, ValueError):
                continue
            if about.get("kind") == "batch" and about.get("jobs") == str(self._path.resolve()):
                return folder
        return None

    def _spent_before(self, bodies: Iterable[Mapping[str, Any]]) -> Amount:
        """What all runs of the jobs so far spent, by their own journals, those that were killed too."""
        spent = Amount()
        for body in bodies:
            folder = RunFolder(self._workspace.runs / body["run_id"]) if body["kind"] == "job_start" else None
            if folder and folder.journal.is_file():
                spent += spent_in(read(folder.journal)[0])
        return spent

    async def _adopt(self, desk: Desk, bodies: Sequence[Mapping[str, Any]], finished: dict[str, RunOutcome]) -> None:
        """Jobs that began and of whose end the batch's journal does not know: what became of them by their own runs."""
        for body in bodies:
            if body["kind"] != "job_start" or body["job"] in finished:
                continue
            outcome = self._of_run(RunFolder(self._workspace.runs / body["run_id"]))
            if outcome and outcome.status not in self._retry:
                finished[body["job"]] = outcome
                await desk.note("job_end", {**body, "kind": "job_end", "outcome": outcome.model_dump(mode="json")})

    def _of_run(self, folder: RunFolder) -> RunOutcome | None:
        """What became of a job by its own record; None where it can be begun anew, since nothing of it was done."""
        if not folder.journal.is_file():
            return None
        run = open_run(folder)
        if run.answer:
            return run.answer
        if not run.records.statuses()["interrupted"] and not run.interrupted:
            return None
        return RunOutcome(
            run_id=folder.run_id,
            objective=str(run.about.get("objective") or ""),
            status="interrupted",
            errors=[UNKNOWN],
            data=[entry["path"] for entry in run.about.get("data", [])],
            model="",
            started_at=str(run.about.get("at") or now()),
            duration_s=0.0,
            run_folder=str(folder.path),
        )

    async def _work(
        self, desk: Desk, shared: Shared, lines: list[Line], bad: list[BadLine], finished: dict[str, RunOutcome]
    ) -> BatchOutcome:
        result = BatchOutcome(desk.folder.path, bad_lines=bad)
        for one in bad:
            await desk.note("bad_line", {"line": one.number, "reason": one.reason})
        todo = []
        for line in lines:
            if line.key in finished:
                result.outcomes[line.number] = finished[line.key]
                result.resumed += 1
            else:
                todo.append(line)
        queue = deque(sorted(todo, key=lambda line: (-line.job.priority, line.number)))
        began, failed = time.monotonic(), 0  # those that failed before it was resumed do not count

        async def take_jobs() -> None:
            nonlocal failed
            while queue and (self._max_failures is None or failed < self._max_failures):
                line = queue.popleft()
                outcome = await self._run(desk, shared, line)
                failed += not outcome.is_good
                result.outcomes[line.number] = outcome
                ended = len(result.outcomes) - result.resumed
                standing = Standing(ended, len(todo) - ended, time.monotonic() - began, shared.budget.spent)
                self._on_job(line, outcome, standing)

        try:
            at_a_time = max(self._workers, limits.API_BATCH_JOBS) if self._is_by_api_batch else self._workers
            async with asyncio.TaskGroup() as group:
                for _ in range(min(at_a_time, len(todo))):
                    group.create_task(take_jobs())
        except BaseExceptionGroup as broken:
            raise broken.exceptions[0] from broken
        result.not_begun = len(queue)
        result.outcomes = dict(sorted(result.outcomes.items()))
        result.spending = self._spending(shared, result)
        write_results(result.results, result.page, lines, result.outcomes, result.spending)
        return result

    def _spending(self, shared: Shared, result: BatchOutcome) -> dict[str, Any] | None:
        """Of all jobs together, those of earlier starts of the batch too; None where nothing costs."""
        accounts: dict[str, tuple[str, Account]] = {}
        for outcome in result.outcomes.values():
            for role, account in (outcome.usage.get("spending") or {}).get("by_specialist", {}).items():
                known = accounts.setdefault(role, (role, Account()))[1]
                accounts[role] = (role, known.plus(Account.of(account)))
        if not accounts and shared.budget.ceiling == Ceiling():
            return None
        told = report(accounts, shared.budget.ceiling, shared.budget.spent, shared.budget.reserved)
        return {**told, "spent_usd": dollars(shared.budget.spent.usd), "spent_tokens": shared.budget.spent.tokens}

    async def _run(self, desk: Desk, shared: Shared, line: Line) -> RunOutcome:
        """One job from its start record to its end record."""
        body = {"job": line.key, "line": line.number, "id": line.job.id}

        opened: list[RunFolder] = []

        async def on_open(folder: RunFolder) -> None:
            opened.append(folder)
            await desk.note("job_start", {**body, "run_id": folder.run_id})

        try:
            async with asyncio.timeout(line.job.seconds) as limit:
                outcome = await self._start(line.job, shared, on_open)
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
        await desk.note("job_end", {**body, "outcome": outcome.model_dump(mode="json")})
        return outcome

    async def _start(self, job: Job, shared: Shared, on_open: Callable[[RunFolder], Awaitable[None]]) -> RunOutcome:
        if job.plan is None:
            return await Run(job.objective, job.data, shared=shared, pins=job.pins, on_open=on_open).start()
        return await Follow(self._plans[job.plan], job.data, job.map, job.pins, on_open=on_open).start(shared)


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
