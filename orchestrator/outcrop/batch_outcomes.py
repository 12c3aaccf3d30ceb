"""What became of a batch: its outcomes, read from its journal when they are asked for, and what they come to together.

In memory are the place and the status of each only, so that a batch of any length takes little of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outcrop.budget import Amount, Budget, Ceiling
from outcrop.jobs import BadLine
from outcrop.ledger import Account, report
from outcrop.prices import dollars
from outcrop.records import Entry, Records
from outcrop_schemas.outcome import GOOD, RunOutcome, Status
from outcrop_schemas.regular import open_file


class JobOutcomes(Mapping[int, RunOutcome]):
    """The outcomes of the jobs that ended, by line number, in the order of the lines.

    Reading one raises JournalError where its record is no longer what it was.
    """

    def __init__(self, journal: Path) -> None:
        with open_file(journal) as file:
            self._records = Records(journal, (), file)
        self._ended: dict[int, tuple[Entry, Status]] = {}
        self._accounts: dict[str, tuple[str, Account]] = {}

    def add(self, number: int, place: Entry, outcome: RunOutcome) -> None:
        """A job ended; its outcome is recorded at `place`."""
        self._ended[number] = place, outcome.status
        for role, told in (outcome.usage.get("spending") or {}).get("by_specialist", {}).items():
            _, known = self._accounts.get(role, (role, Account()))
            self._accounts[role] = role, known.plus(Account.of(told))

    def read(self, place: Entry) -> RunOutcome:
        """The outcome that is recorded at `place`."""
        return RunOutcome.model_validate(self._records.at(place).body["outcome"])

    def recorded(self, number: int) -> dict[str, Any]:
        """An outcome as it stands in the journal."""
        body: dict[str, Any] = self._records.at(self._ended[number][0]).body["outcome"]
        return body

    def __getitem__(self, number: int) -> RunOutcome:
        return self.read(self._ended[number][0])

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._ended))

    def __len__(self) -> int:
        return len(self._ended)

    def __contains__(self, number: object) -> bool:
        return number in self._ended

    @property
    def statuses(self) -> Counter[str]:
        """How many jobs ended in each status."""
        return Counter(status for _, status in self._ended.values())

    @property
    def good(self) -> list[int]:
        """The lines whose job was done, wholly or in part."""
        return [number for number in self if self._ended[number][1] in GOOD]

    @property
    def failed(self) -> list[int]:
        """The lines whose job was not."""
        return [number for number in self if self._ended[number][1] not in GOOD]

    def spending(self, budget: Budget) -> dict[str, Any] | None:
        """Of all jobs together, those of earlier starts of the batch too; None where nothing costs."""
        if not self._accounts and budget.ceiling == Ceiling():
            return None
        told = report(self._accounts, budget.ceiling, budget.spent, budget.reserved)
        return {**told, "spent_usd": dollars(budget.spent.usd), "spent_tokens": budget.spent.tokens}


@dataclass
class BatchOutcome:
    """What became of a batch. `outcomes` has one entry per job, by line number."""

    run_folder: Path
    outcomes: JobOutcomes
    bad_lines: list[BadLine] = field(default_factory=list)
    resumed: int = 0
    spending: dict[str, Any] | None = None
    not_begun: int = 0
    """Jobs that were left out because too many others had failed, or no more could be started."""

    stopped_because: str | None = None
    """Why no more could be started."""

    @property
    def is_good(self) -> bool:
        return not (self.bad_lines or self.not_begun or self.failures)

    @property
    def failures(self) -> int:
        return sum(count for status, count in self.outcomes.statuses.items() if status not in GOOD)

    @property
    def results(self) -> Path:
        return self.run_folder / "results.jsonl"

    @property
    def page(self) -> Path:
        return self.run_folder / "summary.html"

    def _repr_html_(self) -> str:
        """As a notebook shows it; the outcomes of its jobs stay in the record."""
        from outcrop_schemas import notebook

        counts = [f"{count} {status}" for status, count in sorted(self.outcomes.statuses.items())]
        status = "success" if self.is_good else "partial" if self.outcomes.good else "error"
        about = [*counts, f"{self.resumed} finished before" if self.resumed else ""]
        parts = [
            notebook.paragraph(self.stopped_because or ""),
            notebook.listed("failed", [f"line {number}" for number in self.outcomes.failed]),
            notebook.listed("bad lines", [f"line {bad.number}: {bad.reason}" for bad in self.bad_lines]),
            notebook.listed("not begun", [f"{self.not_begun} jobs"] if self.not_begun else []),
            notebook.listed("record", [str(self.results), str(self.page)]),
        ]
        return notebook.card(status, f"batch of {len(self.outcomes)} jobs", about, parts)


@dataclass(frozen=True)
class Standing:
    """How far a batch is: jobs that ended since it was started, those left, seconds since then, and what was spent."""

    ended: int
    left: int
    seconds: float
    spent: Amount

    @property
    def per_second(self) -> float:
        return self.ended / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        return self.left / self.per_second if self.per_second else None
