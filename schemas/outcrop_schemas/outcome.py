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
    code: int | None = None
    signal: str | None = None


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
    specialist: str
    objective: str
    status: Status
    summary: str = ""
    results: dict[str, Any] = {}
    truncated: Truncated | None = None
    artifacts: list[VerifiedArtifact] = []
    findings: list[str] = []
    evidence: Evidence = Evidence()
    recommendations: list[str] = []
    blockers: list[str] = []
    gap: dict[str, Any] | None = None
    errors: list[str] = []
    warnings: list[str] = []
    claims: list[Claim] = []
    usage: dict[str, Any] = {}
    started_at: str
    duration_s: float
    exit: Exit = Exit()
    launch: Literal["nursery", "cold"] | None = None
    isolation: dict[str, Isolation] = {}

    @property
    def is_good(self) -> bool:
        """Whether the work was done, wholly or in part."""
        return self.status in GOOD


class DispatchLine(_Record):
    """One dispatch as a run's outcome lists it."""

    dispatch_id: str
    specialist: str
    objective: str
    status: Status
    duration_s: float
    summary: str = ""


class RunOutcome(_Record):
    """The answer to a research objective: what `Run.start()` returns and `outcrop run --json` prints."""

    run_id: str
    objective: str
    status: Status
    summary: str = ""
    findings: list[str] = []
    recommendations: list[str] = []
    blockers: list[str] = []
    errors: list[str] = []
    warnings: list[str] = []
    artifacts: list[VerifiedArtifact] = []
    claims: list[CheckedClaim] = []
    figures: list[ReportedFigure] = []
    hypotheses: list[Hypothesis] = []
    dispatches: list[DispatchLine] = []
    data: list[str] = []
    model: str
    usage: dict[str, Any] = {}
    started_at: str
    duration_s: float
    run_folder: str

    @property
    def is_good(self) -> bool:
        """Whether the objective was answered, wholly or in part."""
        return self.status in GOOD
