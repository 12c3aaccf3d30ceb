"""Calls of the tools that the orchestrator's own agents have, the lead and the chat: known by name, faults recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from outcrop_schemas.errors import OutcropError, UnknownNameError
from outcrop_specialists.completion import error_text

Found = TypeVar("Found")
OwnTool = Callable[[dict[str, Any], str], Awaitable[Found]]
"""Takes the arguments and the id of the call."""
Note = Callable[[str, Mapping[str, Any]], Awaitable[object]]


async def called(
    tools: Mapping[str, OwnTool[Found]], name: str, arguments: dict[str, Any], call_id: str, note: Note, event: str
) -> Found:
    """What the tool gives. A fault goes on to the agent loop, and by `note` into the journal as an `event`, in the
    words that the model is told: prompts are rebuilt from there. Raises OutcropError.
    """
    try:
        tool = tools.get(name)
        if tool is None:
            raise UnknownNameError("tool", name, known=tools)
        return await tool(arguments, call_id)
    except OutcropError as error:
        content = error_text(error.kind, str(error), field=getattr(error, "field", None))
        await note(event, {"call_id": call_id, "name": name, "content": content, "is_error": True})
        raise
