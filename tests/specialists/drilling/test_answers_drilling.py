"""Questions of ../shared/data on drill tables, answered by tools alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outcrop_specialists.tools.base import ToolResult

Call = Callable[..., ToolResult]
DATA = Path(__file__).parents[3].parent / "shared" / "data"
EXACT = 1e-6
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")


@pytest.fixture
def answer() -> Callable[[str], Any]:
    known = {each["id"]: each["answer"] for each in json.loads((DATA / "answers.json").read_text())}
    return lambda question: known[question]


@pytest.fixture
def path(shared_file: Callable[[str], str]) -> Callable[[str], str]:
    return lambda name: shared_file(f"files/{name}")


def test_babbitt_assays(call_tool: Call, path: Callable[[str], str], answer: Callable[[str], Any]) -> None:
    name = "babbitt_assay.csv"
    assay = path(name)
    checked = call_tool("check_intervals", path=assay).results
    assert [checked["rows"], checked["holes"]] == answer(f"{name}#1")
    missing = {each["name"]: each["missing"] for each in call_tool("check_missing", path=assay).results["columns"]}
    assert [missing[column] for column in ("CU", "NI", "S", "FE")] == answer(f"{name}#2")
    copper = call_tool("summarize", path=assay, columns=["CU"], percentiles=[50, 90]).results["columns"]["CU"]
    figures = [copper[figure] for figure in ("count", "mean", "p50", "p90", "max")]
    assert figures == pytest.approx(answer(f"{name}#3"), rel=EXACT)
    (pair,) = call_tool("correlate", path=assay, columns=["CU", "NI"], method="pearson").results["strongest"]
    assert [pair["n"], pair["r"]] == pytest.approx(answer(f"{name}#5"), rel=EXACT)
    profile = call_tool("profile_intervals", path=assay, columns=["CU"]).results
    assert profile["columns"][0]["grade"] == pytest.approx(answer(f"{name}#6"), rel=EXACT)
    assert checked["deepest_to"][::-1] == answer(f"{name}#7")
    issues = checked["issues"]
    assert [issues["overlap"], issues["zero_length"] + issues["from_beyond_to"]] == answer(f"{name}#8")


def test_babbitt_collars_and_surveys(call_tool: Call, path: Callable[[str], str], answer: Callable[[str], Any]) -> None:
    assay, collar, survey = (path(f"babbitt_{each}.csv") for each in ("assay", "collar", "survey"))
    with_assay = call_tool("check_intervals", path=assay, collar_path=collar).results["collars"]
    traced = call_tool("desurvey", path=survey, collar_path=collar)
    without_survey = sum("holes of babbitt_collar.csv are not in" in note for note in traced.notes)
    assert [without_survey, with_assay["without_intervals"]] == answer("babbitt_collar.csv#1")
    heights = call_tool("summarize", path=collar, columns=["ZCOLLAR"]).results["columns"]["ZCOLLAR"]
    found = [heights[figure] for figure in ("min", "max", "mean")]
    assert found == pytest.approx(answer("babbitt_collar.csv#2"), rel=EXACT)
    dips = call_tool("summarize", path=survey, columns=["DIP"]).results["columns"]["DIP"]
    low, high, convention = answer("babbitt_survey.csv#2")
    assert [dips["min"], dips["max"]] == [low, high]
    assert traced.results["dip_convention"].replace("_", " ") == convention
    assert [traced.results["stations"], traced.results["single_station_holes"]] == answer("babbitt_survey.csv#1")


def test_collars_of_a_survey(call_tool: Call, path: Callable[[str], str], answer: Callable[[str], Any]) -> None:
    name = "gswa_collars.csv"
    collars = path(name)
    places = call_tool("check_coordinates", path=collars).results
    columns = {each["name"]: each for each in call_tool("inspect_dataset", path=collars).results["columns"]}
    distinct = [columns[column]["distinct"] for column in ("HoleId", "CompanyHoleId")]
    assert [places["rows"], *distinct, places["distinct_places"]] == answer(f"{name}#1")
    missing = [columns[column]["missing"] for column in ("Dataset", "IsTransformed", "ModifiedDate", "MaxDepth")]
    assert missing == answer(f"{name}#2")
    kinds = call_tool("query_data", path=collars, operation="value_counts", columns=["HoleType"]).results["values"]
    assert {each["value"]: each["count"] for each in kinds} == answer(f"{name}#3")
    depths = call_tool("summarize", path=collars, columns=["MaxDepth"], percentiles=[50, 90]).results["columns"][
        "MaxDepth"
    ]
    found = [depths[figure] for figure in ("mean", "p50", "p90", "max")]
    assert found == pytest.approx(answer(f"{name}#4"), rel=EXACT)
    near = {"path": collars, "column": "MaxDepth", "operator": "between", "value": [0.0999, 0.1001]}
    assert call_tool("filter_rows", **near).results["rows_after"] == answer(f"{name}#5")
    types = call_tool("summarize", path=collars, columns=["MaxDepth"], by="HoleType", percentiles=[50]).results
    rab = types["columns"]["MaxDepth"]["RAB"]
    assert [rab["count"], rab["p50"]] == answer(f"{name}#6")


def test_a_deviation_survey(call_tool: Call, path: Callable[[str], str], answer: Callable[[str], Any]) -> None:
    name = "p135_deviation_survey.xlsx"
    traced = call_tool("desurvey", path=path(name)).results
    assert traced["stations"] == answer(f"{name}#1")
    assert [traced["deepest_station"][0], traced["max_inclination_deg"][0]] == answer(f"{name}#2")
