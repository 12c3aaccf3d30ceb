"""Which facts stay where there is no room for all of them, and what becomes of the others.

What binds goes before dates, money and identifiers, what a user said before what a model said, both before ordinary
figures (`fact_words.weight`). Facts that differ from newer ones by their figures only (records of one table, by these
and the names of their rows) are worth less the more of them there are, so that chatter gives way before what was said
once; among equals the newest stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from outcrop_schemas import limits
from outcrop_specialists.context.fact_words import BINDING, BY_USER, weight
from outcrop_specialists.context.records import Record, fields_of
from outcrop_specialists.context.tokens import tokens_of_text

_ALIKE, _MOST_OFF = 5, 12
# What a tool was asked with is in part what came of it, and a file can be looked at again: a figure cannot.
_ARGUMENT_OFF, _FILE_OFF, _OF_A_FILE = 8, 12, "artifacts["
_DIGITS = re.compile(r"\d+")


def remember(known: dict[str, int], found: Sequence[str], *, by_user: bool = False, is_argument: bool = False) -> None:
    """Add facts with their weight to those that are known; one that comes again counts as new."""
    for fact in found:
        before = known.pop(fact, None)
        worth = weight(fact) + BY_USER * by_user - _ARGUMENT_OFF * is_argument - _FILE_OFF * fact.startswith(_OF_A_FILE)
        known[fact] = worth if before is None else max(before, worth)
    if len(known) > limits.FACTS_KNOWN:
        kept, _ = chosen(list(known), known, limits.FACTS_KNOWN // 2, lambda fact: 1)
        for fact in known.keys() - set(kept):
            del known[fact]


def tokens_of_fact(fact: str) -> int:
    """Tokens of a fact as a line of a list."""
    return tokens_of_text(fact) + 2


def chosen(
    found: Sequence[str], weights: Mapping[str, int], room: int, cost: Callable[[str], int] = tokens_of_fact
) -> tuple[list[str], list[str]]:
    """The facts that stay within `room`, and the others, both in their order."""
    alike: Counter[str] = Counter()
    ranked = []
    for number in range(len(found) - 1, -1, -1):
        form = _form(found[number])
        worth = weights.get(found[number], 0) - min(alike[form] // _ALIKE, _MOST_OFF)
        ranked.append((-worth, alike[form], -number))
        alike[form] += 1
    kept: set[int] = set()
    told: set[str] = set()
    for _, _, number in sorted(ranked):
        # A heading is told once for all its lines.
        heading, _, line = found[-number].rpartition("\n")
        price = cost(line) + (cost(heading) if heading and heading not in told else 0)
        if price <= room:
            room -= price
            kept.add(-number)
            told.add(heading)
    return [f for n, f in enumerate(found) if n in kept], [f for n, f in enumerate(found) if n not in kept]


def _form(fact: str) -> str:
    """What facts have in common that differ by figures only; those of one table also by the names of their rows."""
    if isinstance(fact, Record) and "[" in fact.path:
        fact = f"{fact.path}: {', '.join(name for name, _ in fact.fields)}"
    return _DIGITS.sub("#", fact)


def listed(facts: Sequence[str], mark: str = "- ") -> list[str]:
    """The facts as lines that begin with `mark`; those under one heading stand together below it."""
    under: dict[str, list[str]] = {}
    for fact in facts:
        heading, _, line = fact.rpartition("\n")
        under.setdefault(heading or f"\n{line}", []).append(line)
    lines = []
    for heading, below in under.items():
        if heading.startswith("\n"):
            lines.append(f"{mark}{below[0]}")
        else:
            lines += [f"{mark}{heading}".replace("\n", "\n  "), *(f"  {line}" for line in below)]
    return lines


def of_stale(found: Sequence[str], named: Sequence[str] | None, chars: int) -> tuple[list[str], int]:
    """What stays of a result that went stale, and the number of facts that do not. The `named` fields come first, but
    for a third of the room, which is for what binds."""
    weights = {fact: weight(fact) for fact in found}
    if named is None:
        kept, others = chosen(found, weights, chars, _line)
        return kept, len(others)
    binding = [fact for fact in found if weights[fact] >= BINDING and fact not in set(named)]
    binding, _ = chosen(binding, weights, chars // 3, _line)
    kept = first(named, chars - sum(map(_line, binding)))
    told = {*kept, *binding}
    known = {field for fact in told for field in fields_of(fact)}
    left = [fact for fact in found if fact not in told and not known.issuperset(fields_of(fact))]
    rest = first(left, chars - sum(map(_line, told)))
    return [*kept, *binding, *rest], len(left) - len(rest)


def first(found: Iterable[str], chars: int) -> list[str]:
    """The first facts that fit."""
    kept: list[str] = []
    for fact in found:
        chars -= _line(fact)
        if chars < 0:
            break
        kept.append(fact)
    return kept


def _line(fact: str) -> int:
    return len(fact) + 1
