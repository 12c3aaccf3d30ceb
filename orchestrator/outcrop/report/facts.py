"""All that a page of a run tells, from its record and the workspace: frozen values, bounded however long it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from outcrop.hypotheses import hypotheses_of
from outcrop.recovery import RunRecord
from outcrop.report.answer import AnswerFact, answer_fact
from outcrop.report.artifacts import ArtifactFact, artifact_facts
from outcrop.report.charts import Timeline, timeline_of
from outcrop.report.conversation import ConversationFact, conversation_of
from outcrop.report.dispatches import Dispatches, DispatchFact, dispatch_facts, moment, seconds_between, tokens_of
from outcrop.report.hypotheses import HypothesesFact, hypotheses_fact
from outcrop.report.jobs import Jobs, job_facts
from outcrop.report.lineage import Lineage, lineage_of
from outcrop.report.previews import Files
from outcrop.report.repairs import Repairs, repairs_of
from outcrop.report.setting import Setting, setting_of
from outcrop.report.tokens import Tokens, token_facts
from outcrop.workspace import HOME
from outcrop_schemas.outcome import GOOD, RunOutcome


@dataclass(frozen=True)
class Told:
    """A sentence and who said it; `who` is None for the lead and the run itself. `more` dispatches say the same."""

    text: str
    who: DispatchFact | None = None
    kind: str = ""
    more: int = 0


@dataclass(frozen=True)
class RunFacts:
    """One run. `status` is its answer's, `under way`, or what its dispatches come to where there is no lead."""

    run_id: str
    kind: str
    status: str
    objective: str
    began: str
    seconds: float | None
    tokens_spent: int
    notices: Sequence[str]
    answer: AnswerFact | None
    dispatches: Dispatches
    artifacts: Sequence[ArtifactFact]
    more_artifacts: int
    not_done: Sequence[Told]
    warnings: Sequence[Told]
    hypotheses: HypothesesFact | None
    repairs: Repairs
    timeline: Timeline
    lineage: Lineage
    tokens: Tokens
    jobs: Jobs | None
    conversation: ConversationFact | None
    setting: Setting

    @property
    def title(self) -> str:
        return self.objective or f"{self.kind or 'run'} {self.run_id}".capitalize()


def workspace_of(run: RunRecord) -> Path | None:
    """The workspace that a run folder lies in; None where the folder was taken elsewhere."""
    home = run.folder.path.parent.parent
    return home.parent if home.name == HOME else None


def facts_of(run: RunRecord, spending: Callable[[], Mapping[str, Any] | None] | None = None) -> RunFacts:
    """Read the record; `spending` says what was spent, where the record has a part of the ledger only.

    Raises JournalError where it changes meanwhile.
    """
    outcome, about = run.answer, run.about
    dispatches = dispatch_facts(run)
    shown = dispatches.shown
    files = Files(workspace_of(run))
    jobs, conversation = job_facts(run), conversation_of(run)
    artifacts, more = artifact_facts(shown, outcome.artifacts if outcome else (), files)
    answer = answer_fact(outcome) if outcome else None
    turns = [
        seconds_between(moment(str(about.get("at", ""))), moment(record.at))
        for record in run.records.of("event", "turn")
    ]
    seconds = _seconds(run, outcome, dispatches)
    return RunFacts(
        run.folder.run_id,
        str(about.get("kind", "")),
        outcome.status if outcome else _status(run, (jobs or conversation or dispatches).counts),
        conversation.first if conversation else _objective(run, outcome, dispatches),
        str(about.get("at", "")),
        seconds,
        tokens_of(outcome.usage) if outcome else sum(fact.tokens for fact in shown),
        run.notices,
        answer,
        dispatches,
        artifacts,
        more,
        _not_done(shown, outcome),
        _warnings(shown, outcome),
        hypotheses_fact(outcome.hypotheses if outcome else hypotheses_of(run), outcome, shown),
        repairs_of(shown),
        timeline_of([fact for fact in shown if not fact.is_waiting], turns, seconds),
        lineage_of([artifact.path for artifact in artifacts], answer.claims if answer else (), files),
        token_facts(run, shown),
        jobs,
        conversation,
        setting_of(run, shown, outcome, spending),
    )


def _status(run: RunRecord, counts: Mapping[str, int]) -> str:
    """Of what has no lead's answer: what its jobs, its messages or its dispatches come to."""
    if run.is_under_way:
        return "under way"
    if run.about.get("kind") == "run":
        return "interrupted"
    if len(counts) == 1:
        return next(iter(counts))
    return "success" if all(status in GOOD for status in counts) else "partial"


def _objective(run: RunRecord, outcome: RunOutcome | None, dispatches: Dispatches) -> str:
    """What was to be done; of a batch the name of its file, and of a lone dispatch what that was for."""
    if run.about.get("jobs"):
        return f"Batch: {PurePath(str(run.about['jobs'])).name}"
    known = run.about.get("objective") or (outcome.objective if outcome else "")
    return str(known or (dispatches.shown[0].objective if dispatches.total == 1 else ""))


def _seconds(run: RunRecord, outcome: RunOutcome | None, dispatches: Dispatches) -> float | None:
    """How long it took; until now while it is under way, to its orchestrator's last record where nobody answered."""
    if outcome:
        return outcome.duration_s
    if run.is_under_way and run.about:
        return seconds_between(moment(str(run.about.get("at", ""))), datetime.now(UTC))
    if not run.records or not run.about:
        return max((fact.begun + (fact.seconds or 0) for fact in dispatches.shown), default=None)
    return seconds_between(moment(str(run.about.get("at", ""))), moment(run.last_at))


def _not_done(dispatches: Sequence[DispatchFact], outcome: RunOutcome | None) -> list[Told]:
    """What could not be done, by the lead's word first; what a dispatch says that the lead repeats is told once."""
    found = [Told(text, None, "blocker") for text in outcome.blockers] if outcome else []
    found += [Told(text, None, "error") for text in outcome.errors] if outcome else []
    said = [told.text for told in found]
    for fact in dispatches:
        for kind, texts in (("blocker", fact.blockers), ("error", fact.errors)):
            found += [Told(text, fact, kind) for text in texts if not any(text in one for one in said)]
        if fact.gap:
            found.append(Told(_gap(fact), fact, "gap"))
        if not fact.is_good and fact.seconds is not None and not (fact.errors or fact.blockers or fact.gap):
            found.append(Told(fact.summary or f"ended as {fact.status}", fact, fact.status))
    return _once(found)


def _once(found: Sequence[Told]) -> list[Told]:
    """Each sentence once, by the first who said it."""
    said: dict[str, list[Told]] = {}
    for told in found:
        said.setdefault(told.text, []).append(told)
    return [replace(those[0], more=len({one.who and one.who.id for one in those}) - 1) for those in said.values()]


def _gap(fact: DispatchFact) -> str:
    gap = fact.gap or {}
    capability = gap.get("capability") or gap.get("package") or "a capability"
    told = f"{capability} is missing"
    for name in ("reason", "package", "manager", "fallback"):
        if gap.get(name):
            told += f"; {name}: {gap[name]}"
    return told


def _warnings(dispatches: Sequence[DispatchFact], outcome: RunOutcome | None) -> list[Told]:
    found = [Told(text) for text in outcome.warnings] if outcome else []
    return _once(found + [Told(text, fact) for fact in dispatches for text in fact.warnings])
