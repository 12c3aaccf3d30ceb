"""Tool: log-ratios of a composition (centred, additive, isometric), parts in one unit, zeros by a stated rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.censoring import censored_values
from outcrop_specialists.columns.choice import find_column
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.geochemistry import logratios
from outcrop_specialists.tools.geochemistry.one_unit import one_unit
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.statistics.bounded import counted, fitting_list, named
from outcrop_specialists.tools.statistics.groups import put_figures

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

PARTS_NAMED = 12


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=2,
        description="Parts of the composition (elements, oxides); all measured columns where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    method: Literal["clr", "alr", "ilr"] = Field(
        default="clr",
        description="clr: centred, one value for each part; alr: additive, against `divisor`; ilr: isometric pivot "
        "coordinates, one fewer than parts.",
    )
    divisor: str | None = Field(
        default=None,
        description="alr: the part by which the others are divided.",
        json_schema_extra={"x-role": "divisor"},
    )
    zeros: Literal["multiplicative", "drop"] = Field(
        default="multiplicative",
        description="Zeros and results below a limit: multiplicative replacement, or rows with one get no log-ratio.",
    )
    delta: float | dict[str, float] | None = Field(
        default=None,
        description="What stands for a zero, in the column's own unit: one number, or one for each column; else 0.65 "
        "of the limit where it is known, else 0.65 of the column's smallest positive value.",
    )


@dataclass(frozen=True)
class _Parts:
    """The parts in one unit, NaN where missing or negative; where they are zero or below a limit, and by how much."""

    names: list[str]
    values: Matrix
    is_zero: Matrix
    deltas: Matrix
    negative: dict[str, int]
    missing: Matrix
    notes: list[str]


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for columns that are not numeric or measure different things, and where no row is whole."""
    table = read_table(context, arguments.path)
    names, notes = features.chosen_columns(table, arguments.columns)
    if len(names) < 2:
        raise ArgumentError("columns", f"{table.path.name}: a composition has two parts at least")
    divisor = _divisor(table, arguments, names)
    parts = _parts(table, names, arguments)
    context.report(f"{arguments.method} of {len(names)} parts", 0, table.height)
    ratios, used, replaced_rows = _ratios(parts, arguments, divisor)
    if not used.any():
        raise ArgumentError(
            "columns", f"{table.path.name}: no row has a positive value in every part; {_why(parts, used)}"
        )
    labels = _labels(table, names, arguments, divisor)
    frame = _frame(table, labels, ratios)
    made_of = features.parameters(arguments, columns=names, divisor=divisor)
    title = f"{arguments.method} of {named(names)} of {table.path.name}"
    file = put_figures(context, TOOL, table, made_of, frame, title)
    zeros = {name: int(count) for name, count in zip(names, parts.is_zero.sum(axis=0), strict=True) if count}
    results: dict[str, Any] = {
        "rows": table.height,
        "used": int(used.sum()),
        "left_out": int((~used).sum()),
        "rows_missing": int(parts.missing.any(axis=1).sum()),
        "parts": len(names),
        "zeros_or_below_limit": int(parts.is_zero.sum()),
        "rows_with_replacement": replaced_rows,
        "method": arguments.method,
        "added_columns": fitting_list(labels, 200),
        "rule": _rule(arguments, divisor),
    }
    notes += parts.notes
    notes.append(f"sub-composition of {len(names)} parts: {named(names, PARTS_NAMED)}")
    if zeros:
        what = "replaced" if arguments.zeros == "multiplicative" else "in rows left out"
        notes.append(f"zeros and results below a limit {what}: {counted(zeros)}")
    if results["left_out"]:
        notes.append(f"{results['left_out']} rows have no log-ratio: {_why(parts, used)}")
    text = f"{arguments.method} of {len(names)} parts for {results['used']} of {table.height} rows"
    text += (
        f", {results['zeros_or_below_limit']} zeros or results below a limit in {replaced_rows} rows replaced"
        if replaced_rows
        else ""
    )
    text += suspicions(table, names)
    return ToolResult(text, results, [file.artifact], [*table.notes, *notes])


