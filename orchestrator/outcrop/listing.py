"""A run as a list of runs has it: `outcrop runs` and the live view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from outcrop.recovery import RunRecord
from outcrop_schemas.outcome import GOOD

UNDER_WAY = "under way"
UNREADABLE = "unreadable"


def objective_of(run: RunRecord) -> str | None:
    """What a run is for; of a lone dispatch what that was for."""
    known = run.about.get("objective") or run.about.get("jobs")
    if known:
        return str(known)
    starts = [entry for entry in run.records.entries if entry.type == "start"]
    return of_lone(run.records.at(starts[0]).body) if len(starts) == 1 else None


def of_lone(start: Mapping[str, Any]) -> str | None:
    """What the only dispatch of a run is for, by its start."""
    return str(start["objective"]) if start.get("objective") else None


@dataclass(frozen=True)
class RunLine:
    """One run. `status` is that of its answer, `under way`, `unreadable` where there is
    no record that can be read, or None where there is no lead to answer."""

    run_id: str
    kind: str | None
    at: str | None
    status: str | None
    dispatches: int
    bytes: int
    age_s: int
    spent_usd: str | None
    spent_tokens: int | None
    objective: str | None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def ended_as(kind: str | None, counts: Mapping[str, int]) -> str | None:
    """What a run comes to that has ended without an answer, by how its dispatches or jobs ended."""
    if kind == "run":
        return "interrupted"
    if len(counts) <= 1:
        return next(iter(counts), None)
    return "success" if all(status in GOOD for status in counts) else "partial"
