"""Counts what is wrong or odd in each column of a table. Pure functions; nothing is repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outcrop_specialists.columns import censoring
from outcrop_specialists.columns.censored import find_censored
from outcrop_specialists.columns.profile import ColumnProfile, profile_table
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.reading.types import is_number, sentinels_of
from outcrop_specialists.tools.inspection.preview import cut

if TYPE_CHECKING:
    import polars as pl

NOT_MEASURED = frozenset({"id", "hole_id", "sample_id", "longitude", "latitude", "x", "y", "cluster"})
"""Roles whose values have no outliers."""
WHISKER = 1.5
EXAMPLES = 5
SPELLINGS_SHOWN = 4
TERM_CHARS = 60

Issues = dict[str, Any]


def column_issues(table: Table, names: list[str]) -> list[Issues]:
    """For each column its name and type, and every count that is not 0, with details for the report."""
    wanted = set(names)
    return [
        {"name": profile.name, "type": profile.type, **_of_column(table, profile)}
        for profile in profile_table(table)
        if profile.name in wanted
    ]


def weight(issues: Issues) -> int:
    """How many cells of the column are concerned, a constant column or one of a single value counting as one."""
    return sum(value for key, value in issues.items() if isinstance(value, int) and not isinstance(value, bool)) + (
        1 if issues.get("constant") or issues.get("one_value") else 0
    )


def duplicate_rows(frame: pl.DataFrame) -> int:
    """Rows that repeat an earlier row in all columns."""
    return frame.height - frame.n_unique()


def outliers(column: pl.Series) -> Issues:
    """Values below Q1 - 1.5 IQR or above Q3 + 1.5 IQR (Tukey 1977), quartiles by linear interpolation (type 7)."""
    values = column.drop_nulls()
    first, third = values.quantile(0.25, "linear"), values.quantile(0.75, "linear")
    if first is None or third is None:
        return {}
    low, high = first - WHISKER * (third - first), third + WHISKER * (third - first)
    found = {"outliers_low": int((values < low).sum()), "outliers_high": int((values > high).sum())}
    return {**found, "fences": [low, high]} if any(found.values()) else {}


def term_variants(column: pl.Series) -> Issues:
    """Terms in more than one spelling, by case or blanks: the values that are not in the commonest spelling.

    `untrimmed` counts values with blanks at their ends, `double_blanks` those with several together inside;
    `spellings` has the other spellings by the one that standardize_terms makes of them: the commonest one without
    needless blanks, of equally common ones the first in the file.
    """
    groups: dict[str, dict[str, int]] = {}
    tidied: dict[str, dict[str, int]] = {}
    untrimmed = double = 0
    for text, count in column.rename("text").to_frame().drop_nulls().group_by("text", maintain_order=True).len().rows():
        tidy = " ".join(text.split())
        untrimmed += count if text.strip() != text else 0
        double += count if text.strip() != tidy else 0
        key = tidy.casefold()
        groups.setdefault(key, {})[text] = count
        of_term = tidied.setdefault(key, {})
        of_term[tidy] = of_term.get(tidy, 0) + count
    several = {key: spellings for key, spellings in groups.items() if len(spellings) > 1}
    found: Issues = {name: times for name, times in (("untrimmed", untrimmed), ("double_blanks", double)) if times}
    if several:
        found["term_variants"] = sum(
            sum(spellings.values()) - max(spellings.values()) for spellings in several.values()
        )
        found["spellings"] = {}
        for key, spellings in sorted(several.items())[:EXAMPLES]:
            kept = max(tidied[key], key=lambda tidy: tidied[key][tidy])
            others = [cut(text, TERM_CHARS) for text in sorted(spellings) if text != kept]
            found["spellings"][cut(kept, TERM_CHARS)] = others[:SPELLINGS_SHOWN]
    return found


def _of_column(table: Table, profile: ColumnProfile) -> Issues:
    column = table.frame.get_column(profile.name)
    found: Issues = {"missing": profile.missing} if profile.missing else {}
    if profile.name in table.qualifiers:
        found |= _beyond_limits(table, profile.name)
        column = censoring.substituted(table, profile.name)
    if profile.distinct == 1 and len(column) > 1:
        found["constant" if not profile.missing else "one_value"] = True
    if profile.type == "text":
        found |= _of_text(column, profile)
    elif profile.type in ("integer", "number"):
        found |= _of_numbers(column, profile)
    return found


def _beyond_limits(table: Table, name: str) -> Issues:
    if name in table.substituted:
        return {}
    censored = censoring.censored_values(table, name)
    without = int((censored.below & censored.values.is_null()).sum())
    found = {
        "censored_below": int(censored.below.sum()) - without,
        "censored_above": int(censored.above.sum()),
        "censored_without_limit": without,
    }
    return {key: count for key, count in found.items() if count}


def _of_text(column: pl.Series, profile: ColumnProfile) -> Issues:
    if profile.role not in ("element", "measure"):
        return term_variants(column)
    censored = find_censored(column)
    others = column.is_not_null() & ~is_number(column).fill_null(False) & ~censored.any
    found = {
        "censored_below": int(censored.below.sum()),
        "censored_above": int(censored.above.sum()),
        "censored_without_limit": int(censored.words.sum()),
        "not_numbers": int(others.sum()),
    }
    return {key: count for key, count in found.items() if count}


def _of_numbers(column: pl.Series, profile: ColumnProfile) -> Issues:
    import polars as pl

    found: Issues = {}
    sentinels = sentinels_of(column)
    if sentinels:
        found["suspected_fill_values"] = sum(count for _, count in sentinels)
        found["fill_values"] = [value for value, _ in sentinels]
        is_fill = column.cast(pl.Float64).is_in([value for value, _ in sentinels])
        column = column.filter(~is_fill.fill_null(False))
    if profile.role == "element":
        negative = int((column < 0).sum())
        found |= {"negative": negative} if negative else {}
    return found if profile.role in NOT_MEASURED else {**found, **outliers(column)}
