"""The tools that one agent is offered: few, always enough, and in an order that a prompt cache can keep.

What is offered only grows, at its end. No tool can be lost: one that was not offered is found by `find`, and offered
when it is asked for. This file reads and writes nothing; every choice goes to a callback as a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from outcrop_schemas import limits
from outcrop_schemas.errors import UnknownNameError
from outcrop_specialists.context.selection.clauses import clauses_of
from outcrop_specialists.context.selection.index import RankedTool, ToolIndex

SURE = 5
"""So many of the best tools are offered whatever they scored."""
LEAST_SHARE = 0.3
"""Further ones only with this share of the best one's score: a schema costs tokens at every turn."""
TOOLS_A_CLAUSE = 2

Why = Literal["select", "find", "offer", "miss"]


@dataclass(frozen=True)
class SelectionRecord:
    """One choice: what was asked, how the best tools scored, which were `added` to those `offered`, and which one was
    asked for although it had not been offered (`missed`)."""

    why: Why
    query: str
    scores: tuple[RankedTool, ...]
    added: tuple[str, ...]
    offered: tuple[str, ...]
    missed: str | None = None


def told_to_nobody(record: SelectionRecord) -> None:
    """For agents of which nobody keeps a record."""


class ToolSelection:
    """What one agent is offered of its `tools` (names in the index), beside `fallback`, which is always there.

    An agent with no more tools than `limits.TOOLS_ALL_OFFERED` is offered all of them. Others are offered at most `k`
    for a step; for one of many clauses two for each, at most `most`. Raises UnknownNameError for a tool that the index
    does not hold.
    """

    def __init__(
        self,
        index: ToolIndex,
        tools: Sequence[str],
        fallback: Sequence[str] = (),
        *,
        k: int = limits.TOOLS_OFFERED,
        most: int = limits.TOOLS_OFFERED_MOST,
        on_choice: Callable[[SelectionRecord], None] = told_to_nobody,
    ) -> None:
        self._index, self._k, self._most, self._on_choice = index, k, max(k, most), on_choice
        self._fallback = tuple(dict.fromkeys(fallback))
        self._tools = tuple(name for name in dict.fromkeys(tools) if name not in self._fallback)
        for name in self._tools:
            index.card(name)
        # A dict, since it keeps the order in which names came.
        self._offered = dict.fromkeys(self._fallback if self.is_selecting else (*self._fallback, *self._tools))

    @property
    def is_selecting(self) -> bool:
        """Whether there are so many tools that only some are offered."""
        return len(self._tools) > limits.TOOLS_ALL_OFFERED

    @property
    def offered(self) -> list[str]:
        """What is offered now, in the order in which it came."""
        return list(self._offered)

    def select(self, text: str) -> list[str]:
        """Offer what the step of this text needs, or everything where nobody can tell; all that is offered now."""
        if self.is_selecting:
            best = self._needed(text)
            # What is said in other words than ours cannot be chosen for: then all are offered.
            wanted = [tool.name for tool in best] if self._index.knows(text) else self._tools
            self._record("select", text, best, self._add(wanted))
        return self.offered

    def find(self, query: str) -> list[tuple[str, str]]:
        """The tools that fit a query best, each with its card in one line. Nothing is offered by that."""
        best = self._best(query, limits.TOOLS_FOUND)
        self._record("find", query, best, ())
        return [(tool.name, self._index.card(tool.name).line) for tool in best]

    def offer(self, name: str) -> bool:
        """Offer this tool from now on; False where it was. Raises UnknownNameError for one the agent does not have."""
        return self._offer("offer", name)

    def missed(self, name: str) -> bool:
        """A tool was asked for by its name. If it had not been offered, that is recorded as a miss, and it is offered
        from now on; False where it had been. Raises UnknownNameError for one the agent does not have."""
        return self._offer("miss", name)

    def _offer(self, why: Why, name: str) -> bool:
        if name in self._offered:
            return False
        if name not in self._tools:
            known = (*self._fallback, *self._tools)
            raise UnknownNameError("tool", name, get_close_matches(name, known), known)
        self._record(why, "", [], self._add([name]), name if why == "miss" else None)
        return True

    def _needed(self, text: str) -> list[RankedTool]:
        by_clause = TOOLS_A_CLAUSE * len(clauses_of(text))
        best = self._best(text, min(max(self._k, by_clause), self._most))
        least = LEAST_SHARE * best[0].score if best else 0.0
        return [tool for place, tool in enumerate(best) if place < max(SURE, by_clause) or tool.score >= least]

    def _best(self, text: str, most: int) -> list[RankedTool]:
        return [tool for tool in self._index.rank(text, self._tools, most) if tool.is_found]

    def _add(self, names: Iterable[str]) -> tuple[str, ...]:
        added = tuple(name for name in names if name not in self._offered)
        self._offered.update(dict.fromkeys(added))
        return added

    def _record(
        self, why: Why, query: str, scores: Sequence[RankedTool], added: tuple[str, ...], missed: str | None = None
    ) -> None:
        self._on_choice(SelectionRecord(why, query, tuple(scores), added, tuple(self._offered), missed))
