"""A conversation read back from its record: for those who go on with it, and for people."""

from __future__ import annotations

from dataclasses import dataclass, field

from outcrop.chat.answer import Answered, Known
from outcrop.chat.history import Earlier
from outcrop.recovery import RunRecord, open_run
from outcrop.runs import RunFolder
from outcrop.settings import CHAT
from outcrop_schemas.claims import CheckedClaim
from outcrop_schemas.errors import UsageError


@dataclass
class Conversation:
    """What a chat has said and known: its turns with those it went on from, its runs, files and claims."""

    turns: list[Earlier] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    files: dict[str, Known] = field(default_factory=dict)
    claims: list[CheckedClaim] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)


def answers_of(run: RunRecord) -> list[Answered]:
    """The turns of a chat that were answered, or ended otherwise."""
    return [Answered.model_validate(body["answered"]) for body in run.events("chat_answer")]


def earlier_of(run: RunRecord) -> list[Earlier]:
    """The turns that a chat went on from."""
    return [Earlier(turn["message"], turn["answer"]) for body in run.events("earlier") for turn in body["turns"]]


def conversation_in(folder: RunFolder) -> Conversation:
    """The whole conversation. Raises UsageError for what is no chat, JournalError."""
    run = open_run(folder)
    if run.about.get("kind") != CHAT:
        raise UsageError(f"{folder.run_id} is no chat but a {run.about.get('kind', 'run')}")
    found = Conversation(earlier_of(run), [id for body in run.events("earlier") for id in body["runs"]])
    found.tables = [entry["path"] for entry in run.about.get("data", ())]
    for answered in answers_of(run):
        said = answered.answer or f"(no answer: {answered.status})"
        found.turns.append(Earlier(answered.message, said))
        found.runs += [run_id for run_id in answered.runs if run_id not in found.runs]
        found.files |= {each.path: each.known for each in answered.files if each.known != "unknown"}
        found.claims += [claim for claim in answered.claims if claim not in found.claims]
    return found
