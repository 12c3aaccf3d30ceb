"""The hypotheses of a run: claims with evidence for and against from its dispatches. Code guards them, not the model.

What stands here is fed with the journal's own events in their order, so that a replay has the very same. No status
follows from evidence by itself: the lead sets it, and may set only what evidence allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outcrop.evidence import Citation, cited, claim_in, named_in, one_line
from outcrop.recovery import RunRecord
from outcrop.text import inert
from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_schemas.hypotheses import Confidence, Hypothesis, HypothesisEvidence
from outcrop_schemas.messages import ToolSchema
from outcrop_schemas.outcome import Outcome
from outcrop_specialists.brief import HYPOTHESES

_SHOWN_CHARS = 160
_SIDES = {"supported": "evidence_for", "refuted": "evidence_against"}


class HypothesisArguments(BaseModel):
    """State a claim, or change one that stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str | None = Field(default=None, description="Of one that stands, such as h1; leave it out to state a new one.")
    claim: str | None = Field(
        default=None,
        min_length=1,
        max_length=limits.HYPOTHESIS_CHARS,
        description="Of a new one: one sentence that data can speak for or against.",
    )
    parent: str | None = Field(default=None, description="Of a new one: the hypothesis that it comes from.")
    status: Literal["active", "supported", "refuted", "revised", "dropped"] | None = Field(
        default=None, description="supported and refuted need evidence on their side, revised one whose parent it is."
    )
    confidence: Confidence | None = None
    evidence_for: list[Citation] = Field(default=[], max_length=limits.HYPOTHESIS_EVIDENCE)
    evidence_against: list[Citation] = Field(default=[], max_length=limits.HYPOTHESIS_EVIDENCE)


HYPOTHESIS = ToolSchema(
    name="hypothesis",
    description="Keep a claim with what speaks for and against it: state it, add evidence that cites dispatches, "
    "set its status.",
    input_schema=HypothesisArguments.model_json_schema(),
)


