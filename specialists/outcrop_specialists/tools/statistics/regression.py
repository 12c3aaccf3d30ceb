"""Tool: fits a column as a linear function of others."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.claims import Claim
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools import claiming
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.statistics.bounded import fitting, named
from outcrop_specialists.tools.statistics.groups import ALL_ROWS, put_figures, rows_by_group
from outcrop_specialists.tools.statistics.least_squares import Fit, ordinary, theil_sen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MOST_GROUPS = 1_000
REASONS_SHOWN = 3


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    y: str = Field(
        description="Numeric column to explain (dependent variable).", json_schema_extra={"x-role": "y-column"}
    )
    x: list[str] = Field(
        min_length=1,
        max_length=200,
        description="Numeric columns to explain it by.",
        json_schema_extra={"x-role": "columns"},
    )
    method: Literal["ols", "theil_sen"] = Field(
        default="ols", description="ols: ordinary least squares; theil_sen: robust line of y on one x."
    )
    log: list[str] | None = Field(
        default=None,
        description="Columns among y and x to take log10 of first.",
        json_schema_extra={"x-role": "log-columns"},
    )
    by: str | None = Field(
        default=None, description="Category column: one fit per group.", json_schema_extra={"x-role": "by-column"}
    )
    intercept: bool = Field(default=True, description="false forces the fit through the origin (ols only).")
    confidence: float = Field(default=0.95, gt=0.5, lt=1, description="Level of the confidence intervals.")
    seed: int = Field(default=42, ge=0, le=2**32 - 1, description="Seed of the sample that theil_sen takes.")


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError for columns that are not numeric or depend on each other, and for too few rows."""
    table = read_table(context, arguments.path)
    y, x, by = _columns(table, arguments)
    values, undefined = _values(table, [y, *x], arguments.log)
    complete, left_out, notes = _complete(values, undefined, [y, *x])
    fits, skipped = _fits(context, arguments, values, complete, x, rows_by_group(table, by), is_grouped=by is not None)
    if not fits:
        raise ArgumentError("by", f"no group of {by!r} can be fitted: {next(iter(skipped.values()))}")
    if skipped:
        first = [f"{name} ({why})" for name, why in list(skipped.items())[:REASONS_SHOWN]]
        notes.append(f"{len(skipped)} groups not fitted: {named(first)}" + ("…" if len(skipped) > len(first) else ""))
    made_of = features.parameters(arguments, y=y, x=x, by=by)
    title = f"{_label(y, arguments)} on {named([_label(name, arguments) for name in x])} of {table.path.name}"
    files = [
        put_figures(context, TOOL, table, made_of, _coefficients(fits, by), f"Regression: {title}", "coefficients"),
        put_figures(context, TOOL, table, made_of, _residuals(table, fits), f"Residuals: {title}", "residuals"),
    ]
    results: dict[str, Any] = {
        "rows": table.height,
        "used": sum(fit.n for fit, _ in fits.values()),
        "left_out": left_out,
        "y": _label(y, arguments),
    }
    if by is None:
        results |= _figures(fits[ALL_ROWS][0])
    else:
        shown, more = fitting({name: _brief(fit) for name, (fit, _) in fits.items()}, 700)
        results |= {"by": by, "groups": len(fits), "by_group": shown}
        if more:
            results["not_shown"] = f"{more} further groups are in {files[0].artifact.path}"
    results["rule"] = _rule(arguments)
    sampled = next((fit.sampled for fit, _ in fits.values() if fit.sampled), None)
    if sampled:
        notes.append(f"the slope is that of {sampled:,} rows drawn with seed {arguments.seed}")
    text = _told(fits, _label(y, arguments), by) + suspicions(table, [y, *x])
    claims = _claims(arguments, y, x, fits)
    return ToolResult(text, results, [file.artifact for file in files], [*table.notes, *notes], claims)


def _claims(arguments: Arguments, y: str, x: list[str], fits: dict[str, tuple[Fit, Array]]) -> list[Claim]:
    """Pearson's r behind the line on one column as it is, of all rows: its square is R², its sign that of the slope."""
    fit = fits[ALL_ROWS][0] if ALL_ROWS in fits else None
    is_plain = arguments.method == "ols" and arguments.intercept and not arguments.log and len(x) == 1
    if fit is None or not is_plain or fit.r_squared is None or fit.r_squared < 0:
        return []
    r = math.copysign(math.sqrt(fit.r_squared), fit.terms[-1].estimate)
    return claiming.correlation(arguments.path, "pearson", y, x[0], r)


