"""Finds the original of each duplicate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.quality.kinds import Kinds, kinds_of
from outcrop_specialists.tools.statistics.bounded import named

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = tuple(" -_/.:")


@dataclass(frozen=True)
class Pair:
    """Row numbers of an original and of its duplicate (or triplicate), and how each is called."""

    original: int
    duplicate: int
    name: str
    kind: str


@dataclass(frozen=True)
class Pairs:
    """Pairs in row order of the duplicates, how they were found, and what could not be paired."""

    pairs: list[Pair]
    how: str
    unmatched: list[str] = field(default_factory=list)
    ambiguous: list[str] = field(default_factory=list)
    by_ending: int = 0

    def notes(self) -> list[str]:
        """What was not paired and what was paired by less than the full identifier."""
        notes = []
        if self.unmatched:
            notes.append(f"{len(self.unmatched)} duplicates without their original: {named(self.unmatched)}")
        if self.ambiguous:
            notes.append(
                f"{len(self.ambiguous)} duplicates whose original stands in several rows: {named(self.ambiguous)}"
            )
        if self.by_ending:
            notes.append(f"{self.by_ending} originals found by the end of their identifier, which only one sample has")
        return notes


def find_pairs(table: Table, id_column: str | None, original_column: str | None, type_column: str | None) -> Pairs:
    """Pairs by a column that names the original; by what the rows' texts say (`Duplicate of X`); or, where nothing
    names an original, by an identifier that two rows share.

    Raises ArgumentError where no pair is found.
    """
    if original_column is not None:
        if id_column is None:
            raise ArgumentError("id_column", "original_column needs the column of identifiers that it refers to")
        return _by_column(
            table, find_column(table, id_column, "id_column"), find_column(table, original_column, "original_column")
        )
    if id_column is not None and type_column is None:
        identifiers = find_column(table, id_column, "id_column")
        shared = _by_shared(table, identifiers)
        if shared.pairs:
            return shared
    return _by_text(table, kinds_of(table, type_column), id_column)


def _by_column(table: Table, id_column: str, original_column: str) -> Pairs:
    import polars as pl

    originals = table.column(original_column).cast(pl.String)
    kinds = pl.Series(["duplicate"]).new_from_index(0, table.height)
    return _matched(table, originals, kinds, id_column, f"{original_column} names the original in {id_column}")


def _by_shared(table: Table, id_column: str) -> Pairs:
    """The second and further rows with an identifier are duplicates of the first."""
    import polars as pl

    texts = table.column(id_column).cast(pl.String).str.strip_chars()
    rows = (
        pl.DataFrame({"id": texts})
        .with_row_index("row")
        .filter(pl.col("id").is_not_null() & (pl.col("id") != ""))
        .filter(pl.len().over("id") > 1)
        .with_columns(pl.col("row").first().over("id").alias("first"))
        .filter(pl.col("row") != pl.col("first"))
    )
    pairs = [Pair(first, row, name, "duplicate") for row, name, first in rows.iter_rows()]
    return Pairs(pairs, f"rows with the same {id_column}, each against the first")


def _by_text(table: Table, kinds: Kinds, id_column: str | None) -> Pairs:
    originals = kinds.originals
    if not originals.is_not_null().any():
        raise ArgumentError(
            "original_column",
            f"{kinds.column!r} does not say of which sample a row is the duplicate; give id_column and original_column",
        )
    chosen = find_column(table, id_column, "id_column") if id_column else _best_identifier(table, originals)
    return _matched(table, originals, kinds.kinds, chosen, f"{kinds.column} names the original in {chosen}")


def _best_identifier(table: Table, originals: pl.Series) -> str:
    """The column in which most of the originals named are found, whole or by the end of an identifier."""
    import polars as pl

    wanted = _keys(originals).drop_nulls().unique(maintain_order=True)
    best, most = "", (0, 0)
    for name, kind in table.schema.items():
        if kind != pl.String and not kind.is_integer():
            continue
        keys = _keys(table.column(name)).filter(originals.is_null())
        exact = wanted.is_in(keys.unique().implode())
        ends = sum(bool(_ends_with(keys, key).any()) for key in wanted.filter(~exact))
        found = (int(exact.sum()) + ends, int(exact.sum()))
        if found > most:
            best, most = name, found
    if not best:
        raise ArgumentError(
            "id_column", f"{table.path.name}: no column holds the originals, such as {originals.drop_nulls()[0]!r}"
        )
    return best


def _matched(table: Table, originals: pl.Series, kinds: pl.Series, id_column: str, how: str) -> Pairs:
    import polars as pl

    keys = _keys(table.column(id_column))
    wanted = _keys(originals)
    # Only routine rows can be originals: `Duplicate of S2` ends with S2 too.
    is_candidate = originals.is_null() & keys.is_not_null()
    exact: dict[str, list[int]] = {}
    hits = is_candidate & keys.is_in(wanted.drop_nulls().unique().implode()).fill_null(False)
    for row in hits.arg_true().to_list():
        exact.setdefault(keys[row], []).append(row)
    candidates = pl.DataFrame({"key": keys}).with_row_index("row").filter(is_candidate)
    found = Pairs([], how)
    by_ending = 0
    for row in originals.is_not_null().arg_true().to_list():
        name, key = originals[row], wanted[row]
        rows = exact.get(key)
        if rows is None:
            rows = candidates.filter(_ends_with(candidates["key"], key))["row"].to_list()
            by_ending += len(rows) == 1
        if len(rows) == 1:
            found.pairs.append(Pair(rows[0], row, name, str(kinds[row])))
        else:
            (found.ambiguous if rows else found.unmatched).append(name)
    if not found.pairs:
        lacking = (found.unmatched + found.ambiguous)[0]
        raise ArgumentError("id_column", f"{id_column!r} holds none of the originals once, such as {lacking!r}")
    return replace(found, by_ending=by_ending)


def _keys(texts: pl.Series) -> pl.Series:
    """Identifiers as they are compared: without case and outer or repeated blanks; null where there is none."""
    import polars as pl

    keys = texts.cast(pl.String).str.strip_chars().str.replace_all(r"\s+", " ").str.to_lowercase()
    return keys.set((keys == "").fill_null(False), None)


def _ends_with(keys: pl.Series, wanted: str) -> pl.Series:
    """Where an identifier is the one wanted with something before it and a separator between."""
    is_end = keys.str.ends_with(wanted).fill_null(False)
    before = keys.str.slice(0).str.strip_suffix(wanted).str.tail(1)
    return is_end & before.is_in(list(SEPARATORS)).fill_null(False)
