"""A table as the offline model knows it: names, types, roles and units of its columns, out of tool results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from outcrop_specialists.columns.units import split_unit

NUMERIC_TYPE = re.compile(r"u?int|float|number|numeric|integer|decimal|double|real", re.IGNORECASE)
MEASURE_ROLES = frozenset({"", "measure", "element"})


@dataclass(frozen=True)
class Column:
    """One column; `role` and `unit` are empty where none is known."""

    name: str
    type: str = ""
    role: str = ""
    unit: str = ""

    @property
    def is_numeric(self) -> bool:
        return bool(NUMERIC_TYPE.search(self.type))

    @property
    def is_measure(self) -> bool:
        """Whether it holds measured numbers: no coordinate, depth, date, label or running number."""
        return self.is_numeric and self.role in MEASURE_ROLES

    @cached_property
    def base(self) -> str:
        """The name without a unit at its end: Au of Au_ppm, Body Mass of Body Mass (g)."""
        return split_unit(self.name)[0] or self.name


@dataclass(frozen=True)
class Profile:
    """A table: its path, row count where known, and columns in file order."""

    path: str
    columns: tuple[Column, ...]
    rows: int | None = None
    more: int = 0
    """So many further columns the table has of which only the names are known, or not even these."""

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(column.name for column in self.columns)

    @cached_property
    def folded_names(self) -> frozenset[str]:
        """Names that are one word, folded: what is no verb though it looks like one."""
        return frozenset(column.name.casefold() for column in self.columns)

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    def with_role(self, *roles: str) -> list[Column]:
        return [column for column in self.columns if column.role in roles]

    @property
    def measures(self) -> list[str]:
        return [column.name for column in self.columns if column.is_measure]


def read_profile(found: Any, path: str) -> Profile:
    """A profile out of one entry of `list_files` or of `inspect_dataset`; what is not as expected is left out."""
    record = found if isinstance(found, dict) else {}
    given = record.get("columns")
    columns = [_column(entry) for entry in given] if isinstance(given, list) else []
    named = record.get("more_names")
    further = [_column(entry) for entry in named] if isinstance(named, list) else []
    rows, more = record.get("rows"), record.get("more_columns")
    more = max(more if isinstance(more, int) else 0, len(further))
    return Profile(path, tuple(_distinct([*columns, *further])), rows if isinstance(rows, int) else None, more)


def joined(profiles: Sequence[Profile]) -> frozenset[str]:
    """The folded column names of several tables."""
    return frozenset().union(*(profile.folded_names for profile in profiles))


def _column(entry: Any) -> Column | None:
    record = {"name": entry} if isinstance(entry, str) else entry if isinstance(entry, dict) else {}
    name = record.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    texts = {key: value for key in ("type", "role", "unit") if isinstance(value := record.get(key), str)}
    return Column(name, **texts)


def _distinct(columns: Iterable[Column | None]) -> list[Column]:
    return list({column.name: column for column in columns if column}.values())
