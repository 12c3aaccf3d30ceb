"""How the offline model binds plots, conditions, cleaning and what points back, on the schemas of the real tools."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from binding_clauses import SOIL, arguments, bound, refusal
from pydantic import Field

from outcrop.models.offline.binding import bind
from outcrop.models.offline.profile import Column, Profile, read_profile
from outcrop.models.offline.references import Previous
from outcrop_schemas.messages import ToolSchema
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult


@pytest.mark.parametrize(
    ("tool", "clause", "expected"),
    [
        ("plot_scatter", "plot Au against Cu", {"x": "Cu", "y": "Au"}),
        ("plot_scatter", "scatter of Au and Cu coloured by Zn", {"x": "Au", "y": "Cu", "color": "Zn"}),
        ("plot_scatter", "plot Au vs Cu on log axes", {"x": "Cu", "y": "Au", "log_x": True, "log_y": True}),
        ("plot_scatter", "plot Au vs Cu with a log x axis", {"x": "Cu", "y": "Au", "log_x": True}),
        ("plot_scatter", "scatter plot with x = Zn and y = Cu", {"x": "Zn", "y": "Cu"}),
        ("plot_scatter", "scatter plot of Cu (x) versus Zn (y)", {"x": "Cu", "y": "Zn"}),
        ("plot_scatter", "plot_scatter x=Cu y=Zn log_x=true", {"x": "Cu", "y": "Zn", "log_x": True}),
        ("plot_histogram", "histogram of Cu with 20 bins", {"column": "Cu", "bins": 20}),
        ("plot_histogram", "histogram of log10 As", {"column": "As", "log": True}),
        ("plot_map", "map Cu", {"color": "Cu"}),
        (
            "plot_map",
            "map the copper by longitude and latitude",
            {"x": "Longitude", "y": "Latitude", "color": "Cu"},
        ),
        ("plot_map", "map the samples by hole type", {"color": "HoleType"}),
    ],
)
def test_plots(tool: str, clause: str, expected: dict[str, Any]) -> None:
    assert arguments(tool, clause) == expected


def test_each_column_gets_a_histogram_of_its_own() -> None:
    binding = bound("plot_histogram", "histograms of Cu and Zn with 20 bins")
    assert [call["column"] for call in binding.calls] == ["Cu", "Zn"]
    assert [call["bins"] for call in binding.calls] == [20, 20]


def test_a_plot_without_its_columns_names_the_missing_arguments() -> None:
    said = refusal("plot_scatter", "scatter plot")
    assert "the argument x of plot_scatter is not said" in said
    assert "the argument y of plot_scatter is not said" in said


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("keep rows with Cu above 0.5", ("Cu", ">", 0.5)),
        ("keep rows where Cu is greater than or equal to 5", ("Cu", ">=", 5)),
        ("keep rows where copper is at least 5 ppm", ("Cu", ">=", 5)),
        ("keep rows with Cu at most 5", ("Cu", "<=", 5)),
        ("keep rows with Cu < 5", ("Cu", "<", 5)),
        ("keep rows with Cu >= 5", ("Cu", ">=", 5)),
        ("keep rows with more than 5 ppm Cu", ("Cu", ">", 5)),
        ("keep rows with Cu between 2 and 1", ("Cu", "between", [1, 2])),
        ("keep rows where Cu is equal to 3", ("Cu", "==", 3)),
        ("keep rows where Rock Type is granite", ("Rock Type", "==", "granite")),
        ('keep rows where rock type is "Banded Iron"', ("Rock Type", "==", "Banded Iron")),
        ("keep rows where HoleType is RC or DD", ("HoleType", "in", ["RC", "DD"])),
        ("keep rows where HoleType is not RC", ("HoleType", "!=", "RC")),
        ("keep rows where HoleType contains R", ("HoleType", "contains", "R")),
        ("keep rows where As is missing", ("As", "is_null", None)),
    ],
)
def test_conditions(clause: str, expected: tuple[str, str, Any]) -> None:
    column, operator, value = expected
    wanted = {"column": column, "operator": operator} | ({} if value is None else {"value": value})
    assert arguments("filter_rows", clause) == wanted


def test_conditions_that_all_hold_become_a_chain() -> None:
    binding = bound("filter_rows", "keep rows with Cu above 100 and Zn below 200")
    assert binding.is_chain
    assert [(call["column"], call["operator"], call["value"]) for call in binding.calls] == [
        ("Cu", ">", 100),
        ("Zn", "<", 200),
    ]
    removal = bound("filter_rows", "drop rows with Cu above 100 or Zn above 200")
    assert [(call["column"], call["operator"]) for call in removal.calls] == [("Cu", ">"), ("Zn", ">")]
    assert [call["keep"] for call in removal.calls] == ["others", "others"]


@pytest.mark.parametrize(
    ("tool", "clause", "reason"),
    [
        ("filter_rows", "keep rows with Cu above 100 or Zn below 200 and Pb above 3", "a mix of and/or"),
        ("threshold", "drop rows with Cu above the 90th percentile", "say which rows are to be kept"),
        ("filter_rows", "keep rows with Cu above 0.5 %", "Cu is in ppm, the condition in %"),
        ("filter_rows", "keep rows with Cu", "which rows are meant is not said as a condition"),
        ("summarize", "summarise Zn where Cu is above 1", "summarize takes no condition (Cu > 1)"),
    ],
)
def test_conditions_that_cannot_be_kept_are_refused(tool: str, clause: str, reason: str) -> None:
    assert reason in refusal(tool, clause)


@pytest.mark.parametrize(
    ("tool", "clause", "expected"),
    [
        ("remove_duplicates", "remove duplicate rows", {}),
        (
            "remove_duplicates",
            "remove duplicates by SampleID keeping the last",
            {"subset": ["SampleID"], "keep": "last"},
        ),
        (
            "parse_detection_limits",
            "replace values below detection limit in As by half the detection limit",
            {"columns": ["As"], "method": "half"},
        ),
        (
            "standardize_terms",
            "standardise the terms of HoleType in upper case",
            {"column": "HoleType", "case": "upper"},
        ),
        (
            "standardize_terms",
            "unify the spellings of HoleType: 'RCD' to 'RC', 'DDH' to 'DD'",
            {"column": "HoleType", "mapping": {"RCD": "RC", "DDH": "DD"}},
        ),
        ("query_data", "show the first 10 rows", {"operation": "head", "n": 10}),
        (
            "query_data",
            "how many rows have Cu above 100",
            {"operation": "filter_count", "filter_column": "Cu", "operator": ">", "value": 100},
        ),
        ("query_data", "count values of HoleType", {"operation": "value_counts", "columns": ["HoleType"]}),
        (
            "compute_anomaly",
            "find outliers in Cu by robust z-scores beyond 4",
            {"columns": ["Cu"], "method": "mad", "threshold": 4.0},
        ),
        ("compute_anomaly", "detect outliers in Cu by the interquartile range", {"columns": ["Cu"], "method": "iqr"}),
        (
            "reduce_dimensions",
            "first three principal components of Cu, Zn and Pb",
            {"columns": ["Cu", "Zn", "Pb"], "n_components": 3, "method": "pca"},
        ),
    ],
)
def test_other_tools(tool: str, clause: str, expected: dict[str, Any]) -> None:
    assert arguments(tool, clause) == expected


GROUPED = Profile("labels.csv", (*SOIL.columns, Column("cluster", "integer", "cluster")))
CLUSTERED = Previous("cluster", ("Rb", "K"), ("cluster",))


@pytest.mark.parametrize(
    ("tool", "clause", "expected"),
    [
        ("plot_clusters", "plot the groups", {"label": "cluster"}),
        ("plot_map", "map them by longitude and latitude", {"x": "Longitude", "y": "Latitude", "color": "cluster"}),
        ("plot_map", "show the groups on a map", {"color": "cluster"}),
        ("plot_scatter", "plot Cu against Zn coloured by group", {"x": "Zn", "y": "Cu", "color": "cluster"}),
        ("plot_scatter", "plot them against each other", {"x": "Rb", "y": "K", "color": "cluster"}),
        ("summarize", "summarise Cu by group", {"columns": ["Cu"], "by": "cluster"}),
    ],
)
def test_what_points_back_takes_the_labels_of_the_step_before(tool: str, clause: str, expected: dict[str, Any]) -> None:
    assert arguments(tool, clause, GROUPED, CLUSTERED) == expected


def test_groups_that_nobody_made_are_refused() -> None:
    assert "no column of groups is known" in refusal("summarize", "summarise Cu by group")
    assert arguments("summarize", "summarise Cu by group", GROUPED) == {"columns": ["Cu"], "by": "cluster"}


class Curve(ToolArguments):
    path: str
    column: str = Field(json_schema_extra={"x-role": "column"})
    title: str | None = None
    is_cumulative: bool = False
    block_size: float = 5.0


def test_a_tool_of_a_user_is_bound_by_its_schema() -> None:
    def run(context: ToolContext, given: Curve) -> ToolResult:
        raise AssertionError("not called here")

    own = Tool("grade_curve", 1, "Grade curve.", ("grade curve",), frozenset({"metals"}), Curve, run)
    schema: ToolSchema = own.schema()
    binding = bind(schema, 'grade curve of Au titled "North pit" with block size 2.5', SOIL)
    assert binding.calls == [{"path": "soil.csv", "column": "Au", "title": "North pit", "block_size": 2.5}]


class Lists(ToolArguments):
    path: str
    columns: list[str] = Field(min_length=1, json_schema_extra={"x-role": "column"})


class One(ToolArguments):
    path: str
    columns: str = Field(json_schema_extra={"x-role": "columns"})


@pytest.mark.parametrize("taken", [Lists, One])
def test_whether_one_column_is_meant_or_several_is_said_by_the_type_whatever_the_role(
    taken: type[ToolArguments],
) -> None:
    def run(context: ToolContext, given: Any) -> ToolResult:
        raise AssertionError("not called here")

    own = Tool("grade_curve", 1, "Grade curve.", ("grade curve",), frozenset({"metals"}), taken, run)
    binding = bind(own.schema(), "grade curve of Au and Cu" if taken is Lists else "grade curve of Au", SOIL)
    assert binding.calls == [{"path": "soil.csv", "columns": ["Au", "Cu"] if taken is Lists else "Au"}]
    taken.model_validate(binding.calls[0])


def test_the_tool_that_the_documentation_shows_is_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "examples"))
    tool = import_module("variation").TOOL
    for clause in ("compare the variation of Au and Cu", "which column varies most: Au or Cu"):
        binding = bind(tool.schema(), clause, SOIL)
        assert binding.calls == [{"path": "soil.csv", "columns": ["Au", "Cu"]}], clause
        tool.arguments.model_validate(binding.calls[0])


def test_a_profile_is_read_from_whatever_a_tool_says() -> None:
    found = read_profile(
        {"rows": "many", "columns": [{"name": "a", "type": "number"}, {"name": ""}, 3, "b", {"name": "a"}]}, "x"
    )
    assert [column.name for column in found.columns] == ["a", "b"]
    assert found.rows is None
    assert read_profile(None, "x").columns == ()
