"""Earlier turns of a conversation as the chat sees them: the last ones, within a limit of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outcrop_schemas import limits
from outcrop_specialists.brief import CONVERSATION
from outcrop_specialists.context.tokens import tokens_of_text

_ELLIPSIS = "\n[the rest of this answer is left out]"


@dataclass(frozen=True)
class Earlier:
    """One earlier turn: what the user said and what was answered (or why nothing was)."""

    message: str
    answer: str

    def text(self) -> str:
        return f"The user: {self.message}\nYou: {self.answer}"


def conversation(turns: Sequence[Earlier]) -> str | None:
    """The block that tells of them; None where there are none. The oldest give way first."""
    shown: list[str] = []
    left = limits.CHAT_HISTORY_TOKENS
    for turn in reversed(turns[-limits.CHAT_HISTORY_TURNS :]):
        text = turn.text()
        tokens = tokens_of_text(text)
        if tokens > left and shown:
            break
        if tokens > left:
            # A character takes at most two tokens.
            text = text[: left // 2] + _ELLIPSIS
        shown.append(text)
        left -= tokens
    if not shown:
        return None
    older = len(turns) - len(shown)
    head = [f"[{older} earlier turns are left out]"] if older else []
    return CONVERSATION + "\n\n".join([*head, *reversed(shown)])
