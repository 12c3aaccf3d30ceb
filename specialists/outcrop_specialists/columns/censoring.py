"""Results beyond a limit as tools use them: one rule for what stands for them, and the sentences that say so.

A table read from a file holds such a column as numbers (the limit where a result is censored) with a qualifier column
beside it. Tools that know nothing of censoring get the rule below through `columns/choice.py numeric`; those that
treat it themselves take `censored_values`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.tables import Table

BELOW, ABOVE, ABOUT, PLAIN = "<", ">", "~", ""
SHARE_OF_LIMIT = {"half": 0.5, "zero": 0.0, "value": 1.0}
"""What stands for a result below its limit, as a share of it, by method."""
DEFAULT_METHOD = "half"
RULE = "results below a limit as half of it (DL/2), above one as the limit"
HARMLESS_SHARE = 0.15
MOST_SHARE = 0.5
"""Up to the first share below a limit DL/2 hardly moves a mean (Helsel 2012); beyond the second no mean is sound."""
RULE_DECIDES = "follows the rule, not the rock"
"""What is said of a column beyond the second share."""
LIMITS_TOLD = 4
COLUMNS_TOLD = 8

_used: ContextVar[dict[str, str] | None] = ContextVar("censored columns used, with their sentences", default=None)


@dataclass(frozen=True)
class CensoredColumn:
    """Float64 `values`, the limit where censored (null where no limit is given), and masks without nulls."""

    values: pl.Series
    below: pl.Series
    above: pl.Series

    @property
    def count(self) -> int:
        return int(self.below.sum()) + int(self.above.sum())


def is_censored(table: Table, name: str) -> bool:
    """Whether the column has a qualifier column beside it."""
    return name in table.qualifiers


def qualifier_columns(table: Table) -> frozenset[str]:
    """The columns that only say which results are beyond a limit; they are no data of their own."""
    return frozenset(table.qualifiers.values())


def censored_values(table: Table, name: str, field: str = "column") -> CensoredColumn:
    """A numeric column with its limits and what lies beyond them; nothing does in a column without qualifiers.

    Raises ArgumentError, naming `field`, for an unknown column, one that is not numeric, and one whose results below
    a limit were replaced by zero, which left no limit.
    """
    import polars as pl

    name = find_column(table, name, field)
    column = table.column(name)
    if not column.dtype.is_numeric():
        from outcrop_specialists.columns.choice import numeric

        numeric(table, name, field)  # raises, saying what the column holds
    values = column.cast(pl.Float64).fill_nan(None)
    qualifier = _qualifier(table, name)
    below, above = qualifier == BELOW, qualifier == ABOVE
    method = table.substituted.get(name)
    if method == "zero" and below.any():
        raise ArgumentError(field, f"{name!r} of {table.path.name} has zero for what is below a limit; use its source")
    if method == "half":
        values = values.zip_with(~below, values * 2)
    return CensoredColumn(values, below, above)


def substituted(table: Table, name: str) -> pl.Series:
    """A numeric column as Float64, results beyond a limit replaced by `RULE` unless they were replaced before."""
    import polars as pl

    values = table.column(name).cast(pl.Float64).fill_nan(None)
    if name not in table.qualifiers or name in table.substituted:
        return values
    below = _qualifier(table, name) == BELOW
    return values.zip_with(~below, values * SHARE_OF_LIMIT[DEFAULT_METHOD])


def with_qualifiers(table: Table, names: Sequence[str]) -> list[str]:
    """The names, each followed by its qualifier column where it has one: what to select for a table of its own."""
    found: list[str] = []
    for name in names:
        found += [each for each in (name, table.qualifiers.get(name)) if each is not None and each not in found]
    return found


def missing_count(table: Table, name: str) -> int:
    """Rows without any result: a result below a limit that is not given has no number, but is not missing."""
    if name not in table.qualifiers:
        return table.null_count(name)
    return int((table.column(name).is_null() & (_qualifier(table, name) == PLAIN)).sum())


def as_written(table: Table, name: str) -> pl.Series:
    """A column of results as text with its qualifiers (`<0.01`); null where there is neither number nor qualifier."""
    import polars as pl

    values, qualifier = table.column(name), _qualifier(table, name)
    shortest = pl.when(pl.col("v") % 1 == 0).then(pl.col("v").cast(pl.Int64, strict=False).cast(pl.String))
    frame = pl.DataFrame({"v": values, "q": qualifier})
    text = frame.select(pl.col("q") + shortest.otherwise(pl.col("v").cast(pl.String)).fill_null("")).to_series()
    return text.set(text == "", None).alias(name)


def notes_on(table: Table, names: Sequence[str]) -> list[str]:
    """The sentences to add where these columns were used: counts, limits, and what stands for censored results."""
    told = [sentence for name in names if (sentence := _sentence(table, name))]
    if len(told) > COLUMNS_TOLD:
        told[COLUMNS_TOLD:] = [f"{len(told) - COLUMNS_TOLD} more columns used hold results beyond a limit, likewise"]
    return told


def note_use(table: Table, name: str) -> None:
    """Say that a tool takes this column by `RULE`, so that its result says so (see `noted`)."""
    used = _used.get()
    if used is not None and name in table.qualifiers and name not in used:
        used[name] = _sentence(table, name)


@contextmanager
def noted() -> Iterator[list[str]]:
    """While a tool runs: the list fills, at its end, with the sentences on the censored columns that the tool took."""
    sentences: list[str] = []
    used: dict[str, str] = {}
    token = _used.set(used)
    try:
        yield sentences
    finally:
        _used.reset(token)
        told = [sentence for sentence in used.values() if sentence]
        more = len(told) - COLUMNS_TOLD
        sentences += told[:COLUMNS_TOLD]
        if more > 0:
            sentences.append(f"{more} more columns used hold results beyond a limit, likewise")


def limits_told(limits: pl.Series) -> str:
    """The distinct limits, the smallest first: `0.01, 0.02 and 3 more`."""
    distinct = limits.drop_nulls().unique().sort().to_list()
    shown = ", ".join(f"{limit:g}" if float(f"{limit:g}") == limit else repr(limit) for limit in distinct[:LIMITS_TOLD])
    more = f" and {len(distinct) - LIMITS_TOLD} more" if len(distinct) > LIMITS_TOLD else ""
    return shown + more


def counts_told(values: pl.Series, qualifier: pl.Series) -> str:
    """`128 below 0.01, 3 below a limit not given, 2 above 10`; empty where nothing is beyond a limit."""
    below, above, about = qualifier == BELOW, qualifier == ABOVE, qualifier == ABOUT
    unknown = int((below & values.is_null()).sum())
    known = int(below.sum()) - unknown
    parts = [f"{known} below {limits_told(values.filter(below))}"] if known else []
    parts += [f"{unknown} below a limit that is not given"] if unknown else []
    parts += [f"{int(above.sum())} above {limits_told(values.filter(above))}"] if above.any() else []
    parts += [f"{int(about.sum())} approximate"] if about.any() else []
    return ", ".join(parts)


def _sentence(table: Table, name: str) -> str:
    if name not in table.qualifiers:
        return ""
    values, qualifier = table.column(name), _qualifier(table, name)
    below, above = qualifier == BELOW, qualifier == ABOVE
    results = int((values.is_not_null() | below).sum())
    method = table.substituted.get(name)
    if method:
        told = f"{int(below.sum())} below a limit, {int(above.sum())} above one" if (below | above).any() else ""
        rule = f"replaced before by method {method}"
    else:
        told, rule = counts_told(values, qualifier), _rule_told(values, below, above)
    if not told:
        return ""
    share = int(below.sum()) / results if results else 0.0
    caution = ""
    if share > MOST_SHARE:
        caution = f"; with more than half below a limit a mean, sd or correlation {RULE_DECIDES}"
    elif share > HARMLESS_SHARE:
        caution = "; with so many below a limit a mean or sd depends on the rule"
    return f"{name}: {told} of {results} results ({100 * share:.6g} % below), {rule}{caution}"


def _rule_told(values: pl.Series, below: pl.Series, above: pl.Series) -> str:
    parts = ["half the limit (DL/2) used below"] if (below & values.is_not_null()).any() else []
    parts += ["left out where no limit is given"] if (below & values.is_null()).any() else []
    parts += ["the limit used above"] if above.any() else []
    return ", ".join(parts) or "used as they are"


def _qualifier(table: Table, name: str) -> pl.Series:
    """The qualifiers of a column without nulls; throughout empty where it has none."""
    import polars as pl

    if name not in table.qualifiers:
        return pl.Series(name, [PLAIN], dtype=pl.String).new_from_index(0, table.height)
    return table.column(table.qualifiers[name]).fill_null(PLAIN)
