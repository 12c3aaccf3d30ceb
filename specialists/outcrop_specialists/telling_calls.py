"""Tells the orchestrator of each tool call as it ends, for telemetry: this process has neither network nor SDK."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import OutcropError
from outcrop_schemas.messages import ToolSchema
from outcrop_schemas.protocol import TOLD, ToldTools, ToolTold
from outcrop_specialists.agent import Toolbox


class _Call:
    """One call under way. It begins when its tool does, not while it waits for another one."""

    def __init__(self, name: str) -> None:
        self.name, self.start_ns, self.has_begun = name, time.time_ns(), False


class TellingCalls:
    """The calls of one agent; `tell` takes a line."""

    def __init__(self, tell: Callable[[bytes], None], told: ToldTools) -> None:
        self._tell, self._told = tell, told
        self._waiting: list[_Call] = []

    def around(self, toolbox: Toolbox) -> Toolbox:
        """The same tools, told of where that was asked for."""
        return toolbox if self._told == "no" else _ToldToolbox(toolbox, self)

    def began(self, name: str) -> None:
        """The first of the calls of this tool that wait begins now: they begin in their order."""
        for call in self._waiting:
            if call.name == name and not call.has_begun:
                call.start_ns, call.has_begun = time.time_ns(), True
                return

    async def follow(self, toolbox: Toolbox, name: str, arguments: dict[str, Any], call_id: str) -> str:
        """Do the call and tell of it, however it ends."""
        call, error, result = _Call(name), None, None
        self._waiting.append(call)
        try:
            result = await toolbox.call(name, arguments, call_id)
        except OutcropError as raised:
            error = raised.kind
            raise
        except BaseException as raised:
            error = type(raised).__name__
            raise
        else:
            return result
        finally:
            self._waiting.remove(call)
            self._send(call, call_id, error, arguments, result)

    def _send(
        self, call: _Call, call_id: str, error: str | None, arguments: dict[str, Any], result: str | None
    ) -> None:
        has_content = self._told == "content"
        told = ToolTold(
            name=call.name[: limits.TELEMETRY_NAME_CHARS],
            call_id=call_id[: limits.TELEMETRY_NAME_CHARS],
            start_ns=call.start_ns,
            end_ns=time.time_ns(),
            error=error,
            arguments=wire.dumps(arguments).decode()[: limits.TELEMETRY_CONTENT_CHARS] if has_content else None,
            result=result[: limits.TELEMETRY_CONTENT_CHARS] if has_content and result is not None else None,
        )
        self._tell(TOLD + wire.dumps(told.model_dump(exclude_none=True)) + b"}\n")


class _ToldToolbox:
    def __init__(self, toolbox: Toolbox, calls: TellingCalls) -> None:
        self._toolbox, self._calls = toolbox, calls

    def schemas(self) -> list[ToolSchema]:
        return self._toolbox.schemas()

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        return await self._calls.follow(self._toolbox, name, arguments, call_id)
