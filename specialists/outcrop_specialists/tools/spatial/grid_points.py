"""Tool: puts point values on a regular grid: block statistics or interpolation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.choice import find_columns, numeric
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.derived import publish_frame
from outcrop_specialists.tools.spatial import grids
from outcrop_specialists.tools.spatial.places import PlaceArguments, Places, places_of, refuse_impossible_degrees

if TYPE_CHECKING:
    import polars as pl

COLUMNS_TOLD = 5


class Arguments(PlaceArguments):
    columns: list[str] = Field(
        min_length=1, description="Measured columns to put on the grid.", json_schema_extra={"x-role": "columns"}
    )
    cell_size: float = Field(gt=0, description="Side of a cell, in the units of the coordinates.")
    method: Literal["block_mean", "block_median", "block_count", "idw", "linear", "nearest"] = Field(
        default="block_mean",
        description="block_mean, block_median, block_count: of the rows in each cell. idw (inverse distance), linear "
        "(triangles), nearest: interpolated at each cell centre.",
    )
    power: float = Field(default=2.0, gt=0, le=10, description="idw: power of the distance.")
    neighbours: int = Field(default=12, ge=1, le=500, description="idw: nearest places used.")
    max_distance: float | None = Field(
        default=None, gt=0, description="idw, linear, nearest: farther from any place a cell stays blank."
    )


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises ArgumentError where coordinates cannot be told, and for cells that would be too many."""
    table = read_table(context, arguments.path)
    places = places_of(table, arguments.x, arguments.y)
    refuse_impossible_degrees(places)
    names = find_columns(table, arguments.columns, "columns")
    rows = places.has_place
    grid = grids.grid_over(places.x[rows], places.y[rows], arguments.cell_size)
    renamed = {name: f"value_{place}" for place, name in enumerate(names)}
    frame = _points(places, renamed)
    notes = [*table.notes, *places.missing_note()]
    blank = {name: frame[value].null_count() for name, value in renamed.items() if frame[value].null_count()}
    if blank:
        listed = ", ".join(f"{count} in {name}" for name, count in list(blank.items())[:COLUMNS_TOLD])
        notes.append(f"missing values left out: {listed}")
    context.report(f"gridding {frame.height} places into {grid.columns} by {grid.lines} cells", 0, len(names))
    if arguments.method in ("block_mean", "block_median", "block_count"):
        cells = grids.blocks(frame, grid, list(renamed.values()), arguments.method)
    else:
        cells = _interpolated(context, frame, grid, renamed, arguments)
        if places.columns.is_geographic:
            notes.append("CAUTION: distances in degrees differ east-west and north-south; reproject first")
    taken = {places.columns.x, places.columns.y, "count"}
    cells = cells.rename({"x": places.columns.x, "y": places.columns.y}).rename(
        {value: name if name not in taken else f"{name}_value" for name, value in renamed.items()}
    )
    title = f"{', '.join(names[:3])} of {table.path.name} on a grid of {arguments.cell_size:g}"
    published = publish_frame(
        context, TOOL, [table], arguments, cells, title, units=table.units,
        resolved={"x": places.columns.x, "y": places.columns.y, "columns": names},
    )  # fmt: skip
    shown = cells.columns[-len(names) :][:COLUMNS_TOLD]
    results: dict[str, Any] = {
        "rows": table.frame.height,
        "rows_used": frame.height,
        "cells": cells.height,
        "grid": [grid.columns, grid.lines],
        "cells_with_value": {name: cells.height - cells[name].null_count() for name in shown},
        "range": {name: [cells[name].min(), cells[name].max()] for name in shown},
        "rule": _rule(arguments),
        "path": published.artifact.path,
    }
    told = f"{frame.height} of {table.frame.height} places put into {cells.height} cells of {arguments.cell_size:g}"
    first = shown[0]
    if cells[first].null_count() < cells.height:
        low, high = results["range"][first]
        told += f" ({arguments.method}): {first} {low:.6g} to {high:.6g}"
    return ToolResult(told, results, [published.artifact], notes)


def _points(places: Places, renamed: dict[str, str]) -> pl.DataFrame:
    import polars as pl

    columns = [numeric(places.table, name, "columns").alias(value) for name, value in renamed.items()]
    frame = pl.DataFrame([pl.Series("x", places.x), pl.Series("y", places.y), *columns])
    return frame.filter(pl.Series(places.has_place))


def _interpolated(
    context: ToolContext, frame: pl.DataFrame, grid: grids.Grid, renamed: dict[str, str], arguments: Arguments
) -> pl.DataFrame:
    import numpy
    import polars as pl

    assert arguments.method in ("idw", "linear", "nearest")
    across, up = grid.centres()
    at = numpy.column_stack([across, up])
    cells = pl.DataFrame({"x": across, "y": up})
    for done, (name, value) in enumerate(renamed.items()):
        context.report(f"interpolating {name}", done, len(renamed))
        known = frame.filter(pl.col(value).is_not_null())
        if known.is_empty():
            raise ArgumentError("columns", f"no place has a value of {name!r}")
        found = grids.interpolated(
            known.select("x", "y").to_numpy(), known[value].to_numpy(), at, arguments.method,
            power=arguments.power, neighbours=arguments.neighbours, reach=arguments.max_distance,
        )  # fmt: skip
        cells = cells.with_columns(pl.Series(value, found).fill_nan(None))
    return cells


def _rule(arguments: Arguments) -> str:
    how = {
        "block_mean": "mean of the rows in a cell",
        "block_median": "median of the rows in a cell",
        "block_count": "rows in a cell that have a value",
        "idw": f"inverse distance to the power {arguments.power:g} over {arguments.neighbours} places (Shepard 1968)",
        "linear": "linear within triangles, blank outside the hull",
        "nearest": "value of the nearest place",
    }[arguments.method]
    return f"{how}; cell edges are multiples of the cell size, x and y are centres; rows at one place averaged"


TOOL = Tool(
    name="grid_points",
    version=1,
    description="Puts point values on a regular grid: blocked mean, median or count per cell, or interpolation by "
    "inverse distance, triangles or the nearest place. Writes the cells as a CSV.",
    asked_for=("grid points",
        "grid cells",
        "grid at a cell size",
        "blocked mean", "gridding", "interpolate", "block mean", "blocked median", "aggregate into cells", "idw",
               "inverse distance"),
    specialists=frozenset({"analytics"}),
    arguments=Arguments,
    run=run,
    also_called=phrases(
        """
        interpolation; surface from points; contour; raster from samples; map surface; spread onto a regular
        net; estimate between samples; estimate at places without samples; inverse distance weighting; block
        model; heat surface; continuous surface; regular lattice; predict in between; fill the space between
        samples; mesh; nearest-neighbour interpolation; triangulation; grid cells; griddata; scattered
        measurements; area averages on a net; kriging; isolines; cell declustering; surface of concentrations;
        elevation model from points; digital surface; soil grid; values on nodes; patchy samples into a complete
        map; smooth map of; contourable surface out of the soil results; fill in between the sample sites;
        surface; values between sites; estimate where nothing was sampled; interpolated map; grid the results;
        continuous map; in between the samples; contour the results; make a grid; block averages; regular
        spacing; unsampled places; spread the values; complete coverage; predict at unsampled locations; raster
        of the assays; smooth surface; map out a continuous field; turn points into a raster; what would it be
        between; isopach; top of the formation as a surface; water table surface; contouring; interpolate
        between wells; values everywhere
        """
    ),
)  # fmt: skip
