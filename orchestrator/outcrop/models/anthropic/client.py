"""The one door to the anthropic SDK: imported when first asked, and a client for each event loop."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from outcrop_schemas import limits
from outcrop_schemas.errors import ModelError

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_SECRET_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_IDENTITY_TOKEN")
# What is shorter is no secret, and may be part of any text.
_SECRET_CHARS = 8


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
        timeout = sdk.Timeout(limits.MODEL_SILENCE_SECONDS, connect=limits.MODEL_CONNECT_SECONDS)
        # The SDK's own transport closes itself on whatever loop runs when it is collected, which may be another one.
        transport = sdk.DefaultAsyncHttpxClient(timeout=timeout)
        try:
            client: AsyncAnthropic = sdk.AsyncAnthropic(
                base_url=self._base_url, max_retries=0, timeout=timeout, http_client=transport
            )
        except (sdk.AnthropicError, ValueError, OSError) as error:
            raise ModelError(
                scrubbed(f"the client of the Messages API could not be set up: {error}"),
                error_type="authentication_error",
            ) from error
        if not (client.api_key or client.auth_token or client.credentials):
            raise ModelError(
                "there is no key for the Messages API: set ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for a server of "
                "your own), or use `--model offline`",
                error_type="authentication_error",
            )
        return client


def scrubbed(text: str) -> str:
    """A text without the secrets of our environment, which a server may repeat in its errors."""
    secrets = [os.environ.get(name, "") for name in _SECRET_VARIABLES]
    for line in os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n"):
        secrets.append(line.partition(":")[2].strip())
    for secret in secrets:
        if len(secret) >= _SECRET_CHARS:
            text = text.replace(secret, "[key]")
    return text
