"""The one door to the anthropic SDK: imported when first asked, and a client for each event loop."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from outcrop.models.anthropic.secrecy import hold, hold_header, logins_of, scrubbed
from outcrop_schemas import limits
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic


class Client:
    """The SDK's client where it is needed. Its own retries are off: the gateway's are the only ones."""

    def __init__(self, base_url: str | None = None) -> None:
        self._base_url = base_url
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncAnthropic] = WeakKeyDictionary()

    async def open(self) -> AsyncAnthropic:
        """The client of this loop. Raises ModelError where the SDK finds no key or takes no part of the settings."""
        loop = asyncio.get_running_loop()
        if loop not in self._by_loop:
            # Seconds of CPU: not on the loop, which watches processes meanwhile.
            sdk: Any = await asyncio.to_thread(import_module, "anthropic")
            # Two calls may have waited for the import together.
            if loop not in self._by_loop:
                self._by_loop[loop] = self._opened(sdk)
        return self._by_loop[loop]

    async def close(self) -> None:
        """Close this loop's connections. Another `open` makes new ones."""
        if client := self._by_loop.pop(asyncio.get_running_loop(), None):
            await client.close()

    def _opened(self, sdk: Any) -> AsyncAnthropic:
        hold(*logins_of(self._base_url or ""))
        timeout = sdk.Timeout(limits.MODEL_SILENCE_SECONDS, connect=limits.MODEL_CONNECT_SECONDS)
        try:
            # The SDK's own transport closes itself on whatever loop runs when it is collected, which may be another.
            transport = sdk.DefaultAsyncHttpxClient(timeout=timeout, event_hooks={"request": [_hold_what_is_sent]})
            client: AsyncAnthropic = sdk.AsyncAnthropic(
                base_url=self._base_url, max_retries=0, timeout=timeout, http_client=transport
            )
        except Exception as error:  # noqa: BLE001 - it becomes a ModelError; the chain would show what was scrubbed
            # Its own errors, those of files, and of addresses that are none: the settings are at fault in any case.
            told = f"the client of the Messages API could not be set up: {type(error).__name__}: {error}"
            raise _no_client(scrubbed(told)) from None
        # A key from a secret file often ends with the file's newline.
        client.api_key = _as_header("the key of the Messages API", client.api_key)
        client.auth_token = _as_header("the token of the Messages API", client.auth_token)
        for line in os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n"):
            _as_header("a header in ANTHROPIC_CUSTOM_HEADERS", line.partition(":")[2])
        if not (client.api_key or client.auth_token or client.credentials):
            raise _no_client(
                "there is no key for the Messages API: set ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for a server of "
                "your own), or use the offline model (`outcrop run --model offline`)"
            )
        return client


def _as_header(what: str, secret: str | None) -> str | None:
    """A secret without the white space around it. Raises ModelError, which does not show it, where it is no header."""
    if secret is None:
        return None
    hold(secret)
    stripped = secret.strip()
    bad = [place for place, char in enumerate(stripped, 1) if not (char.isascii() and char.isprintable())]
    if bad:
        raise _no_client(
            f"{what} holds a character that no header can have (number {bad[0]} of {len(stripped)}): look at where it "
            "comes from, it may be more than the key, or in a wrong encoding"
        )
    return stripped or None


async def _hold_what_is_sent(request: Any) -> None:
    """The key as it goes out, whoever put it there: a variable, a profile, a provider, the address."""
    for name, value in request.headers.items():
        hold_header(name, value)


def _no_client(text: str) -> ModelError:
    return ModelError(text, error_type="authentication_error", usage=Usage())
