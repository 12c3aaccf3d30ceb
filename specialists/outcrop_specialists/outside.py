"""Tools of outside servers as a specialist's model has them: arguments checked, calls sent up the channel, answers
bounded. The servers themselves are the orchestrator's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import OutsideError
from outcrop_schemas.messages import ToolSchema
from outcrop_schemas.protocol import OutsideAnswer, OutsideCall, OutsideTool
from outcrop_specialists.outside_answers import Shelf, told
from outcrop_specialists.outside_schemas import check_arguments

_FOLDER = "outside"


class CallsOutside(Protocol):
    """Has a call carried out. Raises OutsideError, ModelError."""

    async def call(self, asked: OutsideCall) -> OutsideAnswer: ...


def schema_of(tool: OutsideTool) -> ToolSchema:
    """The tool as a model sees it."""
    return ToolSchema(name=tool.name, description=tool.description, input_schema=tool.input_schema)


def are_many(tools: Sequence[OutsideTool]) -> bool:
    """Whether their cards would fill the window: then they are chosen from, whatever is set."""
    return sum(len(schema_of(tool).model_dump_json()) for tool in tools) > limits.OUTSIDE_OFFERED_CHARS


class OutsideTools:
    """The outside tools of one specialist. What is not shown of answers goes to a folder of its scratch folder."""

    def __init__(self, tools: Sequence[OutsideTool], channel: CallsOutside, scratch: Path) -> None:
        self._tools: Mapping[str, OutsideTool] = {tool.name: tool for tool in tools}
        self._channel, self._shelf = channel, Shelf(scratch / _FOLDER)
        self.schemas: Mapping[str, ToolSchema] = {name: schema_of(tool) for name, tool in self._tools.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """The answer as JSON text. Raises ArgumentError for what does not fit the tool's schema, OutsideError for what
        its server could not do, ModelError where the channel broke."""
        tool = self._tools[name]
        await asyncio.to_thread(check_arguments, tool.input_schema, arguments)
        answer = await self._channel.call(OutsideCall(server=tool.server, tool=tool.tool, arguments=arguments))
        if answer.is_error:
            said = "\n".join(answer.texts) or wire.dumps(answer.structured).decode()
            raise OutsideError(tool.server, f"the tool says that it failed: {said[: limits.OUTSIDE_ERROR_CHARS]}")
        return wire.dumps(await asyncio.to_thread(told, tool.server, answer, self._shelf)).decode()