class Hypotheses:
    """A bounded set of claims, in the order they were stated or proposed."""

    def __init__(self) -> None:
        self._held: dict[str, Hypothesis] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._new: list[Outcome] = []

    def take(self, outcome: Outcome) -> None:
        """Learn of a dispatch that ended."""
        self._new.append(outcome)

    def changed(self, asked: HypothesisArguments) -> Hypothesis:
        """What the lead asks for, kept. Raises ArgumentError where the record of the run does not bear it."""
        self.settle()
        held = self._stated(asked) if asked.id is None else self._known(asked.id, "id")
        if asked.id is not None and (asked.claim or asked.parent):
            raise ArgumentError("claim", "a claim stays as it was stated; state a new one with this as its parent")
        sides = {
            side: self._grown(side, getattr(held, side), [cited(each, self._outcomes, side) for each in citations])
            for side, citations in (("evidence_for", asked.evidence_for), ("evidence_against", asked.evidence_against))
        }
        given = {name: value for name in ("status", "confidence") if (value := getattr(asked, name))}
        made = held.model_copy(update={**sides, **given})
        self._check_status(made)
        self.put(made)
        return made

    def put(self, hypothesis: Hypothesis) -> None:
        """Keep one as it is, instead of the one of its id."""
        self._held[hypothesis.id] = hypothesis

    def settle(self) -> None:
        """Enter what the dispatches since then said of hypotheses. Those of one turn end in any order; they are taken
        in the order in which they were given out."""
        for outcome in sorted(self._new, key=lambda one: one.dispatch_id):
            self._outcomes[outcome.dispatch_id] = outcome
            if outcome.is_good:
                self._enter(outcome)
        self._new.clear()

    def named(self, ids: Sequence[str]) -> dict[str, str]:
        """The claims of these. Raises ArgumentError for one that is not there."""
        return {one: self._known(one, "hypotheses").claim for one in ids}

    def all(self) -> list[Hypothesis]:
        self.settle()
        return list(self._held.values())

    def render(self) -> str | None:
        """As the lead sees them: each with its evidence, or where that is too much with how much there is; None where
        there are none."""
        held = self.all()
        if not held:
            return None
        text = "\n".join([HYPOTHESES.rstrip("\n"), *(line for one in held for line in (_line(one), *_evidence(one)))])
        if len(text) <= limits.HYPOTHESES_SHOWN_CHARS:
            return text
        return "\n".join([HYPOTHESES.rstrip("\n"), *map(_line, held)])

    def _enter(self, outcome: Outcome) -> None:
        said = outcome.evidence
        for side, entries in (("evidence_for", said.supports), ("evidence_against", said.contradicts)):
            for name, text in filter(None, map(named_in, entries)):
                if name in self._held:
                    entered = HypothesisEvidence(dispatch_id=outcome.dispatch_id, text=text, by="specialist")
                    self._add(self._held[name], side, entered)
        for claim in map(claim_in, said.new_hypotheses):
            is_room = sum(one.status == "open" for one in self._held.values()) < limits.HYPOTHESES_PROPOSED
            if claim and is_room and len(self._held) < limits.HYPOTHESES and not self._same(claim):
                self.put(Hypothesis(id=self._next_id(), claim=claim, status="open", proposed_by=outcome.dispatch_id))

    def _add(self, held: Hypothesis, side: str, entered: HypothesisEvidence) -> None:
        there: list[HypothesisEvidence] = getattr(held, side)
        if len(there) < limits.HYPOTHESIS_EVIDENCE and entered not in there:
            self.put(held.model_copy(update={side: [*there, entered]}))

    def _stated(self, asked: HypothesisArguments) -> Hypothesis:
        claim = one_line(asked.claim or "")
        if not claim:
            raise ArgumentError("claim", "a new hypothesis needs a claim")
        if same := self._same(claim):
            raise ArgumentError("claim", f"{same.id} says so already; change it by its id")
        if len(self._held) >= limits.HYPOTHESES:
            raise ArgumentError("claim", f"there are {limits.HYPOTHESES} hypotheses already; go on with those")
        if asked.parent is not None:
            self._known(asked.parent, "parent")
        return Hypothesis(id=self._next_id(), claim=claim, parent=asked.parent)

    def _known(self, name: str, field: str) -> Hypothesis:
        if name not in self._held:
            raise ArgumentError(field, f"there is no hypothesis {name!r}; there are {', '.join(self._held) or 'none'}")
        return self._held[name]

    def _grown(
        self, side: str, there: list[HypothesisEvidence], more: Iterable[HypothesisEvidence]
    ) -> list[HypothesisEvidence]:
        grown = [*there]
        grown += [one for one in more if one not in grown]
        if len(grown) > max(limits.HYPOTHESIS_EVIDENCE, len(there)):
            raise ArgumentError(side, f"{limits.HYPOTHESIS_EVIDENCE} entries are kept, {len(there)} are there")
        return grown

    def _check_status(self, made: Hypothesis) -> None:
        side = _SIDES.get(made.status)
        if side and not getattr(made, side):
            raise ArgumentError("status", f"{made.id} has no {side}, so it cannot be {made.status}")
        if made.status == "revised" and all(one.parent != made.id for one in self._held.values()):
            raise ArgumentError(
                "status", f"no hypothesis has {made.id} as its parent; state the one that it gave way to"
            )

    def _same(self, claim: str) -> Hypothesis | None:
        return next((one for one in self._held.values() if one.claim.casefold() == claim.casefold()), None)

    def _next_id(self) -> str:
        return f"h{len(self._held) + 1}"


def take_event(held: Hypotheses, body: Mapping[str, Any], outcome_of: Callable[[str], Outcome | None]) -> None:
    """Learn of one `lead_tool` event of a journal."""
    if body["name"] == HYPOTHESIS.name:
        held.settle()
        if "hypothesis" in body:
            held.put(Hypothesis.model_validate(body["hypothesis"]))
    elif outcome := outcome_of(body["dispatch_id"]) if "dispatch_id" in body else None:
        held.take(outcome)


def hypotheses_of(run: RunRecord) -> list[Hypothesis]:
    """Those of a recorded run as its journal has them, whether it was answered or not."""
    held = Hypotheses()
    for body in run.events("lead_tool"):
        take_event(held, body, run.outcome)
    return held.all()


def _line(one: Hypothesis) -> str:
    counts = f"{len(one.evidence_for)} for, {len(one.evidence_against)} against"
    parent = f", from {one.parent}" if one.parent else ""
    by = f", proposed by {one.proposed_by}" if one.proposed_by else ""
    return inert(f"{one.id} [{one.status}, {one.confidence}, {counts}{parent}{by}] {one.claim}", keep_newlines=False)


def _evidence(one: Hypothesis) -> list[str]:
    sides = (("for", one.evidence_for), ("against", one.evidence_against))
    return [
        inert(f"  {side} {each.dispatch_id}: {one_line(each.text, _SHOWN_CHARS)}", keep_newlines=False)
        for side, entries in sides
        for each in entries
    ]
