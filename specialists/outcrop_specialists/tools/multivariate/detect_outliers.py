"""Tool: flags rows that are outliers in a column (quartiles, MAD) or in several together (robust distance)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table, read_table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.multivariate.compute_anomaly import flag_texts
from outcrop_specialists.tools.multivariate.scoring import RULES, THRESHOLDS, Scored, score
from outcrop_specialists.tools.publish import publish
from outcrop_specialists.tools.statistics.bounded import fitting, named

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Array = NDArray[Any]

CHI_SQUARE_SHARE = 0.975
ROWS_PER_COLUMN = 5
"""A robust covariance wants five rows a column (Rousseeuw & van Zomeren 1990)."""
SKIPPED_SHOWN = 3


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Numeric columns; all measured ones where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    method: Literal["iqr", "mad", "multivariate"] = Field(
        default="iqr",
        description="iqr (beyond 1.5 interquartile ranges), mad (modified z-score), each column by itself; or "
        "multivariate (robust distance of a row in all columns together).",
    )
    threshold: float | None = Field(
        default=None,
        gt=0,
        description="1.5 for iqr, 3.5 for mad; for multivariate a distance, else from the 0.975 quantile of chi².",
    )
    transform: features.Transform = Field(default="none", description=features.TRANSFORM_HELP)
    seed: int = Field(default=42, ge=0, le=2**32 - 1, description="multivariate: seed of the random subsets.")


@dataclass(frozen=True)
class _Distances:
    """Robust distances of the rows (NaN where a row is not complete) and the one beyond which a row is flagged."""

    values: Array
    threshold: float
    support: int


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where no column has a spread, or rows are too few for a covariance."""
    table = read_table(context, arguments.path)
    names, notes = features.chosen_columns(table, arguments.columns)
    taken = features.take(table, names, "columns", arguments.transform)
    context.report(f"looking for outliers in {len(names)} columns")
    if arguments.method == "multivariate":
        return _multivariate(context, table, taken, arguments, notes)
    return _by_column(context, table, taken, arguments, notes)


def _by_column(
    context: ToolContext, table: Table, taken: features.Features, arguments: Arguments, notes: list[str]
) -> ToolResult:
    import numpy

    method: Literal["iqr", "mad"] = "mad" if arguments.method == "mad" else "iqr"
    threshold = THRESHOLDS[method] if arguments.threshold is None else arguments.threshold
    every = {name: score(column, method, threshold) for name, column in zip(taken.columns, taken.values.T, strict=True)}
    found = {name: each for name, each in every.items() if isinstance(each, Scored)}
    skipped = [f"{name}, {each}" for name, each in every.items() if isinstance(each, str)]
    if not found:
        raise ArgumentError("columns", named(skipped, SKIPPED_SHOWN, 150))
    if skipped:
        notes.append(f"not looked at: {named(skipped, SKIPPED_SHOWN, 150)}")
    flagged = numpy.sum([scored.is_flagged for scored in found.values()], axis=0)
    frame = table.frame.with_columns(
        flag_texts(features.free_name(table.frame, f"{name}_outlier"), scored) for name, scored in found.items()
    )
    counts = {
        name: {"low": scored.count("low"), "high": scored.count("high"), "n": scored.scored}
        for name, scored in found.items()
    }
    total = {flag: sum(each[flag] for each in counts.values()) for flag in ("low", "high")}
    shown, more = fitting(counts)
    results = {
        "rows": table.height,
        "rows_with_outlier": int((flagged > 0).sum()),
        **total,
        "columns": shown,
        "method": method,
        "transform": arguments.transform,
        "rule": f"{RULES[method]}; flagged beyond {threshold:g}"
        + ("" if arguments.transform == "none" else f", of the {arguments.transform} of the values"),
    }
    told = named([f"{name} {each['low']} low {each['high']} high of {each['n']}" for name, each in counts.items()])
    text = f"{results['rows_with_outlier']} of {table.height} rows are outliers by {method}: {told}"
    return _answer(context, table, taken, arguments, (frame, text, results), [*notes, *_gone(taken)], more)


def _multivariate(
    context: ToolContext, table: Table, taken: features.Features, arguments: Arguments, notes: list[str]
) -> ToolResult:
    import numpy
    import polars as pl

    found, dimensions = _distances(table, taken, arguments)
    is_outlier = found.values > found.threshold
    frame = table.frame
    distance, flag = features.free_name(frame, "robust_distance"), features.free_name(frame, "outlier")
    known = numpy.isfinite(found.values)
    frame = frame.with_columns(
        pl.Series(distance, found.values, pl.Float64).fill_nan(None),
        pl.Series(flag, is_outlier).set(pl.Series(~known), None),
    )
    used = int(known.sum())
    results = {
        "rows": table.height,
        "used": used,
        "left_out": taken.left_out(),
        "outliers": int(is_outlier.sum()),
        "expected_if_normal": round(used * (1 - CHI_SQUARE_SHARE), 1),
        "largest_distance": float(numpy.nanmax(found.values)),
        "threshold": found.threshold,
        "columns": len(taken.columns),
        "transform": arguments.transform,
        "rule": f"Mahalanobis distance by the minimum covariance determinant (Rousseeuw & Van Driessen 1999) of "
        f"{found.support} rows, seed {arguments.seed}; flagged beyond "
        + ("sqrt of the 0.975 quantile of chi²" if arguments.threshold is None else "the distance given")
        + f", {dimensions} degrees of freedom"
        + (
            "; of ilr coordinates, which give the distances of clr (Filzmoser & Hron 2008)"
            if dimensions < len(taken.columns)
            else ""
        ),
    }
    text = f"{results['outliers']} of {used} rows lie beyond a robust distance of {found.threshold:.6g} in "
    text += f"{len(taken.columns)} columns together"
    return _answer(context, table, taken, arguments, (frame, text, results), [*notes, *taken.notes()], 0)


