"""Maps find their coordinates, keep their shape and leave nothing out without a word."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, radians

import numpy as np
import pytest
from matplotlib.image import imread

from outcrop_schemas import wire
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.coordinates import Coordinates, find_coordinates
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.multivariate import cluster
from outcrop_specialists.tools.plots import plot_map
from outcrop_specialists.tools.plots.placing import place

WriteRows = Callable[..., str]


def run(context: ToolContext, path: str, **arguments: object) -> ToolResult:
    result = plot_map.run(context, plot_map.Arguments(path=path, **arguments))
    wire.dumps(result.as_json())
    return result


@pytest.fixture
def places(write_rows: WriteRows) -> str:
    rng = np.random.default_rng(6)
    rows = np.c_[rng.uniform(-109, -102, 40), rng.uniform(37, 41, 40), rng.uniform(0, 9, 40)].tolist()
    return write_rows("a.csv", ["Longitude", "Latitude", "Cu"], rows)


def test_longitude_and_latitude_are_found_by_name(context: ToolContext, places: str) -> None:
    result = run(context, places, color="Cu")
    assert (result.results["x"], result.results["y"]) == ("Longitude", "Latitude")
    assert result.results["coordinates"] == "longitude and latitude"
    assert result.results["points_drawn"] == 40
    assert "color_range" in result.results
    pixels = imread(context.workspace / result.artifacts[0].path)
    assert pixels.shape[:2] == (result.results["height_px"], result.results["width_px"])


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (["lon", "lat"], Coordinates("lon", "lat", True)),
        (["Lat_DD", "Long_DD"], Coordinates("Long_DD", "Lat_DD", True)),
        (["XCOLLAR", "YCOLLAR"], Coordinates("XCOLLAR", "YCOLLAR", False)),
        (["Northing (m)", "Easting (m)"], Coordinates("Easting (m)", "Northing (m)", False)),
        (["X", "Y"], Coordinates("X", "Y", False)),
        (["Y", "Zr"], None),
    ],
)
def test_coordinates_are_known_by_their_names(
    context: ToolContext, write_rows: WriteRows, header: list[str], expected: Coordinates | None
) -> None:
    table = read_table(context, write_rows("a.csv", header, [[10.5, 20.5], [11.5, 21.5], [12.5, 22.5]]))
    assert find_coordinates(table) == expected


def test_a_degree_of_longitude_is_drawn_as_wide_as_it_is(context: ToolContext, places: str) -> None:
    table = read_table(context, places)
    where = Coordinates("Longitude", "Latitude", True)
    placed = place(table, "Longitude", "Latitude")
    axes = plot_map._draw(table, where, placed, None, "t").axes[0]
    middle = (placed.y.min() + placed.y.max()) / 2
    assert axes.get_aspect() == pytest.approx(1 / cos(radians(middle)), rel=1e-9)
    assert axes.get_xlabel() == "Longitude (°)"
    low, high = axes.get_xlim()
    assert low < placed.x.min() < placed.x.max() < high


def test_grid_coordinates_have_one_scale_and_a_tall_area_a_tall_page(
    context: ToolContext, write_rows: WriteRows
) -> None:
    path = write_rows("a.csv", ["easting", "northing"], [[500000.5, 7000000.5], [500100.5, 7001000.5]])
    result = run(context, path)
    assert result.results["coordinates"].startswith("grid")
    assert (result.results["width_px"], result.results["height_px"]) == (900, 1200)
    table = read_table(context, path)
    axes = plot_map._draw(
        table, Coordinates("easting", "northing", False), place(table, "easting", "northing"), None, "t"
    )
    assert axes.axes[0].get_aspect() == 1


def test_degrees_beyond_the_globe_are_left_out_and_counted(context: ToolContext, write_rows: WriteRows) -> None:
    rows = [[10.5, 50.5], [11.5, 51.5], [-9999, -9999], [None, 50.5]]
    result = run(context, write_rows("a.csv", ["longitude", "latitude"], rows), x="longitude", y="latitude")
    assert result.results["points_drawn"] == 2
    assert result.results["points_left_out"] == 2
    assert sum(result.results["left_out_reasons"].values()) == 2


def test_projected_values_under_geographic_names_are_drawn_as_a_grid(
    context: ToolContext, write_rows: WriteRows
) -> None:
    path = write_rows("a.csv", ["longitude", "latitude"], [[500000.5, 7000000.5], [500900.5, 7000500.5]])
    assert run(context, path).results["coordinates"].startswith("grid")


def test_exchanged_axes_are_put_right_and_said(context: ToolContext, places: str) -> None:
    result = run(context, places, x="Latitude", y="Longitude")
    assert (result.results["x"], result.results["y"]) == ("Longitude", "Latitude")
    assert any("exchanged" in note for note in result.notes)


def test_exchanged_values_are_refused(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["longitude", "latitude"], [[-32.5, 119.5], [-32.7, 118.5]])
    with pytest.raises(ArgumentError, match="look exchanged"):
        run(context, path)


def test_a_table_without_places_is_refused_and_one_axis_is_not_enough(
    context: ToolContext, write_rows: WriteRows
) -> None:
    path = write_rows("a.csv", ["Cu", "Zn"], [[1.5, 2.5], [3.5, 4.5]])
    with pytest.raises(ArgumentError, match="name them in x and y"):
        run(context, path)
    with pytest.raises(ArgumentError, match="both x and y") as refused:
        run(context, path, x="Cu")
    assert refused.value.field == "y"


def test_a_single_place_can_be_drawn(context: ToolContext, write_rows: WriteRows) -> None:
    path = write_rows("a.csv", ["longitude", "latitude"], [[10.5, 50.5], [10.5, 50.5]])
    assert run(context, path).results["points_drawn"] == 2


def test_the_groups_of_colorado_s_soils_are_mapped(context: ToolContext, shared_file: Callable[[str], str]) -> None:
    path = shared_file("files/colorado_soils.csv")
    arguments = cluster.Arguments(path=path, columns=["Rb", "K", "La", "Th"], n_clusters=2, transform="log10")
    labels = cluster.run(context, arguments)
    result = run(context, labels.artifacts[0].path, color="cluster")
    assert result.results["groups"] == labels.results["counts"]
    assert result.results["points_drawn"] == 959
