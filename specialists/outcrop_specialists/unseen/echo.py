"""Finds rows of a table in texts: where cells of one row are told together, that row is told, in whatever words.

A cell tells of its row where it stands in few rows of its column (`RARE`). A row is told by
- two such cells, in whatever of the texts they stand, or
- in one piece of text, one such cell and another of its row (beside a number, small numbers count half), or
- in one piece, three cells of one row, one of them no small number, or four of any kind, or hardly more than all of
  them, where few rows have them, or
- in all of the texts, cells that few rows have all, and that do not meet by chance (`CHANCE`), or
- two columns of which the same rows stand one after the other (`aligned.py`).

A figure of a whole column or group (`summaries.py`) is no cell, unless a name that few rows have stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outcrop_specialists.unseen.aligned import aligned
from outcrop_specialists.unseen.letters import folded
from outcrop_specialists.unseen.spoken import GLUED, GRAM, PHRASE_WORDS, Spoken, spoken, words_of
from outcrop_specialists.unseen.summaries import WORDS_OF_A_SUMMARY, Label, Summaries

if TYPE_CHECKING:
    import polars as pl

RARE = 3
CHANCE = 0.01
"""So few rows of the table would be expected to have such cells in these texts."""
WIDE = 20
"""Of more columns some hold any small number: beside another number it says nothing."""
CANDIDATES = 5_000
"""Rows looked at one by one; those with most cells of their own first."""
_WEIGHTS = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)
_LEAST_COLUMNS, _MORE_NUMBERS = 3, 2
_NOT_WORD = r"[^\p{L}\p{N}]+"


@dataclass(frozen=True)
class _Cell:
    """A cell that the texts hold: a phrase, or a number with its decimals. `share` of the rows hold one there."""

    column: str
    phrase: str | None
    number: tuple[int, float] | None
    is_rare: bool
    is_small: bool
    share: float

    def stands_in(self, said: Spoken) -> bool:
        if self.phrase is not None:
            return said.says(self.phrase)
        assert self.number is not None
        decimals, value = self.number
        return value in said.numbers.get(decimals, ())


@dataclass(frozen=True)
class _Mark:
    """Of a column: the cells that the texts hold (null elsewhere), and whether each is in few rows."""

    column: str
    held: pl.Series
    rare: pl.Series
    decimals: int | None
    share: float

    def labels(self) -> list[str]:
        """The cells that many rows have: names of groups."""
        return [str(each) for each in self.held.filter(~self.rare).drop_nulls().unique().sort().to_list()]


def telling(frame: pl.DataFrame, texts: Sequence[str], before: Sequence[str] = ()) -> set[int]:
    """The numbers of those texts that tell of a row of the table, together with what was told `before`."""
    return told(frame, [spoken(text) for text in texts], [spoken(text) for text in before])


def told(
    frame: pl.DataFrame,
    said: Sequence[Spoken],
    before: Sequence[Spoken] = (),
    figures: Collection[float] = frozenset(),
) -> set[int]:
    """`telling` of texts that were read already. `figures` are those that code vouches for, like those of a column."""
    whole = Spoken()
    for each in [*said, *before]:
        whole.take(each)
    texts = {series.name: text for series in frame.get_columns() if (text := _as_text(series)) is not None}
    unmeant = {*WORDS_OF_A_SUMMARY, *(" ".join(words_of(folded(name))) for name in frame.columns)}
    marks = [mark for each in frame.get_columns() for mark in _marks(each, texts.get(each.name), whole, unmeant)]
    if not marks:
        return set()
    chance = _Chance(marks, frame.height)
    summaries = Summaries(frame, texts, RARE)
    labels = [(mark.column, key) for mark in marks if mark.decimals is None for key in mark.labels()]
    found = aligned(frame, texts, {mark.column: mark.held for mark in marks}, said)
    alike: dict[tuple[int, frozenset[_Cell]], int] = {}
    spread: dict[frozenset[_Cell], int] = {}
    for every in _rows(marks, whole):
        own = _own(every)
        cells = _without_figures(own, summaries, labels, figures=figures)
        rare = [cell for cell in cells if cell.is_rare]
        # A text may tell the greatest of each column, and one row have several of them.
        scattered = frozenset(_without_figures(own, summaries, figures=figures))
        if chance.is_ruled_out(scattered):
            spread[scattered] = spread.get(scattered, 0) + 1
        for number, each in enumerate(said):
            here = [cell for cell in cells if cell.stands_in(each)]
            if any(cell.is_rare for cell in here) and (len(rare) > 1 or _is_told(here, is_wide=frame.width > WIDE)):
                found.add(number)
            elif (
                len(here) > 3
                or (len(here) > 2 and not all(cell.is_small for cell in here))
                or _is_all(every, each, frame)
            ):
                key = (number, frozenset(here or own))
                alike[key] = alike.get(key, 0) + 1
    found |= {number for (number, _), rows in alike.items() if rows <= RARE}
    for row, rows in spread.items():
        if rows <= RARE:
            found |= {number for number, each in enumerate(said) if any(cell.stands_in(each) for cell in row)}
    return found


def _is_told(cells: Sequence[_Cell], *, is_wide: bool) -> bool:
    """Whether cells of one row in one piece, one of them rare, tell of it: figures meet by chance, names do not."""
    if any(cell.is_rare and cell.phrase is not None for cell in cells):
        return len(cells) > 1
    return sum((0 if is_wide else 1) if cell.is_small else 2 for cell in cells) >= 4


class _Chance:
    """How likely it is that any row has so many cells in the texts, if columns had nothing to do with each other: by
    Chernoff's bound, where a cell counts by how few rows hold one in its column."""

    def __init__(self, marks: Sequence[_Mark], rows: int) -> None:
        self._rows = math.log(rows)
        self._bounds = [
            (weight, sum(math.log(1 - mark.share + mark.share ** (1 - weight)) for mark in marks))
            for weight in _WEIGHTS
        ]

    def is_ruled_out(self, cells: Iterable[_Cell]) -> bool:
        least: dict[str, float] = {}
        for cell in cells:
            least[cell.column] = min(cell.share, least.get(cell.column, 1.0))
        if len(least) < _LEAST_COLUMNS:
            return False
        weight_of_cells = -sum(map(math.log, least.values()))
        expected = self._rows + min(bound - weight * weight_of_cells for weight, bound in self._bounds)
        return expected < math.log(CHANCE)


