"""Computes a claimed figure again from the table itself, by code of its own, and compares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from outcrop_schemas.claims import CheckedClaim, Claim, Figure, Verdict
from outcrop_schemas.errors import ArgumentError, OutcropError
from outcrop_specialists.citing import COUNTS, agrees
from outcrop_specialists.columns.choice import find_column, numeric

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.tables import Table

RULE = (
    "recomputed from the table: agrees within a relative 1e-6, or when the true value rounds to the digits given and "
    "these are no coarser than 0.5 %; whole counts exactly"
)
_OF_ALL_VALUES = ("mean", "sum", "weighted_mean", "sd")
_OF_TWO = ("pearson", "spearman", "weighted_mean")


def check(table: Table, claim: Claim) -> CheckedClaim:
    """The claim with its verdict. What cannot be computed is unverifiable, with the reason."""
    try:
        actual = compute(table, claim)
    except OutcropError as error:
        return _checked(claim, "unverifiable", None, str(error))
    if actual is None:
        return _checked(claim, "unverifiable", None, "the selection has no value to compute it of")
    agrees, how = compare(claim.value, actual, is_count=claim.statistic in COUNTS)
    return _checked(claim, "verified" if agrees else "refuted", actual, how)


def compute(table: Table, claim: Claim) -> Figure:
    """The figure that is claimed, of the rows selected; None where no row has a value. Raises ArgumentError."""
    import polars as pl

    rows = _selected(table, claim)
    if claim.statistic == "rows":
        return int(rows.sum())
    if claim.statistic == "share":
        return _share(table, claim)
    if claim.column is None:
        raise ArgumentError("column", f"{claim.statistic} needs a column")
    name = find_column(table, claim.column)
    raw = table.frame.get_column(name).filter(rows)
    if claim.statistic == "missing":
        missing = raw.is_null()
        return int((missing | raw.is_nan()).sum() if raw.dtype.is_float() else missing.sum())
    if claim.statistic == "distinct":
        return int(raw.drop_nulls().n_unique())
    if claim.statistic == "count":
        return int((raw.fill_nan(None) if raw.dtype.is_float() else raw).count())
    if claim.statistic == "below_limit":
        qualifiers = table.qualifiers.get(name)
        return int((table.frame.get_column(qualifiers).filter(rows) == "<").sum()) if qualifiers else 0
    if claim.statistic == "value":
        if len(raw) != 1:
            raise ArgumentError("where", f"value needs a selection of one row, this one has {len(raw)}")
        found = raw.item()
        return found if isinstance(found, int | float | str | bool) else None if found is None else str(found)
    if claim.statistic in _OF_TWO:
        return _of_two(table, claim, name, rows)
    return _of_one(numeric(table, name).filter(rows).drop_nulls().cast(pl.Float64), claim)


def rests_on(table: Table, claim: Claim) -> int:
    """How many rows a figure is of. A count is of all rows; a mean, a sum or a deviation of so many as share in it, by
    Kish's effective number (1965): where one value outweighs the others it is that value. One of nearly all rows is of
    those that it leaves out, by its difference. Raises ArgumentError."""
    if claim.statistic in (*COUNTS, "share"):
        return table.height
    if claim.column is None:
        return 0
    rows = _selected(table, claim)
    values = numeric(table, claim.column).filter(rows)
    if claim.with_column is not None:
        other = numeric(table, claim.with_column, "with_column").filter(rows)
        values = values * other if claim.statistic == "weighted_mean" else values + other
    found = values.drop_nulls().drop_nans()
    if claim.statistic not in _OF_ALL_VALUES or not len(found):
        return len(found)
    left_out = len(numeric(table, claim.column).drop_nulls().drop_nans()) - len(found)
    return min(_sharing(found, claim), left_out or len(found))


def _sharing(values: pl.Series, claim: Claim) -> int:
    parts = ((values - math.fsum(values) / len(values)) ** 2 if claim.statistic == "sd" else values).abs()
    squares = math.fsum(parts**2)
    return int(math.fsum(parts) ** 2 / squares) if squares else len(values)


def fewest_chosen(table: Table, claim: Claim, conditions: Sequence[str]) -> int:
    """The fewest rows that the group or one of these conditions of a claim chooses, or leaves out, by itself. Raises
    ArgumentError."""
    from outcrop_specialists.expressions.computing import rows_where

    chosen = [rows_where(table, each, "where")[0] for each in conditions]
    if claim.group:
        chosen.append(_selected(table, claim, with_where=False))
    counts = [int(rows.sum()) for rows in chosen]
    return min((each for count in counts for each in (count, (table.height - count) or count)), default=table.height)


def compare(claimed: Figure, actual: Figure, *, is_count: bool = False) -> tuple[bool, str]:
    """Whether a claimed figure agrees with the true one, and how it was compared."""
    if isinstance(actual, bool) or isinstance(claimed, bool) or not isinstance(actual, int | float):
        same = str(claimed).strip() == str(actual).strip()
        return same, "the same text" if same else f"the table has {actual!r}"
    if not isinstance(claimed, int | float):
        try:
            float(str(claimed))
        except ValueError:
            return False, f"{claimed!r} is not a number; the table has {actual!r}"
    if not agrees(claimed, actual, is_count=is_count):  # type: ignore[arg-type]
        return False, f"the table has {actual!r}"
    return True, "" if float(claimed) == actual else f"exactly {actual!r}"  # type: ignore[arg-type]


def _selected(table: Table, claim: Claim, *, with_where: bool = True) -> pl.Series:
    """A mask of the rows that the claim is about."""
    import polars as pl

    from outcrop_specialists.tools.inspection.conditions import rows_that_meet

    rows = pl.repeat(True, table.frame.height, dtype=pl.Boolean, eager=True)
    for name, value in claim.group.items():
        column = find_column(table, name, "group")
        if value is None:
            rows &= table.frame.get_column(column).is_null()
        else:
            rows &= rows_that_meet(table, column, "==", value)[0]
    if with_where and claim.where:
        from outcrop_specialists.expressions.computing import rows_where

        rows &= rows_where(table, claim.where, "where")[0]
    return rows


def _share(table: Table, claim: Claim) -> float | None:
    if not claim.where:
        raise ArgumentError("where", "share needs the condition whose share is claimed")
    whole = _selected(table, claim, with_where=False)
    if claim.column is not None:
        whole &= numeric(table, find_column(table, claim.column)).is_not_null()
    meets = whole & _selected(table, claim)
    total = int(whole.sum())
    return int(meets.sum()) / total if total else None


def _of_one(values: pl.Series, claim: Claim) -> float | None:
    if claim.statistic == "sd":
        return _float(values.std(ddof=1))
    if claim.statistic == "percentile":
        if claim.percent is None:
            raise ArgumentError("percent", "percentile needs percent, 0 to 100")
        return _float(values.quantile(claim.percent / 100, interpolation="linear"))
    if claim.statistic == "sum":
        return math.fsum(values) if len(values) else None
    return _float(getattr(values, claim.statistic)())


def _of_two(table: Table, claim: Claim, name: str, rows: pl.Series) -> float | None:
    """Correlations and weighted means, over the rows that have both values."""
    import polars as pl

    if claim.with_column is None:
        raise ArgumentError("with_column", f"{claim.statistic} needs a second column")
    other = numeric(table, find_column(table, claim.with_column, "with_column"), "with_column")
    both = pl.DataFrame({"a": numeric(table, name), "b": other}).filter(rows).drop_nulls()
    if claim.statistic == "weighted_mean":
        weight = math.fsum(both["b"])
        return math.fsum(both["a"] * both["b"]) / weight if weight else None
    if both.height < 2:
        return None
    method: Literal["pearson", "spearman"] = "pearson" if claim.statistic == "pearson" else "spearman"
    found = both.select(pl.corr("a", "b", method=method)).item()
    return None if found is None or math.isnan(found) else float(found)


def _float(found: object) -> float | None:
    return float(found) if isinstance(found, int | float) else None


def _checked(claim: Claim, verdict: Verdict, actual: Figure, reason: str) -> CheckedClaim:
    return CheckedClaim(**claim.model_dump(), verdict=verdict, actual=actual, reason=reason[:200])
