"""`outcrop mcp`: serves the tools to programs that speak the Model Context Protocol, over stdio or HTTP."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from outcrop.cli.boundary import GOOD, run_async
from outcrop.cli.options import settings_of
from outcrop.cli.output import warn
from outcrop_schemas.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    import socket

    from outcrop.mcp_server.catalogue import Catalogue
    from outcrop.settings import Settings

_PORT = 8765


def mcp(options: Namespace) -> int:
    """Serve until the client closes its end, or a signal comes."""
    try:
        from outcrop.mcp_server import door as _  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise MissingExtraError("mcp", "pip install 'outcrop[mcp]'") from error
    from outcrop.mcp_server.catalogue import Catalogue

    if options.port is not None and options.transport != "http":
        raise UsageError("--port goes with --transport http")
    settings = settings_of(options)
    catalogue = Catalogue(_wanted(options.tools))
    if options.transport == "stdio":
        run_async(_over_stdio(options.workspace, settings, catalogue))
    else:
        from outcrop.mcp_server.http import bound

        place = bound(_PORT if options.port is None else options.port)
        run_async(_over_http(options.workspace, settings, catalogue, place))
    return GOOD


def _wanted(given: list[str]) -> list[str]:
    names = [name.strip() for each in given for name in each.split(",") if name.strip()]
    if given and not names:
        # Not all of them: whoever says it wants fewer.
        raise UsageError("--tools names no tool; without it all are offered")
    return names


async def _over_stdio(workspace: str, settings: Settings, catalogue: Catalogue) -> None:
    from outcrop.mcp_server.door import build, serve_lines
    from outcrop.mcp_server.host import Host
    from outcrop.mcp_server.lines import LineReader, LineWriter, taken

    async with Host.opened(workspace, settings, catalogue) as host:
        with taken() as (stdin, stdout):
            await serve_lines(build(host), LineReader(stdin), LineWriter(stdout))


async def _over_http(workspace: str, settings: Settings, catalogue: Catalogue, place: socket.socket) -> None:
    from outcrop.mcp_server.door import build, http_app
    from outcrop.mcp_server.host import Host
    from outcrop.mcp_server.http import HOST, PATH, TOKEN, serve, token

    secret, is_new = token()
    port = place.getsockname()[1]
    with place:
        async with Host.opened(workspace, settings, catalogue) as host:
            warn(f"MCP is served at http://{HOST}:{port}{PATH}")
            if is_new:
                warn(f"clients send the header `Authorization: Bearer {secret}`; {TOKEN} sets one of your own")
            await serve(http_app(build(host), port, secret), place, host)
