"""Draws groups of rows over the columns they were made from: one plot, panels of pairs, or principal components."""

from __future__ import annotations

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_column, find_columns, numeric_columns
from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.lineage import parameters_of
from outcrop_specialists.tools.multivariate import features
from outcrop_specialists.tools.plots import figures
from outcrop_specialists.tools.plots.censored import beyond, rows_told
from outcrop_specialists.tools.plots.colouring import grouping
from outcrop_specialists.tools.plots.group_panels import draw_groups, view_of
from outcrop_specialists.tools.plots.placing import drawn_note, reasons

DEFAULT_LABEL = "cluster"


class Arguments(ToolArguments):
    path: str = Field(description="Table file with a group label for each row, such as the file that cluster wrote.")
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Numeric columns to draw; those the groups were made from where not given.",
        json_schema_extra={"x-role": "columns"},
    )
    label: str | None = Field(
        default=None,
        description="Column with the group labels; the one that cluster added where not given.",
        json_schema_extra={"x-role": "label-column"},
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where the label or the columns cannot be told, or no row can be drawn."""
    table = read_table(context, arguments.path)
    made_with = parameters_of(context, table.path, "cluster") or {}
    label = _label(table, arguments.label, made_with.get("label_column"))
    names, transform, notes = _columns(table, arguments, made_with, label)
    taken = features.take(table, names, "columns", transform)
    if not taken.is_complete.any():
        why = "; ".join(taken.notes())
        raise ArgumentError("columns", f"{table.path.name}: no row has a value in every column ({why})")
    rows = taken.is_complete
    groups = grouping(table, label).of_rows(rows)
    if groups.without() == len(groups.codes):
        raise ArgumentError("label", f"{table.path.name}: {label!r} has no value in any row that can be drawn")
    view = view_of(taken, table.units)
    title = f"Groups of {table.path.name} by {label}"

    context.report("drawing the groups", 0, int(rows.sum()))
    left_out = taken.left_out()
    found = [beyond(table, name, "columns").of_rows(rows) for name in taken.columns]
    note = "; ".join([drawn_note(int(rows.sum()), left_out), *rows_told(found)])
    figure = draw_groups(view, groups, title, note)
    made_of = features.parameters(arguments, columns=names, label=label, transform=transform)
    drawn = figures.publish_figure(context, TOOL, table, made_of, figure, title)

    described = groups.describe()
    sizes = ", ".join(f"{name} ({count})" for name, count in described["groups"].items())
    results = {
        **drawn.size(),
        "points_drawn": int(rows.sum()),
        "points_left_out": sum(left_out.values()),
        "left_out_reasons": left_out,
        "label": label,
        "groups": described["groups"],
        "without_group": described["without_group"],
        "columns": names,
        "transform": transform,
        "axes": view.labels,
        **view.ranges(),
        "alt": f"{view.describe()} of groups {sizes}. {note}.",
    }
    if left_out:
        notes.append(f"{sum(left_out.values())} rows are not drawn: {reasons(left_out)}")
    text = f"{len(described['groups'])} groups drawn on {', '.join(names)}: {note}"
    return ToolResult(text, results, [drawn.artifact], [*table.notes, *notes, *groups.notes, *drawn.notes])


def _label(table: Table, asked: str | None, recorded: object) -> str:
    if asked is not None:
        return find_column(table, asked, "label")
    if isinstance(recorded, str) and recorded in table.frame.columns:
        return recorded
    if DEFAULT_LABEL in table.frame.columns:
        return DEFAULT_LABEL
    raise ArgumentError("label", f"{table.path.name} has no column 'cluster'; name the column with the groups")


def _columns(
    table: Table, arguments: Arguments, made_with: dict[str, object], label: str
) -> tuple[list[str], features.Transform, list[str]]:
    """The columns to draw and how they were transformed when the groups were made."""
    recorded = made_with.get("columns")
    known = [name for name in recorded if name in table.frame.columns] if isinstance(recorded, list) else []
    names = find_columns(table, arguments.columns, "columns") if arguments.columns else known
    if not names:
        others = ", ".join([name for name in numeric_columns(table) if name != label][:10])
        reason = "no record says what the groups were made from; name the columns to draw"
        raise ArgumentError("columns", f"{table.path.name}: {reason}" + (f", such as {others}" if others else ""))
    kinds: tuple[features.Transform, ...] = ("log10", "ln", "clr")
    transform: features.Transform = next((kind for kind in kinds if kind == made_with.get("transform")), "none")
    if transform == "none" or not set(names) <= set(known):
        return names, "none", []
    return names, transform, [f"axes follow the {transform} with which the groups were made"]


TOOL = Tool(
    name="plot_clusters",
    version=2,
    description=(
        "Draw the groups that cluster found, each in its colour with its count, over the columns they were made from: "
        "a scatter plot, panels of pairs, or the first two principal components."
    ),
    asked_for=(
        "plot the groups",
        "plot the clusters",
        "draw the groups",
        "show the clusters",
        "visualise clusters",
        "colour by cluster",
        "scatter of the clusters",
    ),
    specialists=frozenset({"plotting"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        picture of the groups; coloured groups; show the populations; draw the classes; cluster picture;
        visualise the segmentation; groups in PC space; group colours; display the families; k-means result as a
        picture; figure of the clusters; plot by label; graph of the classification; see how the groups
        separate; do the groups overlap; each population in its own colour; facies picture; illustrate the
        partition; show which samples belong together; panels of the groups; projection of the groups;
        classified samples drawn; draw the families that came out; do the facies overlap, show me; show the
        groups; groups drawn; show the classes; plot the result of the clustering; picture of clusters; draw the
        types; visualise the types; clusters in colour; show the families; display the segments; see the groups;
        figure with the groups; graph of the groups; overlap of groups; how separate are the groups, visually;
        draw the populations; colour the samples by their group; classes in colours; the groups that were found
        """
    ),
)