def _columns(table: Table, arguments: Arguments) -> tuple[str, list[str], str | None]:
    y = find_column(table, arguments.y, "y")
    x = find_columns(table, arguments.x, "x")
    if y in x:
        raise ArgumentError("x", f"{y!r} cannot explain itself")
    if arguments.method == "theil_sen" and len(x) > 1:
        raise ArgumentError("x", f"theil_sen takes one column, {len(x)} are given; use ols")
    if arguments.method == "theil_sen" and not arguments.intercept:
        raise ArgumentError("intercept", "theil_sen has an intercept; use ols for a line through the origin")
    unknown = [name for name in find_columns(table, arguments.log or [], "log") if name not in (y, *x)]
    if unknown:
        raise ArgumentError("log", f"{unknown[0]!r} is neither y nor among x")
    return y, x, None if arguments.by is None else find_column(table, arguments.by, "by")


def _values(table: Table, names: list[str], log: list[str] | None) -> tuple[Array, dict[str, int]]:
    """The columns with logarithms taken, NaN where there is none; values without a logarithm are counted."""
    import numpy

    values = features.take(table, names, "x").original.copy()
    logged = find_columns(table, log or [], "log")
    undefined = {}
    for position, name in enumerate(names):
        if name in logged:
            column = values[:, position]
            undefined[name] = int((column <= 0).sum())
            values[:, position] = numpy.log10(numpy.where(column > 0, column, numpy.nan))
    return values, undefined


def _complete(values: Array, undefined: dict[str, int], names: list[str]) -> tuple[Array, int, list[str]]:
    import numpy

    complete: Array = numpy.asarray(numpy.isfinite(values).all(axis=1))
    left_out = int((~complete).sum())
    notes = []
    if left_out:
        missing = {name: int(count) for name, count in zip(names, numpy.isnan(values).sum(axis=0), strict=True)}
        each = named([f"{name} {count}" for name, count in missing.items() if count])
        notes.append(f"{left_out} of {len(values)} rows left out, without a value of {each}")
    for name, count in undefined.items():
        if count:
            notes.append(f"{count} values of {name} are not positive and have no logarithm")
    return complete, left_out, notes


def _fits(
    context: ToolContext,
    arguments: Arguments,
    values: Array,
    complete: Array,
    x: list[str],
    groups: dict[str, Array],
    *,
    is_grouped: bool,
) -> tuple[dict[str, tuple[Fit, Array]], dict[str, str]]:
    """The fit of each group with the numbers of its rows, and why others have none."""
    if len(groups) > MOST_GROUPS:
        raise ArgumentError("by", f"{len(groups):,} groups, {MOST_GROUPS:,} at most")
    labels = [_label(name, arguments) for name in x]
    fits: dict[str, tuple[Fit, Array]] = {}
    skipped: dict[str, str] = {}
    for done, (name, rows) in enumerate(groups.items()):
        context.report(f"fitting {name}", done, len(groups))
        kept = rows[complete[rows]]
        try:
            fits[name] = (_fit(arguments, values[kept], labels), kept)
        except ArgumentError as error:
            if not is_grouped:
                raise
            skipped[name] = error.reason
    return fits, skipped


def _fit(arguments: Arguments, values: Array, labels: list[str]) -> Fit:
    y, x = values[:, 0], values[:, 1:]
    if arguments.method == "theil_sen":
        return theil_sen(y, x[:, 0], labels[0], arguments.confidence, arguments.seed)
    return ordinary(y, x, labels, arguments.confidence, intercept=arguments.intercept)


def _label(name: str, arguments: Arguments) -> str:
    logged = {each.strip().casefold() for each in arguments.log or []}
    return f"log10({name})" if name.strip().casefold() in logged else name


def _coefficients(fits: dict[str, tuple[Fit, Array]], by: str | None) -> Any:
    import polars as pl

    rows = []
    for name, (fit, _) in fits.items():
        whole = {"n": fit.n, "r_squared": fit.r_squared, "adjusted_r_squared": fit.adjusted_r_squared}
        whole |= {"residual_sd": fit.residual_sd, "f": fit.f, "f_p_value": fit.f_p_value}
        label = {} if by is None else {f"group of {by}": name}
        rows += [{**label, "term": asdict(term)["name"], **_term(asdict(term)), **whole} for term in fit.terms]
    return pl.DataFrame(rows, infer_schema_length=None)


def _term(term: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in term.items() if name != "name"}


def _residuals(table: Table, fits: dict[str, tuple[Fit, Array]]) -> Any:
    """Every row and column of the table with fitted value, residual, studentised residual and leverage."""
    import numpy
    import polars as pl

    frame = table.frame
    wanted = ("fitted", "residual", "studentised_residual", "leverage")
    columns = {name: numpy.full(frame.height, numpy.nan) for name in wanted}
    for fit, rows in fits.values():
        for name, found in zip(wanted, (fit.fitted, fit.residuals, fit.studentised, fit.leverage), strict=True):
            if found is not None:
                columns[name][rows] = found
    return frame.with_columns(
        pl.Series(features.free_name(frame, name), column, pl.Float64).fill_nan(None)
        for name, column in columns.items()
        if numpy.isfinite(column).any()
    )


