"""The door to the `mcp` SDK: its server with our handlers, over lines and over HTTP. No other module imports it."""

from __future__ import annotations

import asyncio
import hmac
import logging
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from importlib.metadata import version
from typing import Any, TypeVar, cast

import anyio
import mcp_types as types
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from pydantic import AnyHttpUrl, BaseModel
from starlette.applications import Starlette

from outcrop.mcp_server import answers, files, images, resources
from outcrop.mcp_server.catalogue import Offered
from outcrop.mcp_server.host import Host
from outcrop.mcp_server.http import HOST, PATH
from outcrop.mcp_server.lines import LineReader, LineWriter
from outcrop.mcp_server.progress import Progress
from outcrop.mcp_server.prompts import PROMPTS, get_prompt
from outcrop.mcp_server.unread import refusal
from outcrop_schemas import limits
from outcrop_schemas.errors import OutcropError
from outcrop_schemas.outcome import GOOD

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]
_log = logging.getLogger(__name__)
_CLIENT = "client"
_ENDING = "the server is ending; nothing more is begun"

INSTRUCTIONS = (
    "Outcrop works on the tables of one folder. Rows stay in files: tools give counts, figures and the paths of files "
    "that they write to results/, and never more than 20 rows. Begin with list_files and inspect_dataset; take "
    "run_research for a whole question. No tool changes a file that is there."
)


