"""The end of a phase of the work: what is done, how it stands, what remains; a fresh context starts from that account.

The agent says it with `checkpoint`; where its window is nearly full the summary of the compaction is taken for it. The
task stands above the account as it was given, what the account lost of the removed turns behind it (`facts.py`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outcrop_schemas import limits
from outcrop_schemas.messages import Message, TextBlock, ToolSchema, ToolUseBlock
from outcrop_specialists.brief import EARLIER
from outcrop_specialists.completion import checked
from outcrop_specialists.context.compaction import Compactor


class CheckpointArguments(BaseModel):
    """The account of a phase in the agent's own words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    done: str = Field(min_length=1, max_length=limits.CHECKPOINT_CHARS, description="What was done and found.")
    state: str = Field(
        min_length=1, max_length=limits.CHECKPOINT_CHARS, description="How it stands: decisions, files, open questions."
    )
    remains: str = Field(min_length=1, max_length=limits.CHECKPOINT_CHARS, description="What is still to be done.")


CHECKPOINT = ToolSchema(
    name="checkpoint",
    description=(
        "End a phase of long work: say what is done, how it stands and what remains, with every figure and path that "
        "matters. The turns so far are then put aside (read_result has them) and you go on from the task and this "
        "account. Not for short work."
    ),
    input_schema=CheckpointArguments.model_json_schema(),
)


class Checkpoint(BaseModel):
    """One account as it is recorded. `text` is what the fresh context has below the task; `archive` is the handle of
    the turns it stands for. Of one made by compaction only the text tells what is done."""

    model_config = ConfigDict(frozen=True)

    number: int
    reason: Literal["asked", "compaction"]
    done: str = ""
    state: str = ""
    remains: str = ""
    files: list[str] = []
    archive: str | None = None
    text: str


_BLOCK = re.compile(rf"{EARLIER} \(\d+ turns are no longer shown[;)]")
_HANDLE = re.compile(rf"{EARLIER} \([^)]*read_result (\w+)\)")
OnCheckpoint = Callable[[Checkpoint], Awaitable[None]]


async def told_to_nobody(checkpoint: Checkpoint) -> None:
    """For agents whose requests are record enough."""


class Phases:
    """Ends the phases of one agent's work, at a clean seam: after every call of a turn has its result."""

    def __init__(self, compactor: Compactor, tell: OnCheckpoint = told_to_nobody) -> None:
        self._compactor, self._tell = compactor, tell
        self._asked: CheckpointArguments | None = None
        self._count = 0

    def ask(self, arguments: Mapping[str, Any]) -> str:
        """Take the agent's account; its context is made anew when the turn is over. Raises ArgumentError."""
        self._asked = checked(CheckpointArguments, arguments)
        return "noted; you go on from this account"

    async def after_turn(self, messages: list[Message]) -> list[Message]:
        """The conversation from here on. Results that the agent has not seen yet, of other calls of the turn, stay."""
        asked, self._asked = self._asked, None
        if asked is None:
            return messages
        last = max(number for number, message in enumerate(messages) if message.role == "assistant")
        calls = [block.name for block in messages[last].content if isinstance(block, ToolUseBlock)]
        cut = len(messages) if set(calls) == {CHECKPOINT.name} else last
        fresh = self._compactor.begun_anew(messages, cut, asked.model_dump())
        await self._record(fresh, "asked", asked)
        return fresh

    async def after_compaction(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """Record the summary that now stands for turns, where there is a new one."""
        if self._compactor.earlier_in(after) not in (None, self._compactor.earlier_in(before)):
            await self._record(after, "compaction", None)

    async def _record(
        self, messages: Sequence[Message], reason: Literal["asked", "compaction"], words: CheckpointArguments | None
    ) -> None:
        self._count += 1
        text = self._compactor.earlier_in(messages) or ""
        await self._tell(
            Checkpoint(
                number=self._count,
                reason=reason,
                files=self._compactor.files,
                archive=handle[1] if (handle := _HANDLE.match(text)) else None,
                text=text,
                **(words.model_dump() if words else {}),
            )
        )


def earlier_in(messages: Sequence[Message]) -> str | None:
    """What stands for turns that are no longer shown, in a request of the record; None where all are shown."""
    texts = [block.text for block in messages[0].content if isinstance(block, TextBlock)]
    # It stands last in the opening; what opens it may have such words too.
    return next((text for text in reversed(texts) if _BLOCK.match(text)), None)
