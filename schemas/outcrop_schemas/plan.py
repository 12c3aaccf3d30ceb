"""A plan: the tool calls of a finished run as a file that people read and change, and that runs on other data.

In arguments a file is `{"from": "input1"}`, an input of the plan, or `{"from": "c2", "kind": "table", "number": 1}`, of
the files of that kind which an earlier call made the first.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outcrop_schemas import limits
from outcrop_schemas.protocol import ArtifactKind

VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class PlanColumn(_Part):
    """A column that the calls need. What is null is not known, and not compared with the column of a new file.

    `found_by` is `role` where no call names it: a tool looks for a column of that role (a coordinate) by itself.
    """

    name: str = Field(min_length=1)
    type: Literal["integer", "number", "text", "date", "boolean"] | None = None
    role: str | None = None
    unit: str | None = None
    found_by: Literal["name", "role"] = "name"
    values: list[str] = Field(default=[], description="Values that filters and groups of the calls ask for.")


class PlanInput(_Part):
    """A file that the calls begin with: `file` is the one of the run that the plan was taken from."""

    id: str = Field(pattern=r"^[A-Za-z_]\w*$")
    file: str
    columns: list[PlanColumn] = []


class FileReference(_Part):
    """A file, by what it comes from: the id of an input or of a call."""

    source: str = Field(alias="from")
    kind: ArtifactKind | None = None
    number: int = Field(default=1, ge=1)

    @property
    def key(self) -> str:
        return f"{self.source} {self.kind} {self.number}" if self.kind else self.source

    def as_json(self) -> dict[str, Any]:
        return {"from": self.source, **({"kind": self.kind, "number": self.number} if self.kind else {})}


class PlanCall(_Part):
    """One tool call. `obstacle` says why it cannot be done on other data; a plan that has one does not run."""

    id: str = Field(pattern=r"^[A-Za-z_]\w*$")
    tool: str
    version: int = Field(ge=1, description="Of the tool when it was called; another one may compute otherwise.")
    arguments: dict[str, Any]
    obstacle: str | None = None


class PlanStep(_Part):
    """What one specialist does: the calls of one dispatch."""

    specialist: str
    objective: str = Field(default="", description="What was asked for; it is told, and decides nothing.")
    calls: list[PlanCall] = Field(min_length=1, max_length=limits.PLAN_CALLS)


class Plan(_Part):
    """A whole plan. `left_out` says what of the run is not in it."""

    format: Literal["outcrop-plan"]
    version: Literal[1]
    run: str
    objective: str
    inputs: list[PlanInput] = Field(max_length=limits.PLAN_INPUTS)
    steps: list[PlanStep] = Field(min_length=1, max_length=limits.PLAN_STEPS)
    left_out: list[str] = []

    @property
    def calls(self) -> list[PlanCall]:
        return [call for step in self.steps for call in step.calls]