def _divisor(table: Table, arguments: Arguments, names: list[str]) -> str | None:
    if arguments.method != "alr":
        if arguments.divisor is not None:
            raise ArgumentError("divisor", f"is for alr, the method is {arguments.method}")
        return None
    if arguments.divisor is None:
        raise ArgumentError("divisor", "alr needs the part by which the others are divided")
    divisor = find_column(table, arguments.divisor, "divisor")
    if divisor not in names:
        raise ArgumentError("divisor", f"{divisor!r} is none of the parts")
    return divisor


def _parts(table: Table, names: list[str], arguments: Arguments) -> _Parts:
    import numpy

    unit = one_unit(table, names)
    shape = (table.height, len(names))
    values, deltas = numpy.full(shape, numpy.nan), numpy.zeros(shape)
    is_zero, missing = numpy.zeros(shape, dtype=bool), numpy.zeros(shape, dtype=bool)
    negative: dict[str, int] = {}
    given = _given(table, names, arguments.delta)
    for place, name in enumerate(names):
        found = censored_values(table, name, "columns")
        column = found.values.to_numpy().astype(float)
        below = found.below.to_numpy()
        column[~numpy.isfinite(column)] = numpy.nan
        is_zero[:, place] = below | (column == 0)
        negative[name] = int((column < 0).sum())
        deltas[:, place] = _delta(name, column, below, given) * unit.factors[name]
        column[column < 0] = numpy.nan
        missing[:, place] = numpy.isnan(column) & ~below
        values[:, place] = column * unit.factors[name]
    return _Parts(names, values, is_zero, deltas, negative, missing, unit.notes)


def _given(table: Table, names: list[str], delta: float | dict[str, float] | None) -> dict[str, float]:
    if delta is None:
        return {}
    given = (
        {find_column(table, name, "delta"): value for name, value in delta.items()}
        if isinstance(delta, dict)
        else dict.fromkeys(names, delta)
    )
    wrong = next((name for name, value in given.items() if not value > 0), None)
    if wrong is not None:
        raise ArgumentError("delta", f"{given[wrong]:g} for {wrong!r} is not positive")
    return given


def _delta(name: str, column: Matrix, below: Matrix, given: dict[str, float]) -> Matrix:
    """What is to stand in each row for a part that is zero or below a limit, in the column's own unit."""
    import numpy

    if name in given:
        return numpy.full(len(column), given[name])
    positive = column[(column > 0) & ~below]
    limits = column[below & (column > 0)]
    smallest = min(
        positive.min() if len(positive) else numpy.nan,
        limits.min() if len(limits) else numpy.nan,
        key=lambda v: numpy.inf if numpy.isnan(v) else v,
    )
    fallback = logratios.SHARE_OF_LIMIT * smallest
    return numpy.where(below & (column > 0), logratios.SHARE_OF_LIMIT * column, fallback)


def _ratios(parts: _Parts, arguments: Arguments, divisor: str | None) -> tuple[Matrix, Matrix, int]:
    """Log-ratios of every row (NaN where there are none), which rows have them, and rows in which parts were put."""
    import numpy

    usable: Matrix = numpy.asarray(~parts.missing.any(axis=1))
    if arguments.zeros == "drop":
        usable &= ~parts.is_zero.any(axis=1)
    found = logratios.multiplicative_replacement(parts.values, parts.is_zero, parts.deltas).closed
    usable &= (found > 0).all(axis=1) & numpy.isfinite(found).all(axis=1)
    found = found[usable]
    if arguments.method == "clr":
        part = logratios.clr(found)
    elif arguments.method == "alr":
        part = logratios.alr(found, parts.names.index(divisor or ""))
    else:
        part = logratios.ilr(found)
    ratios = numpy.full((len(usable), part.shape[1]), numpy.nan)
    ratios[usable] = part
    return ratios, usable, int(parts.is_zero[usable].any(axis=1).sum())


