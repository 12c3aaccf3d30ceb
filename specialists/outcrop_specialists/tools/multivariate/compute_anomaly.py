"""Scores and flags values that lie far from the bulk of their column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import read_table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.multivariate.scoring import RULES, THRESHOLDS, Method, Scored, score
from outcrop_specialists.tools.publish import publish
from outcrop_specialists.tools.statistics.bounded import fitting, named

if TYPE_CHECKING:
    import polars as pl


SKIPPED_SHOWN = 3
ADDED_SHOWN = 6


class Arguments(ToolArguments):
    path: str = Field(description="Table file, relative to the workspace.")
    columns: list[str] = Field(
        min_length=1, description="Numeric columns to look for anomalies in.", json_schema_extra={"x-role": "columns"}
    )
    method: Method = Field(
        default="mad",
        description="mad (median and MAD, robust), zscore (mean and standard deviation) or iqr (Tukey's fences).",
    )
    threshold: float | None = Field(
        default=None, gt=0, description="Score beyond which a value is flagged: 3.5 for mad, 3 for zscore, 1.5 for iqr."
    )
    transform: features.Transform = Field(default="none", description=features.TRANSFORM_HELP)


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where no column has a spread to measure by."""
    table = read_table(context, arguments.path)
    names = find_columns(table, arguments.columns, "columns")
    taken = features.take(table, names, "columns", arguments.transform)
    threshold = THRESHOLDS[arguments.method] if arguments.threshold is None else arguments.threshold
    found, skipped = _score(context, taken, arguments.method, threshold)
    frame, added = _scored_frame(table.frame, found)
    published = publish(
        context,
        TOOL,
        [table.path],
        features.parameters(arguments, columns=names, threshold=threshold),
        extension="csv",
        kind="table",
        title=f"Anomalies of {table.path.name} in {named(list(found))}",
        write=lambda path: write_csv(frame, path),
        columns=written_columns(frame, table),
    )
    figures = {name: _figures(taken, name, scored) for name, scored in found.items()}
    shown, more = fitting(figures)
    low, high = (sum(scored.count(flag) for scored in found.values()) for flag in ("low", "high"))
    results = {
        "rows": table.height,
        "anomalous_rows": _anomalous_rows(found),
        "low": low,
        "high": high,
        "columns": shown,
        "skipped": dict(list(skipped.items())[:SKIPPED_SHOWN]),
        "method": arguments.method,
        "threshold": threshold,
        "transform": arguments.transform,
        "added_columns": added[:ADDED_SHOWN],
        "rule": f"{RULES[arguments.method]}; flagged beyond {threshold:g}; anomalous_rows have a flag in any column",
    }
    notes = [*table.notes, *_left_out(taken)]
    if skipped:
        notes.append(f"skipped: {named([f'{name}, {why}' for name, why in skipped.items()], SKIPPED_SHOWN, 150)}")
    if more:
        notes.append(f"figures of {more} further columns are only in the file")
    text = f"{low} low and {high} high values flagged in {len(found)} columns, in {results['anomalous_rows']} rows"
    told = [f"{name} {each['low']} low, {each['high']} high" for name, each in figures.items()]
    text += f" ({named(told)})" if len(found) > 1 else ""
    text += suspicions(table, list(found))
    return ToolResult(text, results, [published.artifact], notes)


def _score(
    context: ToolContext, taken: features.Features, method: Method, threshold: float
) -> tuple[dict[str, Scored], dict[str, str]]:
    """The scores of each column, and the columns that could not be scored with the reason."""
    found: dict[str, Scored] = {}
    skipped: dict[str, str] = {}
    for done, (name, values) in enumerate(zip(taken.columns, taken.values.T, strict=True)):
        context.report(f"scoring {name}", done, len(taken.columns))
        scored = score(values, method, threshold)
        if isinstance(scored, str):
            skipped[name] = scored
        else:
            found[name] = scored
    if not found:
        raise ArgumentError("columns", named([f"{name}: {why}" for name, why in skipped.items()], SKIPPED_SHOWN, 150))
    return found, skipped


def _anomalous_rows(found: dict[str, Scored]) -> int:
    import numpy

    return int(numpy.logical_or.reduce([scored.is_flagged for scored in found.values()]).sum())


