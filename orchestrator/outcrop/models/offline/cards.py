"""Tool cards: what a tool is called, what it does and with which words people ask for it.

A specialist has them as tool descriptions, the lead as the roster that closes the description of `dispatch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from outcrop.models.offline.vocabulary import MINOR
from outcrop.models.offline.words import stems_of, words_of
from outcrop_schemas.messages import ToolSchema

ROSTER = "Specialists and their tools:"
ASKED_FOR = "Asked for as:"
CARDS_KEPT = 1_000

_SPECIALIST = re.compile(r"^(?P<name>[\w-]+): (?P<purpose>.*)$")
# "how does one column depend on another": what stands for the user's own words asks for nothing.
_PLACEHOLDER = re.compile(
    r"\b(?:one|a|another|other|some)\s+(?:column|element|variable)s?\b|\banother\b|(?<!\w)-\d+\b", re.IGNORECASE
)
_TOOL = re.compile(r"^- (?P<name>[\w-]+): (?P<card>.*)$")


@dataclass(frozen=True)
class Card:
    """One tool as retrieval sees it; `specialist` is its first owner, empty where the tool is one's own."""

    name: str
    description: str
    phrases: tuple[str, ...]
    specialist: str = ""

    @cached_property
    def asked_for(self) -> tuple[tuple[str, ...], ...]:
        """The phrases as stems, the tool's own name among them; words that carry nothing are left out."""
        spoken = (*self.phrases, self.name.replace("_", " ").replace("-", " "))
        return tuple(
            dict.fromkeys(found for phrase in spoken if (found := content_stems(_PLACEHOLDER.sub(" ", phrase))))
        )

    @cached_property
    def stems(self) -> frozenset[str]:
        """Every stem of the phrases."""
        return frozenset().union(*self.asked_for)

    @cached_property
    def words_of_description(self) -> tuple[str, ...]:
        return content_stems(self.description)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every stem of name, phrases and description."""
        return frozenset(self.words_of_description).union(*self.asked_for)


def content_stems(text: str) -> tuple[str, ...]:
    """The stems of the words that carry something; all of them where none does."""
    words = [word for word in words_of(text) if word.kind != "mark"]
    kept = [word.stem for word in words if word.lower not in MINOR]
    return tuple(kept or [word.stem for word in words])


# The same tools are offered in every request; what is known of one is found once.
@lru_cache(maxsize=CARDS_KEPT)
def read_card(name: str, card: str, specialist: str = "") -> Card:
    """A card out of the text that `Tool.card` writes; without asked-for words only the name is left to go by."""
    description, _, asked = card.rpartition(ASKED_FOR) if ASKED_FOR in card else (card, "", "")
    phrases = tuple(phrase.strip() for phrase in asked.strip().rstrip(".").split(",") if phrase.strip())
    return Card(name, description.strip(), phrases, specialist)


def own_cards(tools: Iterable[ToolSchema], without: Sequence[str] = ()) -> list[Card]:
    """The cards of the tools that are offered."""
    return [read_card(tool.name, tool.description) for tool in tools if tool.name not in without]


def read_roster(description: str) -> list[Card]:
    """The cards of all specialists' tools, each under its first owner, out of the description of `dispatch`."""
    found: dict[str, Card] = {}
    specialist = ""
    for line in description.partition(ROSTER)[2].splitlines():
        line = line.strip()
        if tool := _TOOL.match(line):
            if specialist:
                found.setdefault(tool["name"], read_card(tool["name"], tool["card"], specialist))
        elif owner := _SPECIALIST.match(line):
            specialist = owner["name"]
    return list(found.values())


def owners(description: str) -> list[str]:
    """The specialists of the roster."""
    lines = description.partition(ROSTER)[2].splitlines()
    return [owner["name"] for line in lines if (owner := _SPECIALIST.match(line.strip()))]


def phrase_stems(text: str) -> tuple[str, ...]:
    """All stems of a phrase, those of small words too."""
    return tuple(stems_of(text))
