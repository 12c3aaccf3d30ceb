"""Scores and flags values that lie far from the bulk of their column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import read_table, write_csv
from outcrop_specialists.reading.written import written_columns
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.multivariate.scoring import RULES, THRESHOLDS, Method, Scored, score
from outcrop_specialists.tools.publish import publish

if TYPE_CHECKING:
    import polars as pl


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
        title=f"Anomalies of {table.path.name} in {', '.join(found)}",
        write=lambda path: write_csv(frame, path),
        columns=written_columns(frame, table.units),
    )
    shown = dict(list(found.items())[: limits.COMPLETE_LIST_RECORDS])
    results = {
        "rows": table.frame.height,
        "anomalous_rows": sum(
            any(flags) for flags in zip(*(_is_flagged(scored) for scored in found.values()), strict=True)
        ),
        "columns": {name: _figures(scored, arguments.transform) for name, scored in shown.items()},
        "skipped": skipped,
        "method": arguments.method,
        "threshold": threshold,
        "transform": arguments.transform,
        "added_columns": added[: limits.COMPLETE_LIST_RECORDS],
        "rule": f"{RULES[arguments.method]}; flagged beyond {threshold:g}; anomalous_rows have a flag in any column",
    }
    notes = [*table.notes, *_left_out(taken), *(f"{name} skipped: {why}" for name, why in skipped.items())]
    if len(shown) < len(found):
        notes.append(f"figures of {len(found) - len(shown)} further columns are only in the file")
    low, high = (sum(scored.count(flag) for scored in found.values()) for flag in ("low", "high"))
    text = f"{low} low and {high} high values flagged in {len(found)} columns, in {results['anomalous_rows']} rows"
    text += suspicions(table.frame, list(found))
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
        raise ArgumentError("columns", "; ".join(f"{name}: {why}" for name, why in skipped.items()))
    return found, skipped


def _is_flagged(scored: Scored) -> list[bool]:
    return [flag in ("low", "high") for flag in scored.flags]


def _scored_frame(frame: pl.DataFrame, found: dict[str, Scored]) -> tuple[pl.DataFrame, list[str]]:
    """Every row and column of the table with a score and a flag for each column scored; the added names."""
    import polars as pl

    added = []
    for name, scored in found.items():
        score_name = features.free_name(frame, f"{name}_anomaly")
        flag_name = features.free_name(frame, f"{score_name}_flag")
        scores = pl.Series(score_name, scored.scores, pl.Float64).fill_nan(None)
        frame = frame.with_columns(scores, pl.Series(flag_name, scored.flags, pl.String))
        added += [score_name, flag_name]
    return frame, added


def _figures(scored: Scored, transform: features.Transform) -> dict[str, Any]:
    low, high = scored.low_fence, scored.high_fence
    if transform in ("log10", "ln"):
        import numpy

        base = 10.0 if transform == "log10" else float(numpy.e)
        low, high = float(numpy.power(base, low)), float(numpy.power(base, high))
    return {
        "low": scored.count("low"),
        "high": scored.count("high"),
        "scored": len(scored.flags) - scored.flags.count(None),
        "flagged_below": low,
        "flagged_above": high,
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
            notes.append(f"values without a score, {why}: {', '.join(texts)}")
    return notes


TOOL = Tool(
    name="compute_anomaly",
    version=1,
    description=(
        "Find anomalies (outliers) in numeric columns by modified z-score (MAD), z-score or interquartile range. "
        "Writes a CSV with every row, a score and a low/high flag per column; gives counts and thresholds."
    ),
    asked_for=(
        "find anomalies",
        "find outliers",
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
)
