"""What was repaired in the data: what reading a file had to mend, and what the cleaning tools changed and counted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outcrop.report.dispatches import DispatchFact
from outcrop_specialists.reading.report import count_in, kind_of

_CLEANING = "cleaning"
# Findings are sentences of tools, too; of these only what says that values or rows are not as the file has them.
_REPAIR = re.compile(
    r"REPAIRED|\bread as (?:missing|the limit)|\bskipped\b|\bbecame (?:missing|columns)|\bwere (?:moved|parted|cut|"
    r"read as|dropped|given|left out)\b|\bleft out, being no rows|which was dropped"
)
# Not changes: what they were asked, and how much there was.
_NO_COUNTS = frozenset(("path", "rule", "rows", "columns", "method", "by_column", "more_columns"))


@dataclass(frozen=True)
class Repair:
    """One thing that was mended or is suspicious. `count` is of rows, lines or values, where it is known."""

    what: str
    count: int | None
    who: DispatchFact


@dataclass(frozen=True)
class Cleaning:
    """What one cleaning dispatch did: `counts` by the names that its tool gives them."""

    who: DispatchFact
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Repairs:
    """What is not as the file has it, in the order of the dispatches."""

    cleaned: Sequence[Cleaning]
    repaired: Sequence[Repair]
    suspicious: Sequence[Repair]

    def __bool__(self) -> bool:
        return bool(self.cleaned or self.repaired or self.suspicious)


def repairs_of(dispatches: Sequence[DispatchFact]) -> Repairs:
    """From the findings and results of these dispatches; a sentence that several of them say is told once."""
    cleaned = [Cleaning(fact, counts(fact.results)) for fact in dispatches if fact.specialist == _CLEANING]
    found = {repair.what: repair for repair in reversed(list(_sentences(dispatches)))}
    ordered = list(reversed(found.values()))
    suspicious = [repair for repair in ordered if kind_of(repair.what) == "suspicious"]
    return Repairs(cleaned, [repair for repair in ordered if repair not in suspicious], suspicious)


def counts(results: Mapping[str, Any]) -> dict[str, int]:
    """The whole numbers that a cleaning tool counts of the whole table. Those of its columns may be cut."""
    return {
        name: value
        for name, value in results.items()
        if isinstance(value, int) and not isinstance(value, bool) and name not in _NO_COUNTS
    }


def _sentences(dispatches: Sequence[DispatchFact]) -> Iterator[Repair]:
    for fact in dispatches:
        for finding in fact.findings:
            kind = kind_of(finding)
            if kind == "suspicious" or (kind == "repaired" and _REPAIR.search(finding)):
                yield Repair(finding, count_in(finding), fact)
