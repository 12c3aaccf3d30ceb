"""What each piece of a request is there for, and how many tokens each segment takes.

A request is told apart by how its blocks open, so that a recorded one can be measured as well as one about to be sent.
Tokens are estimated from characters (`tokens.py`) and, once a server has reported what a request took, scaled to that
total: the ledger then adds up to what was billed.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from outcrop_schemas import wire
from outcrop_schemas.messages import Block, ModelRequest, TextBlock, ToolResultBlock, ToolSchema
from outcrop_specialists import brief
from outcrop_specialists.context.tokens import tokens_of_text

Segment = Literal[
    "system",
    "tools",
    "pins",
    "skills",
    "memory",
    "attachments",
    "objective",
    "history",
    "hypotheses",
    "conversation",
    "tool_results",
]
SEGMENTS: tuple[Segment, ...] = get_args(Segment)

_OPENINGS: tuple[tuple[str, Segment], ...] = (
    (brief.PINS, "pins"),
    (brief.OBJECTIVE, "objective"),
    (brief.DATA, "objective"),
    (brief.CONTEXT, "objective"),
    (brief.HISTORY.split("\n")[0], "history"),
    (brief.HYPOTHESES.split("\n")[0], "hypotheses"),
    (brief.CONVERSATION, "history"),
    (brief.SKILLS, "skills"),
    (brief.OUTSIDE, "skills"),
    (brief.MEMORY, "memory"),
    (brief.ATTACHMENT, "attachments"),
)

_Told = tuple["weakref.ref[ToolSchema]", str, int]
_TOLD: dict[int, _Told] = {}
"""Text and tokens of tools that are there, by identity: one stands in all requests of whoever is offered it."""


def pieces(request: ModelRequest) -> Iterator[tuple[Segment, str]]:
    """The request piece by piece, in its order, each with the segment it belongs to."""
    for tool in request.tools_seen():
        yield "tools", _told(tool)[1]
    yield from _said(request)


def _said(request: ModelRequest) -> Iterator[tuple[Segment, str]]:
    """All but the tools."""
    yield "system", request.system
    for message in request.messages:
        for block in message.content:
            yield _segment(message.role, block), text_of(block)


def estimated(request: ModelRequest) -> dict[Segment, int]:
    """Tokens by segment, estimated; those without any are left out."""
    found: dict[Segment, int] = {"tools": sum(_told(tool)[2] for tool in request.tools_seen())}
    for segment, text in _said(request):
        found[segment] = found.get(segment, 0) + tokens_of_text(text)
    return {segment: found[segment] for segment in SEGMENTS if found.get(segment)}


def scaled(estimate: Mapping[Segment, int], total: int) -> dict[Segment, int]:
    """The same shares of a total that was reported: whole tokens that add up to it exactly (largest remainders)."""
    whole = sum(estimate.values())
    if not whole:
        return {}
    exact = {segment: count * total / whole for segment, count in estimate.items()}
    found = {segment: int(share) for segment, share in exact.items()}
    rest = total - sum(found.values())
    for segment in sorted(exact, key=lambda each: (found[each] - exact[each], each))[:rest]:
        found[segment] += 1
    return found


def _told(tool: ToolSchema) -> _Told:
    key = id(tool)
    known = _TOLD.get(key)
    if known is None or known[0]() is not tool:
        text = wire.dumps(tool.model_dump(mode="json", exclude_none=True)).decode()
        known = weakref.ref(tool, lambda gone: _forget(key, gone)), text, tokens_of_text(text)
        _TOLD[key] = known
    return known


def _forget(key: int, gone: weakref.ref[ToolSchema]) -> None:
    # Another tool may have its place by now.
    known = _TOLD.get(key)
    if known and known[0] is gone:
        _TOLD.pop(key, None)


def _segment(role: str, block: Block) -> Segment:
    if isinstance(block, ToolResultBlock):
        return "tool_results"
    if role == "user" and isinstance(block, TextBlock):
        return next((segment for opens, segment in _OPENINGS if block.text.startswith(opens)), "conversation")
    return "conversation"


def text_of(block: Block) -> str:
    """What a model reads of a block."""
    if isinstance(block, TextBlock):
        return block.text
    if isinstance(block, ToolResultBlock):
        return block.content
    return wire.dumps(block.model_dump(mode="json", exclude_none=True)).decode()
