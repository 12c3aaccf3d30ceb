"""Tools of outside servers as a specialist's model has them: arguments checked, calls sent up the channel, answers
bounded. The servers themselves are the orchestrator's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import OutsideError, SpillError
from outcrop_schemas.messages import ToolSchema
from outcrop_schemas.protocol import Artifact, OutsideAnswer, OutsideCall, OutsideTool
from outcrop_specialists.outside_answers import TABLES, told
from outcrop_specialists.outside_schemas import check_arguments
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.publish import publish


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
    """The outside tools of one specialist. What is not shown of answers is published as files of our own tools are."""

    def __init__(
        self, tools: Sequence[OutsideTool], channel: CallsOutside, context: ToolContext, quota: int = limits.STORE_BYTES
    ) -> None:
        self._tools: Mapping[str, OutsideTool] = {tool.name: tool for tool in tools}
        self._channel, self._context, self._left = channel, context, quota
        self.schemas: Mapping[str, ToolSchema] = {name: schema_of(tool) for name, tool in self._tools.items()}
        self.artifacts: list[Artifact] = []
        """The files that were made of answers."""

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
        keep = partial(self._keep, _Maker(name), arguments)
        return wire.dumps(await asyncio.to_thread(told, tool.server, answer, keep)).decode()

    def _keep(self, maker: _Maker, arguments: Mapping[str, Any], data: bytes, ending: str) -> str:
        if len(data) > self._left:
            raise SpillError(f"{len(data)} bytes, and {self._left} are left for outside answers")
        self._left -= len(data)
        # The same call may be answered otherwise tomorrow: what it was answered is part of the name.
        made_by = {"arguments": dict(arguments), "answer_sha256": sha256(data).hexdigest()}
        published = publish(
            self._context,
            maker,
            [],
            made_by,
            extension=ending.removeprefix("."),
            kind="table" if ending in TABLES else "other",
            title=f"answer of {maker.name}",
            write=lambda path: _write(path, data),
        )
        self.artifacts.append(published.artifact)
        return published.artifact.path


@dataclass(frozen=True)
class _Maker:
    name: str
    # Whose versions these are is in the run's record of the server.
    version: int = 1


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
