"""What held while a run worked: models, data with hashes, limits, isolation, and what was spent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from outcrop.gaps.record import gap_lines
from outcrop.ledger import RESERVED, SETTLED
from outcrop.recovery import RunRecord
from outcrop.report.dispatches import DispatchFact
from outcrop_schemas import limits, wire
from outcrop_schemas.outcome import RunOutcome

LimitRows = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class PropertyFact:
    """One property of isolation: in how many of the dispatches that are shown it held."""

    name: str
    held: int
    of: int
    by: str
    proof: str

    @property
    def is_active(self) -> bool:
        return self.held == self.of


@dataclass(frozen=True)
class Setting:
    """`limits` are rows of name, value and unit, `packages` what became of those that were missing; `spending` is None
    where nothing was counted."""

    version: str
    models: Mapping[str, str]
    roles: Mapping[str, Mapping[str, Any]]
    backend: str
    prices_as_of: str
    ceiling: Mapping[str, Any]
    data: Sequence[Mapping[str, Any]]
    attached: Sequence[Mapping[str, Any]]
    pins: Mapping[str, str]
    limits: LimitRows
    isolation: tuple[PropertyFact, ...]
    packages: Sequence[str]
    spending: Mapping[str, Any] | None
    spending_note: str = ""


def setting_of(
    run: RunRecord,
    dispatches: Sequence[DispatchFact],
    answer: RunOutcome | None,
    spending_known: Callable[[], Mapping[str, Any] | None] | None = None,
) -> Setting:
    """From the run's first record, the outcomes, and the answer's account or the ledger."""
    about = run.about
    spending, note = (spending_known(), "") if spending_known else _spending(run, answer)
    return Setting(
        str(about.get("version", "")),
        _texts(about.get("models")),
        {str(name): role for name, role in _mapping(about.get("roles")).items() if isinstance(role, dict)},
        str(about.get("backend", "")),
        str(about.get("prices_as_of", "")),
        {name: bound for name, bound in _mapping(about.get("ceiling")).items() if bound is not None},
        [entry for entry in about.get("data") or () if isinstance(entry, dict)],
        [entry for entry in about.get("attach") or () if isinstance(entry, dict)],
        _texts(about.get("pins")),
        _limits(_mapping(about.get("limits"))),
        _isolation(run, dispatches),
        gap_lines(run),
        spending,
        note,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> dict[str, str]:
    return {str(name): str(text) for name, text in _mapping(value).items()}


def _limits(recorded: Mapping[str, Any]) -> LimitRows:
    """As they were when it ran; units are those of today's limit of that name."""
    return _limit_rows(wire.dumps(recorded))


@lru_cache(8)
def _limit_rows(recorded: bytes) -> LimitRows:
    """The same for every job of a batch."""
    units = {limit.name: limit.unit for limit in limits.LIMITS}
    return tuple(
        (name, f"{value:,}" if isinstance(value, int) else str(value), units.get(name, ""))
        for name, value in wire.loads(recorded).items()
    )


def _isolation(run: RunRecord, dispatches: Sequence[DispatchFact]) -> tuple[PropertyFact, ...]:
    proved = [fact.isolation for fact in dispatches if fact.isolation] or [_mapping(_of_run(run).get("isolation"))]
    rows = []
    for name in dict.fromkeys(name for one in proved for name in one):
        found = [one[name] for one in proved if isinstance(one.get(name), dict)]
        # Where it does not hold everywhere, the one that lacks it says why.
        telling = next((one for one in found if not one.get("active")), found[0] if found else {})
        held = sum(bool(one.get("active")) for one in found)
        rows.append(PropertyFact(name, held, len(found), str(telling.get("by", "")), str(telling.get("proof") or "")))
    return tuple(rows)


def _of_run(run: RunRecord) -> Mapping[str, Any]:
    try:
        return _mapping(run.folder.about())
    except (OSError, ValueError):
        return {}


def _spending(run: RunRecord, answer: RunOutcome | None) -> tuple[Mapping[str, Any] | None, str]:
    if answer and isinstance(told := answer.usage.get("spending"), dict):
        return told, ""
    calls = sum(entry.type == "event" and entry.detail in (RESERVED, SETTLED) for entry in run.records.entries)
    if calls > limits.REPORT_LEDGER_RECORDS:
        return None, f"The ledger has {calls:,} records, which are not added up here; `outcrop show` does."
    from outcrop.spending import spending_of

    return spending_of(run), ""
