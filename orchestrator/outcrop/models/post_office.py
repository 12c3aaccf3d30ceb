"""The Message Batches API: posting a batch, asking after it ever more seldom, reading its results."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from outcrop.models.anthropic.faults import broken, is_status, status_fault, unreadable, unsent
from outcrop.models.anthropic.reading import response_of
from outcrop.models.anthropic.secrecy import scrubbed
from outcrop_schemas import limits
from outcrop_schemas.errors import ContextOverflowError, ModelError
from outcrop_schemas.messages import ModelResponse, Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types.messages import MessageBatch, MessageBatchResult

Answers = dict[str, ModelResponse | ModelError]
_SLOWER = 1.5
_LOOKED_THROUGH = 50
_PASSING = ("api_error", "overloaded_error", "rate_limit_error", "timeout_error")
_log = logging.getLogger(__name__)


class PostOffice:
    """`poll_seconds` is the time until a batch is asked after for the first time."""

    def __init__(self, poll_seconds: float) -> None:
        self._poll_seconds = poll_seconds
        self._answers: dict[str, asyncio.Task[Answers]] = {}

    async def post(self, client: AsyncAnthropic, requests: Sequence[tuple[str, dict[str, Any]]]) -> str:
        """Post a batch of (custom id, parameters); its id. Raises ModelError."""
        posted: Any = [{"custom_id": custom_id, "params": params} for custom_id, params in requests]
        try:
            batch = await client.messages.batches.create(requests=posted)
        except Exception as error:  # noqa: BLE001 - it becomes a ModelError; the chain would show what was scrubbed
            raise _fault(error) from None
        return batch.id

    async def answers(self, client: AsyncAnthropic, batch_id: str) -> Answers:
        """All answers of a batch by custom id, when it has ended; each batch is waited for and read once."""
        if batch_id not in self._answers:
            self._answers[batch_id] = asyncio.get_running_loop().create_task(self._wait_and_read(client, batch_id))
        task = self._answers[batch_id]
        try:
            return await asyncio.shield(task)
        except ModelError:
            # Whoever asks next tries again.
            self._answers.pop(batch_id, None)
            raise

    async def find(
        self, client: AsyncAnthropic, custom_ids: Collection[str], since: datetime, known: Collection[str]
    ) -> str | None:
        """The batch with these custom ids among the newest; None where there is none. Waits for those that may be it.

        The API shows the custom ids of a batch only with its results, but when it was made and how large it is before.
        """
        try:
            listed = [batch async for batch in _newest(client)]
        except Exception as error:  # noqa: BLE001 - it becomes a ModelError; the chain would show what was scrubbed
            raise _fault(error) from None
        for batch in listed:
            if batch.id in known or batch.created_at < since or _size(batch) != len(custom_ids):
                continue
            if set(await self.answers(client, batch.id)) & set(custom_ids):
                return batch.id
        return None

    async def _wait_and_read(self, client: AsyncAnthropic, batch_id: str) -> Answers:
        await self._ended(client, batch_id)
        found: Answers = {}
        try:
            async for line in await client.messages.batches.results(batch_id):
                found[line.custom_id] = _answer(line.result, batch_id)
        except Exception as error:  # noqa: BLE001 - it becomes a ModelError; the chain would show what was scrubbed
            raise _fault(error) from None
        return found

    async def _ended(self, client: AsyncAnthropic, batch_id: str) -> None:
        """Return when it has ended. A look that fails is no reason to give up: the next one comes later."""
        loop = asyncio.get_running_loop()
        until, pause = loop.time() + limits.API_BATCH_HOURS * 3_600, self._poll_seconds
        while loop.time() < until:
            try:
                if (await client.messages.batches.retrieve(batch_id)).processing_status == "ended":
                    return
            except Exception as error:  # noqa: BLE001 - it becomes a ModelError; the chain would show what was scrubbed
                fault = _fault(error)
                if not fault.retryable:
                    raise fault from None
                _log.info("Message Batch %s could not be asked after: %s", batch_id, fault)
            await asyncio.sleep(pause)
            pause = min(pause * _SLOWER, limits.API_BATCH_POLL_SECONDS)
        raise ModelError(f"Message Batch {batch_id} has not ended in {limits.API_BATCH_HOURS:.0f} hours")


async def _newest(client: AsyncAnthropic) -> AsyncIterator[MessageBatch]:
    count = 0
    async for batch in client.messages.batches.list(limit=20):
        yield batch
        count += 1
        if count >= _LOOKED_THROUGH:
            return


def _size(batch: MessageBatch) -> int:
    counts = batch.request_counts
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired


def _answer(result: MessageBatchResult, batch_id: str) -> ModelResponse | ModelError:
    """A turn, or why there is none. What did not succeed is not billed."""
    if result.type == "succeeded":
        try:
            response = response_of(result.message, batch_id)
        except ValueError as error:
            return unreadable(f"Message Batch {batch_id} gave a message that cannot be read: {error}")
        if response.stop_reason is None:
            return ModelError(
                f"Message Batch {batch_id} gave half a turn", retryable=True, usage=response.counted_usage()
            )
        return response
    if result.type != "errored":
        return ModelError(f"a turn of Message Batch {batch_id} was {result.type}", retryable=True, usage=Usage())
    told = result.error.error
    text = scrubbed(f"{told.type}: {told.message} (Message Batch {batch_id})")
    if told.type == "invalid_request_error" and "too long" in told.message:
        return ContextOverflowError(text, error_type=ContextOverflowError.kind, usage=Usage())
    return ModelError(text, retryable=told.type in _PASSING, error_type=told.type, usage=Usage())


def _fault(error: Exception) -> ModelError:
    if isinstance(error, ModelError):
        return error
    if is_status(error):
        return status_fault(error)
    return unsent(error) or broken(f"the Message Batches API could not be asked: {type(error).__name__}: {error}")
