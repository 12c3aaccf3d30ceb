"""Two runs side by side: what `outcrop diff` compares, parted by what it is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outcrop.comparing import Difference, compare
from outcrop.records import read
from outcrop.recovery import RunRecord, as_it_stands
from outcrop.runs import RunFolder
from outcrop_schemas import limits
from outcrop_schemas.errors import UsageError

_PARTS = (
    ("objective", "Objective"),
    ("data ", "Data"),
    ("step ", "Steps"),
    ("figure ", "Figures"),
    ("artifact ", "Files"),
    ("", "Outcome and cost"),
)


@dataclass(frozen=True)
class Section:
    """The differences of one kind, each named without the kind."""

    title: str
    rows: Sequence[Difference]

    @property
    def differing(self) -> int:
        return sum(row.change != "same" for row in self.rows)


@dataclass(frozen=True)
class Comparison:
    """Two runs and all that was compared."""

    first: RunRecord
    second: RunRecord
    sections: Sequence[Section]


def comparison(first: RunFolder, second: RunFolder) -> Comparison:
    """Compare two runs as they stand. Raises JournalError, UsageError where that would take too long."""
    size = sum(folder.journal.stat().st_size for folder in (first, second))
    if size > limits.UI_COMPARED_BYTES:
        raise UsageError(
            f"These two runs have {size // 1_000_000} MB of journal together, which takes too long for a page; "
            f"`outcrop diff {first.run_id} {second.run_id}` compares them."
        )
    one, other = (_record(folder) for folder in (first, second))
    return Comparison(one, other, _sections(compare(one, other)))


def _record(folder: RunFolder) -> RunRecord:
    records, damage = read(folder.journal)
    damage.torn_bytes = 0
    return as_it_stands(folder, records, damage.sentences())


def _sections(found: Sequence[Difference]) -> list[Section]:
    parts: dict[str, list[Difference]] = {title: [] for _, title in _PARTS}
    for each in found:
        opening, title = next(part for part in _PARTS if each.what.startswith(part[0]))
        name = each.what.removeprefix(opening) if opening.endswith(" ") else each.what
        parts[title].append(Difference(name, each.change, each.first, each.second))
    return [Section(title, rows) for title, rows in parts.items() if rows]
