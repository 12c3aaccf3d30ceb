"""Rows that are sums or means of other rows: left out where that is proven, suspected where only a word says so."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from outcrop_specialists.reading.types import Typed

_WORDS = {
    "sum": r"(?:(?:grand |sub-?\s?)?totals?|sum|gesamt(?:summe)?|summe|somme|totaal|suma)",
    "mean": r"(?:mean|average|avg|aver|mittel(?:wert)?|moyenne|media|gemiddelde|arith(?:metic)?\.? mean)",
    "sd": r"(?:st(?:andar)?d\.?[ _-]?dev(?:iation|n)?|stdev\w?|stddev|s\.?d\.?|[ée]cart[- ]type|standardabweichung"
    r"|std|1 ?sigma)",
    "min": r"(?:min(?:imum)?|kleinster wert)",
    "max": r"(?:max(?:imum)?)",
    "median": r"(?:median|m[ée]diane?)",
    "count": r"(?:count|n|no\.?|number(?: of (?:samples|values|rows|analyses))?|anzahl|nombre)",
    "other": r"(?:range|variance|var|c\.?v\.?|coeff(?:icient)?(?: of var\w*)?|rsd|geo(?:metric)?[ .]?mean|mode"
    r"|skew(?:ness)?|kurtosis|[pq][0-9]{1,2}|[0-9]{1,2}(?:th|st|nd|rd)? percentile|percentile [0-9]+|quartile [0-9])",
}
"""What the label of a row of statistics says that its numbers are."""
STATISTICS = {kind: re.compile(rf"^\s*{words}(?![\w-])", re.IGNORECASE) for kind, words in _WORDS.items()}
SURE = re.compile(rf"^\s*(?:{_WORDS['sum']}|{_WORDS['mean']})\b", re.IGNORECASE)
"""Words for which it is enough to begin with them; the others are the whole label, or stand before a sign."""
WHOLE = re.compile(r"^[\s:.=()%0-9,<>±]*$")
NO_LABEL = ""
"""The label of a row without one, whose numbers are sums."""
REMARK = re.compile(r"^\s*(?:\S+(?:\s+\S+){2,}|[(\[*#].*|n\s*=.*|end|eof|\S+\s*:\s*\S.*|end \w+)\s*$", re.IGNORECASE)
EVERYTHING = re.compile(
    r"^(?:(?:grand |sub-?)?totals?|all|overall|all [a-z ]{1,30}|sum|gesamt|alle|summe|totaal|toutes?|tous)$",
    re.IGNORECASE,
)
MOST_TOTALS = 12
MOST_REMARKS = 5
MOST_CATEGORIES = 1_000
MOST_SHARE = 0.5
ROUNDING = 1e-9
FEWEST_SUMS, FEWEST_ROWS = 2, 3
"""What a row without a label needs to be a total: numbers in it and rows above it."""
ROUNDED = ("mean", "sd", "median")
NAMES = {
    "sum": "sum", "mean": "mean", "sd": "standard deviation", "min": "least", "max": "greatest", "median": "median",
    "count": "number", "other": "statistic",
}  # fmt: skip


def statistic_of(label: str) -> tuple[str, str] | None:
    """What kind of statistic a label says that its row is, and the word for it: `Mean`, `Std Dev`, `n = 30`."""
    for kind, pattern in STATISTICS.items():
        found = pattern.match(label)
        if found and (SURE.match(label) or WHOLE.match(label[found.end() :])):
            return kind, found[0].strip()
    return None


def statistic_rows(columns: Sequence[pl.Series]) -> list[tuple[str, str]]:
    """Kind and label of the last rows of a table that call themselves statistics, by its first two columns.

    A word that stands in other rows as well is a term of its column.
    """
    found: list[tuple[str, str]] = []
    height = len(columns[0]) if columns else 0
    while len(found) < min(MOST_TOTALS, height - 1):
        row = height - 1 - len(found)
        told = next(filter(None, (_statistic_at(column, row, len(found)) for column in columns[:2])), None)
        if told is None:
            break
        found.insert(0, told)
    return found or ([("sum", NO_LABEL)] if columns and _is_unlabelled(columns[0]) else [])


def _statistic_at(column: pl.Series, row: int, below: int) -> tuple[str, str] | None:
    value = column[row]
    if not isinstance(value, str):
        return None
    found = statistic_of(value)
    if found is None:
        return None
    above = column.head(row)
    if found[0] in ("sum", "mean"):
        return found
    # P12 and n are statistics, unless the other rows are called so as well.
    shape = re.escape(re.sub(r"[0-9]+", "0", value)).replace("0", r"[0-9]+")
    alike = int(above.str.contains(f"^{shape}$").sum()) if re.search(r"[0-9]", value) else 0
    return None if int((above == value).sum()) or alike >= MOST_SHARE * row else found


def note_statistics(columns: Sequence[pl.Series]) -> list[str]:
    """A note where the last rows of a table look like statistics of the others."""
    words = [word for _, word in statistic_rows(columns)]
    if not words:
        return []
    height = len(columns[0])
    if words == [NO_LABEL]:
        return [f"SUSPECTED total, kept as a row: data row {height}, the last, lacks what all others begin with"]
    if len(words) == 1:
        return [f"SUSPECTED total, kept as a row: data row {height}, the last, begins {words[0]!r}"]
    where = f"the last {len(words)} rows, from data row {height - len(words) + 1}"
    return [f"SUSPECTED statistics, kept as rows: {where}, {', '.join(map(repr, words))}"]


def without_totals(typed: Typed, notes: list[str]) -> None:
    """Take rows off the end that are called a total, mean or other statistic and whose numbers are that of the rows
    above, and remarks without any number.

    Statistics of which one has other numbers are kept and suspected. A row without a label whose numbers are all sums
    is a total as well.
    """
    _without_remarks(typed, notes)
    height = len(typed.columns[0])
    labels = statistic_rows(typed.columns[:2])
    if not labels:
        return
    rest = height - len(labels)
    found = [_agreement(typed, rest, row, kind) for row, (kind, _) in enumerate(labels, start=rest)]
    is_told = labels[0][1] != NO_LABEL
    if not is_told and not found[0][1]:
        return
    proven = all(agreeing == numbers > 0 for agreeing, numbers in found) and (is_told or found[0][1] >= FEWEST_SUMS)
    told = [
        f"{word!r} (of its {numbers} numbers {agreeing} are the {NAMES[kind]} of the {rest} rows above)"
        if word
        else f"without a label ({agreeing} of its {numbers} numbers are the sum of the {rest} rows above)"
        for (kind, word), (agreeing, numbers) in zip(labels, found, strict=True)
    ]
    where = "the last row" if len(labels) == 1 else f"the last {len(labels)} rows"
    if proven:
        notes.append(f"{where} left out, being no rows but totals: {', '.join(told)}")
        typed.columns = [column.head(rest) for column in typed.columns]
    else:
        notes.append(f"SUSPECTED totals, kept as rows: {where}, {', '.join(told)}")


def _without_remarks(typed: Typed, notes: list[str]) -> None:
    """Take rows off the end in which only the first column holds something: a remark of several words."""
    first, others = typed.columns[0], [each for each in typed.columns[1:] if each.name not in typed.qualifiers.values()]
    height = len(first)
    count = 0
    while len(others) > 1 and count < min(MOST_REMARKS, height - 1):
        row = height - 1 - count
        value = first[row]
        is_lone = all(column[row] is None for column in others)
        if not (is_lone and isinstance(value, str) and (REMARK.match(value) or statistic_of(value))):
            break
        count += 1
    if count:
        where = "the last row" if count == 1 else f"the last {count} rows"
        notes.append(f"{where} left out, being no rows but remarks: only the first column holds something")
        typed.columns = [column.head(height - count) for column in typed.columns]


def _is_unlabelled(column: pl.Series) -> bool:
    """Whether the last row alone has nothing in the first column, which tells the others apart."""
    import polars as pl

    if column.dtype != pl.String or len(column) <= FEWEST_ROWS or column[-1] is not None:
        return False
    return column.null_count() == 1 and column.n_unique() > MOST_SHARE * len(column)


def note_aggregates(typed: Typed) -> None:
    """Suspect rows amid the others that hold a sum: a category called all or total beside other categories."""
    import polars as pl

    for column in typed.columns:
        if column.dtype != pl.String or column.name in typed.qualifiers.values():
            continue
        if column.head(20 * MOST_CATEGORIES).n_unique() > MOST_CATEGORIES + 1:
            continue  # so have all of them: quicker than counting millions
        distinct = column.drop_nulls().unique()
        if not 1 < len(distinct) <= MOST_CATEGORIES:
            continue
        words = [word for word in distinct if EVERYTHING.match(word.strip())]
        rows = int(column.is_in(words).sum()) if words else 0
        if words and rows <= MOST_SHARE * len(column):
            called = ", ".join(repr(word) for word in sorted(words))
            text = "SUSPECTED aggregate rows among the rows that they sum up, kept (filter them out before adding up)"
            typed.note(text, column.name, f"is {called} in {rows} rows")


def _agreement(typed: Typed, rest: int, row: int, kind: str) -> tuple[int, int]:
    """How many numbers of a row are the statistic of the first `rest` rows, and how many it has."""
    agreeing = numbers = 0
    for column in typed.columns:
        if not column.dtype.is_numeric() or column[row] is None:
            continue
        above = column.head(rest).drop_nulls()
        if above.is_empty():
            continue
        numbers += 1
        found = float(column[row])
        decimals = len(repr(found).partition(".")[2]) if math.isfinite(found) and "e" not in repr(found) else 0
        tolerance = 0.5 * 10.0**-decimals if kind in ROUNDED and not found.is_integer() else 0.0
        agreeing += any(
            abs(found - expected) <= max(tolerance * (1 + ROUNDING), ROUNDING * abs(expected))
            for expected in _expected(above, kind)
        )
    return agreeing, numbers


def _expected(above: pl.Series, kind: str) -> list[float]:
    values: list[Any]
    match kind:
        case "sum":
            values = [above.sum()]
        case "mean":
            values = [above.mean()]
        case "sd":
            values = [above.std(ddof=1), above.std(ddof=0)]
        case "min":
            values = [above.min()]
        case "max":
            values = [above.max()]
        case "median":
            values = [above.median()]
        case "count":
            values = [above.len()]
        case _:
            values = []
    return [float(value) for value in values if value is not None]
