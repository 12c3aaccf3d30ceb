"""A model's turn as it may stand in the next request: whatever a server gave, it takes it back.

The Messages API refuses a conversation whose assistant message ends in thinking or in white space, holds an empty text,
a tool name or call id of other characters, or the same id twice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from hashlib import sha256

from outcrop_schemas.messages import (
    Block,
    Message,
    ModelResponse,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
)
from outcrop_specialists.brief import PINS
from outcrop_specialists.server_calls import NOTHING, answered

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]")
_NAME_CHARS = 128


def carries_calls(response: ModelResponse) -> bool:
    """Whether calls of this turn are to be carried out: not where it stopped for a reason that we do not know."""
    return response.stop_reason == "tool_use" or response.stop_reason == "end_turn"


def sendable(response: ModelResponse, known_ids: set[str]) -> list[Block]:
    """The turn's blocks as a server takes them back. New ids are added to `known_ids`; one that is there already, or
    is none, is replaced, and so is a name: the call's answer then says that there is no such tool."""
    made: list[Block] = []
    for block in response.content:
        if isinstance(block, TextBlock):
            if block.text.strip():
                made.append(block)
        elif isinstance(block, ToolUseBlock):
            made.append(_proper(block, known_ids, len(made)))
        else:
            made.append(block)
    if not made or isinstance(made[-1], ThinkingBlock | RedactedThinkingBlock):
        made.append(TextBlock(text=NOTHING))
    last = made[-1]
    if isinstance(last, TextBlock) and last.text != last.text.rstrip():
        made[-1] = last.model_copy(update={"text": last.text.rstrip()})
    return made


def cut_off(response: ModelResponse) -> list[Block]:
    """What may stay of a turn that ended at its limit of tokens: no call of ours, none of the server's without its
    result, and no thinking without its signature."""
    whole = answered(response.content)
    said: list[Block] = [
        block
        for block in response.content
        if (isinstance(block, TextBlock) and block.text.strip())
        or (isinstance(block, ThinkingBlock) and block.signature)
        or isinstance(block, RedactedThinkingBlock)
        or block in whole
    ]
    if not said or not isinstance(said[-1], TextBlock):
        said.append(TextBlock(text="(cut off)"))
    return said


def refusal(response: ModelResponse) -> str:
    """What the server says of a refusal, where it says anything."""
    details = (response.model_extra or {}).get("stop_details") or {}
    found = [str(details[key]) for key in ("category", "explanation") if details.get(key)]
    return "the model refused to go on" + (f": {': '.join(found)}" if found else "")


def appended(messages: Sequence[Message], said: Sequence[Block]) -> list[Message]:
    """The conversation with one more turn; after one that paused, it goes on in the same message."""
    if messages and messages[-1].role == "assistant":
        before = messages[-1]
        return [*messages[:-1], Message(role="assistant", content=[*before.content, *said])]
    return [*messages, Message(role="assistant", content=list(said))]


def _proper(call: ToolUseBlock, known_ids: set[str], place: int) -> ToolUseBlock:
    name = _NOT_NAME.sub("_", call.name)[:_NAME_CHARS] or "_"
    identifier = call.id
    if not _ID.fullmatch(identifier) or identifier in known_ids:
        digest = sha256(f"{len(known_ids)} {place} {identifier}".encode("utf-8", "surrogatepass")).hexdigest()
        identifier = f"toolu_{digest[:24]}"
    known_ids.add(identifier)
    return (
        call.model_copy(update={"name": name, "id": identifier}) if (name, identifier) != (call.name, call.id) else call
    )


def with_pins_first(messages: Sequence[Message], texts: Sequence[str]) -> list[Message]:
    """The conversation with the block of pins at its start that stands in `texts`, which follow it: a pin that was
    changed or added is in both places from the next request on."""
    current = next((text for text in texts if text.startswith(PINS)), None)
    first = messages[0].content[0]
    before = first.text if isinstance(first, TextBlock) and first.text.startswith(PINS) else None
    if current in (None, before):
        return list(messages)
    content = [TextBlock(text=str(current)), *messages[0].content[before is not None :]]
    return [Message(role=messages[0].role, content=content), *messages[1:]]


def side_by_side(calls: Sequence[ToolUseBlock], alone: Collection[str]) -> list[list[ToolUseBlock]]:
    """The calls of a turn in their order, those together that may be carried out at once; one of `alone` stands by
    itself: it is carried out when all before it have ended, and before all that follow."""
    groups: list[list[ToolUseBlock]] = []
    for call in calls:
        if groups and not {groups[-1][0].name, call.name} & set(alone):
            groups[-1].append(call)
        else:
            groups.append([call])
    return groups
