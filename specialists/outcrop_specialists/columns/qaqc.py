"""Says that rows of quality control (blanks, standards, duplicates) stand among the samples of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.tables import Table

ROWS_LOOKED_AT = 100_000


def qaqc_kinds(table: Table) -> pl.Series | None:
    """Of each row its kind: routine, blank, standard, duplicate, triplicate; None where no one column tells any."""
    from outcrop_schemas.errors import ArgumentError
    from outcrop_specialists.tools.quality.kinds import kinds_of

    try:
        return kinds_of(table, None).kinds
    except ArgumentError:
        return None


def qaqc_notes(table: Table) -> list[str]:
    """A note where a table of assays seems to hold such rows; of a long table the first 100,000 rows tell."""
    from dataclasses import replace

    from outcrop_specialists.columns.profile import profile_table
    from outcrop_specialists.tools.quality.kinds import ROUTINE

    looked_at = replace(table, frame=table.frame.head(ROWS_LOOKED_AT))
    if not any(profile.role == "element" for profile in profile_table(replace(table, frame=table.frame.head(1_000)))):
        return []
    kinds = qaqc_kinds(looked_at)
    if kinds is None or not (kinds == ROUTINE).any():
        return []
    counts = kinds.value_counts(sort=True).rows()
    told = ", ".join(f"{count} {kind}" for kind, count in counts if kind != ROUTINE)
    routine = next(count for kind, count in counts if kind == ROUTINE)
    return [
        f"SUSPECTED QA/QC rows among the samples, kept: {told} beside {routine} routine (flag_qaqc tells them apart "
        "and leaves them out)"
    ]
