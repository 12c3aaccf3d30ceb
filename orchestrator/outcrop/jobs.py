"""The jobs of a batch: lines of JSON, rows of a CSV file, or one objective over many files."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from outcrop.budget import Ceiling
from outcrop.objective import checked_objective
from outcrop.prices import DollarCeiling, TokenCeiling, no_number_is_true
from outcrop.spill import write_private
from outcrop.workspace import HOME, Workspace
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ObjectiveError, PathError, UsageError, WorkspaceError


class Job(BaseModel):
    """One line of a jobs file: an objective, or a plan file to follow, with `map` of its columns to other names.

    Jobs of a higher `priority` begin first; `seconds` is the longest that a job may take, `budget_usd` and
    `budget_tokens` the most that it may spend, beneath the ceiling of the batch.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    objective: str = Field(min_length=1, max_length=limits.OBJECTIVE_CHARS)
    data: Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)] = Field(
        default=[], max_length=limits.JOB_FILES
    )
    id: str | None = Field(default=None, max_length=limits.JOB_ID_CHARS)
    pins: dict[str, str] = {}
    plan: str | None = Field(default=None, min_length=1)
    map: dict[str, str] = {}
    priority: int = 0
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    budget_usd: DollarCeiling | None = None
    budget_tokens: TokenCeiling | None = None

    _numbers = field_validator("priority", "seconds", "budget_usd", "budget_tokens", mode="before")(no_number_is_true)

    @field_validator("objective")
    @classmethod
    def _says_something(cls, value: str) -> str:
        try:
            return checked_objective(value)
        except ObjectiveError as error:
            raise ValueError(str(error)) from error

    @model_validator(mode="before")
    @classmethod
    def _plan_or_objective(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("plan") is None:
            return value
        if "objective" in value:
            raise ValueError("plan: stands in place of an objective; give one of them")
        return {**value, "objective": f"Follow the plan {value['plan']}"}

    @model_validator(mode="after")
    def _map_goes_with_plan(self) -> Job:
        if self.map and self.plan is None:
            raise ValueError("map: goes with a plan")
        return self

    @property
    def ceiling(self) -> Ceiling:
        """The most that this job may spend."""
        return Ceiling(self.budget_usd, self.budget_tokens)

    @property
    def digest(self) -> str:
        """What the job is known by. Not by its ceiling: one that reached it goes on beneath a higher one."""
        # What earlier versions did not know counts only where it is said: they know their lines again.
        said = self.model_dump(include={"plan", "map", "priority", "seconds"}, exclude_defaults=True)
        return wire.digest({**self.model_dump(include={"objective", "data", "id", "pins"}), **said})[:16]


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


def read_jobs(path: Path) -> tuple[list[Line], list[BadLine]]:
    """The jobs of a file of JSON lines, or of a CSV file with a header, and the lines that are none.

    Raises PathError, UsageError where it is empty.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PathError(path, f"the jobs file cannot be read: {error.strerror}") from error
    data = data.removeprefix(b"\xef\xbb\xbf")
    lines: list[Line] = []
    bad: list[BadLine] = []
    seen: Counter[str] = Counter()
    named: dict[str, int] = {}
    for number, read in _rows(path, data) if path.suffix.lower() == ".csv" else _texts(data):
        try:
            job = Job.model_validate(read())
        except ValidationError as error:
            bad.append(BadLine(number, _fault(error)))
        except ValueError as error:
            bad.append(BadLine(number, str(error)))
        else:
            if job.id is not None and (first := named.setdefault(job.id, number)) != number:
                bad.append(BadLine(number, f"id: {job.id!r} is that of line {first} already"))
                continue
            seen[job.digest] += 1
            lines.append(Line(number, job, seen[job.digest]))
    if not lines and not bad:
        raise UsageError(f"{path}: the jobs file has no jobs; give one JSON object a line with objective and data")
    return lines, bad


def _fault(error: ValidationError) -> str:
    """The first field that does not pass, and the reason; what is wrong of several fields names them itself."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where, reason = ".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, ")
    return f"{where}: {reason}" if where else reason


Read = Callable[[], dict[str, Any]]
"""Gives the fields of a job, or raises ValueError."""


def _texts(data: bytes) -> Iterator[tuple[int, Read]]:
    for number, text in enumerate(data.split(b"\n"), 1):
        if text.strip():
            yield number, partial(_fields, text)


def _fields(text: bytes) -> dict[str, Any]:
    try:
        value = wire.loads(text)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("is not a JSON object with objective and data")
    return value


def _rows(path: Path, data: bytes) -> Iterator[tuple[int, Read]]:
    """The rows of a CSV file by its header, numbered by their lines. Raises UsageError for what is no text or table."""
    number = 1  # of the line at which a row begins
    try:
        reader = csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True)
        for name, count in Counter(name.strip() for name in reader.fieldnames or ()).items():
            if name and count > 1:
                raise UsageError(f"{path}: line 1: the header has {count} columns {name!r}; keep one of them")
        number = reader.line_num + 1
        for row in reader:
            yield reader.line_num, partial(_of_row, row)
            number = reader.line_num + 1
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}: line {line}: the jobs file is no CSV in UTF-8: {error.reason}") from error
    except csv.Error as error:
        # The reader says of an open quote that the data end there.
        is_open = "unexpected end of data" in str(error)
        reason = "a quote is opened and not closed" if is_open else error
        raise UsageError(f"{path}: line {number}: the jobs file is no CSV: {reason}") from error


