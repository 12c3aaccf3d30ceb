"""Types the columns that need no thought: plain integers and decimals. `types.py` says what makes a column a number;
here stand shortcuts to the same answer, which matter in tables of millions of rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import polars as pl

Given = TypeVar("Given")
Found = TypeVar("Found")
LOOKED_AT = 100
LONG_ROWS = 100_000
AT_A_TIME = 4
SIGNS = ["e", "E", "+"]
"""Exponents and signs: what has them may be a code, as what has leading zeros."""


def plain_numbers(column: pl.Series, exact_float: int) -> pl.Series | None:
    """A text column as Int64 or Float64 where every value is digits with at most a minus and a point; None where
    `types.py` has to look at it. `exact_float` is the size from which floats lose digits.
    """
    import polars as pl

    missing = column.null_count() + int((column == "").sum())
    looked_at = column.head(LOOKED_AT).drop_nulls()
    looked_at = looked_at.filter(looked_at != "")
    if missing == len(column) or looked_at.cast(pl.Float64, strict=False).null_count():
        return None
    numbers = column.cast(pl.Int64, strict=False) if not looked_at.str.contains(".", literal=True).any() else None
    if numbers is None or numbers.null_count() > missing:
        numbers = column.cast(pl.Float64, strict=False)
        size = numbers.abs().max()
        # Infinite is what overflows a float.
        is_plain = numbers.null_count() == missing and not numbers.is_nan().any()
        if not is_plain or not isinstance(size, float) or size >= exact_float:
            return None
    if numbers.dtype == pl.Int64 and len(column) >= LONG_ROWS and _are_shortest(column, numbers):
        return numbers
    return None if _has_leading_zero(column, numbers) or column.str.contains_any(SIGNS).any() else numbers


def _are_shortest(column: pl.Series, integers: pl.Series) -> bool:
    """Whether every text is its integer without a sign or zero too many, which their length tells: none is shorter."""
    least, most = integers.min(), integers.max()
    assert isinstance(least, int)
    assert isinstance(most, int)
    shortest = len(integers) - integers.null_count() + int((integers < 0).sum())
    for digits in range(1, len(str(max(abs(least), abs(most))))):
        shortest += int((integers >= 10**digits).sum()) + int((integers <= -(10**digits)).sum())
    return int(column.str.len_bytes().sum()) == shortest


def _has_leading_zero(column: pl.Series, numbers: pl.Series) -> bool:
    # Beginnings are several times as quick to look at as a pattern.
    signs = ("", "-") if numbers.min() <= 0 else ("",)  # type: ignore[operator]
    for sign in signs:
        other = ~column.str.starts_with(f"{sign}0.") & (column != f"{sign}0")
        if (column.str.starts_with(f"{sign}0") & other).any():
            return True
    return False


def is_blank(column: pl.Series) -> pl.Series:
    """True where a text is empty once trimmed, also where it is null."""
    blank: pl.Series = (column == "").fill_null(True)
    # Blanks are sorted before all ASCII that is printed, or lie beyond ASCII: as a rule nothing need be trimmed.
    if (((column < "!") | (column >= "\x80")) & ~blank).any():
        blank = (column.str.strip_chars() == "").fill_null(True)
    return blank


def side_by_side(work: Callable[[pl.Series], Found], columns: Sequence[pl.Series]) -> Iterator[Found]:
    """`work` done on each column, in their order; of long columns several at a time, since polars takes one processor
    for most work on one column."""
    is_long = bool(columns) and len(columns[0]) >= LONG_ROWS
    return ahead(work, columns) if is_long else map(work, columns)


def ahead(work: Callable[[Given], Found], items: Iterable[Given]) -> Iterator[Found]:
    """`work` done on each item, in their order, a few at a time: no more are taken, for each needs memory."""
    import polars as pl

    with ThreadPoolExecutor(max(1, min(AT_A_TIME, pl.thread_pool_size()))) as pool:
        waiting: deque[Future[Found]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > AT_A_TIME:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def all_match(values: pl.Series, pattern: str) -> bool:
    """Whether a pattern is found in all values; the first ones mostly tell that it is not."""
    return bool(values.head(LOOKED_AT).str.contains(pattern).all() and values.str.contains(pattern).all())