def _why(parts: _Parts, used: Matrix) -> str:
    """Of the rows without log-ratios which parts are missing, negative or zero."""
    missing = {name: int(count) for name, count in zip(parts.names, parts.missing.sum(axis=0), strict=True)}
    texts = [f"{name} missing or negative in {count}" for name, count in missing.items() if count]
    zeros = {
        name: int(count) for name, count in zip(parts.names, parts.is_zero[~used].sum(axis=0), strict=True) if count
    }
    texts += [f"{name} zero or below a limit in {count}" for name, count in zeros.items()]
    negative = {name: count for name, count in parts.negative.items() if count}
    return named(texts, 6, 80) + (f"; negative: {counted(negative)}" if negative else "")


def _labels(table: Table, names: list[str], arguments: Arguments, divisor: str | None) -> list[str]:
    if arguments.method == "clr":
        wanted = [f"{name}_clr" for name in names]
    elif arguments.method == "alr":
        wanted = [f"{name}_alr_{divisor}" for name in names if name != divisor]
    else:
        wanted = [f"{name}_ilr" for name in names[:-1]]
    return [features.free_name(table.frame, name) for name in wanted]


def _frame(table: Table, labels: list[str], ratios: Matrix) -> pl.DataFrame:
    import polars as pl

    return table.frame.with_columns(
        pl.Series(label, column, pl.Float64).fill_nan(None) for label, column in zip(labels, ratios.T, strict=True)
    )


def _rule(arguments: Arguments, divisor: str | None) -> str:
    how = {
        "clr": "clr: ln of a part less the mean ln of the row (Aitchison 1986)",
        "alr": f"alr: ln of a part / {divisor} (Aitchison 1986)",
        "ilr": "ilr: pivot coordinates, part i against the geometric mean of the parts after it in the order given, "
        "times sqrt((D-i)/(D-i+1)) (Egozcue et al. 2003)",
    }[arguments.method]
    delta = (
        "the delta given"
        if arguments.delta is not None
        else (f"{logratios.SHARE_OF_LIMIT} of the limit, where none is known of the column's smallest positive value")
    )
    zeros = (
        f"zeros and results below a limit: multiplicative replacement by {delta} (Martín-Fernández et al. 2003)"
        if arguments.zeros == "multiplicative"
        else "rows with a zero or a result below a limit have none"
    )
    return f"{how}; rows closed to 1; {zeros}; rows with a missing part have none"


TOOL = Tool(
    name="logratio_transform",
    version=1,
    description=(
        "Log-ratio transform of compositions (geochemistry): centred (clr), additive (alr) or isometric (ilr), parts "
        "brought to one unit, zeros and results below a limit replaced by a stated rule. Writes the table with the "
        "log-ratios as new columns."
    ),
    asked_for=(
        "log-ratio",
        "centred log-ratio",
        "centered log-ratio",
        "clr transform",
        "ilr transform",
        "isometric log-ratio",
        "additive log-ratio",
        "compositional transform",
        "open the closed data",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        closure; constant sum; sum to 100 percent; compositional data; CoDA; aitchison; closed data; clr; alr;
        ilr; balances; spurious correlation in percentages; relative information; parts of a whole; major
        oxides; opening the data; centred; simplex; isometric; additive; proportions; oxides add up to one
        hundred; prepare whole-rock chemistry for multivariate statistics; percentages that depend on each
        other; whole-rock; relative composition; unit-sum constraint; the closure problem; compositions before
        PCA; percentages sum to 100 distort correlations; geometry of compositions before multivariate work;
        data that sum to a whole; sums to 100; percent data before PCA; fixed total; closed to a constant; treat
        whole-rock analyses as compositions; remove the effect of the constant sum; ratios in log space;
        transform of proportions; compositional effect; correct for closure; oxides in percent; log of the
        ratio; geometric mean of the parts
        """
    ),
)
