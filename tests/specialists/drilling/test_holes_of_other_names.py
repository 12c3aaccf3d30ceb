"""Hole columns that are called otherwise: in other languages, or by no rule, beside a table that names its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool

HOLES = ["KB-1", "KB-2", "KB-3"]
NAMED = ["Bohrung", "Bohrloch-Nr", "sondage", "Forage", "BHID", "Well", "DRILLHOLE_ID", "hole no.", "Sondeo", "Hole_Nr"]
NOT_NAMED = ["Kennung", "Punkt", "Objekt", "Reference"]


def call(context: ToolContext, name: str, **arguments: Any) -> ToolResult:
    return run_tool(get_tool(name), context, arguments)


Write = Callable[..., str]


def assays(write: Write, hole: str = "HoleID") -> str:
    rows = [[name, depth, depth + 1, "ABC"[depth % 3], 0.1 + depth] for name in HOLES for depth in range(6)]
    return write("assays.csv", [hole, "From", "To", "Rock", "Au_ppm"], rows)


def collars(write: Write, hole: str, **more: list[Any]) -> str:
    rows = [[name, 100 + n, 200 + n, 10, 6.0, *(v[n] for v in more.values())] for n, name in enumerate(HOLES)]
    return write("collars.csv", [hole, "Easting", "Northing", "RL", "EOH", *more], rows)


def surveys(write: Write, hole: str) -> str:
    return write("s.csv", [hole, "Depth", "Azimuth", "Dip"], [[n, d, 90, 60] for n in HOLES for d in (0, 5)])


def with_collars(context: ToolContext, write: Write, tool: str, **options: Any) -> ToolResult:
    if tool == "desurvey":
        path = surveys(write, "HoleID")
        return call(context, tool, path=path, intervals_path="assays.csv", collar_path="collars.csv", **options)
    if tool == "join_intervals":
        given = {"right_hole": options["collar_hole"]} if options else {}
        return call(context, tool, path="assays.csv", right_path="collars.csv", **given)
    return call(context, tool, path="assays.csv", collar_path="collars.csv", **options)


WITH_COLLARS = ["profile_intervals", "check_intervals", "desurvey", "join_intervals"]


@pytest.mark.parametrize("hole", NAMED)
def test_a_usual_name_is_known_in_either_table(context: ToolContext, write_rows: Write, hole: str) -> None:
    assays(write_rows)
    collars(write_rows, hole)
    found = call(context, "check_intervals", path="assays.csv", collar_path="collars.csv")
    assert found.results["collars"]["in_both"] == 3
    assert not [note for note in found.notes if note.startswith("CHECK")]
    found = call(context, "composite_intervals", path=assays(write_rows, hole), columns=["Au_ppm"], length=2)
    assert found.results["holes"] == 3


@pytest.mark.parametrize("tool", WITH_COLLARS)
@pytest.mark.parametrize("hole", NOT_NAMED)
def test_the_one_collar_column_that_holds_the_holes_is_taken_and_told(
    context: ToolContext, write_rows: Write, hole: str, tool: str
) -> None:
    assays(write_rows)
    collars(write_rows, hole, Driller=["Ek", "Ek", "Ott"])
    found = with_collars(context, write_rows, tool)
    field = "right_hole" if tool == "join_intervals" else "collar_hole"
    (said,) = [note for note in found.notes if note.startswith("CHECK")]
    assert f"{hole!r} of collars.csv taken as its holes" in said
    assert "(3 of 3)" in said
    assert field in said


@pytest.mark.parametrize("tool", WITH_COLLARS)
def test_where_two_columns_hold_them_the_error_names_both_and_the_argument(
    context: ToolContext, write_rows: Write, tool: str
) -> None:
    assays(write_rows)
    collars(write_rows, "Kennung", Alias=HOLES)
    field = "right_hole" if tool == "join_intervals" else "collar_hole"
    with pytest.raises(ArgumentError, match=f"{field} names it: 'Kennung', 'Alias'") as caught:
        with_collars(context, write_rows, tool)
    assert caught.value.field == field
    found = with_collars(context, write_rows, tool, collar_hole="Alias")
    assert not [note for note in found.notes if note.startswith("CHECK")]


@pytest.mark.parametrize("tool", WITH_COLLARS)
def test_holes_of_the_intervals_are_found_by_those_of_the_collars(
    context: ToolContext, write_rows: Write, tool: str
) -> None:
    assays(write_rows, "Kennung")
    collars(write_rows, "HoleID")
    found = with_collars(context, write_rows, tool)
    assert [note for note in found.notes if "'Kennung' of assays.csv taken as its holes" in note]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("profile_intervals", {}),
        ("check_intervals", {}),
        ("find_intercepts", {"column": "Au_ppm", "cutoff": 1}),
        ("composite_intervals", {"columns": ["Au_ppm"], "length": 2}),
    ],
)
def test_several_holes_without_a_name_are_never_taken_as_one(
    context: ToolContext, write_rows: Write, tool: str, given: dict[str, Any]
) -> None:
    path = assays(write_rows, "Kennung")
    with pytest.raises(ArgumentError, match="start anew 2 times: hole names the column of holes, perhaps 'Kennung'"):
        call(context, tool, path=path, **given)
    assert call(context, tool, path=path, hole="Kennung", **given).results["holes"] == 3
    if tool in ("check_intervals", "profile_intervals"):
        assert call(context, tool, path=path, hole="", **given).results["holes"] == 1


def test_stations_of_several_holes_are_never_taken_as_one(context: ToolContext, write_rows: Write) -> None:
    path = surveys(write_rows, "Kennung")
    with pytest.raises(ArgumentError, match="start anew 2 times: hole names"):
        call(context, "desurvey", path=path)
    assert call(context, "desurvey", path=path, hole="Kennung").results["holes"] == 3


def test_one_hole_with_rocks_that_alternate_stays_one_hole(context: ToolContext, write_rows: Write) -> None:
    rows = [[d, d + 1, "AB"[d % 2], d] for d in (0, 1, 2, 3, 2, 5)]
    path = write_rows("one.csv", ["From", "To", "Rock", "Au_ppm"], rows)
    found = call(context, "check_intervals", path=path)
    assert any("taken as one" in note for note in found.notes)
