"""One agent's window: measures what is about to be asked, makes room before it is asked, knows what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outcrop_schemas import limits
from outcrop_schemas.messages import Message, ModelRequest, ToolSchema, Usage
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.context.compaction import Compactor, Window, decide, tokens_of
from outcrop_specialists.context.pairing import paired, seam
from outcrop_specialists.context.segments import estimated
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.tokens import TokenMeter

Enough = tuple[float, Callable[[Sequence[Message]], bool]]
"""Whether a conversation is short enough, and what part of their room facts get for it."""


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
        # What is left after it: opening, summary and the last turns. Where these leave less than half of the window
        # free, no more than that can be saved.
        least = tokens - self._saved(messages, [*messages[:1], *messages[seam(messages, limits.KEPT_TURNS) :]])
        after = min(tokens, max(least, int(limits.COMPACT_TARGET * self._window.usable)))
        if decide(tokens, self._window, after, self._turns_left, self._price, self._summary(tokens - after)) == "no":
            return None
        return await self._shorter(stale, tokens - self._saved(messages, stale))

    async def smaller(self, messages: Sequence[Message]) -> list[Message] | None:
        """Whatever the estimate said, the server could not hold it: half of it where that can be had, strictly smaller
        at any rate, or None."""
        whole = tokens_of(messages)
        stale = self._compactor.without_stale_results(messages)
        half: Enough = (1.0, lambda made: tokens_of(made) <= whole / 2)
        best = await self._summed_up(stale, (limits.KEPT_TURNS, 2, 1), [half])
        if tokens_of(best) > whole / 2:
            best = self._compactor.cuts.shrunk(best) or best
        return paired(best) if tokens_of(best) < whole else None

    async def _shorter(self, messages: Sequence[Message], tokens: int) -> list[Message]:
        """Fewer and fewer turns are kept until several more fit; then the longest results are cut."""
        usable = self._window.usable
        turns = sum(message.role == "assistant" for message in messages)
        growth = tokens_of(messages[1:]) / max(turns, 1) * self._meter.ratio

        def left(made: Sequence[Message]) -> int:
            return tokens - self._saved(messages, made)

        def lasts(made: Sequence[Message]) -> bool:
            return left(made) <= limits.COMPACT_FORCED_AT * usable - limits.COMPACT_TURNS * growth

        def is_low(made: Sequence[Message]) -> bool:
            is_at_target = left(made) <= limits.COMPACT_TARGET * usable
            return is_at_target or (lasts(made) and left(made) < limits.COMPACT_AT * usable)

        enough: list[Enough] = [(1.0, is_low), (1.0, lasts), (limits.FACTS_PART, lasts)]
        best = await self._summed_up(messages, (limits.KEPT_TURNS, 4, 2, 1), enough)
        while left(best) >= limits.COMPACT_FORCED_AT * usable:
            cut = self._compactor.cuts.shrunk(best)
            if cut is None:
                break
            best = cut
        return paired(best)

    async def _summed_up(
        self, messages: Sequence[Message], keeps: Sequence[int], enough: Sequence[Enough]
    ) -> list[Message]:
        """With as many of the last turns as are `enough`, by the first of these that can be had; else the shortest with
        all facts in view that there is room for. It is found by rule, and a model is asked for a summary once, where
        that gains enough: not again and again where nothing does."""
        best = list(messages)
        for part, is_enough in enough:
            for keep in keeps:
                made = await self._compactor.compacted(messages, keep, by_rule=True, part=part)
                if made is None:
                    continue
                if is_enough(made):
                    told = await self._compactor.compacted(messages, keep, part=part)
                    return told if told is not None and is_enough(told) else made
                best = made if part == 1.0 and tokens_of(made) < tokens_of(best) else best
        return best

    def _saved(self, before: Sequence[Message], after: Sequence[Message]) -> int:
        return round((tokens_of(before) - tokens_of(after)) * self._meter.ratio)

    def _summary(self, removed: int) -> float:
        """What a model costs that sums up so many tokens, in uncached tokens read: a rule costs nothing."""
        if self._settings.summaries != "model":
            return 0.0
        read = min(removed, self.room_chars / limits.READ_CHARS_A_TOKEN)
        return read + limits.WRITTEN_PRICE * limits.SUMMARY_OF_WORK_CHARS / limits.READ_CHARS_A_TOKEN

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


def result_chars(window_tokens: int) -> int:
    """How long one tool result may be in such a window: the limit, or a share of what there is room for."""
    share = limits.TOOL_RESULT_SHARE * limits.READ_CHARS_A_TOKEN * Window(window_tokens).usable
    return min(limits.TOOL_RESULT_CHARS, int(share))


def page_chars(window_tokens: int) -> int:
    """How long one page of a text that is read on demand may be in such a window."""
    share = limits.READ_SHARE * limits.READ_CHARS_A_TOKEN * Window(window_tokens).usable
    return min(limits.PAGE_CHARS, int(share))


def read_result(store: Store, arguments: ReadArguments, most: int = limits.PAGE_CHARS) -> dict[str, Any]:
    """A page of `most` characters, or the lines found. Raises ArgumentError."""
    if arguments.find:
        found = store.find(arguments.handle, arguments.find, arguments.start)
        is_all = len(found) < limits.FOUND_LINES
        return {"found": found, **({} if is_all else {"next_start": found[-1]["byte"] + 1})}
    return store.page(arguments.handle, arguments.unit, arguments.start, arguments.count, most).as_json()
