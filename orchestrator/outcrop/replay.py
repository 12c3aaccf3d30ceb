"""Walking a finished run from its journal and exchanges: nothing is launched, no model is asked.

Prompts are rebuilt by the very agents that sent them, fed with the recorded answers, and compared byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from outcrop.attaching import attached_before
from outcrop.exchanges import Exchange, read_exchanges
from outcrop.lead.agent import status_of_failure
from outcrop.lead_replay import LeadReplay, used
from outcrop.outside.servers import offered_before
from outcrop.playback import EndOfRecord, Playback, RecordedTools, Walked, answers_in, walk
from outcrop.prompt_diff import PromptDifference
from outcrop.recovery import RunRecord
from outcrop.settings import CHAT
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError, ModelError, OutcropError
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.messages import ModelRequest
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.agent import AgentEnd
from outcrop_specialists.context.selection.offering import FIND_TOOLS
from outcrop_specialists.context.skills import SKILLS_KEY
from outcrop_specialists.outside import schema_of
from outcrop_specialists.roles import get_role
from outcrop_specialists.toolbox import schemas_of
from outcrop_specialists.work import role_agent


@dataclass(frozen=True)
class Checked:
    """One agent, or the journal: how many prompts were compared, and the first difference from the record; `prompt`
    says where that is one of a prompt."""

    agent: str
    prompts: int
    difference: str | None
    prompt: PromptDifference | None = None

    @classmethod
    def of(cls, agent: str, playback: Playback, otherwise: str | None) -> Checked:
        """What a walk came to: a prompt that differs goes before what is `otherwise` not as recorded."""
        prompt = playback.difference
        return cls(agent, playback.compared, str(prompt) if prompt else otherwise, prompt)

    def as_json(self) -> dict[str, Any]:
        told = {"agent": self.agent, "prompts": self.prompts, "difference": self.difference}
        step = self.prompt.step if self.prompt else None
        return {
            **told,
            "step": step,
            "segments": [one.as_json() for one in self.prompt.segments] if self.prompt else [],
        }


def verify(run: RunRecord) -> list[Checked]:
    """Rebuild every prompt of a run and compare it with the one that was sent, and the record with itself.

    What is missing is a difference too. A run that is under way, was killed or was cancelled may lack the end of its
    last turn, and nothing else.
    """
    checked = [Checked("journal", 0, "; ".join(run.damage))] if run.damage else []
    if run.about.get("kind") == "run":
        checked.append(_guarded("lead", lambda: _verify_lead(run)))
    if run.about.get("kind") == CHAT:
        checked += _verified_chat(run)
    for start in run.records.of("start"):
        # Neither a program of one's own nor a call of one tool has an agent.
        if start.body["command"] is None and "call" not in start.body:
            checked.append(_guarded(start.id, partial(_verify_specialist, run, start)))
    return checked + _unknown_exchanges(run, {one.agent for one in checked})


def _verified_chat(run: RunRecord) -> list[Checked]:
    """One for all its messages: the first difference of any."""
    from outcrop.chat.replaying import difference_of, rebuilt

    def check() -> Checked:
        prompts = 0
        for one in rebuilt(run):
            prompts += one.playback.compared
            found = Checked.of(CHAT, one.playback, difference_of(one))
            if found.difference:
                return Checked(CHAT, prompts, f"message {one.number}: {found.difference}", found.prompt)
        return Checked(CHAT, prompts, None)

    return [_guarded(CHAT, check)]


def lead_request(run: RunRecord) -> ModelRequest:
    """Exactly what the lead would be shown now: the request that follows from everything that is recorded.

    In the middle of a turn, while results of its calls are missing, and after an end without a completion, the lead is
    shown nothing new: then it is the last request as it was sent. Of a run that was killed this is the last thing that
    its lead saw; it is never asked again. Raises JournalError where the record is damaged.
    """
    if run.about.get("kind") == CHAT:
        return _chat_request(run)
    try:
        replayed = LeadReplay(run)
        replayed.walk()
    except _DAMAGED as error:
        raise JournalError(f"{run.folder.path}: the prompt cannot be rebuilt: {_reason(error)}") from error
    request = replayed.agent.request()
    if request.messages[-1].role == "assistant" and replayed.playback.last:
        return replayed.playback.last
    return request


def _chat_request(run: RunRecord) -> ModelRequest:
    """The last prompt of a chat: what it is shown next depends on what it is asked."""
    from outcrop.chat.replaying import last_request

    try:
        request = last_request(run)
    except _DAMAGED as error:
        raise JournalError(f"{run.folder.path}: the prompt cannot be rebuilt: {_reason(error)}") from error
    if request is None:
        raise JournalError(f"{run.folder.path}: nothing was asked in this chat")
    return request


def _verify_lead(run: RunRecord) -> Checked:
    replayed = LeadReplay(run)
    walked = replayed.walk()
    playback = replayed.playback
    # A run that did not come to its end may have sent a prompt that has no answer, or be amid the calls of a turn.
    is_finished = run.answer is not None and run.answer.status != "cancelled"
    turns, count = replayed.turns, sum("purpose" not in exchange.about for exchange in replayed.exchanges)
    if count > turns or count < (turns if is_finished else turns - 1):
        return Checked("lead", playback.compared, f"{turns} prompts were sent, {count} are recorded")
    otherwise = (
        replayed.damage
        or _lack(replayed, walked, is_finished)
        or _other_checkpoints(run, replayed, is_finished)
        or _other_answer(run, walked)
        or _other_hypotheses(run, replayed)
    )
    return Checked.of("lead", playback, otherwise)


def _other_checkpoints(run: RunRecord, replayed: LeadReplay, is_finished: bool) -> str | None:
    """The first account of a phase that is not recorded as it was made."""
    recorded = run.events("checkpoint")
    for number, made in enumerate(replayed.checkpoints):
        if number < len(recorded) and made.model_dump().items() <= recorded[number].items():
            continue
        if number < len(recorded) or is_finished:
            return f"checkpoint {made.number} is not recorded as it was made"
    return None


def _lack(replayed: LeadReplay, walked: Walked, is_finished: bool) -> str | None:
    """Where the record ends too early for the lead, or the lead for the record."""
    if not replayed.playback.is_used_up:
        return f"the record goes on after prompt {replayed.playback.compared}, but {walked.says}"
    if isinstance(walked.end, EndOfRecord) and (is_finished or replayed.playback.asked < replayed.turns):
        return walked.says
    return None


def _other_answer(run: RunRecord, walked: Walked) -> str | None:
    """How the lead's own end differs from the answer that is recorded."""
    if run.answer is None or run.answer.status == "cancelled":
        return None
    recorded = run.answer.model_dump(include={"status", "summary", "findings", "recommendations", "blockers", "errors"})
    given = {"status": "error", "summary": "", "findings": [], "recommendations": [], "blockers": [], "errors": []}
    if isinstance(walked.end, AgentEnd) and walked.end.answer:
        given |= walked.end.answer.model_dump(exclude={"claims"})
        is_refuted = any(claim.verdict == "refuted" for claim in run.answer.claims)
        if given["status"] == "success" and (is_refuted or not all(outcome.is_good for outcome in run.standing())):
            # As the run does it: a success is no more than partial where a dispatch failed or a figure is refuted.
            given["status"] = "partial"
    elif isinstance(walked.end, ModelError):
        given |= {"status": status_of_failure(walked.end), "errors": [f"model: {walked.end}"]}
    elif isinstance(walked.end, AgentEnd):
        given["errors"] = [f"{walked.end.stop}: {walked.end.reason}"]
    differing = [name for name in given if given[name] != recorded[name]]
    return f"the recorded answer is not what the lead said: {', '.join(differing)}" if differing else None


