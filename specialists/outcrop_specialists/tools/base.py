"""What a tool is: typed arguments in, counts and file paths out.

A tool reads tables through `reading/tables.py`, writes files through `publish.py` only, and returns numbers that matter
rather than rows. It raises `ArgumentError` or `DataError` for input it cannot serve; the agent loop turns those into
typed error results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from outcrop_schemas import limits
from outcrop_schemas.claims import Claim
from outcrop_schemas.messages import ToolSchema
from outcrop_schemas.protocol import Artifact


class ReportProgress(Protocol):
    """Says what is being done and how far it is: rows done of rows in all."""

    def __call__(self, text: str, done: int | None = None, total: int | None = None) -> None: ...


def report_to_nobody(text: str, done: int | None = None, total: int | None = None) -> None:
    """For tools that run where nobody watches."""


class ToolArguments(BaseModel):
    """Base of every tool's arguments: unknown names are refused, so that a misspelt option is never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class ToolContext:
    """Where a tool may read and write, all paths absolute and resolved, and the window of the model it answers."""

    workspace: Path
    results_dir: Path
    scratch: Path
    report: ReportProgress = report_to_nobody
    window_tokens: int = limits.WINDOW_TOKENS


@dataclass(frozen=True)
class ToolResult:
    """What a tool found.

    `results` holds the counts and figures that matter (small, JSON); `artifacts` the files written, with paths
    relative to the workspace; `notes` what was repaired, dropped or assumed, each with its count; `claims` says of the
    main figures how they can be computed again, for whoever cites them.
    """

    summary: str
    results: dict[str, Any]
    artifacts: list[Artifact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """As a model is told it; claims are for the orchestrator."""
        found: dict[str, Any] = {"summary": self.summary, "results": self.results}
        if self.artifacts:
            found["artifacts"] = [artifact.model_dump(exclude_none=True) for artifact in self.artifacts]
        if self.notes:
            found["notes"] = self.notes
        return found


@dataclass(frozen=True)
class Tool:
    """One tool: its card (name, description, words people ask for it with), its arguments and its function.

    `asked_for` are verbs and phrases with which people ask for this work, in base form; they close the description
    that a model sees, so that any model (also lexical retrieval) finds the tool by them. `also_called` are further
    words for it (synonyms, what somebody wants to achieve, symptoms): they are seen by tool selection only, never by
    a model, so they may be many and may be vague. `told_whole` is a tool whose answer is as long as a list in its
    arguments, of which every entry is waited for. `pages` is one that bounds its answer by itself and says how to go
    on, so that it is never put aside. `projection` names the fields of its results that stay when a result is stale,
    besides those that stay of any tool's (`context/projection.py`).
    """

    name: str
    version: int
    description: str
    asked_for: tuple[str, ...]
    specialists: frozenset[str]
    arguments: type[ToolArguments]
    run: Callable[[ToolContext, Any], ToolResult]
    also_called: tuple[str, ...] = ()
    told_whole: bool = False
    pages: bool = False
    projection: tuple[str, ...] = ()

    @cached_property
    def card(self) -> str:
        return f"{self.description} Asked for as: {', '.join(self.asked_for)}."

    def schema(self) -> ToolSchema:
        """The tool as a model sees it."""
        return self._schema

    @cached_property
    def _schema(self) -> ToolSchema:
        # Made once before the fork, and not again in each process.
        return ToolSchema(name=self.name, description=self.card, input_schema=self.arguments.model_json_schema())


def phrases(text: str) -> tuple[str, ...]:
    """The phrases of a text that has them between semicolons: so many are read better as text."""
    found = (" ".join(phrase.split()) for phrase in text.split(";"))
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))