def build(host: Host) -> Server[Any]:
    """The server with everything that a client may ask for."""
    handlers = _Handlers(host)
    return Server(
        "outcrop",
        version=version("outcrop"),
        title="Outcrop",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


async def serve_lines(server: Server[Any], reader: LineReader, writer: LineWriter) -> None:
    """Serve one client until it closes its end, or reads no more."""
    try:
        async with stdio_server(cast(Any, _messages(reader, writer)), cast(Any, writer)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    except* OSError as gone:
        # Its end of the pipe is closed: that is how clients end too.
        _log.debug("the client is gone: %s", gone)


async def _messages(reader: LineReader, writer: LineWriter) -> AsyncIterator[str]:
    """What is read, without requests that the SDK would pass over in silence: those are refused here."""
    async for line in reader:
        if answer := refusal(line, _is_message):
            await writer.write(answer)
        else:
            yield line


def _is_message(line: str) -> bool:
    try:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return False
    return True


def http_app(server: Server[Any], port: int, token: str) -> Starlette:
    """The application for the loopback: who has the token, and names this host, may speak."""
    own = [f"{name}:{port}" for name in (HOST, "localhost")]
    return server.streamable_http_app(
        streamable_http_path=PATH,
        host=HOST,
        max_request_body_size=limits.MCP_MESSAGE_BYTES,
        max_sessions=limits.MCP_SESSIONS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=own,
            allowed_origins=[f"http://{name}" for name in own],
        ),
        auth=AuthSettings(issuer_url=AnyHttpUrl(f"http://{own[0]}"), resource_server_url=None),
        token_verifier=_OneToken(token),
    )


class _OneToken:
    """Knows one token."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        if not hmac.compare_digest(token.encode(), self._token):
            return None
        return AccessToken(token=token, client_id=_CLIENT, scopes=[])


class _Handlers:
    """What is answered to each request. Errors are told in our words, never as a traceback."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def list_tools(self, context: Context, asked: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(one) for one in self._host.catalogue.offered.values()])

    async def call_tool(self, context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        async def report(number: float, line: str) -> None:
            await context.session.report_progress(number, None, line)

        try:
            answer = await _to_the_end(self._answered(asked, report))
            return await self._result(answer)
        except OutcropError as error:
            return _refused(f"{error.kind}: {error}")
        except Exception as error:  # noqa: BLE001 - the boundary to a client: it is told, and goes on
            _log.exception("the call of %.100r broke", asked.name)
            return _refused(f"internal error: {type(error).__name__}: {error}")

    async def _answered(
        self, asked: types.CallToolRequestParams, report: Callable[[float, str], Awaitable[None]]
    ) -> BaseModel:
        async with Progress(report) as progress:
            return await self._host.call(asked.name, asked.arguments or {}, progress.watcher)

    async def _result(self, answer: BaseModel) -> types.CallToolResult:
        content: list[types.ContentBlock] = [types.TextContent(text=text) for text in answers.texts_of(answer)]
        written = getattr(answer, "artifacts", [])
        if isinstance(answer, answers.ToolAnswer):
            content += await self._images(written)
        content += [_link(file) for file in written]
        is_error = getattr(answer, "status", "success") not in GOOD
        return types.CallToolResult(
            content=content, structured_content=answer.model_dump(mode="json"), is_error=is_error
        )

    async def _images(self, written: list[answers.File]) -> list[types.ContentBlock]:
        found = await self._host.shared.hands.do(images.images_of, self._host.workspace.folder, written)
        return [
            types.ImageContent(data=b64encode(image.data).decode(), mime_type=images.PNG)
            if image.data is not None
            else types.TextContent(text=f"{image.file.path}: {image.reason}")
            for image in found
        ]

    async def list_resources(
        self, context: Context, asked: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found, cursor = await _or_error(resources.listed(self._host, asked.cursor if asked else None))
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=one.uri, name=one.name, title=one.title, mime_type=one.kind, size=one.bytes)
                for one in found
            ],
            next_cursor=cursor,
        )

    async def list_templates(
        self, context: Context, asked: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(uri_template=one.uri, name=one.name, description=one.description)
                for one in resources.TEMPLATES
            ]
        )

    async def read_resource(self, context: Context, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        found = await _or_error(_to_the_end(resources.read(self._host, str(asked.uri))))
        if isinstance(found.data, str):
            text = types.TextResourceContents(uri=found.uri, mime_type=found.kind, text=found.data)
            return types.ReadResourceResult(contents=[text])
        blob = b64encode(found.data).decode()
        return types.ReadResourceResult(
            contents=[types.BlobResourceContents(uri=found.uri, mime_type=found.kind, blob=blob)]
        )

    async def list_prompts(
        self, context: Context, asked: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=one.name,
                    title=one.title,
                    description=one.description,
                    arguments=[
                        types.PromptArgument(name=name, description=text, required=True)
                        for name, text in one.arguments.items()
                    ],
                )
                for one in PROMPTS.values()
            ]
        )

    async def get_prompt(self, context: Context, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        async def filled() -> tuple[str, str]:
            prompt = get_prompt(asked.name)
            return prompt.description, prompt.filled(asked.arguments or {})

        description, text = await _or_error(filled())
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=description, messages=[message])


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Do it; a request that is cancelled is so when its work has ended."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        own = asyncio.current_task()
        if task.cancelled() and not (own and own.cancelling()):
            raise OutcropError(_ENDING) from None
        task.cancel()
        # Inside the SDK's cancelled scope every further wait would be cancelled at once, again and again.
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        raise


async def _or_error(work: Awaitable[T]) -> T:
    """The result, or the protocol's error with our words."""
    try:
        return await work
    except OutcropError as error:
        raise MCPError(types.INVALID_PARAMS, f"{error.kind}: {error}") from error


def _tool(one: Offered) -> types.Tool:
    return types.Tool(
        name=one.name,
        title=one.title,
        description=one.description,
        input_schema=one.input_schema(),
        output_schema=one.output_schema(),
        annotations=types.ToolAnnotations(
            title=one.title,
            read_only_hint=one.reads_only,
            # No file that was there is replaced or removed by any of them.
            destructive_hint=False,
            idempotent_hint=one.is_repeatable,
            open_world_hint=one.asks_model,
        ),
    )


def _link(file: answers.File) -> types.ResourceLink:
    return types.ResourceLink(
        uri=file.uri,
        name=file.path,
        title=file.title or None,
        description=f"{file.kind}, {file.rows} rows" if file.rows is not None else file.kind,
        mime_type=files.kind_of(file.path),
        size=file.bytes,
    )


def _refused(reason: str) -> types.CallToolResult:
    text = reason.encode("utf-8", "backslashreplace").decode()
    return types.CallToolResult(content=[types.TextContent(text=text[: limits.RESULT_CHARS])], is_error=True)
