"""The white list for one answer of a run, made from its claims, its tables and what the chat knows already."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from outcrop_schemas.claims import CheckedClaim
from outcrop_schemas.errors import DataError, OutcropError, PathError, WorkspaceError
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.unseen.allowed import Allowed
from outcrop_specialists.unseen.headless import is_headless
from outcrop_specialists.unseen.origins import is_named_by_code, is_vouched_table, users_files
from outcrop_specialists.unseen.vouched import figures_of_columns, is_column_named, opens

if TYPE_CHECKING:
    import polars as pl

_COUNTED = re.compile(r"([^\W\d]+)(\d+)")


class Allowance(BaseModel):
    """What is behind a run's answer: what the user `asked` in this conversation, the objective, the claims, what code
    counted, the `data` it was given and the files it `made`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    asked: list[str] = []
    objective: str = ""
    claims: list[CheckedClaim] = []
    counts: list[int] = []
    data: list[str] = []
    made: list[str] = []


def allowed_by(
    context: ToolContext,
    allowance: Allowance,
    paths: Sequence[str],
    frames: Sequence[pl.DataFrame],
    texts: Sequence[str],
) -> Allowed:
    """The list. `frames` are all tables of which no row may be told, `paths` those that the run had in hand."""
    allowed = Allowed(allowance.asked, allowance.objective, allowance.counts)
    allowed.know_names(allowance.data)
    own = [path for path in dict.fromkeys([*allowance.data, *paths]) if is_vouched_table(context, path, allowed)]
    tables = {path: table for path in own if (table := _read(context, path)) is not None}
    allowed.know_files(path for path in allowance.made if is_named_by_code(path, allowance.data))
    for path, table in tables.items():
        numbers = sum(kind.is_numeric() for kind in table.schema.values())
        allowed.know_counts((table.height, len(table.columns), numbers))
        if not is_headless(table):
            allowed.know_names([path, *table.columns])
        allowed.know_labels(table.frame)
    # What is asked for with the names of columns that are known by now may be known work.
    verified = [claim for claim in allowance.claims if claim.verdict == "verified"]
    for path in dict.fromkeys(claim.path for claim in verified):
        if path not in tables and is_vouched_table(context, path, allowed) and (table := _read(context, path)):
            tables[path] = table
    said = "\n".join([*texts, allowed.asked])
    for path, table in tables.items():
        allowed.figures.take([claim for claim in verified if claim.path == path and opens(claim, table, allowed)])
        allowed.figures.take([*figures_of_columns(path, table, lambda name: is_column_named(name, said))])
    for frame in frames:
        allowed.guard_identifiers(frame, texts)
    return allowed


def names_allowed(context: ToolContext, paths: Sequence[str], asked: Sequence[str]) -> Allowed:
    """The list for what runs named: files, and columns of their tables; known are names of the user's files and columns
    that these were made of."""
    users = list(dict.fromkeys(name for path in paths for name in users_files(context, path)))
    allowed = Allowed(asked)
    allowed.know_names(users)
    for path in users:
        table = _read(context, path)
        if table is not None and not is_headless(table):
            allowed.know_names(table.columns)
    allowed.know_files(path for path in paths if is_named_by_code(path, users))
    return allowed


def columns_shown(names: Sequence[str], allowed: Allowed) -> list[str]:
    """The names of a run's columns: one with a figure that nobody knows is a number in their order, unless it only
    counts up (`PC1`, `PC2`)."""
    counting = _counting(names)
    return [
        name if name in counting or allowed.says(name) else f"column_{number}" for number, name in enumerate(names, 1)
    ]


def _counting(names: Sequence[str]) -> set[str]:
    ends: dict[str, list[str]] = {}
    for name in names:
        if (found := _COUNTED.fullmatch(name)) is not None:
            ends.setdefault(found[1], []).append(found[2])
    return {
        stem + number
        for stem, numbers in ends.items()
        if sorted(numbers) == sorted(str(each) for each in range(1, len(numbers) + 1))
        for number in numbers
    }


def _read(context: ToolContext, path: str) -> Table | None:
    try:
        return read_table(context, path)
    except (DataError, PathError, WorkspaceError, OutcropError):
        return None
