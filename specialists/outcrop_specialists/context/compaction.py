"""When a conversation is made shorter, and how: turns are summed up, and nothing concrete in them is lost.

At 70 % of the usable window it is decided by payback, at 90 % it is done whatever it costs. The task and the most
recent turns stay word for word, a call is never parted from its result. First results go that are stale or repeated;
then whole turns give way to a summary. The summary is checked: every fact (`facts.py`) that it lost stands behind it
word for word, and the turns themselves lie in the store under a handle.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ModelError, SpillError
from outcrop_schemas.messages import Block, Message, TextBlock, ToolResultBlock, ToolUseBlock, tools_found
from outcrop_specialists.brief import EARLIER
from outcrop_specialists.context import facts
from outcrop_specialists.context.projection import files_in, projected
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.summary import extract
from outcrop_specialists.context.tokens import tokens_of_text
from outcrop_specialists.server_calls import without_orphans

Summarise = Callable[[Sequence[str], str | None, Sequence[Message]], Awaitable[str]]
Decision = Literal["no", "pays", "forced"]
Projections = Callable[[str], Sequence[str]]
"""The fields that stay of a result of the tool of this name, besides those that stay of any."""
_ASIDE = "[put aside"


@dataclass(frozen=True)
class Window:
    """How much a model takes at a time, in tokens; `reserve` of it is kept for its answer."""

    tokens: int = limits.WINDOW_TOKENS
    reserve: int = limits.MODEL_OUTPUT_TOKENS

    @property
    def usable(self) -> int:
        return max(self.tokens - min(self.reserve, self.tokens // 2), 1)


def decide(tokens: int, window: Window, after: int, turns_left: float, cached_price: float) -> Decision:
    """Whether to compact a request of `tokens` to `after` now, with `turns_left` turns expected.

    By payback: every further turn reads `tokens - after` less at the cached price (as a share of the full one), and
    the shorter prompt is read once uncached. Forced past `COMPACT_FORCED_AT` of the usable window.
    """
    if tokens >= limits.COMPACT_FORCED_AT * window.usable:
        return "forced"
    if tokens < limits.COMPACT_AT * window.usable:
        return "no"
    return "pays" if (tokens - after) * turns_left * cached_price > after else "no"


def seam(messages: Sequence[Message], turns: int) -> int:
    """Where the last `turns` turns begin: the number of an assistant message, so that no call is parted from its
    result. The number of messages where there are no more turns than that to remove."""
    begins = [number for number, message in enumerate(messages) if message.role == "assistant"]
    return begins[-turns] if len(begins) > turns > 0 else len(messages)


def paired(messages: Sequence[Message]) -> list[Message]:
    """The same messages with every call answered and no answer without its call, as the API demands."""
    mended: list[Message] = []
    waiting: list[ToolUseBlock] = []
    for message in messages:
        content: list[Block] = list(message.content)
        if message.role == "user":
            asked = {call.id for call in waiting}
            content = [b for b in content if not isinstance(b, ToolResultBlock) or b.tool_use_id in asked]
            given = {block.tool_use_id for block in content if isinstance(block, ToolResultBlock)}
            content = [_unanswered(call) for call in waiting if call.id not in given] + content
            waiting = []
        elif waiting:
            mended.append(Message(role="user", content=[_unanswered(call) for call in waiting]))
            waiting = []
        if message.role == "assistant":
            waiting = [block for block in content if isinstance(block, ToolUseBlock)]
        if content:
            mended.append(message if content == list(message.content) else Message(role=message.role, content=content))
    if waiting:
        mended.append(Message(role="user", content=[_unanswered(call) for call in waiting]))
    return mended


class Compactor:
    """Makes one conversation shorter, again and again, and keeps the facts of all that was removed."""

    def __init__(
        self, store: Store, summarise: Summarise | None = None, projections: Projections = lambda name: ()
    ) -> None:
        self._store, self._summarise, self._projections = store, summarise, projections
        self._said: dict[str, None] = {}
        self._measured: dict[str, None] = {}
        self._files: dict[str, None] = {}
        self._found: dict[str, None] = {}

    @property
    def files(self) -> list[str]:
        """The files that the removed results name, the newest last."""
        return list(self._files)

    def without_stale_results(self, messages: Sequence[Message]) -> list[Message]:
        """Long results before the last turns, and those that came again since, as a few facts and a handle."""
        cut = seam(messages, limits.KEPT_TURNS)
        latest = {
            block.content: number
            for number, message in enumerate(messages)
            for block in message.content
            if isinstance(block, ToolResultBlock)
        }
        tools = {b.id: b.name for message in messages for b in message.content if isinstance(b, ToolUseBlock)}
        made = []
        for number, message in enumerate(messages):
            if message.role == "user":
                is_old = number < cut < len(messages)
                content = [self._aside(block, is_old, latest, number, tools) for block in message.content]
                message = message.model_copy(update={"content": content})
            made.append(message)
        return made

    async def compacted(self, messages: Sequence[Message], keep: int = limits.KEPT_TURNS) -> list[Message] | None:
        """All but the opening and the last `keep` turns as a checked summary; None where nothing can be removed."""
        cut = seam(messages, keep)
        if cut >= len(messages) or cut <= 1:
            return None
        task, before = _opened(messages[0])
        summary = await self._summary(task, before, list(messages[1:cut]))
        return self._replaced(messages, cut, summary)

    def begun_anew(self, messages: Sequence[Message], cut: int, words: Mapping[str, str]) -> list[Message]:
        """The opening, the agent's own account of its work in place of the turns before `cut`, and the rest."""
        # Each on one line of the form that a summary by rule keeps.
        account = [f"> {title}: {' '.join(text.split())}" for title, text in words.items()]
        blocks = (block for message in messages[1:cut] for block in message.content)
        facts.remember(self._found, [name for block in blocks for name in tools_found(block)])
        if self._found:
            account.append(f"> tools found by search: {', '.join(self._found)}")
        for text in words.values():
            facts.remember(self._said, facts.sentences_with_facts(text))
        self._learn(messages[1:cut])
        files = facts.listed("Files written", [f"path: {path}" for path in self._files], limits.FACTS_MEASURED_CHARS)
        return self._replaced(messages, cut, "\n".join([*account, *files]))

    def _replaced(self, messages: Sequence[Message], cut: int, summary: str) -> list[Message]:
        """The conversation with the turns before `cut` learned from, put into the archive, and summed up like this."""
        task, before = _opened(messages[0])
        removed = list(messages[1:cut])
        self._learn(removed)
        handle = self._archived(removed, before)
        gone = _turns_gone(before) + sum(message.role == "assistant" for message in removed)
        block = TextBlock(text=self._block(summary, gone, handle, task, messages[cut:]))
        kept: list[Block] = [b for b in messages[0].content if not (isinstance(b, TextBlock) and b.text == before)]
        return [Message(role="user", content=[*kept, block]), *without_orphans(messages[cut:])]

    async def _summary(self, task: Sequence[str], before: str | None, removed: Sequence[Message]) -> str:
        if self._summarise is not None:
            try:
                said = await self._summarise(task, before, removed)
            except ModelError:
                said = ""  # the work goes on with what can be had without a model
            if said.strip():
                return said[: limits.SUMMARY_OF_WORK_CHARS]
        return extract(before, removed)

    def _block(self, summary: str, gone: int, handle: str | None, task: Sequence[str], kept: Sequence[Message]) -> str:
        still = [*task, *(_texts(message) for message in kept)]
        where = f"; all of them: read_result {handle}" if handle else ""
        parts = [f"{EARLIER} ({gone} turns are no longer shown{where}):\n{summary}"]
        lost = facts.lost(self._said, summary, *still)
        parts += facts.listed("Kept word for word", lost, limits.FACTS_SAID_CHARS)
        lost = facts.lost(self._measured, summary, *still)
        parts += facts.listed("Figures and files of results", lost, limits.FACTS_MEASURED_CHARS)
        return "\n\n".join(parts)

    def _learn(self, removed: Sequence[Message]) -> None:
        """Add the facts of messages; one that comes again counts as new."""
        for message in removed:
            for block in message.content:
                if isinstance(block, TextBlock) and not block.text.startswith(EARLIER):
                    facts.remember(self._said, facts.sentences_with_facts(block.text))
                elif isinstance(block, ToolResultBlock):
                    self._measure(block.content)

    def _measure(self, content: str) -> list[str]:
        facts.remember(self._measured, found := facts.facts_of_result(content))
        facts.remember(self._files, files_in(content))
        return found

    def _archived(self, removed: Sequence[Message], before: str | None) -> str | None:
        # The summary before names the archive before.
        removed = [*([Message(role="user", content=[TextBlock(text=before)])] if before else []), *removed]
        lines = [wire.dumps(message.model_dump(mode="json", exclude_none=True)).decode() for message in removed]
        try:
            return self._store.put("\n".join(lines) + "\n")
        except SpillError:
            return None

    def _aside(
        self, block: Block, is_old: bool, latest: Mapping[str, int], number: int, tools: Mapping[str, str]
    ) -> Block:
        if not isinstance(block, ToolResultBlock) or block.content.startswith(_ASIDE):
            return block
        if len(block.content) > _MARK_CHARS and latest[block.content] > number:
            return block.model_copy(update={"content": f"{_ASIDE}: the same result came again later]"})
        if not is_old or len(block.content) <= limits.STALE_RESULT_CHARS:
            return block
        try:
            handle = self._store.put(block.content)
        except SpillError:
            return block
        found = self._measure(block.content)
        named = projected(block.content, self._projections(tools.get(block.tool_use_id, "")))
        told = (
            facts.newest(found, limits.STALE_FACTS_CHARS)[0]
            if named is None
            else facts.first([*named, *(fact for fact in found if fact not in named)], limits.STALE_FACTS_CHARS)
        )
        head = f"{_ASIDE}: {len(block.content)} characters, read_result {handle} has them]"
        return block.model_copy(update={"content": "\n".join([head, *told])})


