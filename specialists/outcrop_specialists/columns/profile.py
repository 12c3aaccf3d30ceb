"""The profile of a table: what each column is, without showing a row."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from outcrop_specialists.columns import censoring
from outcrop_specialists.columns.censored import find_censored
from outcrop_specialists.columns.roles import ColumnFacts, ColumnType, Role, roles_of, unit_of
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.reading.types import is_number

if TYPE_CHECKING:
    import polars as pl

NUMBERLIKE_SHARE = 0.5
LOOKS_LIKE_DATE = (
    r"^\s*(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4})"
    r"(?:[T ][0-9]{1,2}:[0-9]{2}.*)?\s*$"
)


@dataclass(frozen=True)
class ColumnProfile:
    """One column. `min` and `max` are given for numbers and dates (as ISO text), never for text; `distinct` counts
    values other than missing ones; `censored` counts results beyond a detection limit (`<0.01`), for which range and
    figures take half the limit below and the limit above; `qualifier` is the column that tells which these are."""

    name: str
    type: ColumnType
    role: Role
    unit: str | None
    missing: int
    distinct: int
    min: float | int | str | None
    max: float | int | str | None
    censored: int
    qualifier: str | None = None

    def as_json(self) -> dict[str, Any]:
        found = asdict(self)
        return found if self.qualifier else {key: value for key, value in found.items() if key != "qualifier"}


def profile_table(table: Table) -> list[ColumnProfile]:
    """The profile of every column, in file order; a qualifier column is told with the column that it qualifies."""
    # A tool asks for it several times; of 2,000 columns each takes a third of a second.
    profiles: list[ColumnProfile] = table.found_out.get("profile") or _profiled(table)
    table.found_out["profile"] = profiles
    return [*profiles]


def _profiled(table: Table) -> list[ColumnProfile]:
    aside = censoring.qualifier_columns(table)
    columns = [column for column in table.frame.get_columns() if column.name not in aside]
    censored = [_censored(table, column) for column in columns]
    facts = [_facts(column, table, count) for column, count in zip(columns, censored, strict=True)]
    roles = roles_of(facts)
    return [_profile(table, *each) for each in zip(columns, facts, roles, censored, strict=True)]


def _censored(table: Table, column: pl.Series) -> int:
    if column.name in table.qualifiers:
        return censoring.censored_values(table, column.name).count if column.name not in table.substituted else 0
    return find_censored(column).count if _is_text(column) else 0


def column_type(column: pl.Series) -> ColumnType:
    return type_name(column.dtype)


def type_name(kind: pl.DataType) -> ColumnType:
    """What a type of polars is called."""
    import polars as pl

    if kind.is_integer():
        return "integer"
    if kind.is_numeric():
        return "number"
    if kind == pl.Boolean:
        return "boolean"
    return "date" if kind.is_temporal() else "text"


def _profile(table: Table, column: pl.Series, facts: ColumnFacts, role: Role, censored: int) -> ColumnProfile:
    least = most = None
    if facts.type in ("integer", "number", "date") and facts.distinct:
        values = column if column.name not in table.qualifiers else censoring.substituted(table, column.name)
        least, most = _plain(values.min()), _plain(values.max())
    return ColumnProfile(
        facts.name,
        facts.type,
        role,
        facts.unit,
        facts.missing,
        facts.distinct,
        least,
        most,
        censored,
        table.qualifiers.get(facts.name),
    )


def _facts(column: pl.Series, table: Table, censored: int) -> ColumnFacts:
    import polars as pl

    filled = column.drop_nulls()
    kind = column_type(column)
    is_numeric = kind in ("integer", "number")
    numbers = int(is_number(filled).sum()) if _is_text(column) else 0
    return ColumnFacts(
        name=column.name,
        type=kind,
        unit=unit_of(column.name, table.units),
        rows=len(column),
        missing=censoring.missing_count(table, column.name),
        distinct=filled.n_unique(),
        least=_float(filled.min()) if is_numeric else None,
        most=_float(filled.max()) if is_numeric else None,
        is_numberlike=is_numeric or _is_mostly_results(len(filled), numbers, censored),
        is_whole=is_numeric and bool((filled.cast(pl.Float64) % 1 == 0).all()),
        is_datelike=_is_text(column) and len(filled) > 0 and bool(filled.str.contains(LOOKS_LIKE_DATE).all()),
        longest=int(_float(filled.str.len_chars().max()) or 0) if _is_text(column) else 0,
    )


def _is_mostly_results(filled: int, numbers: int, censored: int) -> bool:
    """Whether text is mostly numbers and censored results; all numbers means that they are codes kept as text."""
    return 0 < numbers + censored >= NUMBERLIKE_SHARE * filled and numbers < filled


def _is_text(column: pl.Series) -> bool:
    import polars as pl

    return column.dtype == pl.String


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def _plain(value: Any) -> float | int | str:
    return value if isinstance(value, int | float) else str(value)
