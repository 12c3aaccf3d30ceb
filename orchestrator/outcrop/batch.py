"""A batch: many objectives, one line each; every job ends in exactly one recorded outcome, also across a crash.

The batch has a run of its own whose journal says which job began and ended; each job opens its own run when it starts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from outcrop.desk import Desk, Shared
from outcrop.journal import Journal, now
from outcrop.models import ModelChoice, ModelTable
from outcrop.recovery import open_run
from outcrop.run import Run
from outcrop.runs import RunFolder, all_runs
from outcrop.settings import Settings
from outcrop.spill import write_private
from outcrop.workspace import Workspace
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import JournalError, OutcropError, PathError, UsageError
from outcrop_schemas.outcome import RunOutcome
from outcrop_specialists.completion import first_fault


class Job(BaseModel):
    """One line of a jobs file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    objective: str = Field(min_length=1, max_length=limits.OBJECTIVE_CHARS)
    data: Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)] = []
    id: str | None = None
    pins: dict[str, str] = {}

    @property
    def digest(self) -> str:
        return wire.digest(self.model_dump())[:16]


@dataclass(frozen=True)
class Line:
    """A job and its place in the file. `key` knows it again wherever it stands; equal lines are told apart by count."""

    number: int
    job: Job
    occurrence: int = 1

    @property
    def key(self) -> str:
        return f"{self.job.digest}-{self.occurrence}"


@dataclass(frozen=True)
class BadLine:
    """A line that is no job."""

    number: int
    reason: str


@dataclass
class BatchOutcome:
    """What became of a batch. `outcomes` has one entry per job, by line number."""

    run_folder: Path
    outcomes: dict[int, RunOutcome] = field(default_factory=dict)
    bad_lines: list[BadLine] = field(default_factory=list)
    resumed: int = 0

    @property
    def is_good(self) -> bool:
        return not self.bad_lines and all(outcome.is_good for outcome in self.outcomes.values())

    @property
    def results(self) -> Path:
        return self.run_folder / "results.jsonl"


JobWatcher = Callable[[Line, RunOutcome], None]


def read_jobs(path: Path) -> tuple[list[Line], list[BadLine]]:
    """The jobs of a JSON-lines file, and the lines that are none. Raises PathError, UsageError where it is empty."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PathError(path, f"the jobs file cannot be read: {error.strerror}") from error
    lines: list[Line] = []
    bad: list[BadLine] = []
    seen: Counter[str] = Counter()
    for number, text in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not text.strip():
            continue
        try:
            job = _job(text)
        except ValidationError as error:
            where, reason = first_fault(error)
            bad.append(BadLine(number, f"{where}: {reason}"))
        except ValueError as error:
            bad.append(BadLine(number, str(error)))
        else:
            seen[job.digest] += 1
            lines.append(Line(number, job, seen[job.digest]))
    if not lines and not bad:
        raise UsageError(f"{path}: the jobs file has no jobs; give one JSON object a line with objective and data")
    return lines, bad


def _job(text: bytes) -> Job:
    """Raises ValidationError for a field that does not fit, ValueError for what is no object at all."""
    try:
        value = wire.loads(text)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("is not a JSON object with objective and data")
    return Job.model_validate(value)


class Batch:
    """The jobs of one file on `workers` specialists. Raises what opening a workspace raises."""

    def __init__(
        self,
        jobs: str | Path,
        *,
        workspace: str | Path = ".",
        workers: int | None = None,
        model: ModelChoice | None = None,
        resume: bool = False,
        on_job: JobWatcher = lambda line, outcome: None,
        settings: Settings | None = None,
    ) -> None:
        self._settings = settings or Settings()
        self._path, self._workspace = Path(jobs), Workspace(workspace)
        self._workers = self._settings.workers if workers is None else workers
        self._choice: ModelChoice = model if model is not None else self._settings.model
        self._resume, self._on_job = resume, on_job

    async def start(self) -> BatchOutcome:
        """Run what is not finished yet. Cancelling ends the jobs under way; `resume` takes them up again."""
        lines, bad = read_jobs(self._path)
        models = ModelTable(self._choice)
        async with Shared.opened(self._workspace, models, self._workers, self._settings.model_calls) as shared:
            shared.launcher.warm()
            desk, finished = await self._open(shared)
            try:
                return await self._work(desk, shared, lines, bad, finished)
            finally:
                await desk.close()

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
        finished = {
            body["job"]: RunOutcome.model_validate(body["outcome"])
            for body in bodies
            if body["kind"] == "job_end" and body["outcome"]["status"] != "cancelled"
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

    async def _adopt(self, desk: Desk, bodies: Iterable[Mapping[str, Any]], finished: dict[str, RunOutcome]) -> None:
        """Jobs whose run was answered, though the orchestrator died before the batch's journal knew."""
        for body in bodies:
            if body["kind"] != "job_start" or body["job"] in finished:
                continue
            folder = RunFolder(self._workspace.runs / body["run_id"])
            answer = open_run(folder).answer if folder.journal.is_file() else None
            if answer and answer.status != "cancelled":
                finished[body["job"]] = answer
                await desk.note("job_end", {**body, "kind": "job_end", "outcome": answer.model_dump(mode="json")})

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
        queue = iter(todo)

        async def take_jobs() -> None:
            for line in queue:
                outcome = await self._run(desk, shared, line)
                result.outcomes[line.number] = outcome
                self._on_job(line, outcome)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._workers, len(todo))):
                    group.create_task(take_jobs())
        except BaseExceptionGroup as broken:
            raise broken.exceptions[0] from broken
        result.outcomes = dict(sorted(result.outcomes.items()))
        self._write_results(result, lines)
        return result

    async def _run(self, desk: Desk, shared: Shared, line: Line) -> RunOutcome:
        """One job from its start record to its end record."""
        body = {"job": line.key, "line": line.number, "id": line.job.id}

        opened: list[RunFolder] = []

        async def on_open(folder: RunFolder) -> None:
            opened.append(folder)
            await desk.note("job_start", {**body, "run_id": folder.run_id})

        try:
            run = Run(line.job.objective, line.job.data, shared=shared, pins=line.job.pins, on_open=on_open)
            outcome = await run.start()
        except JournalError:
            # What cannot be recorded cannot be taken up again: the batch ends here.
            raise
        except OutcropError as error:
            outcome = _failed(line, str(error), opened)
        except Exception as error:  # noqa: BLE001 - the boundary of one job: its siblings go on
            outcome = _failed(line, f"{type(error).__name__}: {error}", opened)
        await desk.note("job_end", {**body, "outcome": outcome.model_dump(mode="json")})
        return outcome

    def _write_results(self, result: BatchOutcome, lines: list[Line]) -> None:
        """One line per job, in the order of the file."""
        ids = {line.number: line.job.id for line in lines}
        text = b"".join(
            wire.dumps({"line": number, "id": ids.get(number), **outcome.model_dump(mode="json")}) + b"\n"
            for number, outcome in result.outcomes.items()
        )
        temporary = result.results.with_name(".results.jsonl")
        write_private(temporary, text)
        temporary.replace(result.results)


def _failed(line: Line, reason: str, opened: list[RunFolder]) -> RunOutcome:
    """The outcome of a job that could not be begun, or broke in a way that nobody foresaw."""
    return RunOutcome(
        run_id=opened[0].run_id if opened else "",
        objective=line.job.objective,
        status="error",
        errors=[reason.encode("utf-8", "backslashreplace").decode()],
        data=line.job.data,
        model="",
        started_at=now(),
        duration_s=0.0,
        run_folder=str(opened[0].path) if opened else "",
    )
