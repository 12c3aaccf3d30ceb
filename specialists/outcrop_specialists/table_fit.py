"""The call that looks at a table for a plan: what its columns are, and whether they serve. No row is given out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from pydantic import BaseModel, ConfigDict

from outcrop_schemas.errors import ArgumentError
from outcrop_schemas.plan import PlanColumn
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.columns.fitting import TELLING_ROLES, Fit, fit
from outcrop_specialists.columns.profile import ColumnProfile, profile_table
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext

FIT = "fit_table"
"""The call by which it is asked for."""
NAMES_TOLD = 60
"""So many columns of a file are listed where one of them is missing."""


class FitArguments(BaseModel):
    """`described` asks what columns are, with values that they may have, `found` the same of columns that tools found
    by themselves; `inputs` whether the table serves."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    described: dict[str, list[str]] = {}
    found: list[str] = []
    inputs: dict[str, list[PlanColumn]] = {}
    given: dict[str, str] = {}


def fit_table(context: ToolContext, asked: FitArguments) -> dict[str, Any]:
    """Facts of columns and fits of inputs. Raises DataError, PathError where the table cannot be read."""
    table = read_table(context, asked.path)
    profiles = profile_table(table)
    fits = {name: fit(needs, profiles, _found(table, asked.given)) for name, needs in asked.inputs.items()}
    return {
        "described": _described(table, profiles, asked),
        "fits": {name: _as_json(found, table, asked.inputs[name]) for name, found in fits.items()},
        "columns": [_told(profile) for profile in islice(profiles, NAMES_TOLD)],
        "column_count": len(profiles),
    }


def _found(table: Table, given: Mapping[str, str]) -> dict[str, str]:
    """The names that were given, as the table has them; others as they are, to be told as missing."""
    return {needed: _column(table, name) or name for needed, name in given.items()}


def _described(table: Table, profiles: Sequence[ColumnProfile], asked: FitArguments) -> list[dict[str, Any]]:
    """The columns among those asked for, each once, with those of the values that it has; of those that tools found
    by themselves the ones whose role says what they are."""
    by_name = {profile.name: profile for profile in profiles}
    wanted: dict[str, list[str]] = {}
    for name, values in asked.described.items():
        column = _column(table, name)
        if column in by_name:
            wanted.setdefault(column, []).extend(values)
    found = []
    for name, values in wanted.items():
        profile, there = by_name[name], _values(table, name) if values else set()
        kept = [value for value in dict.fromkeys(values) if _folded(value) in there]
        known = PlanColumn(name=name, type=profile.type, role=profile.role, unit=profile.unit, values=kept)
        found.append(known.model_dump())
    for profile in profiles:
        if profile.name in asked.found and profile.name not in wanted and profile.role in TELLING_ROLES:
            known = PlanColumn(name=profile.name, type=profile.type, role=profile.role, found_by="role")
            found.append(known.model_dump())
    return found


def _as_json(found: Fit, table: Table, needs: Sequence[PlanColumn]) -> dict[str, Any]:
    wanted = {need.name: need.values for need in needs}
    warnings = list(found.warnings)
    for mapped in found.mapped:
        there = _values(table, mapped.name) if wanted[mapped.needed] else set()
        absent = [value for value in wanted[mapped.needed] if _folded(value) not in there]
        if absent:
            warnings.append(f"{mapped.name!r} has no value {', '.join(map(repr, absent))}, which the plan asks for")
    renamed = {each.needed: each.name for each in found.mapped if each.needed != each.name}
    return {
        "aside": [name for name in renamed if name in table.frame.columns and name not in renamed.values()],
        "mapped": [[each.needed, each.name, each.how] for each in found.mapped if each.needed != each.name],
        "misfits": [
            {"column": each.needed.name, "needed": _kind(each.needed), "reason": each.reason} for each in found.misfits
        ],
        "warnings": warnings,
    }


def _column(table: Table, name: str) -> str | None:
    try:
        return find_column(table, name)
    except ArgumentError:
        return None


def _values(table: Table, name: str) -> set[str]:
    import polars as pl

    return {_folded(text) for text in table.column(name).drop_nulls().unique().cast(pl.String).to_list()}


def _folded(value: str) -> str:
    return " ".join(value.casefold().split())


def _kind(need: PlanColumn) -> str:
    return ", ".join(part for part in (need.type, need.role, need.unit) if part)


def _told(profile: ColumnProfile) -> str:
    return f"{profile.name} ({', '.join(part for part in (profile.type, profile.role, profile.unit) if part)})"