def _distances(table: Table, taken: features.Features, arguments: Arguments) -> tuple[_Distances, int]:
    """Raises ArgumentError for too few rows and where columns depend on each other."""
    import numpy
    from scipy import stats
    from sklearn.covariance import MinCovDet

    complete = taken.is_complete
    values = taken.values[complete]
    if taken.transform == "clr":
        from outcrop_specialists.tools.geochemistry.logratios import ilr_basis

        # The parts of a clr add up to 0: its covariance has no inverse, that of the isometric coordinates has.
        values = values @ ilr_basis(values.shape[1]).T
    rows, width = values.shape
    if width < 1 or rows < ROWS_PER_COLUMN * width:
        reason = f"{rows} complete rows are too few for {width} dimensions ({ROWS_PER_COLUMN} rows each)"
        raise ArgumentError("columns", f"{table.path.name}: {reason}")
    spread = values.std(axis=0)
    if not (spread > 0).all():
        raise ArgumentError("columns", f"{table.path.name}: a column is constant, which has no robust distance")
    if numpy.linalg.matrix_rank(values - values.mean(axis=0)) < width:
        raise ArgumentError("columns", f"{table.path.name}: a column is given by the others; leave it out, or use clr")
    model = MinCovDet(random_state=arguments.seed).fit((values - values.mean(axis=0)) / spread)
    distances = numpy.full(len(complete), numpy.nan)
    distances[complete] = numpy.sqrt(model.dist_)
    quantile = float(numpy.sqrt(stats.chi2.ppf(CHI_SQUARE_SHARE, width)))
    threshold = quantile if arguments.threshold is None else arguments.threshold
    return _Distances(distances, threshold, int(model.support_.sum())), width


def _answer(
    context: ToolContext,
    table: Table,
    taken: features.Features,
    arguments: Arguments,
    made: tuple[pl.DataFrame, str, dict[str, Any]],
    notes: list[str],
    more: int,
) -> ToolResult:
    frame, text, results = made
    published = publish(
        context,
        TOOL,
        [table.path],
        features.parameters(arguments, columns=taken.columns),
        extension="csv",
        kind="table",
        title=f"Outliers of {table.path.name} in {named(taken.columns)}",
        write=lambda path: write_csv(frame, path),
        columns=written_columns(frame, table),
    )
    if more:
        notes.append(f"counts of {more} further columns: their flags are in the file")
    text += suspicions(table, taken.columns)
    return ToolResult(text, results, [published.artifact], [*table.notes, *notes])


def _gone(taken: features.Features) -> list[str]:
    """What a logarithm leaves out, column by column."""
    if taken.transform == "clr":
        return taken.notes()
    if taken.transform == "none":
        return []
    lost = {name: int((column <= 0).sum()) for name, column in zip(taken.columns, taken.original.T, strict=True)}
    texts = [f"{name} {count}" for name, count in lost.items() if count]
    return [f"values that are not positive have no logarithm and no flag: {named(texts)}"] if texts else []


TOOL = Tool(
    name="detect_outliers",
    version=1,
    description=(
        "Count and flag outliers: per column by 1.5 interquartile ranges or MAD, on raw values or logarithms, or rows "
        "that are unusual in several columns together (robust Mahalanobis distance, after clr for compositions). "
        "Low and high counts; a CSV with a flag for every row."
    ),
    asked_for=(
        "multivariate outliers",
        "robust distance",
        "mahalanobis distance",
        "count outliers by the interquartile range",
        "outliers by iqr",
        "high and low outliers",
        "robust outliers",
    ),
    specialists=frozenset({"cleaning", "analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        tukey fences; 1.5 IQR; boxplot rule; number of outliers per column; odd combination of values; unusual
        combination of elements; jointly unusual; multivariate; each value is normal but not together; robust
        covariance; mcd; minimum covariance determinant; distance from the centre of the data; far from the
        cloud; aberrant samples; leverage; outlying rows; strange mix; deviates from the usual pattern; count
        the outliers; extreme in several variables at once; does not follow the usual relations between
        elements; inconsistent chemistry; interquartile fences; gross errors; wild values; possibly erroneous;
        atypical composition; overall chemistry does not make sense together; points outside the whiskers;
        number of extreme values for each metal; outside of the box plot whiskers; whiskers; combination of
        elements is odd; does not fit the pattern; inconsistent with the other elements; unusual as a whole;
        considering all elements at once; points beyond the fences; values outside the usual range, counted;
        several variables jointly; all variables together; whole analysis is implausible; robust detection; far
        out points; how many outliers; outlier counts; analyses that do not make sense
        """
    ),
)