_MARK_CHARS = 200
_GONE = re.compile(rf"{EARLIER} \((\d+) turns")


def tokens_of(messages: Sequence[Message]) -> int:
    """Tokens of messages, estimated."""
    return sum(tokens_of_text(_texts(message)) for message in messages)


def _opened(opening: Message) -> tuple[list[str], str | None]:
    """The task that a conversation opens with, and what stands for turns that were removed."""
    texts = [block.text for block in opening.content if isinstance(block, TextBlock)]
    task = [text for text in texts if not text.startswith(EARLIER)]
    return task, next((text for text in texts if text.startswith(EARLIER)), None)


def _turns_gone(before: str | None) -> int:
    """How many turns an earlier summary stands for."""
    found = _GONE.match(before or "")
    return int(found[1]) if found else 0


def _texts(message: Message) -> str:
    return "\n".join(
        block.text
        if isinstance(block, TextBlock)
        else block.content
        if isinstance(block, ToolResultBlock)
        else wire.dumps(block.model_dump(mode="json", exclude_none=True)).decode()
        for block in message.content
    )


def _unanswered(call: ToolUseBlock) -> Block:
    content = wire.dumps({"error": {"type": "interrupted", "message": "this call was never answered"}}).decode()
    return ToolResultBlock(tool_use_id=call.id, content=content, is_error=True)
