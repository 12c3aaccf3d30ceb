"""The command that serves other programs."""

from __future__ import annotations

from outcrop.cli.options import add_settings
from outcrop.cli.parsing.shared import Commands, command, port, positive, workspace


def add(commands: Commands) -> None:
    mcp = command(
        commands, "mcp", "mcp:mcp", "serve the tools to programs that speak the Model Context Protocol", json=False
    )
    workspace(mcp)
    mcp.add_argument(
        "--transport",
        choices=("stdio", "http"),
        default="stdio",
        help="stdio for a program that starts this one (default), or streamable HTTP on 127.0.0.1",
    )
    mcp.add_argument("--port", type=port, metavar="N", help="with http; 0 takes a free one (default 8765)")
    mcp.add_argument(
        "--tools",
        action="append",
        default=[],
        metavar="NAME,…",
        help="offer only these tools or families of tools; find_tools,call_tool is a way to all of them by two",
    )
    mcp.add_argument("--workers", type=positive, metavar="N", help="calls at work at a time (default 2)")
    add_settings(mcp)
