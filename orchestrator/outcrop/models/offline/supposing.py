"""What the offline model supposes where a step asks after a relation, and how it judges by the test of its tool.

The lead states a claim about two columns before the dispatch that tests it; the specialist is told the claim, and says
by the figures of its tool what they are evidence of (`judging.py`). A claim is of more than chance, and of a direction
where one is asked after (`relations.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from outcrop.models.offline.answers import cut
from outcrop.models.offline.conversation import Answer, Call, Conversation, string_of
from outcrop.models.offline.judging import Tested, judged
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.relations import CLAIMS, COMPARE, REGRESS, asked_direction, claim_of
from outcrop_schemas import limits

HYPOTHESIS, HYPOTHESES = "hypothesis", "hypotheses"
_DEPTH = re.compile(r"\bdepth\b", re.IGNORECASE)
_STATUSES: dict[str, str] = {"supports": "supported", "contradicts": "refuted"}


def supposed(tool: str, columns: Sequence[str], profile: Profile | None, path: str, clause: str = "") -> str | None:
    """The claim that a step with this tool puts to the test; None where it names other than two columns."""
    if len(columns) != 2 or profile is None or tool not in CLAIMS:
        return None
    first, second = columns
    kinds = [column.is_numeric for name in columns if (column := profile.column(name))]
    if tool == COMPARE and kinds == [False, True]:
        # "In which rock is copper highest": the groups stand first.
        first, second = second, first
    for name in columns:
        clause = clause.replace(name, " ")
    return claim_of(tool, first, second, path, asked_direction(tool, clause))


def with_interval_tops(tool: str, clause: str, profile: Profile) -> tuple[str, list[str]]:
    """A clause about a trend with depth, where depths are those of intervals, and what is to be noted of it: their tops
    stand for the depth. Elsewhere the clause as it is."""
    tops = profile.with_role("depth_from")
    if tool != REGRESS or len(tops) != 1 or profile.with_role("depth") or "depth" in profile.folded_names:
        return clause, []
    told, count = _DEPTH.subn(lambda _: tops[0].name, clause)
    return told, [f"depth is taken as {tops[0].name}, the top of each interval"] if count else []


def entries_of(told: Mapping[str, str], found: Sequence[Tested]) -> dict[str, list[str]]:
    """The evidence of a completion: what was tested, by the ids of the hypotheses that a specialist was `told`."""
    evidence: dict[str, list[str]] = {}
    for name, claim in told.items():
        for one in found:
            if side := one.side_for(claim):
                evidence.setdefault(side, []).append(cut(f"{name}: {one.said}", limits.ENTRY_CHARS))
    return evidence


def undecided(told: Mapping[str, str], found: Sequence[Tested]) -> list[str]:
    """What was tested and says neither, by the ids of the hypotheses that a specialist was `told`."""
    return [f"{name}: {one.said}" for name, claim in told.items() for one in found if one.is_of(claim) and not one.side]


def told_to(conversation: Conversation) -> dict[str, str]:
    """The hypotheses that a specialist is told, their claims by their ids."""
    found = conversation.context.get(HYPOTHESES)
    return {name: claim for name, claim in found.items() if isinstance(claim, str)} if isinstance(found, dict) else {}


class Supposition:
    """A claim of the lead's from its statement to its verdict, worked out anew from the conversation each turn."""

    def __init__(self, conversation: Conversation, claim: str | None) -> None:
        self._conversation, self._claim = conversation, claim
        self._statement = Call(HYPOTHESIS, {"claim": claim}) if claim else None
        answer = conversation.answer(self._statement) if self._statement else None
        self.name = "" if answer is None or answer.is_error else string_of(answer.data, HYPOTHESIS)
        """Its id, once it is stated."""

        self._is_open = bool(self._statement) and answer is None

    @property
    def statement(self) -> Call | None:
        """The call that states it; None where that is done, or nothing is supposed."""
        return self._statement if self._is_open else None

    def verdict(self, tool: str, answer: Answer) -> Call | None:
        """The call that is due now that its dispatch was answered; None where none is."""
        calls = self._verdicts(tool, answer)
        return next((call for call in calls if self._conversation.answer(call) is None), None)

    def _verdicts(self, tool: str, answer: Answer) -> list[Call]:
        sides = [side for side in _STATUSES if self._has_evidence(answer, side)]
        found = judged(tool, answer.results, "", answer.texts("findings"))
        if self.name and len(sides) == 1:
            confidence = found.confidence if found and not answer.texts("blockers") else "low"
            given = {"id": self.name, "status": _STATUSES[sides[0]], "confidence": confidence}
            return [Call(HYPOTHESIS, given)]
        # It failed, had too few rows, or tested something else than what was supposed.
        return [Call(HYPOTHESIS, {"id": self.name, "status": "dropped"})] if self.name else []

    def _has_evidence(self, answer: Answer, side: str) -> bool:
        evidence = answer.data.get("evidence")
        entries = evidence.get(side) if isinstance(evidence, dict) else None
        return any(str(entry).startswith(f"{self.name}:") for entry in entries or ())
