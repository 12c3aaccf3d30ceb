"""The jobs of a batch, read from a file of JSON lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import PathError, UsageError
from outcrop_specialists.completion import first_fault


class Job(BaseModel):
    """One line of a jobs file: an objective, or a plan file to follow, with `map` of its columns to other names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    objective: str = Field(min_length=1, max_length=limits.OBJECTIVE_CHARS)
    data: Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)] = []
    id: str | None = None
    pins: dict[str, str] = {}
    plan: str | None = None
    map: dict[str, str] = {}

    @model_validator(mode="before")
    @classmethod
    def _plan_or_objective(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("plan") is None:
            return value
        if "objective" in value:
            raise ValueError("plan stands in place of an objective")
        return {**value, "objective": f"Follow the plan {value['plan']}"}

    @model_validator(mode="after")
    def _map_goes_with_plan(self) -> Job:
        if self.map and self.plan is None:
            raise ValueError("map goes with a plan")
        return self

    @property
    def digest(self) -> str:
        # Lines without a plan keep the digest by which earlier versions know them when a batch is resumed.
        return wire.digest(self.model_dump(exclude=None if self.plan else {"plan", "map"}))[:16]


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
