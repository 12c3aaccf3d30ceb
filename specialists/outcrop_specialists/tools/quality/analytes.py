"""The columns of results of a table, and the column that identifies its samples."""

from __future__ import annotations

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns, numeric_columns
from outcrop_specialists.columns.profile import profile_table
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.multivariate.features import chosen_columns


def analytes(table: Table, wanted: list[str] | None) -> list[str]:
    """The columns asked for; else those that are elements by their names; else every numeric one that measures.

    Raises ArgumentError where there is none.
    """
    if wanted is not None:
        return find_columns(table, wanted, "columns")
    numbers = set(numeric_columns(table))
    elements = [each.name for each in profile_table(table) if each.role == "element" and each.name in numbers]
    return elements or chosen_columns(table, None)[0]


def sample_column(table: Table) -> str | None:
    """The column of sample numbers, by its name; None where there is none."""
    return next((each.name for each in profile_table(table) if each.role == "sample_id"), None)


def refuse_empty(rows: list[int], table: Table, field: str, what: str) -> None:
    """Raises ArgumentError where no row is of the kind wanted."""
    if not rows:
        raise ArgumentError(field, f"{table.path.name}: no row is {what}")
