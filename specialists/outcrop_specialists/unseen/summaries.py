"""Figures that tell of a whole column, or of a group of its rows, and not of a cell: how many, mean, least, most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

WORDS_OF_A_SUMMARY = frozenset((
    "a", "all", "an", "and", "at", "average", "by", "column", "columns", "count", "distribution", "each", "file",
    "files", "for", "from", "has", "have", "in", "is", "it", "least", "max", "maximum", "mean", "median", "min",
    "minimum", "missing", "most", "n", "no", "none", "not", "of", "on", "or", "over", "p", "r", "results", "row",
    "rows", "sd", "std", "sum", "summary", "table", "the", "to", "total", "unit", "units", "value", "values",
    "was", "were", "which", "with", "x", "y", "yes",
))  # fmt: skip
"""Words that stand in a summary of any table; a cell that is one is not told by it."""
Label = tuple[str, str]
"""A column of words, and the cell (as a phrase) that makes a group of rows."""
MOST_LABELS = 60
"""Of more groups no figure is known."""


class Summaries:
    """What of a table may be told in figures. `texts` are its columns of words, as phrases."""

    def __init__(self, frame: pl.DataFrame, texts: dict[str, pl.Series], most_like_a_row: int) -> None:
        self._frame, self._texts, self._most = frame, texts, most_like_a_row
        self._numeric = tuple(series.name for series in frame.get_columns() if series.dtype.is_numeric())
        self._groups: dict[Label, pl.DataFrame | None] = {}
        self._figures: dict[tuple[str, Label | None], list[float]] = {}

    def has(self, decimals: int, value: float, column: str | None, labels: Sequence[Label]) -> bool:
        """Whether the number is a figure of the column (of any, without one) over all rows, or those of a label."""
        columns = self._numeric if column is None else (column,)
        return any(
            round(figure, decimals) == value
            for label in (None, *labels[:MOST_LABELS])
            for each in columns
            for figure in self._of(each, label)
        )

    def _of(self, column: str, label: Label | None) -> list[float]:
        key = (column, label)
        if key not in self._figures:
            frame = self._frame if label is None else self._group(label)
            self._figures[key] = [] if frame is None else list(_figures(frame, column))
        return self._figures[key]

    def _group(self, label: Label) -> pl.DataFrame | None:
        """The rows of a group; None where they are so few that a figure of them is a cell."""
        if label not in self._groups:
            found = self._frame.filter((self._texts[label[0]] == label[1]).fill_null(value=False))
            self._groups[label] = found if found.height > self._most else None
        return self._groups[label]


def _figures(frame: pl.DataFrame, column: str) -> Iterator[float]:
    import polars as pl

    series = frame[column].cast(pl.Float64).drop_nulls().drop_nans()
    yield from (float(frame.height), float(len(series)), float(frame.height - len(series)))
    if len(series):
        found = (series.mean(), series.median(), series.min(), series.max(), series.std(), series.sum())
        yield from (float(each) for each in found if isinstance(each, int | float) and abs(each) < float("inf"))
