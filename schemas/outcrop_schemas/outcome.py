"""What the orchestrator records of a dispatch: one status, the capped completion, what was measured or verified."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict

from outcrop_schemas.claims import CheckedClaim, Claim, Verdict
from outcrop_schemas.hypotheses import Hypothesis
from outcrop_schemas.protocol import ArtifactKind, Evidence

Status = Literal[
    "success",
    "partial",
    "error",
    "capability_gap",
    "failed",
    "crashed",
    "timeout",
    "output_limit",
    "no_completion",
    "protocol_error",
    "spawn_error",
    "budget",
    "cancelled",
    "interrupted",
]
STATUSES: tuple[Status, ...] = get_args(Status)
GOOD: frozenset[Status] = frozenset({"success", "partial"})

IsolationProperty = Literal[
    "write_confined",
    "read_confined",
    "network_denied",
    "keys_hidden",
    "tree_kill_complete",
    "memory_capped",
    "processes_capped",
    "disk_capped",
]
ISOLATION_PROPERTIES: tuple[IsolationProperty, ...] = get_args(IsolationProperty)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Truncated(_Record):
    """Says that `results` was shortened: its full length and where all of it is (null when it could not be written)."""

    chars: int
    spill: str | None
    sha256: str


class VerifiedArtifact(_Record):
    """An artifact that exists as a regular file in the workspace, as the orchestrator measured it.

    `rows` (records below the header) and `columns` are measured of CSV, TSV and Parquet files; null where not.
    """

    path: str
    kind: ArtifactKind
    title: str
    bytes: int
    sha256: str
    rows: int | None = None
    columns: int | None = None


class Exit(_Record):
    """How the process of a specialist ended."""

    code: int | None = None
    """Of a process that ended by itself; None where a signal ended it."""

    signal: str | None = None
    """Its name, such as SIGKILL."""


class Isolation(_Record):
    """Whether one property holds for this dispatch, by what, and what a probe that tried to break it was answered."""

    active: bool
    by: str
    proof: str | None = None


class ReportedFigure(_Record):
    """A number of an answer: `claim` is the place in the list of claims of the one it was traced to."""

    where: str
    text: str
    verdict: Verdict
    claim: int | None = None
    reason: str = ""


class Outcome(_Record):
    """The record of one dispatch: what `dispatch()` returns, the journal keeps and `--json` prints."""

    dispatch_id: str
    """A number within the run and 64 random bits: `d0001-9f3a…`."""

    specialist: str
    objective: str
    """What was to be done, at most 20,000 characters."""

    status: Status
    """Exactly one; `is_good` says whether the work was done."""

    summary: str = ""
    """In the specialist's own words, at most 2,000 characters."""

    results: dict[str, Any] = {}
    """Counts and figures, as compact JSON at most 8,000 characters; `truncated` says where the rest is."""

    truncated: Truncated | None = None
    artifacts: list[VerifiedArtifact] = []
    """Files that are there, measured; a claim about one that was wrong is a warning."""

    findings: list[str] = []
    """This and the other lists: at most 20 entries of 500 characters."""

    evidence: Evidence = Evidence()
    recommendations: list[str] = []
    blockers: list[str] = []
    """What could not be done."""

    gap: dict[str, Any] | None = None
    """What is missing, of a `capability_gap`."""

    errors: list[str] = []
    """Why the status is not a success; the specialist's own words first."""

    warnings: list[str] = []
    """What is odd about a result that is kept."""

    claims: list[Claim] = []
    """Figures that can be computed again from their tables."""

    usage: dict[str, Any] = {}
    """Turns and tokens, `spending` in dollars where a model costs, `node` on a cluster."""

    started_at: str
    """UTC, ISO 8601."""

    duration_s: float
    """Seconds, time in a queue apart."""

    exit: Exit = Exit()
    launch: Literal["nursery", "cold"] | None = None
    """How its process was started; None where it could not be."""

    isolation: dict[str, Isolation] = {}
    """By property, what holds for this launch; see `ISOLATION_PROPERTIES`."""

    @property
    def is_good(self) -> bool:
        """Whether the work was done, wholly or in part."""
        return self.status in GOOD

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        from outcrop_schemas.notebook import outcome_html

        return outcome_html(self)


class DispatchLine(_Record):
    """One dispatch as a run's outcome lists it."""

    dispatch_id: str
    specialist: str
    objective: str
    status: Status
    duration_s: float
    summary: str = ""


class RunOutcome(_Record):
    """The answer to a research objective: what `Run.start()` returns and `outcrop run --json` prints.

    `figures` are the numbers of the answer, each with its verdict; `dispatches` stand in the order in which they were
    given out.
    """

    run_id: str
    """Names the run's folder; empty for a job of a batch that could not be begun."""

    objective: str
    status: Status
    """Success only where all dispatches were good and no figure was refuted."""

    summary: str = ""
    """The lead's answer, at most 2,000 characters."""

    findings: list[str] = []
    recommendations: list[str] = []
    blockers: list[str] = []
    """What could not be done, with the words of the objective."""

    errors: list[str] = []
    warnings: list[str] = []
    artifacts: list[VerifiedArtifact] = []
    """The files of all dispatches, each once."""

    claims: list[CheckedClaim] = []
    """What stands behind the figures, computed again from the tables."""

    figures: list[ReportedFigure] = []
    hypotheses: list[Hypothesis] = []
    dispatches: list[DispatchLine] = []
    data: list[str] = []
    """The data files, relative to the workspace."""

    model: str
    """The lead's."""

    usage: dict[str, Any] = {}
    """Turns and tokens of lead and specialists together, `spending` in dollars where a model costs."""

    started_at: str
    """UTC, ISO 8601."""

    duration_s: float
    """Seconds."""

    run_folder: str
    """Where the record is."""

    @property
    def is_good(self) -> bool:
        """Whether the objective was answered, wholly or in part."""
        return self.status in GOOD

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        from outcrop_schemas.notebook import run_html

        return run_html(self)
