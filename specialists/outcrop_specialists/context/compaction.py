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
from outcrop_specialists.context import fact_choice, facts
from outcrop_specialists.context.pairing import seam
from outcrop_specialists.context.projection import files_in, projected
from outcrop_specialists.context.segments import text_of
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.summary import KEPT, MEASURED, extract
from outcrop_specialists.context.tokens import tokens_of_text
from outcrop_specialists.server_calls import without_orphans
from outcrop_specialists.shrinking import CutResults

Summarise = Callable[[Sequence[str], str | None, Sequence[Message]], Awaitable[str]]
Decision = Literal["no", "pays", "forced"]
Projections = Callable[[str], Sequence[str]]
"""The fields that stay of a result of the tool of this name, besides those that stay of any."""
_ASIDE = "[put aside"
_ABOUT_THE_CONTEXT = frozenset(("checkpoint", "read_result", "find_tools", "complete"))


@dataclass(frozen=True)
class Window:
    """How much a model takes at a time, in tokens; `reserve` of it is kept for its answer."""

    tokens: int = limits.WINDOW_TOKENS
    reserve: int = limits.MODEL_OUTPUT_TOKENS

    @property
    def usable(self) -> int:
        return max(self.tokens - min(self.reserve, self.tokens // 2), 1)


def decide(
    tokens: int, window: Window, after: int, turns_left: float, cached_price: float, summary: float = 0.0
) -> Decision:
    """Whether to compact a request of `tokens` to `after` now, with `turns_left` turns expected.

    By payback: every further turn reads `tokens - after` less at the cached price (as a share of the full one); the
    shorter prompt is read once uncached, and the `summary` costs as much as so many uncached tokens. Forced past
    `COMPACT_FORCED_AT` of the usable window.
    """
    if tokens >= limits.COMPACT_FORCED_AT * window.usable:
        return "forced"
    if tokens < limits.COMPACT_AT * window.usable:
        return "no"
    return "pays" if (tokens - after) * turns_left * cached_price > after + summary else "no"


class Compactor:
    """Makes one conversation shorter, again and again, and keeps the facts of all that was removed."""

    def __init__(
        self, store: Store, summarise: Summarise | None = None, projections: Projections = lambda name: ()
    ) -> None:
        self._store, self._summarise, self._projections = store, summarise, projections
        self._usable, self._part = Window().usable, 1.0
        self._said: dict[str, int] = {}
        self._measured: dict[str, int] = {}
        self._files: dict[str, None] = {}
        self._found: dict[str, None] = {}
        # What we wrote ourselves is known by being that, never by its words: anybody may write those.
        self._blocks: set[str] = set()
        self._asides: set[str] = set()
        self.cuts = CutResults(self._put, lambda block: self._learn([Message(role="user", content=[block])]))

    def within(self, window: Window) -> None:
        """Keep summaries and facts to their shares of this window."""
        self._usable = window.usable

    def earlier_in(self, messages: Sequence[Message]) -> str | None:
        """The block of ours that stands for turns that are no longer shown; None where all are shown."""
        return self._opened(messages[0])[1]

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

    async def compacted(
        self, messages: Sequence[Message], keep: int = limits.KEPT_TURNS, *, by_rule: bool = False, part: float = 1.0
    ) -> list[Message] | None:
        """All but the opening and the last `keep` turns as a checked summary; None where nothing can be removed. No
        model is asked for one `by_rule`; facts get that `part` of their room."""
        self._part = part
        cut = seam(messages, keep)
        if cut >= len(messages) or cut <= 1:
            return None
        task, before = self._opened(messages[0])
        summary = await self._summary(task, before, list(messages[1:cut]), by_rule=by_rule)
        return self._replaced(messages, cut, summary)

    def begun_anew(self, messages: Sequence[Message], cut: int, words: Mapping[str, str]) -> list[Message]:
        """The opening, the agent's own account of its work in place of the turns before `cut`, and the rest."""
        self._part = 1.0
        # Each on one line of the form that a summary by rule keeps.
        account = [f"> {title}: {' '.join(text.split())}" for title, text in words.items()]
        blocks = (block for message in messages[1:cut] for block in message.content)
        _renew(self._found, [name for block in blocks for name in tools_found(block)])
        if self._found:
            account.append(f"> tools found by search: {', '.join(self._found)}")
        for text in words.values():
            fact_choice.remember(self._said, facts.sentences_with_facts(text))
        self._learn(messages[1:cut])
        files = self._listed("Files written", [f"path: {path}" for path in self._files], {})
        return self._replaced(messages, cut, "\n".join([*account, *files]))

    def _replaced(self, messages: Sequence[Message], cut: int, summary: str) -> list[Message]:
        """The conversation with the turns before `cut` learned from, put into the archive, and summed up like this."""
        task, before = self._opened(messages[0])
        removed = list(messages[1:cut])
        self._learn(removed)
        handle = self._archived(removed, before)
        gone = _turns_gone(before) + sum(message.role == "assistant" for message in removed)
        block = TextBlock(text=self._block(summary, gone, handle, task, messages[cut:]))
        self._blocks.add(block.text)
        kept: list[Block] = [b for b in messages[0].content if not (isinstance(b, TextBlock) and b.text == before)]
        return [Message(role="user", content=[*kept, block]), *without_orphans(messages[cut:])]

    async def _summary(
        self, task: Sequence[str], before: str | None, removed: Sequence[Message], *, by_rule: bool
    ) -> str:
        if self._summarise is not None and not by_rule:
            try:
                said = await self._summarise(task, before, removed)
            except ModelError:
                said = ""  # the work goes on with what can be had without a model
            if said.strip():
                return said[: self._summary_chars]
        return extract(before, removed, self._summary_chars)

    @property
    def _summary_chars(self) -> int:
        # At 3 characters a token.
        return min(limits.SUMMARY_OF_WORK_CHARS, int(limits.SUMMARY_SHARE * self._usable * 3))

    def _opened(self, opening: Message) -> tuple[list[str], str | None]:
        """The task that a conversation opens with, and our block that stands for turns that were removed."""
        texts = [block.text for block in opening.content if isinstance(block, TextBlock)]
        before = next((text for text in reversed(texts) if text in self._blocks), None)
        return [text for text in texts if text != before], before

    def _block(self, summary: str, gone: int, handle: str | None, task: Sequence[str], kept: Sequence[Message]) -> str:
        # A result may yet be cut (`shrinking.py`): nothing is taken for shown because of one.
        blocks = [block for message in kept for block in message.content if not isinstance(block, ToolResultBlock)]
        told = {fact for block in blocks for fact in self._facts_of(block)}
        still = [summary, *task, *map(text_of, blocks)]
        where = f"; all of them: read_result {handle}" if handle else ""
        parts = [f"{EARLIER} ({gone} turns are no longer shown{where}):\n{summary}"]
        lost = facts.lost([fact for fact in self._said if fact not in told], *still)
        parts += self._listed(KEPT, lost, self._said)
        lost = facts.lost([fact for fact in self._measured if fact not in told], *still)
        parts += self._listed(MEASURED, lost, self._measured)
        return "\n\n".join(parts)

    def _listed(self, title: str, found: Sequence[str], weights: Mapping[str, int]) -> list[str]:
        """A titled list of the facts there is room for, with the number of the others and where they are."""
        if not found:
            return []
        room = max(limits.FACTS_SHARE, min(limits.FACTS_TOKENS_LEAST / self._usable, limits.FACTS_SHARE_MOST))
        kept, others = fact_choice.chosen(found, weights, int(room * self._part * self._usable))
        more = []
        if others:
            handle = self._put("\n".join(others) + "\n")
            more = [f"({len(others)} more {f'are in read_result {handle}' if handle else 'are in the archive only'})"]
        return ["\n".join([f"{title}:", *more, *fact_choice.listed(kept)])]

    def _learn(self, removed: Sequence[Message]) -> None:
        """Add the facts of messages; one that comes again counts as new."""
        for message in self.cuts.wholes(removed):
            for block in message.content:
                found = self._facts_of(block, by_user=message.role == "user")
                if isinstance(block, TextBlock):
                    fact_choice.remember(self._said, found, by_user=message.role == "user")
                else:
                    fact_choice.remember(self._measured, found, is_argument=isinstance(block, ToolUseBlock))
                if isinstance(block, ToolResultBlock):
                    _renew(self._files, files_in(block.content))

    def _facts_of(self, block: Block, *, by_user: bool = False) -> list[str]:
        if isinstance(block, TextBlock):
            return facts.sentences_with_facts(block.text, is_all=by_user)
        if isinstance(block, ToolUseBlock):
            return [] if block.name in _ABOUT_THE_CONTEXT else facts.facts_of_call(block.name, block.input)
        if isinstance(block, ToolResultBlock) and block.content not in self._asides:
            return facts.facts_of_result(block.content)
        return []

    def _archived(self, removed: Sequence[Message], before: str | None) -> str | None:
        # The summary before names the archive before.
        earlier = [Message(role="user", content=[TextBlock(text=before)])] if before else []
        removed = [*earlier, *self.cuts.wholes(removed)]
        lines = [wire.dumps(message.model_dump(mode="json", exclude_none=True)).decode() for message in removed]
        return self._put("\n".join(lines) + "\n")

    def _put(self, text: str) -> str | None:
        try:
            return self._store.put(text)
        except SpillError:
            return None

    def _aside(
        self, block: Block, is_old: bool, latest: Mapping[str, int], number: int, tools: Mapping[str, str]
    ) -> Block:
        if not isinstance(block, ToolResultBlock) or block.content in self._asides:
            return block
        if len(block.content) > _MARK_CHARS and latest[block.content] > number:
            return self._marked(block, f"{_ASIDE}: the same result came again later]")
        if not is_old or len(block.content) <= limits.STALE_RESULT_CHARS:
            return block
        whole = self.cuts.whole(block.content)
        handle = self._put(whole)
        if handle is None:
            return block
        self._learn([Message(role="user", content=[block])])
        named = projected(whole, self._projections(tools.get(block.tool_use_id, "")))
        kept, others = fact_choice.of_stale(facts.facts_of_result(whole), named, limits.STALE_FACTS_CHARS)
        more = f"; {others} facts only there" if others else ""
        head = f"{_ASIDE}: {len(whole)} characters, read_result {handle} has them{more}]"
        return self._marked(block, "\n".join([head, *fact_choice.listed(kept, "")]))

    def _marked(self, block: ToolResultBlock, content: str) -> ToolResultBlock:
        self._asides.add(content)
        return block.model_copy(update={"content": content})


_MARK_CHARS = 200
_GONE = re.compile(rf"{EARLIER} \((\d+) turns")


def tokens_of(messages: Sequence[Message]) -> int:
    """Tokens of messages, estimated."""
    return sum(tokens_of_text("\n".join(map(text_of, message.content))) for message in messages)


def _turns_gone(before: str | None) -> int:
    """How many turns an earlier summary stands for."""
    found = _GONE.match(before or "")
    return int(found[1]) if found else 0


def _renew(known: dict[str, None], found: Sequence[str]) -> None:
    for name in found:
        known.pop(name, None)
        known[name] = None
