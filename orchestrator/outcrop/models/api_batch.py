"""Turns of many jobs sent together as Message Batches: half the price, and an answer within a day.

Turns are collected for a while and posted as one batch. What a batch holds and its id are recorded before anything
waits for it. When the orchestrator was killed, the jobs that were under way begin again; whatever they ask that was
asked before is not sent, but taken from the results of the batch that holds it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from outcrop.models import Model
from outcrop.models.post_office import PostOffice
from outcrop.models.remote import Hears, HearsNothing
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ModelError
from outcrop_schemas.messages import ModelRequest, ModelResponse, Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

Note = Callable[[str, Mapping[str, Any]], Awaitable[object]]
SENDING, SENT = "api_batch_sending", "api_batch_sent"
# What is another in each run and says nothing: ids of dispatches and runs, and how long a dispatch took.
_RUN_SPECIFIC = re.compile(rb"\bd\d{4}-[0-9a-f]{16}\b|\b\d{8}-\d{6}-\d{6}-[0-9a-f]{4}\b|\(\d+\.\d s\)")
_log = logging.getLogger(__name__)


class Batchable(Protocol):
    """What a model has whose turns can be sent in a Message Batch."""

    @property
    def name(self) -> str: ...

    async def client(self) -> AsyncAnthropic: ...

    async def close(self) -> None: ...

    async def prepared(self, request: ModelRequest) -> ModelRequest: ...

    def params(self, request: ModelRequest) -> dict[str, Any]: ...

    def settings(self, request: ModelRequest) -> dict[str, Any]: ...


@dataclass
class Letter:
    """One turn on its way. `words` are those of its request that are another in each run."""

    model: Batchable
    params: dict[str, Any]
    key: str
    words: list[str]
    answer: asyncio.Future[ModelResponse]
    custom_id: str = field(default_factory=lambda: secrets.token_hex(12))


@dataclass
class _Recorded:
    """One batch as the journal knows it; without an id where nobody knows whether it was taken."""

    sending: str
    at: str
    requests: Mapping[str, Mapping[str, Any]]
    batch_id: str | None = None


class Mailbox:
    """Collects turns, sends them, and hands out the answers."""

    def __init__(self, window_seconds: float, poll_seconds: float) -> None:
        self._window, self._post = window_seconds, PostOffice(poll_seconds)
        self._note: Note | None = None
        self._outgoing: list[Letter] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._recorded: dict[str, _Recorded] = {}
        # By what was asked: where an answer was paid for already, and those of them that somebody is about to take.
        self._paid: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._claimed: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._found: dict[str, asyncio.Task[str | None]] = {}

    def open(self, note: Note) -> None:
        """From now on batches are sent, and recorded with `note`."""
        self._note = note

    def model(self, model: Model) -> Model:
        """The same model, by way of this mailbox."""
        return ApiBatchModel(self, model)  # type: ignore[arg-type]

    def recall(self, bodies: Iterable[Mapping[str, Any]]) -> None:
        """Learn from a batch's journal what was sent before."""
        for body in bodies:
            if body["kind"] == SENDING:
                self._recorded[body["sending"]] = _Recorded(body["sending"], body["at"], body["requests"])
                for custom_id, about in body["requests"].items():
                    self._paid[about["key"]].append((body["sending"], custom_id))
            elif body["kind"] == SENT:
                self._recorded[body["sending"]].batch_id = body["id"]

    def claim(self, model: str, request: ModelRequest) -> bool:
        """Whether this was asked and paid for before; if so, the next `ask` for it takes that answer."""
        key, _ = known_by(model, request)
        if not self._paid[key]:
            return False
        self._claimed[key].append(self._paid[key].pop(0))
        return True

    async def ask(self, model: Batchable, request: ModelRequest) -> ModelResponse:
        """The answer to one prepared request. Raises ModelError."""
        key, words = known_by(model.name, request)
        if self._claimed[key]:
            return await self._answered_before(model, self._claimed[key].pop(0), words)
        letter = Letter(model, model.params(request), key, words, asyncio.get_running_loop().create_future())
        self._put(letter)
        try:
            async with asyncio.timeout(limits.API_BATCH_HOURS * 3_600):
                return await letter.answer
        except TimeoutError:
            raise ModelError(f"no answer came by Message Batch in {limits.API_BATCH_HOURS:.0f} hours") from None
        finally:
            if letter in self._outgoing:
                self._outgoing.remove(letter)

    async def close(self) -> None:
        """Stop waiting. Batches that are under way stay so, and are found again by their record."""
        if self._timer:
            self._timer.cancel()
        tasks: list[asyncio.Task[Any]] = [*self._tasks, *self._found.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _put(self, letter: Letter) -> None:
        size = len(wire.dumps(letter.params))
        held = sum(len(wire.dumps(other.params)) for other in self._outgoing) if size > 1_000_000 else 0
        if held + size > limits.API_BATCH_BYTES:
            self._send()
        self._outgoing.append(letter)
        if len(self._outgoing) >= limits.API_BATCH_REQUESTS:
            self._send()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._window, self._send)

    def _send(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        letters, self._outgoing = [one for one in self._outgoing if not one.answer.done()], []
        if letters:
            task = asyncio.get_running_loop().create_task(self._deliver(letters))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _deliver(self, letters: Sequence[Letter]) -> None:
        """Post one batch, wait for it, hand out its answers."""
        try:
            assert self._note is not None
            sending = secrets.token_hex(8)
            about = {one.custom_id: {"key": one.key, "words": one.words} for one in letters}
            await self._note(SENDING, {"sending": sending, "at": _now(), "requests": about})
            client = await letters[0].model.client()
            batch_id = await self._post.post(client, [(one.custom_id, one.params) for one in letters])
            await self._note(SENT, {"sending": sending, "id": batch_id})
            answers = await self._post.answers(client, batch_id)
        except Exception as error:  # noqa: BLE001 - whoever waits for an answer is told, whatever it was
            fault = error if isinstance(error, ModelError) else ModelError(f"{type(error).__name__}: {error}")
            for letter in letters:
                _give(letter.answer, fault)
            return
        for letter in letters:
            lost = ModelError(f"Message Batch {batch_id} has no answer for a turn", retryable=True, usage=Usage())
            _give(letter.answer, answers.get(letter.custom_id, lost))

    async def _answered_before(self, model: Batchable, place: tuple[str, str], words: list[str]) -> ModelResponse:
        """An answer that was paid for. One that is not to be had is asked for again, as any failed attempt."""
        sending, custom_id = place
        recorded = self._recorded[sending]
        client = await model.client()
        batch_id = recorded.batch_id or await asyncio.shield(self._search(client, recorded))
        if batch_id is None:
            raise ModelError("this Message Batch was never sent", retryable=True, usage=Usage())
        answer = (await self._post.answers(client, batch_id)).get(custom_id)
        if not isinstance(answer, ModelResponse):
            _log.info("batch %s has no answer for %s: it is asked for again", batch_id, custom_id)
            raise ModelError(f"Message Batch {batch_id} gave no answer: {answer}", retryable=True, usage=Usage())
        return _in_these_words(answer, recorded.requests[custom_id]["words"], words)

    def _search(self, client: AsyncAnthropic, recorded: _Recorded) -> asyncio.Task[str | None]:
        """Find a batch of which no id was recorded: the orchestrator was killed while it posted it."""
        if recorded.sending not in self._found:
            since = datetime.fromisoformat(recorded.at) - timedelta(minutes=5)
            known = {one.batch_id for one in self._recorded.values() if one.batch_id}
            work = self._post.find(client, set(recorded.requests), since, known)
            self._found[recorded.sending] = asyncio.get_running_loop().create_task(work)
        return self._found[recorded.sending]


class ApiBatchModel:
    """A model whose turns go through a mailbox. What the gateway waits here is time in the queue."""

    waits_in_queue = True
    provider = "anthropic"

    def __init__(self, mailbox: Mailbox, model: Batchable) -> None:
        self._mailbox, self._model = mailbox, model
        self.searches_tools = bool(getattr(model, "searches_tools", False))

    @property
    def name(self) -> str:
        return self._model.name

    async def create(self, request: ModelRequest) -> ModelResponse:
        return await self.attempt(await self.prepared(request), HearsNothing())

    async def prepared(self, request: ModelRequest) -> ModelRequest:
        return await self._model.prepared(request)

    def settings(self, request: ModelRequest) -> dict[str, Any]:
        return self._model.settings(request)

    async def attempt(self, request: ModelRequest, hears: Hears) -> ModelResponse:
        return await self._mailbox.ask(self._model, request)

    async def close(self) -> None:
        await self._model.close()


def known_by(model: str, request: ModelRequest) -> tuple[str, list[str]]:
    """By what a request is known again in another run, and the words of it that are other ones there, each once."""
    sent = request.as_bytes()
    words = [word.decode() for word in dict.fromkeys(_RUN_SPECIFIC.findall(sent))]
    numbers = {word.encode(): b"~%d~" % number for number, word in enumerate(words)}
    same = _RUN_SPECIFIC.sub(lambda match: numbers[match[0]], sent)
    return sha256(model.encode() + b"\n" + same).hexdigest()[:32], words


def _in_these_words(answer: ModelResponse, before: Sequence[str], now: Sequence[str]) -> ModelResponse:
    """An answer to the same question in another run: what it says of dispatches there it says of those here."""
    renamed = dict(zip(before, now, strict=True))
    content = wire.dumps(answer.model_dump(mode="json")["content"]).decode()
    for old, new in renamed.items():
        if not old.startswith("("):
            content = content.replace(old, new)
    return ModelResponse.model_validate({**answer.model_dump(mode="json"), "content": wire.loads(content)})


def _give(answer: asyncio.Future[ModelResponse], found: ModelResponse | ModelError) -> None:
    if answer.done():
        return
    if isinstance(found, ModelError):
        answer.set_exception(found)
    else:
        answer.set_result(found)


def _now() -> str:
    from outcrop.journal import now

    return now()
