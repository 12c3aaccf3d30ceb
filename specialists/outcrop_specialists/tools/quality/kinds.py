"""Which rows of a table of assays are routine samples, and which are blanks, standards, duplicates or triplicates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import Table

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["blank", "standard", "duplicate", "triplicate"]
ROUTINE = "routine"

# Laboratories and field crews misspell freely: "Duplcate(", "Duplicate of of", "BLANK", "Dup. of", "STD 5.2".
_PATTERNS: dict[Kind, str] = {
    "triplicate": r"trip(?:l[ic]*ate|l?)?s?",
    "duplicate": r"dup(?:l[ica]*te|l?)?s?|(?:field|lab|pulp|coarse|core)[ _-]?(?:dup\w*|repeat|replicate)"
    r"|replicate|repeat|repl?",
    "blank": r"(?:coarse|pulp|field|lab|quartz)?[ _-]?bl(?:an?k|k|nk)s?",
    "standard": r"st(?:andar[td]|nd|d)s?(?!\W*(?:dev|err))|crm|srm|(?:certified|standard) reference material"
    r"|oreas[ _-]?\S*|gbm[ _-]?\d\S*",
}
_AFTER = r"(?=$|[\s.,:;()\[\]#_\-]|\d)"
_MAY_TELL = r"(?i)^\W*(?:tr|dup|rep|st|bl|crm|srm|oreas|gbm|field|lab|pulp|coarse|core|quartz|certified)"
_KINDS = {kind: re.compile(rf"^\W*(?:{pattern}){_AFTER}", re.IGNORECASE) for kind, pattern in _PATTERNS.items()}
_ORIGINAL = re.compile(
    rf"^\W*(?:{_PATTERNS['triplicate']}|{_PATTERNS['duplicate']})\b\.?\s*(?:(?:of|from|for|on)\s*)*[\s:=\-(\[]*"
    r"(?P<id>[^()\[\]]*[^()\[\]\s])\s*[)\]]?\s*$",
    re.IGNORECASE,
)
_CODES: dict[str, Kind] = {
    "b": "blank",
    "blk": "blank",
    "bl": "blank",
    "d": "duplicate",
    "fd": "duplicate",
    "ld": "duplicate",
    "s": "standard",
    "cr": "standard",
}
CODES_AT_MOST, CODE_CHARS = 12, 4
"""A column of kinds in short has so few values, so short."""


def kind_of(text: str) -> Kind | None:
    """The kind that a text tells: `Blank`, `DUP of S2`, `STD 5.2`, `Duplcate(T2-009)`; None for a routine sample."""
    return next((kind for kind, pattern in _KINDS.items() if pattern.match(text)), None)


def original_in(text: str) -> str | None:
    """The sample that a text names as the original of a duplicate: `Duplicate of (T2-TR1-020)` gives `T2-TR1-020`."""
    found = _ORIGINAL.match(text)
    return found["id"].strip() if found and kind_of(text) in ("duplicate", "triplicate") else None


@dataclass(frozen=True)
class Kinds:
    """Of every row its kind (`routine` for samples), from which column, and the original named for a duplicate."""

    column: str
    kinds: pl.Series
    originals: pl.Series

    def rows(self, *kinds: Kind) -> list[int]:
        """Row numbers of these kinds."""
        return self.kinds.is_in(list(kinds)).arg_true().to_list()

    def counts(self) -> dict[str, int]:
        """Rows of each kind, routine samples first."""
        found = dict(self.kinds.value_counts().iter_rows())
        order = (ROUTINE, "blank", "standard", "duplicate", "triplicate")
        return {kind: int(found[kind]) for kind in order if kind in found}


def kinds_of(table: Table, column: str | None, field: str = "type_column") -> Kinds:
    """The kinds of the rows by a text column; where none is given, by the one column that tells most of them.

    Raises ArgumentError where no column tells any, or several columns tell different rows equally well.
    """
    if column is not None:
        return _kinds(table, find_column(table, column, field))
    found = [each for name in _text_columns(table) if (each := _kinds(table, name)).counts().keys() - {ROUTINE}]
    if not found:
        raise ArgumentError(field, f"{table.path.name}: no text column names blanks, standards or duplicates; name one")
    found.sort(key=lambda each: -int((each.kinds != ROUTINE).sum()))
    best = found[0]
    rival = next((each for each in found[1:] if _is_rival(best, each)), None)
    if rival is not None:
        raise ArgumentError(
            field, f"{best.column!r} and {rival.column!r} both tell QA/QC rows, and not the same ones; name the column"
        )
    return best


def _is_rival(best: Kinds, other: Kinds) -> bool:
    """Whether another column tells kinds of rows that the best one has for routine samples."""
    return bool(((other.kinds != ROUTINE) & (best.kinds == ROUTINE)).any())


def _text_columns(table: Table) -> list[str]:
    import polars as pl

    qualifiers = set(table.qualifiers.values())
    return [name for name, kind in table.schema.items() if kind == pl.String and name not in qualifiers]


def _kinds(table: Table, column: str) -> Kinds:
    import polars as pl

    series = table.column(column).cast(pl.String)
    distinct = series.drop_nulls().unique()
    # Of a million sample numbers only those that begin like one of the words are looked at one by one.
    texts = distinct.filter(distinct.str.contains(_MAY_TELL)).to_list()
    kinds = {text: kind for text in texts if (kind := kind_of(text))}
    if len(distinct) <= CODES_AT_MOST and _is_codes(distinct.to_list()):
        texts = distinct.to_list()
        kinds |= {text: _CODES[text.strip().casefold()] for text in texts if text.strip().casefold() in _CODES}
    originals = {text: original for text in kinds if (original := original_in(text))}
    return Kinds(
        column,
        series.replace_strict(kinds, default=ROUTINE, return_dtype=pl.String).fill_null(ROUTINE).alias("kind"),
        series.replace_strict(originals, default=None, return_dtype=pl.String).alias("original")
        if originals
        else pl.Series("original", [None], dtype=pl.String).new_from_index(0, len(series)),
    )


def _is_codes(texts: list[str]) -> bool:
    """Whether a column holds a handful of short codes, so that a bare B or D may be one of them."""
    return (
        1 < len(texts) <= CODES_AT_MOST and max(map(len, texts)) <= CODE_CHARS and any(kind_of(text) for text in texts)
    )
