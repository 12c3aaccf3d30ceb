"""What counts as evidence: an entry of a completion that names its hypothesis, or what the lead cites of an outcome."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from outcrop.text import shorten
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import ArgumentError
from outcrop_schemas.hypotheses import HypothesisEvidence
from outcrop_schemas.outcome import Outcome
from outcrop_specialists.citing import agrees, figures_in

_NAMED = re.compile(r"\s*\[?(h\d{1,3})\]?\s*[:—–-]\s*(\S.*)", re.DOTALL)
_ENTRY = re.compile(r"(findings|evidence\.supports|evidence\.contradicts)\[(\d{1,2})\]")


class Citation(BaseModel):
    """One piece of evidence, cited from the outcome of a dispatch."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dispatch_id: str
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=limits.ENTRY_CHARS,
        description="What it found, in your words; each figure must stand in the outcome of that dispatch.",
    )
    entry: str | None = Field(
        default=None,
        description="Instead of a text an entry of that outcome, word for word: `findings[0]`, `evidence.supports[1]`.",
    )


def cited(citation: Citation, outcomes: Mapping[str, Outcome], field: str) -> HypothesisEvidence:
    """The evidence that a citation names. Raises ArgumentError where no such dispatch of the run found it."""
    outcome = outcomes.get(citation.dispatch_id)
    if outcome is None:
        known = ", ".join(outcomes) or "none yet"
        raise ArgumentError(
            f"{field}.dispatch_id", f"no dispatch {citation.dispatch_id!r} has ended; there are {known}"
        )
    if not outcome.is_good:
        told = f"{citation.dispatch_id} ended with {outcome.status}: what it says is no evidence"
        raise ArgumentError(f"{field}.dispatch_id", told)
    if (citation.text is None) is (citation.entry is None):
        raise ArgumentError(field, "give either a text or an entry")
    text = _entry(citation.entry, outcome, field) if citation.entry is not None else str(citation.text)
    known_figures = list(_numbers(outcome))
    for figure in figures_in(text) if citation.entry is None else ():
        if not any(agrees(value, number) for value in figure.values for number in known_figures):
            raise ArgumentError(
                f"{field}.text", f"{figure.text} does not stand in the outcome of {outcome.dispatch_id}"
            )
    return HypothesisEvidence(dispatch_id=outcome.dispatch_id, text=text)


def named_in(entry: str) -> tuple[str, str] | None:
    """The hypothesis that an entry of a completion is evidence of, and what it says: `h1: …`, or an object with
    `hypothesis` and `text`; None where it names none."""
    fields = _as_object(entry)
    if fields is None:
        found = _NAMED.match(entry)
        return (found[1], found[2]) if found else None
    name, text = fields.get("hypothesis"), fields.get("text")
    return (name, text if isinstance(text, str) else entry) if isinstance(name, str) else None


def claim_in(entry: str) -> str:
    """The claim of a new hypothesis in a completion: a text, or an object with `claim`. One line, within its limit."""
    claim = (_as_object(entry) or {}).get("claim", entry)
    return one_line(claim if isinstance(claim, str) else entry)


def one_line(text: str, limit: int = limits.HYPOTHESIS_CHARS) -> str:
    """Text of others in one line of at most `limit` characters."""
    return shorten(" ".join(text.split()), limit)


def _as_object(entry: str) -> dict[str, Any] | None:
    if not entry.lstrip().startswith("{"):
        return None
    try:
        fields = wire.loads(entry)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _entry(name: str, outcome: Outcome, field: str) -> str:
    found = _ENTRY.fullmatch(name)
    lists = {
        "findings": outcome.findings,
        "evidence.supports": outcome.evidence.supports,
        "evidence.contradicts": outcome.evidence.contradicts,
    }
    if not found or int(found[2]) >= len(lists[found[1]]):
        there = ", ".join(f"{len(entries)} {each}" for each, entries in lists.items())
        raise ArgumentError(f"{field}.entry", f"{outcome.dispatch_id} has no {name!r}; it has {there}")
    return lists[found[1]][int(found[2])]


def _numbers(outcome: Outcome) -> Iterator[float]:
    """Every number that an outcome states, in its texts and as a result."""
    shown = outcome.model_dump(include={"summary", "results", "findings", "evidence", "claims"})
    waiting: list[Any] = list(shown.values())
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            yield from (float(each) for figure in figures_in(value) for each in figure.values)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield float(value)