def _other_hypotheses(run: RunRecord, replayed: LeadReplay) -> str | None:
    if run.answer is None or run.answer.status == "cancelled":
        return None
    if run.answer.hypotheses == replayed.hypotheses_held():
        return None
    return "the hypotheses of the recorded answer are not those that its dispatches and its lead made"


def _verify_specialist(run: RunRecord, start: JournalRecord) -> Checked:
    exchanges, damage = used(read_exchanges(run.folder.exchanges / f"{start.id}.jsonl"))
    role = get_role(start.body["specialist"])
    context = dict(start.body["context"])
    pins = context.pop("pins", None)
    playback = Playback(exchanges)
    window = WindowSettings.model_validate(start.body.get("window", {}))
    outside = [schema_of(tool) for tool in offered_before(run.folder, start.body.get("outside"))]
    schemas = schemas_of(role.tools, outside, has_skills=SKILLS_KEY in context, is_deferring=window.tools == "api")
    tools = RecordedTools([*schemas, FIND_TOOLS], answers_in(exchanges), playback)
    turns = start.body.get("turns", limits.AGENT_TURNS)
    objective, data = start.body["objective"], start.body["data"]
    attached = attached_before(run.folder, start.body.get("attached", ()))
    agent = role_agent(role, playback, tools, objective, data, context, pins, turns, window, attachments=attached)
    walked = walk(agent)
    difference = damage or _other_count(run, start.id, exchanges)
    if not difference and not playback.is_used_up:
        difference = f"the record goes on after prompt {playback.compared}, but {walked.says}"
    return Checked.of(start.id, playback, difference)


def _other_count(run: RunRecord, dispatch_id: str, exchanges: list[Exchange]) -> str | None:
    """Whether the turns that the outcome counts are recorded. Nobody counted those of a dispatch that never ended."""
    answered = sum(exchange.response is not None for exchange in exchanges)
    outcome = run.outcome(dispatch_id)
    if outcome is None or outcome.status == "interrupted":
        return None
    turns = outcome.usage.get("turns", 0)
    return f"{turns} turns were answered, {answered} are recorded" if turns != answered else None


def _unknown_exchanges(run: RunRecord, known: set[str]) -> list[Checked]:
    """Exchanges that no record of the journal explains. A run under way may have begun them since it was read."""
    if run.is_under_way or not run.folder.exchanges.is_dir():
        return []
    found = sorted(path.stem for path in run.folder.exchanges.glob("*.jsonl"))
    return [Checked(name, 0, "has exchanges, but the journal does not know it") for name in found if name not in known]


# What a damaged record may make of code that trusts it.
_DAMAGED = (OutcropError, LookupError, TypeError, ValueError, AttributeError)


def _guarded(agent: str, check: Callable[[], Checked]) -> Checked:
    try:
        return check()
    except _DAMAGED as error:
        return Checked(agent, 0, _reason(error))


def _reason(error: Exception) -> str:
    if isinstance(error, OutcropError):
        return str(error)
    return f"the record is damaged: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
