"""A table of no rows that a tool wrote: reading it works, and every tool says so or gives an answer of no rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outcrop_schemas import wire
from outcrop_schemas.errors import DataError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import FAMILIES, get_tool

COLUMNS = ["Hole", "From", "To", "Easting", "Northing", "Kind", "Au", "Cu", "Pb"]
ROWS = [
    [f"H{n // 4}", n % 4, n % 4 + 1, 1000 + n, 2000 + n * n, ("core", "blank")[n % 2], n / 7, n / 3, 9 - n]
    for n in range(12)
]
MEASURES: dict[str, Any] = {"columns": ["Au", "Cu"]}
GIVEN: dict[str, dict[str, Any]] = {
    "query_data": {"operation": "describe"},
    "inspect_columns": MEASURES,
    "standardize_terms": {"column": "Kind"},
    "filter_rows": {"column": "Au", "operator": ">", "value": 1},
    "convert_types": {"columns": ["Au"], "to": "text"},
    "fix_decimals": {"columns": ["Kind"]},
    "replace_values": {"values": [-999]},
    "convert_units": {"columns": ["Au"], "from_units": ["ppm"], "to_units": ["ppb"]},
    "derive_column": {"derived": [{"name": "sum", "expression": "Au + Cu"}]},
    "select_columns": MEASURES,
    "normalize": MEASURES,
    "standardize": MEASURES,
    "log_transform": MEASURES,
    "smooth": {**MEASURES, "window": 3},
    "compute_ratios": {"pairs": ["Au/Cu"]},
    "threshold": {"column": "Au", "value": 1},
    "rank_by_metric": {"column": "Au"},
    "bin_column": {"column": "Au", "bins": 3},
    "aggregate": {"by": ["Hole"]},
    "pivot": {"index": ["Hole"], "columns": "Kind", "values": ["Au"]},
    "melt": {"id_columns": ["Hole"], "value_columns": ["Au", "Cu"]},
    "merge_datasets": {"right_path": "many.csv", "on": ["Hole"]},
    "stack_tables": {},
    "compare_groups": {"column": "Au", "by": "Kind"},
    "regression": {"y": "Au", "x": ["Cu"]},
    "cluster": MEASURES,
    "compute_anomaly": MEASURES,
    "qaqc_standards": {"standard_column": "Kind", "columns": ["Au"]},
    "qaqc_blanks": {"detection_limits": {"Au": 0.1}},
    "composite_intervals": {"columns": ["Au"], "length": 2},
    "find_intercepts": {"column": "Au", "cutoff": 0.5},
    "join_intervals": {"right_path": "many.csv"},
    "desurvey": {"depth": "From", "azimuth": "Au", "dip": "Cu"},
    "reproject": {"source_crs": "EPSG:28350"},
    "grid_points": {"columns": ["Au"], "cell_size": 5},
    "variogram": {"column": "Au"},
    "plot_scatter": {"x": "Au", "y": "Cu"},
    "plot_histogram": {"column": "Au"},
    "plot_box": {"column": "Au", "by": "Hole"},
    "plot_probability": {"column": "Au"},
    "plot_map": {"color": "Au"},
    "plot_downhole": {"depth": "From", "columns": ["Au"]},
    "plot_ternary": {"columns": ["Au", "Cu", "Pb"]},
    "plot_control_chart": {"column": "Au"},
    "plot_clusters": {**MEASURES, "label": "Kind"},
}
NO_TABLE = {"list_files", "read_file", "verify_claims", *FAMILIES["scripts"], *FAMILIES["raster"]}
TOOLS = [name for names in FAMILIES.values() for name in names if name not in NO_TABLE]
NOTHING_TO_DO = set(TOOLS) - {n for f in ("inspection", "cleaning", "transform") for n in FAMILIES[f]}


@pytest.fixture
def empty(context: ToolContext, write_rows: Callable[..., str]) -> str:
    """The path of a table of which a filter left no row."""
    path = write_rows("many.csv", COLUMNS, ROWS)
    given = {"path": path, "column": "Au", "operator": ">", "value": 1e9}
    return run_tool(get_tool("filter_rows"), context, given).artifacts[0].path


def test_a_table_of_no_rows_that_a_tool_wrote_is_read_with_its_types(context: ToolContext, empty: str) -> None:
    table, source = read_table(context, empty), read_table(context, "many.csv")
    assert table.height == 0
    assert table.schema == source.schema
    assert "no rows" in table.notes[0]


def test_a_header_alone_that_nobody_of_us_wrote_is_refused(
    context: ToolContext, write_file: Callable[[str, str], str]
) -> None:
    with pytest.raises(DataError, match="no rows"):
        read_table(context, write_file("a.csv", "a,b\n"))


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_says_so_or_gives_an_answer_of_no_rows(context: ToolContext, empty: str, name: str) -> None:
    tool = get_tool(name)
    given = {"paths": [empty, empty]} if name == "stack_tables" else {"path": empty}
    found = told = None
    try:
        found = run_tool(tool, context, {**given, **GIVEN.get(name, {})})
    except DataError as error:
        told = str(error)
    if found is None:
        assert told is not None
        assert "no rows" in told
        assert f"{name} failed" not in told
        return
    assert name not in NOTHING_TO_DO
    assert b"NaN" not in wire.dumps(found.as_json())
    for artifact in found.artifacts:
        if artifact.kind == "table" and name not in ("stack_tables", "inspect_columns"):
            assert read_table(context, artifact.path).height == 0


def test_one_table_of_no_rows_below_another_changes_nothing(context: ToolContext, empty: str) -> None:
    found = run_tool(get_tool("stack_tables"), context, {"paths": ["many.csv", empty], "columns": "common"})
    assert found.results["rows_after"] == len(ROWS)
    assert Path(context.workspace / found.results["path"]).is_file()
