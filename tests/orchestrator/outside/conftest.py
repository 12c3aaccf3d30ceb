"""Outside servers as tests have them: one of the SDK, one that misbehaves, and a specialist's way to their tools."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from outcrop.launching.cold import ColdLauncher
from outcrop.outside.config import McpServer
from outcrop.outside.launch import Ground
from outcrop.outside.server import OutsideServer
from outcrop_schemas import wire
from outcrop_schemas.protocol import OutsideAnswer, OutsideCall
from outcrop_specialists.outside import OutsideTools
from outcrop_specialists.tools.base import ToolContext

SERVERS = Path(__file__).resolve().parents[2] / "servers"
LAB, BAD = str(SERVERS / "outside_sdk.py"), str(SERVERS / "outside_bad.py")


@dataclass
class Serving:
    """One server, what was noted of it, and its tools as a specialist calls them."""

    server: OutsideServer
    context: ToolContext
    notes: list[Mapping[str, Any]] = field(default_factory=list)
    _tools: OutsideTools | None = None

    async def call(self, asked: OutsideCall) -> OutsideAnswer:
        answer = await self.server.call(asked.tool, asked.arguments)
        # As it goes over the channel.
        return OutsideAnswer.model_validate(wire.loads(wire.dumps(answer.model_dump(mode="json"))))

    async def tools(self) -> OutsideTools:
        if self._tools is None:
            self._tools = OutsideTools((await self.server.listing()).tools, self, self.context)
        return self._tools

    async def told(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a model is given for a call of the tool that its server calls so."""
        return await self.call_of(f"{self.server.name}__{tool}", **arguments)

    async def call_of(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The same by the name that a model calls it by."""
        found: dict[str, Any] = wire.loads(await (await self.tools()).call(name, arguments))
        return found


Open = Callable[..., Serving]


@pytest.fixture
async def opened(workspace: Path, tmp_path: Path) -> AsyncIterator[Open]:
    """Open the server of a program; what is left of it is ended with the test."""
    async with AsyncExitStack() as stack:

        def open_(*command: str, name: str = "out", by: tuple[str, ...] = (sys.executable,), **config: Any) -> Serving:
            async def ground() -> Ground:
                return Ground(workspace, ColdLauncher())

            async def note(kind: str, body: Mapping[str, Any]) -> None:
                serving.notes.append({"kind": kind, **body})

            context = ToolContext(workspace, workspace / "results", tmp_path)
            server = OutsideServer(
                name, McpServer(command=[*by, *command], **config), ground, tmp_path / "outside", note
            )
            serving = Serving(server, context)
            stack.push_async_callback(server.close)
            return serving

        yield open_


@pytest.fixture
def settings_file(workspace: Path) -> Callable[..., None]:
    """Write `outcrop.toml` with one server, as users do."""

    def write(*command: str, name: str = "lab", more: str = "") -> None:
        words = ", ".join(f'"{word}"' for word in (sys.executable, *command))
        (workspace / "outcrop.toml").write_text(f"[mcp.{name}]\ncommand = [{words}]\n{more}\n")

    return write


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
