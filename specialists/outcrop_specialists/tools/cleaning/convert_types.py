"""Tool: makes columns numbers, text, dates or true/false, and counts what could not be converted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns import censoring
from outcrop_specialists.columns.censored import find_censored
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.reading.types import LEADING_ZERO, is_number
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.cleaning.dates import ORDERS, Order, dates_of, fitting_orders
from outcrop_specialists.tools.statistics import bounded

if TYPE_CHECKING:
    import polars as pl

To = Literal["number", "integer", "text", "date", "boolean"]
TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
EXACT_FLOAT = 2**53


class Arguments(ToolArguments):
    path: str = Field(description="The data file.")
    columns: list[str] = Field(min_length=1, description="Columns to convert.", json_schema_extra={"x-role": "columns"})
    to: To = Field(description="What they are to be.")
    date_order: Order | None = Field(
        default=None,
        description="date: the order of day, month and year as written, or excel_serial for day numbers of a workbook; "
        "needed unless dates are written YYYY-MM-DD.",
    )
    max_missing_share: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Share of a column's values that may become missing because they cannot be converted; more is an "
        "error. 1 allows all.",
    )


@dataclass
class Converted:
    """A column in its new type and what was counted on the way."""

    values: pl.Series
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Every other column and every row is kept. Text of results beyond a limit is not a number and is refused.

    Raises ArgumentError where more values than allowed would become missing, and for dates without an order.
    """
    table = read_table(context, arguments.path)
    names = find_columns(table, arguments.columns)
    notes = list(table.notes)
    records: dict[str, dict[str, Any]] = {}
    columns: list[pl.Series] = []
    for done, name in enumerate(names):
        context.report(f"converting {name}", done, len(names))
        column = table.frame.get_column(name)
        converted = _convert(table, column, arguments)
        lost = converted.values.null_count() - column.null_count()
        _refuse_loss(column, converted.values, lost, arguments)
        columns.append(converted.values.alias(name))
        records[name] = {
            "from": _said(column.dtype), "became_missing": lost, "missing_before": column.null_count(),
            **{what: count for what, count in converted.counts.items() if count},
        }  # fmt: skip
        notes += converted.notes
    frame = table.frame.with_columns(columns)
    title = f"{table.path.name} with {bounded.named(names)} as {arguments.to}"
    published = publish_table(context, TOOL, table, arguments, frame, title)
    lost = sum(record["became_missing"] for record in records.values())
    told, more = bounded.fitting(records, 450)
    results: dict[str, Any] = {
        "rows": frame.height, "to": arguments.to, "became_missing": lost, "columns": told,
        "path": published.artifact.path,
    }  # fmt: skip
    if more:
        results["more_columns"] = more
    if lost:
        lossy = {name: record["became_missing"] for name, record in records.items() if record["became_missing"]}
        notes.append(f"values that could not be converted became missing: {bounded.counted(lossy)}")
    if len(notes) > len(table.notes) + 8:
        notes[len(table.notes) + 8 :] = [f"{len(notes) - len(table.notes) - 8} more notes of this kind"]
    return ToolResult(
        f"{len(names)} columns converted to {arguments.to}; {lost} values became missing",
        results,
        [published.artifact],
        notes,
    )


def _convert(table: Table, column: pl.Series, arguments: Arguments) -> Converted:
    match arguments.to:
        case "number" | "integer":
            return _to_number(column, arguments.to)
        case "text":
            return _to_text(table, column)
        case "date":
            return _to_date(column, arguments.date_order)
        case "boolean":
            return _to_boolean(column)


def _to_number(column: pl.Series, to: To) -> Converted:
    import polars as pl

    converted = Converted(column)
    if column.dtype == pl.String:
        bare = column.str.strip_chars()
        numbers = is_number(bare).fill_null(False)
        zeros = int(bare.str.contains(LEADING_ZERO).sum())
        if zeros:
            converted.notes.append(
                f"{bounded.named([column.name])}: {zeros} values lose leading zeros, as codes have them"
            )
        plain = bare.set(~numbers, None).str.strip_prefix("+")
        whole = plain.cast(pl.Int64, strict=False)
        is_whole = whole.null_count() == plain.null_count()
        converted.values = whole if is_whole else plain.cast(pl.Float64, strict=False)
        converted.counts["leading_zeros"] = zeros
        long = bare.str.contains(r"^[+-]?[0-9]{17,}$").fill_null(False)
        if not is_whole and long.any():
            converted.notes.append(f"{bounded.named([column.name])}: {int(long.sum())} long integers lose digits")
    elif column.dtype == pl.Boolean:
        converted.values = column.cast(pl.Int64)
    elif not column.dtype.is_numeric():
        raise ArgumentError("columns", f"{column.name!r} holds {_said(column.dtype)}; take year, month or day of it")
    if to == "integer" and converted.values.dtype.is_float():
        values = converted.values
        broken = ((values % 1 != 0) | (values.abs() >= EXACT_FLOAT)).fill_null(False)
        converted.values = values.set(broken, None).cast(pl.Int64)
        converted.counts["not_whole"] = int(broken.sum())
    return converted


