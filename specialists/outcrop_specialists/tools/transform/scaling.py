"""Scales columns by a centre and a spread, over all rows or within groups. Missing values stay missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.cleaning.cleaned import publish_table
from outcrop_specialists.tools.statistics import bounded
from outcrop_specialists.tools.transform import made

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Scaling:
    """How `suffix` is made: (value - centre) / spread; `centre` and `spread` are functions of a column."""

    suffix: str
    rule: str
    centre: Callable[[pl.Expr], pl.Expr]
    spread: Callable[[pl.Expr], pl.Expr]


@dataclass(frozen=True)
class Scaled:
    values: pl.Series
    record: dict[str, Any]


def scale(
    context: ToolContext,
    tool: Tool,
    table: Table,
    arguments: ToolArguments,
    names: Sequence[str],
    scaling: Scaling,
    by: str | None,
) -> ToolResult:
    """The tool's whole result: the table with a scaled column for each of `names`.

    A column without spread is skipped with a reason; within groups, those of a group without spread are missing.
    Raises ArgumentError where no column has a spread.
    """
    group = None if by is None else table.frame.get_column(by)
    taken, new, records, skipped = made.Names(table.frame), [], {}, {}
    for done, name in enumerate(names):
        context.report(f"scaling {name}", done, len(names))
        found = _scaled(made.numbers(table, name), group, scaling)
        if isinstance(found, str):
            skipped[name] = found
            continue
        new.append(found.values.alias(taken.free(f"{name}_{scaling.suffix}")))
        records[name] = {"added": new[-1].name, **found.record}
    if not new:
        raise ArgumentError("columns", bounded.named([f"{name}: {why}" for name, why in skipped.items()]))
    frame = table.frame.with_columns(new)
    published = publish_table(
        context, tool, table, arguments, frame, f"{table.path.name} with {scaling.suffix} columns"
    )
    told, more = made.shown(context, tool, table, arguments, records)
    notes = list(table.notes)
    if skipped:
        notes.append(f"skipped: {bounded.named([f'{name} ({why})' for name, why in skipped.items()])}")
    missing = sum(record["missing"] for record in records.values())
    within = f" within each {by}" if by else ""
    return ToolResult(
        f"{len(new)} columns scaled{within} over {frame.height} rows; {missing} missing values stay missing",
        {
            "rows": frame.height,
            **told,
            "skipped": len(skipped),
            "rule": scaling.rule + within,
            "path": published.artifact.path,
        },
        [published.artifact, *(each.artifact for each in more)],
        notes,
    )


def _scaled(values: pl.Series, group: pl.Series | None, scaling: Scaling) -> Scaled | str:
    """The scaled column and its figures, or why there is none."""
    import polars as pl

    frame = pl.DataFrame({"v": values, "g": group if group is not None else pl.repeat(0, len(values), eager=True)})
    centre, spread = scaling.centre(pl.col("v")), scaling.spread(pl.col("v"))
    if group is not None:
        centre, spread = centre.over("g"), spread.over("g")
    frame = frame.with_columns(centre.alias("centre"), spread.alias("spread"))
    has_spread = pl.col("spread") > 0
    scaled = frame.select(pl.when(has_spread).then((pl.col("v") - pl.col("centre")) / pl.col("spread")))
    missing = values.null_count()
    if missing == len(values):
        return "no value"
    if scaled.to_series().null_count() == len(values):
        return "no spread: all values are equal" if group is None else "no spread within any group"
    record: dict[str, Any] = {"missing": missing}
    if group is None:
        record |= {"centre": frame["centre"][0], "spread": frame["spread"][0]}
    else:
        groups = frame.group_by("g").agg(pl.col("spread").first(), pl.col("v").count())
        record |= {
            "groups": groups.height,
            "groups_without_spread": groups.filter(~has_spread.fill_null(False)).height,
            "unscaled_values": scaled.to_series().null_count() - missing,
        }
    return Scaled(scaled.to_series(), record)
