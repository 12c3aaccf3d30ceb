"""The model that follows a plan: it hands the steps out and makes their calls, and nothing is left to it to decide.

A pure function of plan and request, like the offline model: what was made so far is read from the conversation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from outcrop.models.offline.answers import cut, sentence, sentences, small_results, smaller
from outcrop.models.offline.conversation import Answer, Call, Conversation
from outcrop.models.offline.figures import figures_of
from outcrop.plans.binding import BoundPlan
from outcrop.plans.references import references_of, with_files
from outcrop.text import shorten
from outcrop_schemas import limits
from outcrop_schemas.messages import ModelRequest, ModelResponse, ToolUseBlock, Usage
from outcrop_schemas.plan import FileReference, PlanCall, PlanStep
from outcrop_specialists.completion import COMPLETE

NAME = "plan"
DISPATCH = "dispatch"
STEP, FILES = "plan_step", "files"
"""In the context of a dispatch: the number of its step, and the files that it begins with."""
GOOD = ("success", "partial")
FIGURES_CHARS = 200


class PlanModel:
    """Answers the lead with the dispatches of a plan and a specialist with the calls of its step."""

    name = NAME
    is_free = True

    def __init__(self, bound: BoundPlan) -> None:
        self._bound = bound

    async def create(self, request: ModelRequest) -> ModelResponse:
        """The next turn: tool calls, and last of all `complete`."""
        conversation = Conversation.of(request)
        is_lead = any(tool.name == DISPATCH for tool in request.tools)
        calls = (_Lead if is_lead else _Specialist)(self._bound, conversation).calls()
        digest = sha256(request.as_bytes()).hexdigest()
        uses = [
            ToolUseBlock(id=f"plan_{digest[:8]}_{number}", name=call.name, input=call.arguments)
            for number, call in enumerate(calls, conversation.calls_made + 1)
        ]
        return ModelResponse(
            id=f"msg_plan_{digest[:24]}", model=NAME, content=[*uses], stop_reason="tool_use", usage=Usage()
        )


@dataclass
class _Files:
    """What was made so far: the path of each file by its reference, and the calls that made all they will."""

    paths: dict[str, str] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    def waits_for(self, call: PlanCall) -> bool:
        return any(self._path(one) is None and one.source not in self.ended for one in references_of(call))

    def lost(self, call: PlanCall) -> list[str]:
        """Those that a call needs and nothing made."""
        return [one.source for one in references_of(call) if self._path(one) is None and one.source in self.ended]

    def arguments(self, call: PlanCall) -> dict[str, Any]:
        return with_files(call.arguments, self._path)

    def _path(self, reference: FileReference) -> str | None:
        return self.paths.get(reference.key)

    def take(self, call: PlanCall, answer: Answer) -> None:
        """The files that a call made, as references name them; the first one also by the call alone."""
        self.ended.add(call.id)
        for key, path in _made(call, answer):
            self.paths.setdefault(key, path)


def _made(call: PlanCall, answer: Answer) -> Iterator[tuple[str, str]]:
    if answer.is_error:
        return
    count: Counter[str] = Counter()
    for record in answer.records("artifacts"):
        kind, path = record.get("kind"), record.get("path")
        if isinstance(kind, str) and isinstance(path, str):
            count[kind] += 1
            yield call.id, path
            yield f"{call.id} {kind} {count[kind]}", path


class _Lead:
    """One turn of the lead: every step that can begin now, or the answer."""

    def __init__(self, bound: BoundPlan, conversation: Conversation) -> None:
        self._bound, self._conversation = bound, conversation
        self._files = _Files(dict(bound.files), set(bound.files))
        self._done: list[tuple[int, PlanStep, Answer]] = []
        self._blockers: list[str] = []

    def calls(self) -> list[Call]:
        steps = self._bound.plan.steps
        waiting: list[Call] = []
        held: set[str] = set()
        for number, step in enumerate(steps, 1):
            own = {call.id for call in step.calls}
            needed = [one for call in step.calls for one in references_of(call) if one.source not in own]
            if any(one.source in held for one in needed):
                held |= own
                continue
            call = self._dispatch(number, step, needed)
            answer = self._conversation.answer(call)
            if answer is None:
                waiting.append(call)
                held |= own
            else:
                self._take(number, step, answer)
        return waiting or [self._complete()]

    def _dispatch(self, number: int, step: PlanStep, needed: list[FileReference]) -> Call:
        files = {one.key: path for one in needed if (path := self._files.paths.get(one.key))}
        said = (
            f"Step {number} of {len(self._bound.plan.steps)} of the plan: {', '.join(call.tool for call in step.calls)}"
        )
        return Call(
            DISPATCH,
            {
                "specialist": step.specialist,
                "objective": cut(said, limits.ENTRY_CHARS),
                "data": list(dict.fromkeys(files.values())),
                "context": {STEP: number, FILES: files},
            },
        )

    def _take(self, number: int, step: PlanStep, answer: Answer) -> None:
        self._files.ended |= {call.id for call in step.calls}
        made = answer.results.get(FILES)
        self._files.paths |= {key: path for key, path in (made if isinstance(made, dict) else {}).items()}
        status = answer.data.get("status")
        if answer.is_error or status not in GOOD:
            reasons = [answer.error] if answer.is_error else [*answer.texts("errors"), *answer.texts("blockers")]
            self._blockers.append(f"Step {number} ({step.specialist}): {'; '.join(reasons) or status}")
        else:
            self._done.append((number, step, answer))
            self._blockers += [f"Step {number}: {blocker}" for blocker in answer.texts("blockers")]

    def _complete(self) -> Call:
        plan, done = self._bound.plan, self._done
        findings = [f"The plan of run {plan.run} was followed, without a model"]
        if self._bound.repairs:
            count = len(self._bound.repairs)
            told = f"{count} column{'s were' if count > 1 else ' was'} found by another than the exact name"
            findings.append(f"{told}: {'; '.join(self._bound.repairs)}")
        findings += [f"Warning: {warning}" for warning in self._bound.warnings]
        findings += [_finding(*each) for each in done]
        findings += [f"Step {number}: {note}" for number, note in self._notes()]
        summary = " ".join([f"{len(done)} of {len(plan.steps)} steps done.", *(each[2].summary for each in done)])
        answer = {
            "status": "error" if not done else "partial" if self._blockers else "success",
            "summary": cut(summary, limits.SUMMARY_CHARS),
            "findings": sentences(findings),
            "blockers": sentences(self._blockers),
        }
        return Call(COMPLETE, smaller(answer, self._conversation.refused_completions))

    def _notes(self) -> Iterator[tuple[int, str]]:
        """What the tools noted, each thing once."""
        told: set[str] = set()
        for number, _, answer in self._done:
            for note in answer.texts("findings"):
                if note not in told:
                    told.add(note)
                    yield number, note


def _finding(number: int, step: PlanStep, answer: Answer) -> str:
    paths = [str(record["path"]) for record in answer.records("artifacts") if record.get("path")]
    files = f" Files: {shorten(', '.join(paths), limits.ENTRY_CHARS // 2)}." if paths else ""
    results = {key: value for key, value in answer.results.items() if key != FILES}
    if len(results) == 1 and isinstance(only := next(iter(results.values())), dict):
        results = only
    figures = figures_of(results, FIGURES_CHARS, answer.summary)
    told = f"{answer.summary}{f' In figures: {figures}.' if figures else ''}"
    return cut(f"Step {number} ({step.specialist}): {told}", limits.ENTRY_CHARS - len(files)) + files


class _Specialist:
    """One turn of a specialist: every call of its step that can be made now, or its account of them."""

    def __init__(self, bound: BoundPlan, conversation: Conversation) -> None:
        self._conversation = conversation
        number = conversation.context.get(STEP)
        steps = bound.plan.steps
        self._step = steps[number - 1] if isinstance(number, int) and 0 < number <= len(steps) else None
        self._needed = {
            one.key
            for n, step in enumerate(steps, 1)
            if n != number
            for call in step.calls
            for one in references_of(call)
        }
        given = conversation.context.get(FILES)
        self._files = _Files(dict(given) if isinstance(given, dict) else {})
        own = {call.id for call in self._step.calls} if self._step else set()
        # What this step does not make itself is there from the start or never.
        known = {one.id for one in bound.plan.inputs} | {call.id for call in bound.plan.calls}
        self._files.ended = known - own

    def calls(self) -> list[Call]:
        if self._step is None:
            told = "This work is not of the plan that is followed"
            return [Call(COMPLETE, {"status": "error", "summary": told, "errors": [told]})]
        ready: list[Call] = []
        answers: list[tuple[PlanCall, Answer]] = []
        blockers: list[str] = []
        for call in self._step.calls:
            if lost := self._files.lost(call):
                self._files.ended.add(call.id)
                blockers.append(f"{call.id} ({call.tool}) needs a file of {', '.join(lost)}, which is not there")
            elif not self._files.waits_for(call):
                asked = Call(call.tool, self._files.arguments(call))
                answer = self._conversation.answer(asked)
                if answer is None:
                    # Two of a plan may come to be the same where one file stands for two inputs.
                    ready += [asked] if asked not in ready else []
                    continue
                self._files.take(call, answer)
                if answer.is_error:
                    blockers.append(f"{call.id} ({call.tool}): {answer.error}")
                else:
                    answers.append((call, answer))
        return ready or [self._complete(answers, blockers)]

    def _complete(self, answers: list[tuple[PlanCall, Answer]], blockers: list[str]) -> Call:
        results, notes = small_results({f"{call.id}_{call.tool}": answer.results for call, answer in answers})
        made = {key: path for key, path in self._files.paths.items() if key in self._needed}
        own = {call.id for call, _ in answers}
        made = {key: path for key, path in made.items() if key.partition(" ")[0] in own}
        summary = " ".join(sentence(answer.summary) for _, answer in answers) or f"Nothing was done: {blockers[0]}"
        answer: dict[str, Any] = {
            "status": "error" if not answers else "partial" if blockers else "success",
            "summary": cut(summary, limits.SUMMARY_CHARS),
            "results": {**({FILES: made} if made else {}), **_without_rows(results)},
            "findings": sentences([note for _, one in answers for note in one.texts("notes")] + notes),
            "blockers": sentences(blockers),
        }
        return Call(COMPLETE, smaller(answer, self._conversation.refused_completions))


def _without_rows(results: Mapping[str, Any]) -> dict[str, Any]:
    """Results without rows of data; those are in the files that the tools wrote."""
    return {
        name: {key: value for key, value in record.items() if key != "rows" or not isinstance(value, list)}
        for name, record in results.items()
        if isinstance(record, dict)
    }
