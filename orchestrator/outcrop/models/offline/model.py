"""The offline model: answers a Messages API request by planning, the same request always with the same turn.

A pure function of the request: no file, no clock, nothing random, no data library. Whether it plays the lead, the
chat or a specialist follows from the tools that are offered.
"""

from __future__ import annotations

import asyncio
from hashlib import sha256

from outcrop.models.offline.chat import RESEARCH, ChatTurn
from outcrop.models.offline.conversation import Call, Conversation
from outcrop.models.offline.lead import LeadTurn
from outcrop.models.offline.specialist import SpecialistTurn
from outcrop_schemas import wire
from outcrop_schemas.messages import Block, ModelRequest, ModelResponse, ToolUseBlock, Usage

NAME = "offline"
DISPATCH = "dispatch"
CHARS_PER_TOKEN = 3


class OfflineModel:
    """A deterministic planner with the face of a model. It raises nothing of its own: any request has an answer."""

    name = NAME
    is_free = True

    async def create(self, request: ModelRequest) -> ModelResponse:
        """The next turn: tool calls, and last of all `complete`."""
        # In a thread: a long objective must not hold up the loop. Nothing is shared between two turns.
        return await asyncio.to_thread(_turn, request)


def _turn(request: ModelRequest) -> ModelResponse:
    conversation = Conversation.of(request)
    offered = {tool.name for tool in request.tools}
    plays = LeadTurn if DISPATCH in offered else ChatTurn if RESEARCH in offered else SpecialistTurn
    calls = plays(request, conversation).calls()
    return _response(request, conversation, calls)


def _response(request: ModelRequest, conversation: Conversation, calls: list[Call]) -> ModelResponse:
    asked = request.as_bytes()
    digest = sha256(asked).hexdigest()
    first = conversation.calls_made + 1
    content: list[Block] = [
        ToolUseBlock(id=f"offline_{digest[:8]}_{number}", name=call.name, input=call.arguments)
        for number, call in enumerate(calls, start=first)
    ]
    said = wire.dumps([block.model_dump() for block in content]).decode()
    usage = Usage(input_tokens=len(asked.decode()) // CHARS_PER_TOKEN, output_tokens=len(said) // CHARS_PER_TOKEN)
    return ModelResponse(
        id=f"msg_offline_{digest[:24]}", model=NAME, content=content, stop_reason="tool_use", usage=usage
    )
