"""The lead of a recorded run once more: its own agent, walking the journal, with answers and results from it."""

from __future__ import annotations

from outcrop.attaching import attached_before
from outcrop.exchanges import Exchange, read_exchanges
from outcrop.history import History
from outcrop.hypotheses import Hypotheses, take_event
from outcrop.lead.agent import lead_agent, render_tail
from outcrop.lead.toolbox import digest, lead_schemas
from outcrop.pins import Pins
from outcrop.playback import Answers, Playback, RecordedTools, Walked, walk
from outcrop.recovery import RunRecord
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError
from outcrop_schemas.hypotheses import Hypothesis
from outcrop_schemas.journal import JournalRecord
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.agent import ToolAnswer
from outcrop_specialists.context.checkpoint import Checkpoint


class LeadReplay:
    """Walks the journal: each `turn` event is the place of one prompt."""

    def __init__(self, run: RunRecord) -> None:
        self._run, self._records = run, iter(run.records)
        self._history, self._pins = History(), Pins(run.about.get("pins"))
        self._hypotheses = Hypotheses()
        self.turns = len(run.events("turn"))
        self.exchanges, self.damage = used(read_exchanges(run.folder.exchanges / "lead.jsonl"))
        if run.is_under_way:
            # They were read after the journal, and may be ahead of it.
            self.exchanges = _first_turns(self.exchanges, self.turns)
        self.playback = Playback(self.exchanges)
        data = [entry["path"] for entry in run.about.get("data", [])]
        window = WindowSettings.model_validate(run.about.get("window", {}))
        tools = RecordedTools(lead_schemas(window.tools), _lead_answers(run), self.playback)
        objective, pins, known = run.about.get("objective") or "", self._pins.as_dict(), run.about.get("known", ())
        handles = [handle for event in run.events("attached") for handle in event["handles"]]
        known = [*known, *attached_before(run.folder, handles)]
        self.checkpoints: list[Checkpoint] = []
        self.agent = lead_agent(
            self.playback,
            tools,
            objective,
            data,
            pins,
            self._tail,
            _turns(run),
            window,
            known=known,
            on_checkpoint=self._on_checkpoint,
        )

    async def _on_checkpoint(self, checkpoint: Checkpoint) -> None:
        self.checkpoints.append(checkpoint)

    def walk(self) -> Walked:
        return walk(self.agent)

    def hypotheses_held(self) -> list[Hypothesis]:
        """Those that stand at the end of the record."""
        for record in self._records:
            self._take(record)
        return self._hypotheses.all()

    def _tail(self) -> list[str]:
        for record in self._records:
            if record.type == "event" and record.body["kind"] == "turn":
                break
            self._take(record)
        return render_tail(self._pins.render(), self._history.render(), self._hypotheses.render())

    def _take(self, record: JournalRecord) -> None:
        self._history.take(record.type, record.id, record.body)
        if record.type == "event" and record.body["kind"] == "lead_tool":
            take_event(self._hypotheses, record.body, self._run.outcome)
            if "key" in record.body:
                self._pins.set(record.body["key"], record.body["value"])


def used(exchanges: list[Exchange]) -> tuple[list[Exchange], str | None]:
    """The exchanges whose answer the agent was given, and what is damaged of the others, which nothing compares."""
    damaged = next((n for n, each in enumerate(exchanges, 1) if not (each.is_used or each.is_intact)), None)
    told = None if damaged is None else f"exchange {damaged}, which was not used: the record is damaged (hash differs)"
    return [each for each in exchanges if each.is_used], told


def _first_turns(exchanges: list[Exchange], turns: int) -> list[Exchange]:
    """Exchanges up to a number of turns; summaries are not counted."""
    kept: list[Exchange] = []
    for exchange in exchanges:
        is_turn = "purpose" not in exchange.about
        if is_turn and not turns:
            break
        turns -= is_turn
        kept.append(exchange)
    return kept


def _turns(run: RunRecord) -> int:
    """How many turns the lead had."""
    return int(run.about.get("turns", limits.LEAD_TURNS))


def _lead_answers(run: RunRecord) -> Answers:
    """What each of the lead's calls gave, from the journal. Raises JournalError where an outcome is missing."""
    answers: Answers = {}
    turn = 0
    for body in (record.body for record in run.records.of("event", "turn", "lead_tool")):
        if body["kind"] == "turn":
            turn += 1
        elif body["kind"] == "lead_tool" and "dispatch_id" not in body:
            answers[turn, body["call_id"]] = ToolAnswer(body["content"], body.get("is_error", False))
        elif body["kind"] == "lead_tool":
            outcome = run.outcome(body["dispatch_id"])
            if outcome is None:
                raise JournalError(f"the journal has no end of {body['dispatch_id']}, whose outcome the lead was given")
            answers[turn, body["call_id"]] = ToolAnswer(digest(outcome))
    return answers