def _scored_frame(frame: pl.DataFrame, found: dict[str, Scored]) -> tuple[pl.DataFrame, list[str]]:
    """Every row and column of the table with a score and a flag for each column scored; the added names."""
    import polars as pl

    columns = []
    for name, scored in found.items():
        score_name = features.free_name(frame, f"{name}_anomaly")
        flag_name = features.free_name(frame, f"{score_name}_flag")
        columns += [pl.Series(score_name, scored.scores, pl.Float64).fill_nan(None), flag_texts(flag_name, scored)]
    return frame.with_columns(columns), [column.name for column in columns]


def flag_texts(name: str, scored: Scored) -> pl.Series:
    """The flags of a column as text: low, normal, high; null where there is no value."""
    import polars as pl

    return pl.Series(name, scored.codes).replace_strict(
        {-2: None, -1: "low", 0: "normal", 1: "high"}, return_dtype=pl.String
    )


def _figures(taken: features.Features, name: str, scored: Scored) -> dict[str, Any]:
    """Counts, fences and the value that scores highest, in the column's own units where the transform can be undone."""
    import numpy

    low, high = scored.low_fence, scored.high_fence
    if taken.transform in ("log10", "ln"):
        base = 10.0 if taken.transform == "log10" else float(numpy.e)
        low, high = float(numpy.power(base, low)), float(numpy.power(base, high))
    farthest = int(numpy.nanargmax(numpy.abs(scored.scores)))
    return {
        "low": scored.count("low"),
        "high": scored.count("high"),
        "scored": scored.scored,
        "flagged_below": low,
        "flagged_above": high,
        "farthest": {
            "value": float(taken.original[farthest, taken.columns.index(name)]),
            "score": float(scored.scores[farthest]),
            "data_row": farthest + 1,
        },
    }


def _left_out(taken: features.Features) -> list[str]:
    """A column is scored by itself, so a row only lacks the scores of the values it lacks; clr needs whole rows."""
    if taken.transform == "clr":
        return taken.notes()
    import numpy

    notes = []
    lacking = {"missing": numpy.isnan(taken.original).sum(axis=0), "not positive (no logarithm)": numpy.zeros(0)}
    if taken.transform != "none":
        lacking["not positive (no logarithm)"] = (taken.original <= 0).sum(axis=0)
    for why, per_column in lacking.items():
        texts = [f"{name} {count}" for name, count in zip(taken.columns, per_column.tolist(), strict=False) if count]
        if texts:
            notes.append(f"values without a score, {why}: {named(texts)}")
    return notes


TOOL = Tool(
    name="compute_anomaly",
    version=2,
    description=(
        "Find anomalies (outliers) in numeric columns by modified z-score (MAD), z-score or interquartile range. "
        "Writes a CSV with every row, a score and a low/high flag per column; gives counts and thresholds."
    ),
    asked_for=(
        "find anomalies",
        "find outliers",
        "outliers of",
        "detect outliers",
        "flag unusual values",
        "anomaly score",
        "anomalous samples",
        "extreme values",
        "how unusual",
        "above background",
        "are there outliers",
        "are there anomalies",
    ),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        unusual values; stand out; stick out; weird readings; abnormal; exceptional; outlying; suspiciously
        high; hot spots; geochemical anomalies; above background; extremes; peculiar samples; deviate from the
        rest; score for unusualness; far from the median; anomalous gold; exploration targets; unexpected; odd
        results; spikes in the data; enriched relative to background; something out of the ordinary; surprising;
        do not fit in; prospective samples; background and anomaly; strange measurements; deviants; off the
        chart; suspects; prospectivity; robust z; three sigma; does anything look abnormal; deserve follow-up
        since out of the ordinary; well over the local norm; freak values; which samples are special; follow-up;
        remarkable; strikingly high; high compared with the rest; unusual readings; exceptional samples;
        curious; conspicuous; extraordinary; hot; stands out from background; deviating; raised levels; alarm;
        where should we explore; prospective; strangely low; differs from everything else; rare values;
        interesting samples; suspicious peaks; leading targets; atypical; highly enriched; too good to be true
        """
    ),
)
