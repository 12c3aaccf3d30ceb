"""Figures that code vouches for: those of a whole column, of a group, or of rows chosen by what the user knows.

A claim opens the white list where its figure was computed again (`verified`), tells no cell, and is of a table that
nobody wrote freely:

- it is of more than `echo.RARE` rows; a least, a greatest, a median or a percentile, which are cells, of more than
  `PREVIEW_ROWS`; sums and means rest on so many values, and not on one that outweighs all others
- its group is one column of words, or one that the user or the objective names
- its condition compares columns with numbers that the user or the objective names, or with words: anybody could else
  count to any number (`rows where index < 421`)
- of two conditions, or a group and a condition, each is met by more than `RARE` rows and not by all but so few: of the
  rows of one sample any condition tells
- its table is the user's, or was made of such by tools of Outcrop, with parameters of which the same holds

Beside such a figure its column must be named, and beside one of few digits its statistic: 17 is the value of many
things.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from outcrop_schemas import limits
from outcrop_schemas.claims import Claim, Statistic
from outcrop_schemas.errors import ArgumentError, OutcropError
from outcrop_specialists.citing import Cited, cites
from outcrop_specialists.expressions.tokens import Source, Token, tokens_of
from outcrop_specialists.naming import distance, is_telling, last_named
from outcrop_specialists.tools.inspection.claimed_figures import compute, fewest_chosen, rests_on
from outcrop_specialists.unseen.echo import RARE

if TYPE_CHECKING:
    from outcrop_specialists.reading.tables import Table

CELLS = frozenset(("min", "max", "median", "percentile"))
"""Statistics that hand out a cell, or the middle of two."""
PERCENTS = frozenset((1, 2, 2.5, 5, 10, 16, 20, 25, 30, 40, 50, 60, 70, 75, 80, 84, 90, 95, 97.5, 98, 99))
"""Of others the user or the objective has to say which: by any percentile any cell could be had."""
WHOLE: tuple[Statistic, ...] = (
    "count", "missing", "below_limit", "distinct", "mean", "sd", "sum", "min", "max", "median",
)  # fmt: skip
_WHOLE_PERCENTS = (5, 10, 25, 75, 90, 95)
_CELLS_READ = 10_000_000
_LINK = re.compile(r"\s+(?:and|or)\s*$", re.IGNORECASE)
_COMPARISONS, _MOST_COMPARED = ("<", "<=", ">", ">=", "==", "!="), 2


class Known(Protocol):
    """What the chat knows already: the user's words, the objective, names of columns."""

    asked: str

    def says_number(self, text: str) -> bool: ...

    def says(self, text: str) -> bool: ...


class Vouched:
    """The figures that may be shown, found by their value."""

    def __init__(self) -> None:
        self._claims: list[tuple[float, int, Claim]] = []

    def take(self, claims: Sequence[Claim]) -> None:
        new = [
            (float(claim.value), len(self._claims) + place, claim.model_copy(update={"statement": ""}))
            for place, claim in enumerate(claims)
            if isinstance(claim.value, int | float) and not isinstance(claim.value, bool)
        ]
        self._claims = sorted([*self._claims, *new], key=lambda each: each[:2])

    def has(self, figure: Cited, text: str, known: Known) -> bool:
        """Whether a figure at this place of a text is one of them, and its words say which."""
        return any(
            cites(figure, claim) and _is_named(figure, claim, text, known.asked)
            for value in figure.values
            for claim in self._near(float(value))
        )

    def _near(self, value: float) -> Iterator[Claim]:
        # What rounds to a figure is within half a percent of it (`citing.agrees`).
        room = 0.0051 * abs(value) + 1e-300
        first = bisect.bisect_left(self._claims, value - room, key=lambda each: each[0])
        for place in range(first, len(self._claims)):
            if self._claims[place][0] > value + room:
                return
            yield self._claims[place][2]