def _figures(fit: Fit) -> dict[str, Any]:
    """What is told of a fit: coefficients as far as they fit into the answer."""
    terms: dict[str, Any] = {}
    for term in fit.terms:
        record = {"estimate": term.estimate, "se": term.standard_error, "ci": [term.low, term.high], "p": term.p_value}
        terms[term.name] = {name: value for name, value in record.items() if value not in (None, [None, None])}
    shown, more = fitting(terms, 420)
    figures: dict[str, Any] = {
        "coefficients": shown,
        "n": fit.n,
        "r_squared": fit.r_squared,
        "adjusted_r_squared": fit.adjusted_r_squared,
        "residual_sd": fit.residual_sd,
        "f_p_value": fit.f_p_value,
    }
    if fit.leverage is not None:
        figures |= {"high_leverage_rows": fit.high_leverage(), "outliers": fit.outliers()}
    if more:
        figures["coefficients_not_shown"] = more
    return {name: value for name, value in figures.items() if value is not None}


def _brief(fit: Fit) -> dict[str, Any]:
    """What is told of one fit among several."""
    estimates, more = fitting({term.name: term.estimate for term in fit.terms}, 200)
    figures = {"coefficients": estimates, "n": fit.n, "r_squared": fit.r_squared, "residual_sd": fit.residual_sd}
    return {name: value for name, value in figures.items() if value is not None} | (
        {"coefficients_not_shown": more} if more else {}
    )


def _told(fits: dict[str, tuple[Fit, Array]], y: str, by: str | None) -> str:
    told = []
    for name, (fit, _) in list(fits.items())[:3]:
        terms = " + ".join(f"{term.estimate:.6g} {term.name}" for term in fit.terms[1:4])
        more = " + …" if len(fit.terms) > 4 else ""
        quality = f"R² {fit.r_squared:.4g}, " if fit.r_squared is not None else ""
        spread = f", residual sd {fit.residual_sd:.6g}" if fit.residual_sd is not None else ""
        first = fit.terms[0]
        start = f"{first.estimate:.6g}" if first.name == "(intercept)" else f"{first.estimate:.6g} {first.name}"
        line = f"{y} = {start}{' + ' if terms else ''}{terms}{more} ({quality}n {fit.n}{spread})"
        told.append(line if by is None else f"{by} {name}: {line}")
    more_groups = f"; {len(fits) - 3} more groups" if len(fits) > 3 else ""
    return "; ".join(told) + more_groups


def _rule(arguments: Arguments) -> str:
    level = f"{arguments.confidence:.0%}" if (arguments.confidence * 100) % 1 == 0 else f"{arguments.confidence:g}"
    if arguments.method == "theil_sen":
        return (
            f"Theil-Sen: median slope of all pairs, intercept through the medians, {level} interval of the slope after "
            "Sen (1968); residual_sd is the scaled MAD of the residuals; rows with all values"
        )
    return (
        f"ordinary least squares on rows with all values; {level} intervals by Student's t; residual_sd with n - p; "
        "high leverage: beyond 2 p / n; outliers: studentised residual beyond 3"
        + ("" if arguments.intercept else "; no intercept, R² about 0")
    )


TOOL = Tool(
    name="regression",
    version=1,
    description=(
        "Linear regression of a numeric column on one or several others: coefficients with standard errors and "
        "confidence intervals, R², residual sd, counts of outliers and leverage; ordinary least squares or robust "
        "Theil-Sen, with log10 and per group where asked. Writes coefficients and residuals as CSV."
    ),
    asked_for=(
        "regress",
        "regression",
        "fit a line",
        "linear model",
        "least squares",
        "slope and intercept",
        "theil-sen",
        "trend line equation",
        "trend of",
        "trend with",
        "trend over",
        "trend with depth",
        "increase with",
        "decrease with",
        "change with",
        "vary with",
        "predict from",
        "residuals",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    projection=("coefficients",),
    also_called=phrases(
        """
        best-fit line; straight line; equation that predicts; predict one from another; estimate from;
        calibrate; calibration; linear fit; slope; how much does it increase per unit; dependence on depth;
        trend over time; rate of change; gradient with depth; multiple regression; coefficients; R squared;
        goodness of fit; explain variation; model for; unexplained part; residual; conversion between two
        methods; increases per year; decline; long-term trend; rising or falling over the years; line through
        the points; coefficient of determination; ordinary least squares; robust fit; portable XRF against
        laboratory; density from iron; interpolation formula; forecasting; response to; controls on;
        proportional to; temperature gradient; what drives it; how many degrees per 100 m; turn handheld
        readings into lab equivalents by a line; how much has it dropped a year; model one element as a function
        of others; decline per year; per metre of depth; change per unit; how strongly does it respond; line;
        fit; function of; predict; convert readings by a calibration line; rate; yearly change; geothermal
        gradient; increase with depth; linear dependency; how much more for each; explain one variable by
        others; relationship as an equation; slope of the line; trend; how fast does it fall; estimate one
        element from others; drop over time; formula from data; dependent and independent variables; what
        explains; influence of several variables on one; corrected to the laboratory
        """
    ),
)
