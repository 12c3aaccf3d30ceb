"""The one door through which anything of the data reaches the chat: a call in a confined process that lets no row out.

What a run said, what was answered before, what is pinned: every text of others passes `screened`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from outcrop.settings import CHAT
from outcrop_schemas.errors import DataError
from outcrop_schemas.outcome import Outcome
from outcrop_specialists.unseen.allowance import Allowance
from outcrop_specialists.unseen.looking import LOOK
from outcrop_specialists.unseen.screen import WITHHELD, texts_in

SCREEN = "screen"
_TOLD_CHARS = 600_000
"""So much of what was told before is compared with what is told now: two cells of a row may come one by one. It is
what a window of 200,000 tokens holds."""
_BATCH_CHARS = 40_000
"""So much of texts goes into one call: an answer of more than 20,000 tokens would be put aside."""


@dataclass(frozen=True)
class Screened:
    """What is left of texts. Of a run's also how many figures and words were held back, and those figures that code
    vouches for, as they stand."""

    texts: list[str]
    held: Mapping[str, int] = field(default_factory=dict)
    vouched: frozenset[str] = frozenset()


def _pieces(text: str) -> list[str]:
    """A text in pieces of as much as one answer holds, cut between lines where there are any."""
    pieces: list[str] = []
    while len(text) > _BATCH_CHARS:
        end = text.rfind("\n", 0, _BATCH_CHARS) + 1 or _BATCH_CHARS
        pieces.append(text[:end])
        text = text[end:]
    return [*pieces, text]


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts by as many as one answer holds. What was shown of one batch is known when the next is compared."""
    batch: list[str] = []
    for text in texts:
        if batch and sum(map(len, batch)) + len(text) > _BATCH_CHARS:
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


class CallTool(Protocol):
    """Runs one tool in a process of its own; `reader` is whose window the answer is for."""

    async def __call__(self, tool: str, arguments: Mapping[str, Any], reader: str) -> Outcome: ...


class Sight:
    """What the chat sees of a workspace."""

    def __init__(self, call_tool: CallTool) -> None:
        self._call_tool = call_tool
        self._told: list[str] = []
        self._asked: list[str] = []

    async def look(
        self, tool: str, arguments: Mapping[str, Any], tables: Sequence[str] = (), but: Sequence[str] = ()
    ) -> dict[str, Any]:
        """The answer of one of the chat's data tools. Raises DataError in words that quote no cell."""
        asked = {"tool": tool, "arguments": dict(arguments), "tables": list(tables), "but": list(but),
                 "before": self._before(), "asked": self._asked}  # fmt: skip
        outcome = await self._call_tool(LOOK, asked, CHAT)
        if outcome.is_good:
            if tool != SCREEN:
                self._told += texts_in(outcome.results)
            return outcome.results
        # The call words its own errors so that they quote nothing; what a process says that broke is not passed on.
        said = "; ".join(outcome.errors) if outcome.status == "error" else ""
        raise DataError(said or f"{tool}: {outcome.status}")

    async def screened(self, texts: Sequence[str], tables: Sequence[str], but: Sequence[str] = ()) -> list[str]:
        """The texts without what tells of a row of these tables, or of another of the workspace `but` these; where
        they cannot be compared, nothing of them."""
        cut = [_pieces(text) for text in texts]
        found: list[str] = []
        for some in _batches([piece for pieces in cut for piece in pieces]):
            found += (await self._screened(some, {}, tables, but)).texts
        shown = iter(found)
        return ["".join(next(shown) for _ in pieces) for pieces in cut]

    async def allowed(self, texts: Sequence[str], tables: Sequence[str], allowance: Allowance) -> Screened:
        """What a run says, screened, and of figures and words only those that are on the white list."""
        asked = allowance.model_copy(update={"asked": self._asked})
        return await self._screened(texts, {"allow": asked.model_dump(mode="json")}, tables)

    def hear(self, text: str) -> None:
        """The user's own words: what stands there is known."""
        self._asked.append(text)

    async def _screened(
        self, texts: Sequence[str], allow: Mapping[str, Any], tables: Sequence[str], but: Sequence[str] = ()
    ) -> Screened:
        if not any(texts):
            return Screened(list(texts))
        try:
            answer = await self.look(SCREEN, {"texts": list(texts), **allow}, tables, but)
        except DataError:
            answer = {}
        found = answer.get("texts")
        if not isinstance(found, list) or len(found) != len(texts):
            return Screened([f"[{WITHHELD}, or may: it could not be compared]" if text else "" for text in texts])
        self._told += [str(text) for text in found if text]
        return Screened([str(text) for text in found], answer.get("held", {}), frozenset(answer.get("vouched", ())))

    def _before(self) -> list[str]:
        kept: list[str] = []
        left = _TOLD_CHARS
        for text in reversed(self._told):
            if left <= 0:
                break
            kept.append(text[-left:])
            left -= len(text)
        return kept
