"""What the lead is told of the specialists and their tools: everything, or names and a few words.

A planner without a model reads the phrases by which people ask for a tool; a model that is billed for every word of it
in each request knows from the name and the gist who can do what, and the specialist knows its tools in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from outcrop_schemas import limits
from outcrop_specialists.roles import ROLES

_HEAD = "Specialists and their tools:"
# So long it is at least: "Keeps", of "Keeps, or drops, the rows …", says nothing.
_LEAST_CHARS = 28
# What follows is detail: variants, methods, files.
_DETAIL = re.compile(r"[.:;,](?=\s|$)| \(")


def roster(*, is_short: bool = False) -> str:
    """The specialists and their tools, one line each; in short a tool stands with the first who has it, and the others
    have its name."""
    return "\n".join([_HEAD, *(_short() if is_short else _whole())])


def _whole() -> Iterator[str]:
    for role in ROLES.values():
        yield f"{role.name}: {role.purpose}"
        yield from (f"- {tool.name}: {tool.card}" for tool in role.tools)


def _short() -> Iterator[str]:
    told: set[str] = set()
    for role in ROLES.values():
        yield f"{role.name}: {role.purpose}"
        yield from (f"- {tool.name}: {gist(tool.description)}" for tool in role.tools if tool.name not in told)
        also = [tool.name for tool in role.tools if tool.name in told]
        if also:
            yield f"- and from above {', '.join(also)}"
        told.update(tool.name for tool in role.tools)


def gist(description: str) -> str:
    """The first clause of a description that says something, within its limit."""
    found = _DETAIL.search(description, _LEAST_CHARS)
    words = description[: found.start()] if found else description
    if words.count("(") > words.count(")"):
        words = words[: words.rindex(" (")]
    if len(words) <= limits.GIST_CHARS:
        return words
    return words[: limits.GIST_CHARS - 1].rpartition(" ")[0] + "…"
