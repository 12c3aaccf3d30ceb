"""Our own server of the Messages API, on loopback, in a thread of its own: strict, scripted, with faults on request."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Any, Literal

from servers import batches
from servers.prefix_cache import PrefixCache
from servers.rate_limits import RequestLimit
from servers.strict import faults_of
from servers.turns import Script, answer, events, in_turn, text

KEY = "sk-test-key-of-nobody"
MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5")
_STATUS_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 503: "api_error", 529: "overloaded_error",
}  # fmt: skip
_YES, _NO = {"supported": True}, {"supported": False}

Kind = Literal["status", "refuse_connection", "drop", "truncate", "malformed", "error_event", "stall", "no_events"]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request; streams break after so many events."""

    kind: Kind
    status: int = 500
    message: str = "made to fail"
    headers: Mapping[str, str] = field(default_factory=dict)
    after_events: int = 4


@dataclass(frozen=True)
class Seen:
    """One request, and how it was answered."""

    number: int
    path: str
    headers: dict[str, str]
    body: Any
    status: int
    usage: dict[str, Any] | None = None


class MessagesApi:
    """`with MessagesApi(script) as api:` serves at `api.url`. `api.seen` has every request of `/v1/messages`.

    `faults` are taken one a request, in order; None lets a request pass.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        limit: RequestLimit | None = None,
        faults: Sequence[Fault | None] = (),
        models: Sequence[str] = MODELS,
        window_tokens: int = 1_000_000,
        key: str = KEY,
        cache: PrefixCache | None = None,
        seconds: float = 0.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.script = script or in_turn(answer(text("Hello.")))
        self.faults: deque[Fault | None] = deque(faults)
        self.seen: list[Seen] = []
        self.refusals: list[str] = []
        self.at_a_time = 0
        self.batches = batches.Batches()
        self._limit, self._models, self.window_tokens, self._key = limit, tuple(models), window_tokens, key
        self.cache, self._seconds, self.headers = cache or PrefixCache(), seconds, headers or {}
        self._ids, self._under_way = count(1), 0
        self._connections: set[asyncio.StreamWriter] = set()

    def __enter__(self) -> MessagesApi:
        started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        started.wait(30)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def statuses(self) -> list[int]:
        return [seen.status for seen in self.seen]

    def environment(self) -> dict[str, str]:
        """What a client's environment needs to ask here."""
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": self._key}

    def _run(self, started: threading.Event) -> None:
        self._loop.run_until_complete(self._serve(started))
        self._loop.close()

    async def _serve(self, started: threading.Event) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=64 << 20)
        self._port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        server.close()
        for writer in list(self._connections):
            writer.transport.abort()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=10)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            self._connections.discard(writer)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request of a connection; whether another may follow."""
        line = await reader.readline()
        if not line:
            return False
        method, path, _ = line.decode().split()
        headers = {}
        while (line := await reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            headers[name.strip().lower()] = value.strip()
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        exchange = _Exchange(self, writer, path.partition("?")[0], headers)
        if exchange.is_about_batches:
            return await exchange.batches(method, json.loads(raw) if raw else None)
        if method == "GET":
            return await exchange.models()
        self._under_way += 1
        self.at_a_time = max(self.at_a_time, self._under_way)
        try:
            return await exchange.messages(json.loads(raw))
        finally:
            self._under_way -= 1


class _Exchange:
    """One request being answered."""

    def __init__(self, api: MessagesApi, writer: asyncio.StreamWriter, path: str, headers: dict[str, str]) -> None:
        self._api, self._writer, self._path, self._headers = api, writer, path, headers
        self._request_id = f"req_{next(api._ids):06d}"
        self._more: dict[str, str] = {}

    @property
    def is_about_batches(self) -> bool:
        return self._path.startswith(batches.PATH)

    async def batches(self, method: str, body: Any) -> bool:
        """The Message Batches API."""
        if fault := self._unauthorised():
            return await self._error(None, 401, fault)
        status, told = self._api.batches.answer(method, self._path, body, self._result)
        if status != 200:
            return await self._error(None, status, told)
        if isinstance(told, bytes):
            self._head(200, {"content-type": "application/x-jsonl", "content-length": str(len(told))})
            self._writer.write(told)
            await self._writer.drain()
            return True
        return await self._json(200, told)

    def _result(self, params: Any) -> dict[str, Any]:
        """What becomes of one request of a batch: checked as every other, then the script's turn."""
        api = self._api
        if faults := faults_of(params, self._headers):
            api.refusals += faults
            error = {"type": "invalid_request_error", "message": faults[0]}
            return {"type": "errored", "error": {"type": "error", "error": error, "request_id": self._request_id}}
        turn = api.script(params)
        usage = {**api.cache.usage(params), "output_tokens": turn["output_tokens"], "service_tier": "batch"}
        message = {
            "id": f"msg_{next(api._ids)}", "type": "message", "role": "assistant", "model": params["model"],
            "stop_sequence": None, "usage": usage, **{key: turn[key] for key in turn if key != "output_tokens"},
        }  # fmt: skip
        return {"type": "succeeded", "message": message}

    async def models(self) -> bool:
        if fault := self._unauthorised():
            return await self._error(None, 401, fault)
        api, name = self._api, self._path.removeprefix("/v1/models").strip("/")
        if name and name not in api._models:
            return await self._error(None, 404, f"model: {name}")
        found = [_model(one, api.window_tokens) for one in api._models]
        if name:
            return await self._json(200, next(one for one in found if one["id"] == name))
        return await self._json(200, {"data": found, "has_more": False, "first_id": None, "last_id": None})

    async def messages(self, body: Any) -> bool:
        """Everything that a real server checks, in its order; then the script's turn."""
        api = self._api
        if fault := self._unauthorised():
            return await self._error(body, 401, fault)
        if self._path == "/v1/messages/count_tokens":
            return await self._json(200, {"input_tokens": PrefixCache().usage(body)["input_tokens"]})
        if api._limit:
            wait, self._more = api._limit.take()
            if wait is not None:
                return await self._error(body, 429, "too many requests", {"retry-after": f"{wait:.3f}"})
        made = api.faults.popleft() if api.faults else None
        if made and made.kind == "status":
            return await self._error(body, made.status, made.message, made.headers)
        if made and made.kind == "refuse_connection":
            api.seen.append(self._seen(body, 0))
            self._writer.transport.abort()
            return False
        if faults := faults_of(body, self._headers):
            api.refusals += faults
            return await self._error(body, 400, faults[0])
        if body["model"] not in api._models:
            return await self._error(body, 404, f"model: {body['model']}")
        usage = api.cache.usage(body)
        prompt = sum(usage[name] for name in usage if name.endswith("_tokens"))
        if prompt > api.window_tokens:
            return await self._error(body, 400, f"prompt is too long: {prompt} tokens > {api.window_tokens} maximum")
        return await self._turn(body, usage, made)

    async def _turn(self, body: Any, usage: dict[str, Any], fault: Fault | None) -> bool:
        turn = self._api.script(body)
        usage = {**usage, "output_tokens": turn["output_tokens"]}
        message = {
            "id": f"msg_{self._request_id}", "type": "message", "role": "assistant", "model": body["model"],
            "stop_sequence": None, "usage": usage, **{key: turn[key] for key in turn if key != "output_tokens"},
        }  # fmt: skip
        self._api.seen.append(self._seen(body, 200, usage))
        if self._api._seconds:
            await asyncio.sleep(self._api._seconds)
        if not body.get("stream"):
            return await self._json(200, message)
        return await self._stream(message, fault)

    async def _stream(self, message: dict[str, Any], fault: Fault | None) -> bool:
        self._head(200, {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"})
        for number, (name, data) in enumerate(events(message)):
            if fault and (number == fault.after_events or fault.kind == "no_events"):
                return await self._break(fault)
            self._chunk(f"event: {name}\ndata: {json.dumps(data)}\n\n")
            await self._writer.drain()
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()
        return True

    async def _break(self, fault: Fault) -> bool:
        if fault.kind == "drop":
            await self._writer.drain()
            self._writer.transport.abort()
            return False
        if fault.kind == "stall":
            await self._api._stop.wait()
            return False
        if fault.kind == "malformed":
            self._chunk('event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0, "del\n\n')
        if fault.kind == "error_event":
            error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
            self._chunk(f"event: error\ndata: {json.dumps(error)}\n\n")
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()
        return True

    def _unauthorised(self) -> str | None:
        given = self._headers.get("authorization", "").removeprefix("Bearer ") or self._headers.get("x-api-key")
        return None if given == self._api._key else f"invalid x-api-key: {given}"

    async def _error(self, body: Any, status: int, message: str, more: Mapping[str, str] | None = None) -> bool:
        if body is not None:
            self._api.seen.append(self._seen(body, status))
        kind = _STATUS_TYPES.get(status, "api_error")
        told = {"type": "error", "error": {"type": kind, "message": message}, "request_id": self._request_id}
        return await self._json(status, told, more or {})

    async def _json(self, status: int, value: Any, more: Mapping[str, str] | None = None) -> bool:
        data = json.dumps(value).encode()
        self._head(status, {"content-type": "application/json", "content-length": str(len(data)), **(more or {})})
        self._writer.write(data)
        await self._writer.drain()
        return True

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} said"]
        told = {"request-id": self._request_id, **self._api.headers, **self._more, **headers}
        lines += [f"{key}: {value}" for key, value in told.items()]
        self._writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    def _chunk(self, words: str) -> None:
        data = words.encode()
        self._writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _seen(self, body: Any, status: int, usage: dict[str, Any] | None = None) -> Seen:
        return Seen(len(self._api.seen), self._path, self._headers, body, status, usage)


def _model(name: str, window: int) -> dict[str, Any]:
    thinking = {"supported": True, "types": {"adaptive": _YES, "between_tools": _NO, "disabled": _YES, "enabled": _NO}}
    effort = {"supported": True, "low": _YES, "medium": _YES, "high": _YES, "xhigh": _YES, "max": _YES}
    capabilities = {"thinking": thinking, "effort": effort, "batch": _YES, "structured_outputs": _YES}
    return {
        "id": name, "type": "model", "display_name": name, "created_at": "2026-06-01T00:00:00Z", "lifecycle": "active",
        "max_input_tokens": window, "max_tokens": 64_000, "capabilities": capabilities,
    }  # fmt: skip
