"""One agent's window: measures what is about to be asked, makes room before it is asked, knows what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outcrop_schemas import limits
from outcrop_schemas.messages import Message, ModelRequest, ToolSchema, Usage
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.context.compaction import Compactor, Window, decide, tokens_of
from outcrop_specialists.context.pairing import paired
from outcrop_specialists.context.segments import estimated
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.tokens import TokenMeter
from outcrop_specialists.shrinking import shrunk


class ContextWindow:
    """Keeps one conversation within its window."""

    def __init__(self, settings: WindowSettings, compactor: Compactor, max_turns: int) -> None:
        self._settings, self._window, self._compactor = settings, Window(settings.tokens), compactor
        compactor.within(self._window)
        self._max_turns, self._turns = max_turns, 0
        self._meter = TokenMeter()
        self._asked = 0
        self._measured: ModelRequest | None = None

    @property
    def room_chars(self) -> int:
        """What a record may take of a request for its summary, at 3 characters a token: half of the window."""
        return self._window.usable * 3 // 2

    def asked(self, request: ModelRequest) -> None:
        """This is what the model is asked now."""
        self._measure(request)
        self._turns += 1

    def answered(self, usage: Usage) -> None:
        """What the server counted of it."""
        self._meter.reported(self._asked, usage)

    def _measure(self, request: ModelRequest) -> int:
        """The estimate of a request; of the one that was just measured it is known."""
        if request is not self._measured:
            self._measured, self._asked = request, sum(estimated(request).values())
        return self._asked

    async def fitting(self, request: ModelRequest, messages: Sequence[Message]) -> list[Message] | None:
        """The conversation made shorter, where `request` is due for it; None where it may be sent as it is."""
        tokens = self._meter.tokens(self._measure(request))
        if tokens < limits.COMPACT_AT * self._window.usable:
            return None
        stale = self._compactor.without_stale_results(messages)
        cleared = tokens - self._saved(messages, stale)
        if cleared <= limits.COMPACT_TARGET * self._window.usable:
            return stale if decide(tokens, self._window, cleared, self._turns_left, self._price) != "no" else None
        # What is left after it: opening, summary and the last turns; half of the window at most.
        after = min(tokens, int(limits.COMPACT_TARGET * self._window.usable))
        if decide(tokens, self._window, after, self._turns_left, self._price) == "no":
            return None
        return await self._shorter(stale, tokens - self._saved(messages, stale))

    async def smaller(self, messages: Sequence[Message]) -> list[Message] | None:
        """Whatever the estimate said, the server could not hold it: half of it where that can be had, strictly smaller
        at any rate, or None."""
        whole, best = tokens_of(messages), list(messages)
        stale = self._compactor.without_stale_results(messages)
        for keep in (limits.KEPT_TURNS, 2, 1):
            made = await self._compactor.compacted(stale, keep)
            best = made if made is not None and tokens_of(made) < tokens_of(best) else best
            if tokens_of(best) <= whole / 2:
                return paired(best)
        best = shrunk(best) or best
        return paired(best) if tokens_of(best) < whole else None

    async def _shorter(self, messages: Sequence[Message], tokens: int) -> list[Message]:
        """Fewer and fewer turns are kept until it fits; then the longest results are cut."""
        best = list(messages)
        for keep in (limits.KEPT_TURNS, 4, 2, 1):
            made = await self._compactor.compacted(messages, keep)
            if made is None:
                continue
            best = made
            if tokens - self._saved(messages, made) < limits.COMPACT_AT * self._window.usable:
                return paired(best)
        while tokens - self._saved(messages, best) >= limits.COMPACT_FORCED_AT * self._window.usable:
            cut = shrunk(best)
            if cut is None:
                break
            best = cut
        return paired(best)

    def _saved(self, before: Sequence[Message], after: Sequence[Message]) -> int:
        return round((tokens_of(before) - tokens_of(after)) * self._meter.ratio)

    @property
    def _turns_left(self) -> float:
        """Work tends to go on for as long as it went on, within its limit of turns."""
        return min(max(self._turns, limits.KEPT_TURNS), self._max_turns - self._turns)

    @property
    def _price(self) -> float:
        return self._settings.cached_price


READ_RESULT = ToolSchema(
    name="read_result",
    description=(
        "Read on in what was put aside because it was too long for you: a tool result or turns of this work that were "
        "summed up. Pages by line, record (each element of the longest list of a JSON result, else each line) or byte "
        "put one behind the other are the whole; `find` lists the places that hold a text, with line and byte."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "handle": {"type": "string", "description": "As the note says."},
            "unit": {"type": "string", "enum": ["line", "record", "byte"], "default": "line"},
            "start": {"type": "integer", "minimum": 0, "default": 0},
            "count": {"type": "integer", "minimum": 1, "default": 200},
            "find": {
                "type": "string",
                "description": "Only places that hold this; case does not count; from byte `start` on.",
            },
        },
        "required": ["handle"],
        "additionalProperties": False,
    },
)


class ReadArguments(BaseModel):
    """The arguments of `read_result`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    handle: str
    unit: Literal["line", "record", "byte"] = "line"
    start: int = Field(0, ge=0)
    count: int = Field(200, ge=1)
    find: str | None = None


def read_result(store: Store, arguments: ReadArguments) -> dict[str, Any]:
    """A page, or the lines found. Raises ArgumentError."""
    if arguments.find:
        found = store.find(arguments.handle, arguments.find, arguments.start)
        is_all = len(found) < limits.FOUND_LINES
        return {"found": found, **({} if is_all else {"next_start": found[-1]["byte"] + 1})}
    return store.page(arguments.handle, arguments.unit, arguments.start, arguments.count).as_json()