def _is_named(figure: Cited, claim: Claim, text: str, asked: str) -> bool:
    columns = [name for name in (claim.column, claim.with_column) if name]
    if not all(is_column_named(name, text) or is_column_named(name, asked) for name in columns):
        return False
    return is_telling(figure) or distance(figure, claim) is not None


def is_column_named(column: str, text: str) -> bool:
    """Whether a text names a column, with its unit or without."""
    short = column.partition("(")[0].partition("[")[0].strip()
    names = {column, short, short.rpartition("_")[0] if "_" in short else short}
    return any(
        last_named(Claim(path="", statistic="value", value=0, column=name), text, len(text)) >= 0
        for name in names
        if name
    )


def opens(claim: Claim, table: Table, known: Known) -> bool:
    """Whether a verified claim of a table that is vouched for may be told."""
    if claim.statistic == "value":
        return False
    if claim.percent is not None and claim.percent not in PERCENTS and not known.says_number(f"{claim.percent:g}"):
        return False
    if not _is_known_group(claim, table, known) or not (claim.where is None or is_known_condition(claim.where, known)):
        return False
    return is_of_enough(claim, table) and _is_of_no_few(claim, table)


def _is_of_no_few(claim: Claim, table: Table) -> bool:
    parts = _conditions(claim.where) if claim.where else []
    if len(parts) + bool(claim.group) < _MOST_COMPARED:
        return True
    ends = [part[0].at for part in parts[1:]]
    where = claim.where or ""
    texts = [_LINK.sub("", where[part[0].at : end]) for part, end in zip(parts, [*ends, len(where)], strict=True)]
    try:
        return fewest_chosen(table, claim, texts) > RARE
    except OutcropError:
        return False


def is_of_enough(claim: Claim, table: Table) -> bool:
    try:
        return rests_on(table, claim) > (limits.PREVIEW_ROWS if claim.statistic in CELLS else RARE)
    except OutcropError:
        return False


def _is_known_group(claim: Claim, table: Table, known: Known) -> bool:
    import polars as pl

    named = [is_column_named(name, known.asked) for name in claim.group]
    words = [table.schema.get(name) in (pl.String, pl.Categorical, pl.Boolean) for name in claim.group]
    return all(named) or (len(words) == 1 and words[0])


def is_known_condition(where: str, known: Known) -> bool:
    """Whether a condition only compares columns with numbers that are known, or with words."""
    try:
        parts = _conditions(where)
    except ArgumentError:
        return False
    return len(parts) <= _MOST_COMPARED and all(_is_known_comparison(part, known) for part in parts)


def _conditions(where: str) -> list[list[Token]]:
    tokens = tokens_of(Source(where, "where"))[:-1]
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "word" and token.text.lower() in ("and", "or"):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _is_known_comparison(part: Sequence[Token], known: Known) -> bool:
    if len(part) == 4 and part[2].text == "-" and part[3].kind == "number":
        part = [*part[:2], part[3]]
    if len(part) != 3 or part[0].kind not in ("name", "column") or part[1].text not in _COMPARISONS:
        return False
    if part[2].kind == "number":
        return known.says_number(part[2].text)
    return part[2].kind == "text" and part[1].text in ("==", "!=")


def figures_of_columns(path: str, table: Table, is_named: Callable[[str], bool]) -> Iterator[Claim]:
    """The figures of the whole columns that are named, as claims. They are computed here."""
    yield Claim(path=path, statistic="rows", value=table.height)
    names = [name for name in table.columns if is_named(name)]
    for name in names[: max(1, _CELLS_READ // (table.height + 1))]:
        asked = [Claim(path=path, statistic=statistic, column=name, value=0) for statistic in WHOLE]
        asked += [Claim(path=path, statistic="percentile", column=name, percent=p, value=0) for p in _WHOLE_PERCENTS]
        for claim in asked:
            try:
                value = compute(table, claim)
            except OutcropError:
                continue
            if value is not None and is_of_enough(claim, table):
                yield claim.model_copy(update={"value": value})