def _own(cells: Sequence[_Cell]) -> list[_Cell]:
    """The cells of a row, one of each column and one of each word or number, and none that is part of another (`H7` of
    `H7-020`)."""
    phrases = {cell.phrase.replace(" ", "") for cell in cells if cell.phrase is not None}
    kept: list[_Cell] = []
    columns: set[str] = set()
    said: set[str | float] = set()
    for cell in sorted(cells, key=lambda one: one.share):
        what = cell.phrase.replace(" ", "") if cell.phrase is not None else cell.number[1] if cell.number else ""
        is_part = isinstance(what, str) and any(what != other and what in other for other in phrases)
        if not (is_part or what in said or cell.column in columns):
            kept.append(cell)
            columns.add(cell.column)
            said.add(what)
    return kept


def _without_figures(
    cells: Sequence[_Cell],
    summaries: Summaries,
    labels: Sequence[Label] | None = None,
    *,
    figures: Collection[float],
) -> list[_Cell]:
    """The cells but for figures of their columns, and with `labels` for those of any column and group, and for
    `figures`; all of them where a name of few rows stands beside them."""
    if any(cell.is_rare and cell.phrase is not None for cell in cells):
        return list(cells)
    # Small numbers are so few that they would be a figure of some column.
    return [
        cell
        for cell in cells
        if cell.number is None
        or not (
            cell.number[1] in figures
            or summaries.has(*cell.number, cell.column if cell.is_small or labels is None else None, labels or ())
        )
    ]


def _is_all(cells: Sequence[_Cell], said: Spoken, frame: pl.DataFrame) -> bool:
    """Whether a text is hardly more than all cells of the row, however small."""
    columns = {cell.column for cell in cells if cell.stands_in(said)}
    return len(columns) == frame.width >= _LEAST_COLUMNS and said.listed.count(",") - 1 <= frame.width + _MORE_NUMBERS