def _to_text(table: Table, column: pl.Series) -> Converted:
    import polars as pl

    if column.name in table.qualifiers:
        return Converted(censoring.as_written(table, column.name))
    if column.dtype.is_float():
        values = column.drop_nulls()
        if ((values % 1 == 0) & (values.abs() < EXACT_FLOAT)).all():
            return Converted(column.cast(pl.Int64).cast(pl.String))
    return Converted(column.cast(pl.String))


def _to_date(column: pl.Series, order: Order | None) -> Converted:
    import polars as pl

    if column.dtype == pl.Date:
        return Converted(column)
    if isinstance(column.dtype, pl.Datetime):
        timed = int((column.dt.truncate("1d") != column).sum())
        return Converted(column.dt.date(), {"time_dropped": timed})
    is_serial = order == "excel_serial"
    if is_serial and column.dtype == pl.String:
        column = column.str.strip_chars()
    if not (column.dtype == pl.String or column.dtype.is_numeric()):
        raise ArgumentError("columns", f"{column.name!r} holds {_said(column.dtype)}, no dates")
    if order is None:
        order = _only_order(column.cast(pl.String))
    found = dates_of(column, order)
    converted = Converted(found.values, {"short_years": found.short_years, "time_dropped": found.with_time})
    if found.short_years:
        converted.notes.append(
            f"{bounded.named([column.name])}: {found.short_years} years of two digits read as 1969 to 2068"
        )
    return converted


def _only_order(column: pl.Series) -> Order:
    """YMD where dates are written so. Any other order must be said, even where only one fits."""
    orders = fitting_orders(column)
    if orders[:1] == ["YMD"]:
        return "YMD"
    fits = f"every value fits {' and '.join(orders)}" if orders else f"no order of {', '.join(ORDERS)} fits every value"
    raise ArgumentError("date_order", f"is needed for {column.name!r}: {fits}")


def _to_boolean(column: pl.Series) -> Converted:
    import polars as pl

    if column.dtype == pl.Boolean:
        return Converted(column)
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    if column.dtype.is_float():
        text = text.str.strip_suffix(".0")
    yes, no = text.is_in(TRUE), text.is_in(FALSE)
    return Converted(yes.set(~(yes | no).fill_null(False), None))


def _refuse_loss(column: pl.Series, values: pl.Series, lost: int, arguments: Arguments) -> None:
    import polars as pl

    known = len(column) - column.null_count()
    if lost <= arguments.max_missing_share * known:
        return
    row = int((column.is_not_null() & values.is_null()).arg_true()[0]) + 1
    reason = f"{lost} of {known} values of {column.name!r} cannot be converted to {arguments.to}"
    reason += f", the first in data row {row}"
    if column.dtype == pl.String and arguments.to in ("number", "integer"):
        beyond = find_censored(column).count
        reason += f"; {beyond} are beyond a detection limit: parse_detection_limits" if beyond else ""
        commas = int(column.str.contains(r"^\s*[+-]?[0-9.]*,[0-9]+\s*$").sum())
        reason += f"; {commas} have a comma: fix_decimals" if commas else ""
    raise ArgumentError("max_missing_share", f"{reason}; a share of {lost / known:.6g} would have to be allowed")


def _said(kind: pl.DataType) -> str:
    import polars as pl

    if kind == pl.String:
        return "text"
    if kind == pl.Boolean:
        return "boolean"
    return "integer" if kind.is_integer() else "number" if kind.is_numeric() else str(kind).lower()


TOOL = Tool(
    name="convert_types",
    version=1,
    description="Converts columns to numbers, whole numbers, text, dates (the order of day and month is said, never "
    "guessed) or true/false; counts what becomes missing and refuses to lose much.",
    asked_for=(
        "convert types",
        "convert to numbers",
        "convert to text",
        "convert to dates",
        "parse dates",
        "make numeric",
        "change the type",
        "cast columns",
        "treat as text",
    ),
    specialists=frozenset({"cleaning"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        numbers stored as text; strings to numeric; cast to integer or float; text to timestamp; parse day and
        month; dates are not recognised; date format; day first or month first; American dates; boolean flags,
        yes and no; identifiers as strings with leading zeros; coerce; change the dtype; column is read as an
        object; make it a real date; interpret timestamps; cannot compute because it is text; treat sample
        numbers as text; make the field numerical; data type is wrong; excel serial dates; times and days as
        calendar values; figures held as characters; make arithmetic possible; calendar entries come as words;
        imported as a character string; make yes or no answers logical; year is text; numbers are seen as words;
        treat as numeric; wrong type; recognise as a date; sorted alphabetically instead of by number; turn into
        a number; leading zeros; turn into proper dates; parse the time; true or false; integer; day-month
        order; convert the field; not recognised as numbers; logical
        """
    ),
)
