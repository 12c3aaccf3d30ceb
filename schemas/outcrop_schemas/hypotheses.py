"""What a run supposes and what speaks for and against it: the lead's hypotheses, each with evidence from dispatches."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

HypothesisStatus = Literal["open", "active", "supported", "refuted", "revised", "dropped"]
"""`open` was proposed by a specialist and not taken up; `active` is being tested; `revised` gave way to another, whose
`parent` it is; `dropped` was set aside without a verdict."""

Confidence = Literal["low", "medium", "high"]
"""The lead's own word. No figure stands behind it, so it has no decimals."""


class _Held(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class HypothesisEvidence(_Held):
    """One thing that a dispatch found. `by` is whoever said what it speaks for: the `specialist`, in its completion, or
    the `lead`, whose figures stand in the outcome of the dispatch."""

    dispatch_id: str
    text: str
    by: Literal["specialist", "lead"] = "lead"


class Hypothesis(_Held):
    """One claim of a run. `proposed_by` is the dispatch whose completion had it; null where the lead stated it."""

    id: str
    claim: str
    status: HypothesisStatus = "active"
    confidence: Confidence = "low"
    evidence_for: list[HypothesisEvidence] = []
    evidence_against: list[HypothesisEvidence] = []
    parent: str | None = None
    proposed_by: str | None = None
