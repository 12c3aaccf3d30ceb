"""The offline model as the lead: plans the objective, hands each step to the specialist that has the tool, answers."""

from __future__ import annotations

from typing import Any

from outcrop.models.offline.answers import smaller
from outcrop.models.offline.cards import owners, read_roster
from outcrop.models.offline.conversation import Answer, Call, Conversation, string_of
from outcrop.models.offline.mentions import finder_of
from outcrop.models.offline.profile import Profile, joined
from outcrop.models.offline.references import Previous
from outcrop.models.offline.report import LeadReport
from outcrop.models.offline.sequence import Attempt, Done, Place, replaces_table, work_through
from outcrop.models.offline.steps import Step, make_plan
from outcrop.models.offline.supposing import HYPOTHESES, HYPOTHESIS, Supposition, supposed, with_interval_tops
from outcrop.models.offline.tables import find_tables, takes_several, targets_of
from outcrop.models.offline.words import words_of
from outcrop_schemas.messages import ModelRequest
from outcrop_specialists.completion import COMPLETE

DISPATCH = "dispatch"
CHECK_MISSING = "check_missing"
REASONED = frozenset(("error", "capability_gap"))
GOOD = frozenset(("success", "partial"))


class LeadTurn:
    """One turn of the lead, worked out anew from the whole conversation."""

    def __init__(self, request: ModelRequest, conversation: Conversation) -> None:
        self._conversation = conversation
        description = next((tool.description for tool in request.tools if tool.name == DISPATCH), "")
        self._cards, self._owners = read_roster(description), owners(description)
        self._own_tools = {tool.name for tool in request.tools} - {DISPATCH, COMPLETE}
        self._may_suppose = HYPOTHESIS in self._own_tools
        self._profiles: dict[str, Profile] = {}

    def calls(self) -> list[Call]:
        """What to call now: what must be known first, the dispatches that can go out, or `complete`."""
        tables = find_tables(self._conversation)
        if tables.calls:
            return tables.calls[:1]
        self._profiles = {profile.path: profile for profile in tables.profiles}
        plan = make_plan(self._conversation.objective, self._cards, joined(tables.profiles))
        progress = work_through(
            plan.steps, self._targets, self._attempt, lambda step: replaces_table(step, step.card.specialist)
        )
        if tables.profiles and progress.calls:
            # A claim that stands behind a dispatch in a turn waits until that has ended.
            return sorted(progress.calls, key=lambda call: call.name != HYPOTHESIS)
        return [self._complete(LeadReport(tables, plan, progress.records))]

    def _complete(self, report: LeadReport) -> Call:
        answer = report.answer(no_roster=not self._cards, specialists=self._owners)
        return Call(COMPLETE, smaller(answer, self._conversation.refused_completions))

    def _targets(self, step: Step) -> list[str]:
        return targets_of(step.clause, list(self._profiles.values()), step.card)

    def _attempt(self, step: Step, place: Place, previous: Previous | None) -> Attempt:
        """The dispatch of a step and its outcome; a question after gaps is answered by the lead's own tool."""
        path = place.path
        columns = self._columns(step, path)
        if step.card.name == CHECK_MISSING and CHECK_MISSING in self._own_tools and not columns:
            return self._outcome(Call(CHECK_MISSING, {"path": path}), columns)
        context: dict[str, Any] = {"tool": step.card.name}
        if previous:
            context["previous"] = previous.as_context()
        data = [path, *(place.others(list(self._profiles)) if takes_several(step.card) else [])]
        arguments = {"specialist": step.card.specialist, "objective": step.clause, "data": data, "context": context}
        return self._testing(step, Call(DISPATCH, arguments), columns)

    def _testing(self, step: Step, call: Call, columns: tuple[str, ...]) -> Attempt:
        """The dispatch of a step; where that puts a claim to the test, the claim is stated before and judged after."""
        path = call.arguments["data"][0]
        profile = self._profiles.get(path) if self._may_suppose else None
        claim = supposed(step.card.name, columns, profile, path, step.clause)
        supposition = Supposition(self._conversation, claim)
        if supposition.statement:
            return Attempt([supposition.statement])
        if supposition.name:
            call = Call(call.name, {**call.arguments, HYPOTHESES: [supposition.name]})
        attempt = self._outcome(call, columns)
        answer = self._conversation.answer(call)
        verdict = supposition.verdict(step.card.name, answer) if answer else None
        return Attempt([verdict]) if verdict else attempt

    def _outcome(self, call: Call, columns: tuple[str, ...]) -> Attempt:
        answer = self._conversation.answer(call)
        if answer is None:
            return Attempt([call])
        if answer.is_error:
            return Attempt(failure=answer.error)
        status = string_of(answer.data, "status")
        if status and status not in GOOD:
            reasons = [*answer.texts("blockers"), *answer.texts("errors")] or [answer.summary]
            said = "; ".join(filter(None, reasons))
            # "error" says nothing that the reason does not; "timeout" does.
            return Attempt(failure=said if said and status in REASONED else f"{status}: {said}".rstrip(": "))
        return Attempt(done=_done(answer, columns))

    def _columns(self, step: Step, path: str) -> tuple[str, ...]:
        """The columns that a clause names, for the steps that speak of "them"."""
        profile = self._profiles.get(path) or next(iter(self._profiles.values()), None)
        if profile is None:
            return ()
        clause, _ = with_interval_tops(step.card.name, step.clause, profile)
        return tuple(finder_of(profile).find(clause, words_of(clause)).columns)


def _done(answer: Answer, columns: tuple[str, ...]) -> Done:
    return Done(
        summary=answer.summary,
        results=answer.results,
        artifacts=answer.records("artifacts"),
        notes=[*answer.texts("findings"), *answer.texts("notes")],
        blockers=answer.texts("blockers"),
        columns=columns,
    )
