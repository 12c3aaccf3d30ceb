"""The tools of one specialist as its model is offered them: those that the work needs, and a way to all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError
from outcrop_schemas.messages import ToolSchema
from outcrop_specialists.completion import checked
from outcrop_specialists.context.selection.cards import card_of, card_of_schema
from outcrop_specialists.context.selection.embedding import Embedder
from outcrop_specialists.context.selection.index import ToolIndex
from outcrop_specialists.context.selection.selection import SelectionRecord, ToolSelection
from outcrop_specialists.tools.base import Tool
from outcrop_specialists.tools.registry import all_tools

ALWAYS = ("inspect_dataset",)
"""Looked at first, whatever the work is."""
_SCORES_TOLD = 8

FIND_TOOLS = ToolSchema(
    name="find_tools",
    description=(
        "Find further tools by what they should do. You are offered those that seem to fit the work; what this finds "
        "is offered to you from your next turn on."
    ),
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What the tool should do, in plain words."}},
        "required": ["query"],
        "additionalProperties": False,
    },
)


class Offering:
    """Which of a specialist's tools are offered now. `on_choice` is told of every choice, as JSON text.

    `cache` is a folder in which the index of all tools is kept, the same for every specialist. With an `embedder` the
    ranking is by likeness of meaning too. `outside` are tools of servers that are not ours, chosen like our own.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        on_choice: Callable[[str], None],
        cache: Path | None = None,
        embedder: Embedder | None = None,
        outside: Sequence[ToolSchema] = (),
    ) -> None:
        names = [*(tool.name for tool in tools), *(tool.name for tool in outside)]
        cards = [*map(card_of, all_tools()), *map(card_of_schema, outside)]
        index = ToolIndex(cards, embedder, cache)
        always = [name for name in ALWAYS if name in names]
        by = embedder.name if embedder else None
        self._selection = ToolSelection(index, names, always, on_choice=lambda record: on_choice(_told(record, by)))

    @property
    def is_selecting(self) -> bool:
        return self._selection.is_selecting

    @property
    def offered(self) -> list[str]:
        return self._selection.offered

    def begin(self, objective: str) -> None:
        """Offer what this piece of work needs."""
        self._selection.select(objective)

    def asked_for(self, name: str) -> None:
        """A tool of this name is called; if it was not offered, that was a miss, and it is from now on."""
        self._selection.missed(name)

    def find(self, arguments: dict[str, Any]) -> str:
        """What `find_tools` gives: name and card of the tools that fit, which are offered from now on."""
        query = checked(FindArguments, arguments).query
        if not query.strip():
            raise ArgumentError("query", "say in plain words what the tool should do")
        found = self._selection.find(query[: limits.OBJECTIVE_CHARS])
        for name, _ in found:
            self._selection.offer(name)
        return wire.dumps(
            {"found": dict(found)} if found else {"found": {}, "hint": "try other words, in English"}
        ).decode()


class FindArguments(BaseModel):
    """The arguments of `find_tools`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str


def _told(record: SelectionRecord, by: str | None) -> str:
    scores = {tool.name: round(tool.score, 4) for tool in record.scores[:_SCORES_TOLD]}
    told = {"tools": record.why, "query": record.query, "scores": scores, "added": list(record.added)}
    more = {"missed": record.missed, "embedder": by}
    return wire.dumps({**told, **{name: value for name, value in more.items() if value}}).decode()
