"""What was said in a chat: each message, and its answer with the figures in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from outcrop.recovery import RunRecord
from outcrop.report.answer import Piece, pieces_of
from outcrop.settings import CHAT
from outcrop_schemas import limits


@dataclass(frozen=True)
class TurnFact:
    """One message and what came of it; `runs` are those that it began, `unknown` the files that nobody knows."""

    message: str
    status: str
    answer: Sequence[Piece]
    runs: Sequence[str]
    unknown: Sequence[str]
    told: Sequence[str]


@dataclass(frozen=True)
class ConversationFact:
    """The last turns; earlier ones are counted. `first` is the message that it began with."""

    turns: Sequence[TurnFact]
    left_out: int
    first: str
    counts: Mapping[str, int]
    """How many turns there are of each status, shown and not."""


def conversation_of(run: RunRecord) -> ConversationFact | None:
    """Of a chat; None of every other run."""
    if run.about.get("kind") != CHAT:
        return None
    from outcrop.chat.record import answers_of

    answered = answers_of(run)
    shown = answered[-limits.REPORT_TURNS :]
    turns = [
        TurnFact(
            each.message,
            each.status,
            pieces_of(each.answer, each.figures),
            each.runs,
            [cited.path for cited in each.files if cited.known == "unknown"],
            [*each.errors, *each.warnings],
        )
        for each in shown
    ]
    first = answered[0].message if answered else ""
    return ConversationFact(turns, len(answered) - len(shown), first, Counter(each.status for each in answered))
