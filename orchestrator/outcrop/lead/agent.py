"""The lead's agent, put together from its pieces; a run and a replay build the very same one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files

from outcrop_schemas import limits
from outcrop_specialists.agent import Agent, Asks, Toolbox
from outcrop_specialists.brief import opening
from outcrop_specialists.completion import LeadAnswer


def lead_prompt() -> str:
    """The system prompt, with the limits that code enforces filled in."""
    text = (files("outcrop.lead") / "prompt.md").read_text("utf-8")
    return text.format(
        result_chars=limits.RESULT_CHARS,
        history=limits.HISTORY_DISPATCHES,
        pins=limits.PIN_COUNT,
        pin_chars=limits.PIN_CHARS,
        summary_chars=limits.SUMMARY_CHARS,
        records=limits.COMPLETE_LIST_RECORDS,
        turns=limits.LEAD_TURNS,
        repeated=limits.REPEATED_CALLS,
    )


def lead_agent(
    model: Asks, toolbox: Toolbox, objective: str, data: Sequence[str], tail: Callable[[], str | None]
) -> Agent:
    """The lead on one objective. `tail` renders pins and history: what changes, after all that does not."""
    return Agent(
        model,
        toolbox,
        system=lead_prompt(),
        opening=opening(objective, data),
        answer=LeadAnswer,
        max_turns=limits.LEAD_TURNS,
        tail=tail,
    )


def render_tail(pins: str | None, history: str | None) -> str | None:
    """Pins, then history; None where there is neither."""
    return "\n\n".join(text for text in (pins, history) if text) or None
