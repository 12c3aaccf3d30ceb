"""The lead's agent, put together from its pieces; a run and a replay build the very same one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from outcrop.hypotheses import HYPOTHESIS
from outcrop.pins import PIN
from outcrop_schemas import limits
from outcrop_schemas.errors import BudgetError, ModelError
from outcrop_schemas.outcome import Status
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.agent import Agent, Asks, Toolbox
from outcrop_specialists.brief import opening
from outcrop_specialists.completion import LeadAnswer
from outcrop_specialists.context.checkpoint import OnCheckpoint, told_to_nobody
from outcrop_specialists.context.store import Store


@cache
def lead_prompt(turns: int = limits.LEAD_TURNS) -> str:
    """The system prompt, with the limits that code enforces filled in."""
    text = (files("outcrop.lead") / "prompt.md").read_text("utf-8")
    return text.format(
        result_chars=limits.RESULT_CHARS,
        history=limits.HISTORY_DISPATCHES,
        pins=limits.PIN_COUNT,
        pin_chars=limits.PIN_CHARS,
        hypotheses=limits.HYPOTHESES,
        summary_chars=limits.SUMMARY_CHARS,
        records=limits.COMPLETE_LIST_RECORDS,
        turns=turns,
        repeated=limits.REPEATED_CALLS,
    )


def lead_agent(
    model: Asks,
    toolbox: Toolbox,
    objective: str,
    data: Sequence[str],
    pins: Mapping[str, str],
    tail: Callable[[], Sequence[str]],
    turns: int = limits.LEAD_TURNS,
    window: WindowSettings | None = None,
    store: Store | None = None,
    known: Sequence[str] = (),
    on_checkpoint: OnCheckpoint = told_to_nobody,
) -> Agent:
    """The lead on one objective. `pins` are those it begins with; `tail` renders pins, hypotheses and history of now:
    what changes, after all that does not. `known` are blocks of skills, memory and attachments."""
    return Agent(
        model,
        toolbox,
        system=lead_prompt(turns),
        opening=opening(objective, data, pins=pins, known=known),
        answer=LeadAnswer,
        max_turns=turns,
        tail=tail,
        window=window,
        store=store,
        on_checkpoint=on_checkpoint,
        # What is dispatched before it in a turn ends with the pins it began with, what follows has the new one; and a
        # hypothesis cites what ended before it.
        alone=(PIN, HYPOTHESIS.name),
    )


def status_of_failure(error: ModelError) -> Status:
    """How a run ends whose lead got no answer from its model."""
    return "budget" if isinstance(error, BudgetError) else "error"


def render_tail(pins: str | None, history: str | None, hypotheses: str | None = None) -> list[str]:
    """History, hypotheses, then pins: what matters most stands last."""
    return [text for text in (history, hypotheses, pins) if text]
