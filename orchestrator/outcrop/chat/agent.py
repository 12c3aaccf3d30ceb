"""The chat's agent for one message, put together from its pieces; a chat and its replay build the very same one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files

from pydantic import BaseModel

from outcrop.chat.answer import ChatAnswer
from outcrop.chat.history import Earlier, conversation
from outcrop_schemas import limits
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.agent import Agent, Asks, Toolbox
from outcrop_specialists.brief import opening, pinned
from outcrop_specialists.context.store import Store

Objects = Callable[[BaseModel], str | None]


def chat_prompt(turns: int) -> str:
    """The system prompt, with the limits that code enforces filled in."""
    text = (files("outcrop.chat") / "prompt.md").read_text("utf-8")
    return text.format(
        answer_chars=limits.CHAT_ANSWER_CHARS,
        runs=limits.CHAT_RUNS,
        turns=turns,
        repeated=limits.REPEATED_CALLS,
    )


def chat_agent(
    model: Asks,
    toolbox: Toolbox,
    message: str,
    *,
    data: Sequence[str],
    pins: Mapping[str, str],
    earlier: Sequence[Earlier],
    attached: Sequence[str],
    turns: int,
    window: WindowSettings,
    store: Store | None = None,
    objects: Objects,
) -> Agent:
    """The agent that answers one message."""
    said = conversation(earlier)
    return Agent(
        model,
        toolbox,
        system=chat_prompt(turns),
        opening=opening(message, data, pins=pins, known=[*attached, *([said] if said else [])]),
        answer=ChatAnswer,
        max_turns=turns,
        tail=lambda: [pinned(pins)] if pins else [],
        window=window,
        store=store,
        objects=objects,
    )
