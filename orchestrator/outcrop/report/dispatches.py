"""The dispatches of a run as a page shows them: which ones, and each with what it returned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from outcrop.properties import is_of_a_launch
from outcrop.records import Entry
from outcrop.recovery import RunRecord
from outcrop_schemas import limits, wire
from outcrop_schemas.outcome import GOOD, Outcome, VerifiedArtifact
from outcrop_schemas.protocol import Evidence

RUNNING, WAITING, INTERRUPTED = "running", "waiting", "interrupted"
_TOKENS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass(frozen=True)
class DispatchFact:
    """One dispatch. `begun` are seconds since the run began; `seconds` None while it waits or is under way."""

    id: str
    specialist: str
    objective: str
    status: str
    begun: float
    seconds: float | None
    data: Sequence[str] = ()
    lost: Sequence[str] = ()
    summary: str = ""
    results: Mapping[str, Any] = field(default_factory=dict)
    outcome_artifacts: Sequence[VerifiedArtifact] = ()
    findings: Sequence[str] = ()
    evidence: Evidence = field(default_factory=Evidence)
    recommendations: Sequence[str] = ()
    blockers: Sequence[str] = ()
    gap: Mapping[str, Any] | None = None
    errors: Sequence[str] = ()
    warnings: Sequence[str] = ()
    spill: str | None = None
    spill_chars: int = 0
    tokens: int = 0
    turns: int | None = None
    usd: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    launch: str | None = None
    exit: str = ""
    isolation: Mapping[str, Any] = field(default_factory=dict)

    @property
    def short(self) -> str:
        """`d0003`: what people call it."""
        return self.id.partition("-")[0]

    @property
    def is_good(self) -> bool:
        return self.status in GOOD

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for a place, and nothing of it was begun."""
        return self.status == WAITING

    @property
    def rule(self) -> str | None:
        """How the figures were computed, where the tool says so."""
        rule = self.results.get("rule")
        return rule if isinstance(rule, str) else None

    @property
    def results_text(self) -> str:
        """The results for reading, with all their digits."""
        return pretty(self.results)


@dataclass(frozen=True)
class Dispatches:
    """Those that are shown, in the order they began, and how many there are of each status, shown and not."""

    shown: Sequence[DispatchFact]
    counts: Mapping[str, int]
    left_out: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def specialists(self) -> list[str]:
        return sorted({fact.specialist for fact in self.shown})

    @property
    def statuses(self) -> list[str]:
        return sorted({fact.status for fact in self.shown})


def dispatch_facts(run: RunRecord) -> Dispatches:
    """The last dispatches of a run, of those before the last that did not succeed, and behind them those that wait."""
    starts = [entry for entry in run.records.entries if entry.type == "start"]
    ended = {entry.id: entry for entry in run.records.entries if entry.type == "end"}
    unwritten = {outcome.dispatch_id: outcome for outcome in run.interrupted}

    def status(start: Entry) -> str:
        end = ended.get(start.id)
        return end.detail if end else INTERRUPTED if start.id in unwritten else RUNNING

    chosen = _chosen(starts, [status(start) for start in starts])
    began = moment(str(run.about.get("at", "")))
    shown = []
    for start in chosen:
        end = ended.get(start.id)
        outcome = Outcome.model_validate(run.records.at(end).body) if end else unwritten.get(start.id)
        record = run.records.at(start)
        if outcome and outcome.status == INTERRUPTED:
            # Nobody saw it end: it was at work as long as its orchestrator was.
            lasted = seconds_between(moment(record.at), moment(run.last_at))
            outcome = outcome.model_copy(update={"duration_s": max(outcome.duration_s, lasted)})
        shown.append(_fact(start.id, record.body, seconds_between(began, moment(record.at)), outcome))
    for waits in run.waiting[: limits.REPORT_DISPATCHES]:
        record = run.records.at(waits)
        shown.append(_waiting(waits.id, record.body, seconds_between(began, moment(record.at))))
    counts = Counter(map(status, starts)) + Counter({WAITING: len(run.waiting)})
    return Dispatches(shown, dict(counts), dict(counts - Counter(fact.status for fact in shown)))


def _chosen(starts: Sequence[Entry], statuses: Sequence[str]) -> list[Entry]:
    if len(starts) <= limits.REPORT_DISPATCHES:
        return list(starts)
    bad = [place for place, status in enumerate(statuses) if status not in GOOD][-limits.REPORT_FAILED :]
    wanted = set(bad)
    for place in range(len(starts) - 1, -1, -1):
        if len(wanted) >= limits.REPORT_DISPATCHES:
            break
        wanted.add(place)
    return [starts[place] for place in sorted(wanted)]


def _waiting(dispatch_id: str, told: Mapping[str, Any], begun: float) -> DispatchFact:
    return DispatchFact(
        dispatch_id, str(told.get("specialist", "")), str(told.get("objective", "")), WAITING, begun, None
    )


def _fact(dispatch_id: str, start: Mapping[str, Any], begun: float, outcome: Outcome | None) -> DispatchFact:
    told: dict[str, Any] = {
        "id": dispatch_id,
        "specialist": str(start.get("specialist", "")),
        "objective": str(start.get("objective", "")),
        "begun": begun,
        "data": [str(path) for path in start.get("data") or ()],
        "lost": [str(lost) for lost in start.get("again_for") or ()],
    }
    if outcome is None:
        return DispatchFact(status=RUNNING, seconds=None, **told)
    spending, turns = outcome.usage.get("spending") or {}, outcome.usage.get("turns")
    return DispatchFact(
        status=outcome.status,
        seconds=outcome.duration_s,
        summary=outcome.summary,
        results=outcome.results,
        outcome_artifacts=outcome.artifacts,
        findings=outcome.findings,
        evidence=outcome.evidence,
        recommendations=outcome.recommendations,
        blockers=outcome.blockers,
        gap=outcome.gap,
        errors=outcome.errors,
        warnings=outcome.warnings,
        spill=outcome.truncated.spill if outcome.truncated else None,
        spill_chars=outcome.truncated.chars if outcome.truncated else 0,
        tokens=tokens_of(outcome.usage),
        turns=turns if isinstance(turns, int) else None,
        usd=str(spending["spent_usd"]) if "spent_usd" in spending else None,
        usage=outcome.usage,
        launch=outcome.launch,
        exit=_exit(outcome),
        isolation=_isolation(outcome),
        **told,
    )


def tokens_of(usage: Mapping[str, Any]) -> int:
    """All tokens, read and written. What a COMMAND says of them may be anything."""
    return sum(value for name in _TOKENS if isinstance(value := usage.get(name), int) and value > 0)


def _isolation(outcome: Outcome) -> dict[str, Any]:
    """What was proved of its process; one that was never launched, such as one cancelled while it waited, had none."""
    found = outcome.isolation
    return {name: each.model_dump() for name, each in found.items()} if is_of_a_launch(found) else {}


def _exit(outcome: Outcome) -> str:
    if outcome.exit.signal:
        return f"ended by {outcome.exit.signal}"
    return "" if outcome.exit.code is None else f"exit code {outcome.exit.code}"


def moment(text: str) -> datetime | None:
    """A time of the record; None where it is lost."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def seconds_between(earlier: datetime | None, later: datetime | None) -> float:
    """Never less than none: clocks are set back."""
    if earlier is None or later is None or (earlier.tzinfo is None) != (later.tzinfo is None):
        return 0.0
    return max(0.0, (later - earlier).total_seconds())


def pretty(value: Any) -> str:
    """JSON for reading."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        return wire.dumps(value).decode()
