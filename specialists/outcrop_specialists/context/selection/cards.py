"""The text of a tool for retrieval: what it is called, what it does, how people ask for it, what it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from outcrop_schemas import limits, wire
from outcrop_schemas.messages import ToolSchema
from outcrop_specialists.context.selection.lexical import split_compound
from outcrop_specialists.tools.base import Tool


@dataclass(frozen=True)
class ToolCard:
    """One tool as retrieval sees it. `phrases` are requests and other names, `arguments` names and descriptions."""

    name: str
    description: str
    phrases: tuple[str, ...] = ()
    arguments: tuple[str, ...] = field(default=())

    @cached_property
    def title(self) -> str:
        """The name as words: `fix_decimals` and `fixDecimals` are both `fix decimals`."""
        return " ".join(split_compound(self.name)).lower()

    @cached_property
    def head(self) -> str:
        """Name and description, as a sentence model likes them."""
        return f"{self.title}. {self.description}"

    @property
    def line(self) -> str:
        """The card in one line, for a list that a model chooses from."""
        said = " ".join(self.description.split())
        most = limits.TOOL_LINE_CHARS
        return said if len(said) <= most else said[: most - 1].rstrip() + "…"


def card_of(tool: Tool) -> ToolCard:
    """The card of one of our own tools."""
    phrases = tuple(dict.fromkeys((*tool.asked_for, *tool.also_called)))
    return ToolCard(tool.name, tool.description, phrases, _arguments(tool.arguments.model_json_schema()))


def card_of_schema(schema: ToolSchema) -> ToolCard:
    """The card of a tool of which only the schema is known, such as one from another server."""
    return ToolCard(schema.name, schema.description, (), _arguments(schema.input_schema))


def digest_of(cards: Iterable[ToolCard]) -> str:
    """A hash that changes with anything that retrieval sees."""
    return wire.digest([[card.name, card.description, card.phrases, card.arguments] for card in cards])


def _arguments(schema: Mapping[str, Any]) -> tuple[str, ...]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    return tuple(
        f"{name} {about.get('description', '') if isinstance(about, Mapping) else ''}".strip()
        for name, about in properties.items()
    )
