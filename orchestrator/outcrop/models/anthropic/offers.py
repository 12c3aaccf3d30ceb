"""What the server says of a model, asked once: how long a turn may be, whether it thinks, what else there is."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from outcrop.models.anthropic.faults import broken, is_status, status_fault, unsent
from outcrop.models.anthropic.secrecy import scrubbed
from outcrop.retry import RetryPolicy, with_retries
from outcrop_schemas import limits
from outcrop_schemas.errors import ModelError

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_log = logging.getLogger(__name__)
_NAMES_SHOWN = 30
# A server that cannot say what it has may still answer turns, and their own faults are told.
_PATIENCE = RetryPolicy(attempts=3, first_seconds=0.5, longest_seconds=2.0, longest_retry_after_seconds=10.0)


@dataclass(frozen=True)
class Offer:
    """What is known of a model; a server that says nothing of its models leaves these open."""

    max_tokens: int | None = None
    window_tokens: int | None = None
    thinks: bool = False


class Offers:
    """One model's offer, and the names of all others when there is no such model."""

    def __init__(self, name: str) -> None:
        self._name, self._asked = name, False
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
        self.known = Offer()

    async def get(self, client: AsyncAnthropic) -> Offer:
        """Ask once. No answer (many servers that imitate the API have none) is no fault: the turn will tell.

        What was found holds for good: another setting of thinking would make a server forget what it has cached.
        """
        if self._asked:
            return self.known
        async with self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            if not self._asked:
                self.known = await self._ask(client)
                self._asked = True
        return self.known

    async def unknown(self, client: AsyncAnthropic, fault: ModelError) -> ModelError:
        """The fault of a model that the server does not know, with the names of those it does."""
        try:
            async with asyncio.timeout(limits.MODEL_CONNECT_SECONDS):
                names = [scrubbed(model.id) async for model in client.models.list()]
        except Exception as error:  # noqa: BLE001 - what the server offers is a help only; the fault itself is told
            _log.debug("the models could not be listed: %s", scrubbed(str(error)))
            return fault
        if self._name in names:
            return fault
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        fault.args = (
            f"the server has no model {self._name!r}; it has: {', '.join(names[:_NAMES_SHOWN])}{more}. {fault}",
        )
        return fault

    async def _ask(self, client: AsyncAnthropic) -> Offer:
        async def once() -> Offer:
            try:
                async with asyncio.timeout(limits.MODEL_CONNECT_SECONDS):
                    told = await client.models.retrieve(self._name)
            except Exception as error:  # noqa: BLE001 - it becomes a ModelError; the chain would show what was scrubbed
                raise (status_fault(error) if is_status(error) else unsent(error) or broken(str(error))) from None
            capabilities = told.capabilities
            thinks = bool(capabilities and capabilities.thinking.types.adaptive.supported)
            return Offer(told.max_tokens, told.max_input_tokens, thinks)

        try:
            return await with_retries(_PATIENCE, once)
        except (ModelError, AttributeError) as error:
            _log.debug("nothing is known of %s: %s", self._name, error)
            return Offer()
