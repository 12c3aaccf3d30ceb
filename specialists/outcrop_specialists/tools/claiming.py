"""Says of a tool's main figures how they can be computed again, so that whoever cites them can be checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outcrop_schemas.claims import Claim, Figure, Statistic

_OF_A_SUMMARY: dict[str, Statistic] = {
    "count": "count",
    "mean": "mean",
    "sd": "sd",
    "min": "min",
    "max": "max",
    "sum": "sum",
}
_COMPARED = ("==", "<", "<=", ">", ">=")


def rows(path: str, count: int, where: str | None = None) -> Claim:
    """So many rows, of all or of those that meet a condition."""
    return Claim(path=path, statistic="rows", where=where, value=count)


def missing(path: str, column: str, count: int) -> Claim:
    """So many missing values of a column."""
    return Claim(path=path, statistic="missing", column=column, value=count)


def summary(
    path: str,
    column: str,
    record: Mapping[str, Any],
    group: dict[str, Figure] | None = None,
    weights: str | None = None,
) -> list[Claim]:
    """The figures of a summary record: count, mean, sd, extremes, sum, percentiles, weighted mean."""
    found = []
    for name, value in record.items():
        if not isinstance(value, int | float):
            continue
        given: dict[str, Any] = {"path": path, "column": column, "group": group or {}, "value": value}
        if name in _OF_A_SUMMARY:
            found.append(Claim(statistic=_OF_A_SUMMARY[name], **given))
        elif name == "missing":
            found.append(Claim(statistic="missing", **given))
        elif name == "weighted_mean" and weights:
            found.append(Claim(statistic="weighted_mean", with_column=weights, **given))
        elif name == "p50":
            found.append(Claim(statistic="median", **given))
        elif name[:1] == "p" and name[1:].replace(".", "", 1).isdigit():
            found.append(Claim(statistic="percentile", percent=float(name[1:]), **given))
    return found


def correlation(path: str, method: str, column: str, other: str, value: float | None) -> list[Claim]:
    """A coefficient of two columns as they are; none for a method that is not checked."""
    if value is None or method not in ("pearson", "spearman"):
        return []
    statistic: Statistic = "pearson" if method == "pearson" else "spearman"
    return [Claim(path=path, statistic=statistic, column=column, with_column=other, value=value)]


def condition(column: str, operator: str | None, value: object) -> str | None:
    """A condition on one column as an expression; None for one that an expression would read in another way."""
    if (
        operator not in _COMPARED
        or isinstance(value, bool)
        or not isinstance(value, int | float | str)
        or "`" in column
    ):
        return None
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"`{column}` {operator} '{escaped}'"
    return f"`{column}` {operator} {value!r}"
