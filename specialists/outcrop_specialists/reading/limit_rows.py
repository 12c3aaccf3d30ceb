"""Rows in which a laboratory gives its limits: by their label in the header, and suspected amid the samples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outcrop_specialists.columns.censored import BEFORE
from outcrop_specialists.reading.totals import statistic_of
from outcrop_specialists.reading.types import NULL_AMONG_NUMBERS, NUMBER

if TYPE_CHECKING:
    from outcrop_specialists.reading.types import Typed

_SIDE = r"(?:(?:lower|upper|min(?:imum)?|max(?:imum)?|method|practical|instrument|analytical|lab(?:oratory)?)\.?\s+)*"
_KIND = r"(?:det(?:ection|ect|n)?|quanti(?:tation|fication)|determination|reporting|assay)"
PHRASE = re.compile(
    rf"^{_SIDE}{_KIND}\.?\s+(?:lim(?:it|\.)?s?|levels?|range)(?![a-z])"
    r"|^(?:lower |upper )?limits? of (?:detection|reporting|quanti(?:fication|tation)|determination|report)\b"
    r"|^(?:lower|upper)\s+limits?(?![a-z])"
    r"|^(?:untere |obere )?(?:nachweis|bestimmungs|mess)grenzen?\b|^limites? d[e'’]\s?(?:d[ée]tection|quantification)\b"
    r"|^l[íi]mites? de (?:detecci[óo]n|cuantificaci[óo]n)\b|^detectie(?:limiet|grens)\b",
    re.IGNORECASE,
)
ABBREVIATION = re.compile(
    r"^(?:[lumi]?dl|crdl|[lu]?lo[dqr]|[lum]?rl|[lu]ld|[pme]ql|nwg)s?(?:\s*[(\[].*)?$", re.IGNORECASE
)
"""With the points between the letters taken out (`D.L.`)."""
WORD = re.compile(
    r"^(?:limits?|(?:lower|upper|min(?:imum)?\.?|max(?:imum)?\.?)(?:\s+(?:detect(?:ion)?|det\.?|reporting|range))?"
    r"|detection|reporting|over-?\s?(?:range|limit)s?)$",
    re.IGNORECASE,
)
"""Words that may as well be names: proven by the results beside them."""
UPPER = re.compile(r"^(?:upper|max|over|obere)|^u(?:dl|lod|loq|lor|rl|ld)s?\b", re.IGNORECASE)
MOSTLY = 0.8
FEWEST_RESULTS = 5
SHARE_OF_LIMIT = 0.5
"""What people put in place of a result below a limit is half of it, or more."""
LIKE_LABEL = r"(?i)lim|lev|grenz|det|report|range|^\W*[a-z][a-z. ]{1,6}(?:\s*[(\[].*)?\W*$|^\W*(?:lower|upper|min|max)"
MOST_SUSPECTED = 3
SUSPECTED = "SUSPECTED limits of a laboratory among the samples, kept as rows (filter them out)"
MOSTLY_DIFFERENT = 0.5


def is_limit_label(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a line in the header is one of limits by what its first or second cell says; `rows` are those below."""
    first = _bare(cells[0]) if cells else ""
    second = _bare(cells[1]) if len(cells) > 1 else ""
    if any(PHRASE.match(label) for label in (first, second)) or _is_short(first) or (not first and _is_short(second)):
        return True
    if first and _is_short(second):  # a short code beside an identifier may be a term of that column
        return all(len(row) < 2 or _bare(row[1]) != second for row in rows)
    label = first or second
    if WORD.match(label) is None or any(WORD.match(_bare(row[0])) for row in rows[1:] if row):
        return False  # names of strata: lower, middle, upper
    return _are_ends(cells, rows, is_upper=is_upper(cells))


def is_upper(cells: Sequence[str]) -> bool:
    """Whether a line of limits gives those that results are above."""
    return any(UPPER.match(_bare(cell)) for cell in cells[:2] if cell)


def limits_of(cells: Sequence[str]) -> dict[int, float]:
    """The limits by position, of cells such as `0.01`, `<0.01` and `0,01`."""
    found = {}
    for index, cell in enumerate(cells):
        value = _number(cell)
        if value is not None and value > 0:
            found[index] = value
    return found


def note_limit_rows(typed: Typed) -> None:
    """Suspect rows amid the others that a laboratory's limits stand in; they are kept."""
    import polars as pl

    for index, column in enumerate(typed.columns[:2]):
        if column.dtype != pl.String:
            continue
        # Of millions of names only those that read somewhat like a label are looked at.
        some = column.filter(column.str.contains(LIKE_LABEL)).unique()
        if some.is_empty():
            continue
        different = column.drop_nulls().n_unique()
        # Short codes and bare words are terms of a column of terms, and of one beside the identifiers of the rows.
        is_name = index == 0 and different >= MOSTLY_DIFFERENT * (len(column) - column.null_count())
        labels = [word for word in some if PHRASE.match(_bare(word)) or (is_name and _may_be_limits(_bare(word)))]
        where = column.is_in(labels).arg_true().to_list() if labels else []
        if where and len(where) <= max(MOST_SUSPECTED, MOSTLY_DIFFERENT * different):
            rows = ", ".join(str(row + 1) for row in where[:MOST_SUSPECTED]) + " …" * (len(where) > MOST_SUSPECTED)
            called = ", ".join(map(repr, sorted(labels)[:MOST_SUSPECTED]))
            typed.note(SUSPECTED, column.name, f"({len(where)}: {called}, data row {rows})")
            return


def _may_be_limits(word: str) -> bool:
    return (
        PHRASE.match(word) is not None
        or _is_short(word)
        or (WORD.match(word) is not None and statistic_of(word) is None)
    )


def _is_short(label: str) -> bool:
    return ABBREVIATION.match(label.replace(".", "").replace(" ", "") if len(label) < 12 else label) is not None


def _bare(label: str) -> str:
    return " ".join(label.strip().strip(":*#=").replace("_", " ").split())


def _are_ends(cells: Sequence[str], rows: Sequence[Sequence[str]], *, is_upper: bool) -> bool:
    """Whether the numbers of a line are the least (greatest) of their columns, or nearly so."""
    agree = known = 0
    for index, limit in limits_of(cells).items():
        results = [
            value for row in rows if index < len(row) and (value := _number(row[index])) is not None and value > 0
        ]
        if len(results) < FEWEST_RESULTS:
            continue
        known += 1
        agree += max(results) <= limit if is_upper else SHARE_OF_LIMIT * limit <= min(results) and len(set(results)) > 1
    others = [cell for cell in cells[1:] if cell and cell not in NULL_AMONG_NUMBERS and _number(cell) is None]
    return known > 0 and agree >= MOSTLY * known and len(others) <= 1


def _number(cell: str) -> float | None:
    bare = cell.strip()
    found = re.match(BEFORE, bare)
    digits = found["number"] if found else bare
    if re.match(NUMBER, digits) is None:
        digits = digits.replace(",", ".")
    return float(digits) if re.match(NUMBER, digits) else None