def _rows(marks: Sequence[_Mark], said: Spoken) -> Iterator[list[_Cell]]:
    """The cells of each row that the texts hold, of the rows that they could tell of."""
    import polars as pl

    marked = pl.DataFrame(
        [series for n, mark in enumerate(marks) for series in (mark.held.alias(f"k{n}"), mark.rare.alias(f"r{n}"))]
    )
    held = pl.sum_horizontal([pl.col(f"k{n}").is_not_null().cast(pl.Int32) for n in range(len(marks))])
    rare = pl.sum_horizontal([pl.col(f"r{n}").cast(pl.Int32) for n in range(len(marks))])
    likely = marked.with_columns(held.alias("held"), rare.alias("rare")).filter(
        ((pl.col("rare") > 0) & (pl.col("held") > 1)) | (pl.col("held") > 2)
    )
    if likely.height > CANDIDATES:
        likely = likely.sort(["rare", "held"], descending=True).head(CANDIDATES)
    for row in likely.iter_rows(named=True):
        yield [
            _cell(mark, row[f"k{n}"], is_rare=row[f"r{n}"], said=said)
            for n, mark in enumerate(marks)
            if row[f"k{n}"] is not None
        ]


def _cell(mark: _Mark, key: str | float, *, is_rare: bool, said: Spoken) -> _Cell:
    if mark.decimals is None:
        return _Cell(mark.column, str(key), None, is_rare, is_small=False, share=mark.share)
    value = float(key)
    is_small = value in said.small
    return _Cell(mark.column, None, (mark.decimals, value), is_rare and not is_small, is_small, mark.share)


def _marks(series: pl.Series, texts: pl.Series | None, said: Spoken, unmeant: set[str]) -> Iterator[_Mark]:
    """The column as it is held by the texts, but for words that are `unmeant`: of numbers once for each number of
    decimals that they are given with."""
    import polars as pl

    if series.dtype.is_numeric():
        for decimals, values in said.numbers.items():
            rounded = series.cast(pl.Float64).round(decimals)
            yield from _held(rounded, pl.Series(sorted(values), dtype=pl.Float64), decimals, series.name)
    elif texts is not None:
        wanted = sorted({*said.phrases, *_glued(texts, said)} - unmeant)
        yield from _held(texts, pl.Series(wanted, dtype=pl.String), None, series.name)


def _glued(texts: pl.Series, said: Spoken) -> list[str]:
    """The cells that the texts hold with other signs between their words, or with none."""
    import polars as pl

    grams = pl.Series(sorted(said.grams()), dtype=pl.String)
    glued = texts.str.replace_all(" ", "", literal=True)
    ends = glued.str.slice(0, GRAM).is_in(grams.implode()) & glued.str.slice(-GRAM).is_in(grams.implode())
    likely = texts.filter((ends & (glued.str.len_chars() >= GLUED)).fill_null(value=False)).unique()
    return [text for text in likely.to_list() if said.says(text)]


def _as_text(series: pl.Series) -> pl.Series | None:
    """The cells as phrases; None for what has no words (numbers, true and false, lists)."""
    import polars as pl

    if series.dtype == pl.Boolean or series.dtype.is_nested() or series.dtype.is_numeric():
        return None
    if series.dtype in (pl.Binary, pl.Object, pl.Null):
        return None
    if series.dtype == pl.Datetime:
        series = series.dt.date()
    words = series.cast(pl.String).str.normalize("NFKD").str.replace_all(r"\p{Mn}+", "").str.to_lowercase()
    words = words.str.replace_all(_NOT_WORD, " ").str.strip_chars()
    first = words.str.extract(rf"^((?:\S+ ){{0,{PHRASE_WORDS - 1}}}\S+)")
    return first.alias(series.name)


def _held(cells: pl.Series, wanted: pl.Series, decimals: int | None, column: str) -> Iterator[_Mark]:
    """One mark, or none where no cell is held."""
    import polars as pl

    table = pl.DataFrame({"cell": cells}).with_columns(
        pl.when(pl.col("cell").is_in(wanted.implode())).then(pl.col("cell")).alias("held")
    )
    counted = table.with_columns(pl.len().over("held").alias("times"))
    rare = counted.select(pl.col("held").is_not_null() & (pl.col("times") <= RARE)).to_series()
    held = counted["held"]
    if held.null_count() < len(held):
        yield _Mark(column, held, rare, decimals, 1 - held.null_count() / len(held))
