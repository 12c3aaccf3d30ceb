"""Who is let in: who has the token of the address, from a page of ours, on this machine; nobody else is told a word.

The token stands first in the path, so that each link of a page can be relative and carries it. The Host header must be
ours, or a name that an attacker points at this machine would open it to that attacker's pages; the Origin of whatever
changes something must be ours too.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING

from outcrop.spill import sha256_of_bytes

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TOKEN_BYTES = 24
_READING = ("GET", "HEAD")
HEADERS = {
    b"cache-control": b"no-store",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
}
NOTHING = b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
"""The content security policy of whatever is no page of ours."""


def new_token() -> str:
    """A new token, 192 random bits."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


class Gate:
    """Lets requests through to an application that says nothing to anybody else."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token = app, sha256_of_bytes(token.encode())
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        guarded = _guarded(send)
        if not (self._has_token(scope["path"]) and headers.get(b"host") in self._hosts):
            await _refuse(guarded, 404, b"Not found")
        elif not _is_own(scope["method"], headers):
            await _refuse(guarded, 403, b"Refused: the request does not come from a page of this server")
        else:
            await self._app(scope, receive, guarded)

    def _has_token(self, path: str) -> bool:
        # Of equal length, so that the time of comparing tells nothing.
        given = sha256_of_bytes(path.split("/", 2)[1].encode("utf-8", "replace")) if path.startswith("/") else ""
        return secrets.compare_digest(given, self._token)


def _is_own(method: str, headers: Mapping[bytes, str]) -> bool:
    """Whether a request comes from a page of ours; a page that somebody reads may also be opened from elsewhere."""
    site = headers.get(b"sec-fetch-site", "none" if method in _READING else "same-origin")
    if method in _READING:
        return site in ("same-origin", "none") or headers.get(b"sec-fetch-mode") == "navigate"
    return site == "same-origin" and headers.get(b"origin") == f"http://{headers[b'host']}"


def _guarded(send: Send) -> Send:
    """What is sent, with the headers that each answer has; its own content security policy stays."""

    async def send_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in HEADERS]
            if not any(name.lower() == b"content-security-policy" for name, _ in own):
                own.append((b"content-security-policy", NOTHING))
            message = {**message, "headers": [*own, *HEADERS.items()]}
        await send(message)

    return send_on


async def _refuse(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
