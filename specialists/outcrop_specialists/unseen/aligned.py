"""Rows that are told by columns: the same rows of two columns, each written one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from outcrop_specialists.unseen.spoken import Spoken, listed

if TYPE_CHECKING:
    import polars as pl

RUN = 4
"""So many cells of a column that stand in a text in their order are that column. All alike, or each as much more than
the last as this one than the one before, they may be anything."""


def aligned(
    frame: pl.DataFrame, texts: Mapping[str, pl.Series], held: Mapping[str, pl.Series], said: Sequence[Spoken]
) -> set[int]:
    """The numbers of the texts that hold runs of two columns or more from the same row on."""
    found: dict[int, dict[str, set[int]]] = {}
    for column in held:
        for row, number in _runs(frame[column], texts.get(column), said):
            found.setdefault(row, {}).setdefault(column, set()).add(number)
    return {number for columns in found.values() if len(columns) > 1 for each in columns.values() for number in each}


def _runs(cells: pl.Series, text: pl.Series | None, said: Sequence[Spoken]) -> Iterator[tuple[int, int]]:
    """Where in the column runs begin that a text holds, and in which text."""
    values = _written(cells) if text is None else [(each or "").replace(" ", "") for each in text.to_list()]
    where = [each.listed if text is None else each.glued for each in said]
    together = "\n".join(where)
    between = "," if text is None else ""
    is_in = {value: bool(value) and (f",{value}," in together if between else value in together)
             for value in set(values)}  # fmt: skip
    for row in range(len(values) - RUN + 1):
        run = values[row : row + RUN]
        if not all(is_in[value] for value in run) or (_is_regular(run) if between else len(set(run)) < 2):
            continue
        for order in (run, run[::-1]):
            joined = between + between.join(order) + between
            yield from ((row, number) for number, each in enumerate(where) if joined in each)


def _written(cells: pl.Series) -> list[str]:
    return ["" if value is None else listed(float(value)) for value in cells.to_list()]


def _is_regular(run: Sequence[str]) -> bool:
    steps = {f"{float(after) - float(before):.4g}" for before, after in pairwise(run)}
    return len(steps) == 1
