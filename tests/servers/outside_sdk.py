"""An outside MCP server as others write them: with the official SDK. It tells what it can reach from where it runs."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Image, MCPServer

server = MCPServer("assay lab", version="3.1")
# 1 x 1 pixel.
_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db0"
    "0000000049454e44ae426082"
)
_count = 0


@server.tool()
def convert_grade(grams: float, unit: str) -> float:
    """Convert a gold grade in grams per tonne to ounces per short ton or to parts per billion."""
    return grams * {"oz": 0.0291667, "ppb": 1000.0}[unit]


@server.tool()
def list_samples(count: int) -> list[dict[str, Any]]:
    """Samples of the laboratory with their gold grades, one record each."""
    return [{"sample": f"S{number}", "au": number / 10} for number in range(count)]


@server.tool()
def export_csv(count: int) -> str:
    """The laboratory's samples as a CSV text."""
    return "sample,au\n" + "".join(f"T{number},{number / 10}\n" for number in range(count))


@server.tool()
def picture() -> Image:
    """A photograph of the core."""
    return Image(data=_PNG, format="png")


@server.tool()
def letter(words: int) -> str:
    """A long letter of the laboratory."""
    return " ".join(f"word{number}" for number in range(words))


@server.tool()
def counted() -> int:
    """How often this was called since the start."""
    global _count
    _count += 1
    return _count


@server.tool()
async def wait_for_other(name: str, other: str) -> str:
    """Leave a note and wait until the other left one too."""
    Path(name).write_text("here")
    while not Path(other).exists():
        await asyncio.sleep(0.01)
    return f"{name} met {other}"


@server.tool()
def reach(workspace: str) -> dict[str, Any]:
    """What can be reached from here."""
    return {
        "reads": _tried(lambda: Path(workspace, "assays.csv").read_text()),
        "reads_settings": _tried(lambda: Path(workspace, "outcrop.toml").read_text()),
        "writes_workspace": _tried(lambda: str(Path(workspace, "planted.txt").write_text("x"))),
        "writes_home": _tried(lambda: str(Path.home().joinpath("own.txt").write_text("x"))),
        "connects": _tried(lambda: str(socket.create_connection(("127.0.0.1", 9), 1))),
        "reads_elsewhere": _tried(lambda: Path("/etc/shadow").read_text()),
        "environment": sorted(os.environ),
        "sees_processes": _tried(lambda: Path(f"/proc/{os.getppid()}/environ").read_text()),
        "folder": str(Path.cwd()),
    }


def _tried(work: Any) -> str:
    try:
        return f"yes: {work()}"
    except Exception as error:  # noqa: BLE001 - what failed is the answer
        return f"no: {type(error).__name__}: {error}"


if __name__ == "__main__":
    server.run()