def _of_row(row: dict[str | None, Any]) -> dict[str, Any]:
    """Several files of one job are parted by `;`; an empty cell says nothing."""
    if None in row:
        raise ValueError(f"has {len(row[None])} more fields than the header")
    found: dict[str, Any] = {(name or "").strip(): cell for name, cell in row.items() if cell and cell.strip()}
    if "data" in found:
        found["data"] = [part.strip() for part in found["data"].split(";") if part.strip()]
    return found


RESULTS = "results"


def write_jobs(workspace: Workspace, template: str, patterns: Sequence[str]) -> Path:
    """A jobs file of `over_files` in the workspace's own folder, the same for the same template and patterns.

    Raises UsageError, WorkspaceError.
    """
    jobs = over_files(template, patterns, workspace.folder)
    path = workspace.home / "batches" / f"{wire.digest([template, list(patterns)])[:12]}.jsonl"
    lines = (wire.dumps(job.model_dump(include={"objective", "data"})) + b"\n" for job in jobs)
    if workspace.home.is_symlink() or path.parent.is_symlink():
        raise WorkspaceError(f"{path.parent} is a link, or beneath one; remove it: records stay in the workspace")
    try:
        workspace.home.mkdir(mode=0o700, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_private(path, b"".join(lines))
    except OSError as error:
        raise WorkspaceError(f"{path}: the jobs cannot be written: {error.strerror}") from error
    return path


def over_files(template: str, patterns: Sequence[str], workspace: Path) -> list[Job]:
    """One job for each file that the patterns find, in the order of their names; `{path}`, `{name}` and `{stem}` in the
    template are that file's. Files in `results` folders count where a pattern names such a folder.
    Raises UsageError where a pattern finds nothing, or a place in braces is none of these.
    """
    checked_objective(template)
    found: dict[str, None] = {}
    for pattern in patterns:
        matching = _matching(pattern, workspace)
        if not matching:
            raise UsageError(f"{pattern!r} finds no file in {workspace}")
        found |= dict.fromkeys(matching)
    return [_job_of(template, path) for path in found]


def _matching(pattern: str, workspace: Path) -> list[str]:
    """The files of a pattern, in the order of their names, by their paths from the workspace."""
    parts = _inside(pattern, workspace).parts
    if not parts or ".." in parts:
        raise UsageError(f"{pattern!r} is no pattern of files in the workspace; give one such as 'assays/*.csv'")
    inside = Path(*parts)
    if (workspace / inside).is_file():
        # A file may be called what could be a pattern.
        return [inside.as_posix()]
    # What jobs made of the files is not taken for further ones.
    aside = {HOME} if RESULTS in parts else {HOME, RESULTS}
    try:
        paths = [path.relative_to(workspace) for path in workspace.glob(str(inside)) if path.is_file()]
    except ValueError as error:
        raise UsageError(f"{pattern!r} is no pattern: {error}") from error
    return [path.as_posix() for path in sorted(paths) if aside.isdisjoint(path.parts[:-1])]


def _inside(pattern: str, workspace: Path) -> Path:
    """A pattern as from the workspace, which may be given with links."""
    given = Path(pattern.strip())
    if not given.is_absolute() or given.is_relative_to(workspace):
        return given.relative_to(workspace) if given.is_absolute() else given
    at = next((at for at, part in enumerate(given.parts) if re.search(r"[*?[]", part)), len(given.parts) - 1)
    folder = Path(*given.parts[:at]).resolve()
    if not folder.is_relative_to(workspace):
        raise UsageError(f"{pattern!r} is outside the workspace {workspace}; copy the files there")
    return folder.relative_to(workspace).joinpath(*given.parts[at:])


def _job_of(template: str, path: str) -> Job:
    parts = {"path": path, "name": Path(path).name, "stem": Path(path).stem}
    wrong = [place for place in re.findall(r"\{([^{}]*)\}", template) if place not in parts]
    if wrong:
        raise UsageError(f"{{{wrong[0]}}} in the template is none of {', '.join(f'{{{place}}}' for place in parts)}")
    try:
        return Job(objective=re.sub(r"\{(\w+)\}", lambda place: parts[place[1]], template), data=[path])
    except ValidationError as error:
        raise UsageError(f"{path}: {_fault(error)}") from error
