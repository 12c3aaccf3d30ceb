"""Finds rows of a table in texts: where cells of one row are told together, that row is told, in whatever words.

A cell tells of its row where it stands in few rows of its column (`RARE`). A row is told by
- two such cells, in whatever of the texts they stand, or
- in one piece of text, one such cell and another of its row (beside a number, small numbers count half), or
- in one piece, three cells of one row, one of them no small number, or four of any kind, where few rows have them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outcrop_specialists.unseen.spoken import PHRASE_WORDS, Spoken, spoken

if TYPE_CHECKING:
    import polars as pl

RARE = 3
CANDIDATES = 5_000
"""Rows looked at one by one; those with most cells of their own first."""
_NOT_WORD = r"[^\p{L}\p{N}]+"


@dataclass(frozen=True)
class _Cell:
    """A cell that the texts hold: a phrase, or a number with its decimals."""

    phrase: str | None
    number: tuple[int, float] | None
    is_rare: bool
    is_small: bool

    def stands_in(self, said: Spoken) -> bool:
        if self.phrase is not None:
            return self.phrase in said.phrases
        assert self.number is not None
        decimals, value = self.number
        return value in said.numbers.get(decimals, ())


def telling(frame: pl.DataFrame, texts: Sequence[str], before: Sequence[str] = ()) -> set[int]:
    """The numbers of those texts that tell of a row of the table, together with what was told `before`."""
    said = [spoken(text) for text in texts]
    whole = Spoken()
    for each in [*said, *map(spoken, before)]:
        whole.take(each)
    found: set[int] = set()
    alike: dict[tuple[int, frozenset[_Cell]], int] = {}
    for cells in _rows(frame, whole):
        rare = [cell for cell in cells if cell.is_rare]
        for number, each in enumerate(said):
            here = [cell for cell in cells if cell.stands_in(each)]
            if any(cell.is_rare for cell in here) and (len(rare) > 1 or _is_told(here)):
                found.add(number)
            elif len(here) > 3 or (len(here) > 2 and not all(cell.is_small for cell in here)):
                key = (number, frozenset(here))
                alike[key] = alike.get(key, 0) + 1
    return found | {number for (number, _), rows in alike.items() if rows <= RARE}


def _is_told(cells: Sequence[_Cell]) -> bool:
    """Whether cells of one row in one piece, one of them rare, tell of it: figures meet by chance, names do not."""
    if any(cell.is_rare and cell.phrase is not None for cell in cells):
        return len(cells) > 1
    return sum(1 if cell.is_small else 2 for cell in cells) >= 4


def _rows(frame: pl.DataFrame, said: Spoken) -> Iterator[list[_Cell]]:
    """The cells of each row that the texts hold, of the rows that they could tell of."""
    import polars as pl

    marks = [mark for series in frame.get_columns() for mark in _marks(series, said)]
    if not marks:
        return
    marked = pl.DataFrame(
        [series for n, (keys, rare, _) in enumerate(marks) for series in (keys.alias(f"k{n}"), rare.alias(f"r{n}"))]
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
            _cell(row[f"k{n}"], is_rare=row[f"r{n}"], decimals=marks[n][2], said=said)
            for n in range(len(marks))
            if row[f"k{n}"] is not None
        ]


def _cell(key: str | float, *, is_rare: bool, decimals: int | None, said: Spoken) -> _Cell:
    if decimals is None:
        return _Cell(str(key), None, is_rare, is_small=False)
    value = float(key)
    is_small = value in said.small
    return _Cell(None, (decimals, value), is_rare and not is_small, is_small)


def _marks(series: pl.Series, said: Spoken) -> Iterator[tuple[pl.Series, pl.Series, int | None]]:
    """Of a column: the cells that the texts hold (null elsewhere), whether each is in few rows, and of numbers with how
    many decimals they are given."""
    import polars as pl

    if series.dtype.is_numeric():
        for decimals, values in said.numbers.items():
            rounded = series.cast(pl.Float64).round(decimals)
            yield (*_held(rounded, pl.Series(sorted(values), dtype=pl.Float64)), decimals)
        return
    texts = _as_text(series)
    if texts is not None:
        yield (*_held(texts, pl.Series(sorted(said.phrases), dtype=pl.String)), None)


def _as_text(series: pl.Series) -> pl.Series | None:
    """The cells as phrases; None for what has no words (true and false, lists)."""
    import polars as pl

    if series.dtype == pl.Boolean or series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object, pl.Null):
        return None
    if series.dtype == pl.Datetime:
        series = series.dt.date()
    words = series.cast(pl.String).str.to_lowercase().str.replace_all(_NOT_WORD, " ").str.strip_chars()
    first = words.str.extract(rf"^((?:\S+ ){{0,{PHRASE_WORDS - 1}}}\S+)")
    return first.alias(series.name)


def _held(cells: pl.Series, wanted: pl.Series) -> tuple[pl.Series, pl.Series]:
    import polars as pl

    table = pl.DataFrame({"cell": cells}).with_columns(
        pl.when(pl.col("cell").is_in(wanted.implode())).then(pl.col("cell")).alias("held")
    )
    counted = table.with_columns(pl.len().over("held").alias("times"))
    rare = counted.select(pl.col("held").is_not_null() & (pl.col("times") <= RARE)).to_series()
    return counted["held"], rare
