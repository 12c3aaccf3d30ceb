"""What holds for every tool: on a table of 2,000 columns and on one of 10,000 groups its answer is short, the same each
time, holds no rows, and no file that was there is touched. The short form has 300 columns."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from outcrop.lead.toolbox import without_rows
from outcrop_schemas import limits, wire
from outcrop_schemas.messages import Message, TextBlock, ToolResultBlock, ToolUseBlock
from outcrop_specialists.context.compaction import Compactor
from outcrop_specialists.context.store import Store
from outcrop_specialists.roles import ROLES
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import FAMILIES, NAMES, get_tool, projection_of

RESULT_CHARS, ANSWER_CHARS = 1_200, 4_000
"""Of a table of few columns and many groups, which is told whole; of a wide one all is within limits.ANSWER_CHARS."""
WIDTH, NARROWER, GROUPS = 2_000, 300, 10_000
COLUMNS = [f"Element number {number} ppm" for number in range(WIDTH)]
A, B, C = COLUMNS[:3]
ROWS_ARE_WANTED = {("query_data", "head")}
"""Showing rows is what this is for; they are counted and bounded, and kept from the lead."""
EVERY_COLUMN_IS_WANTED = {"inspect_dataset"}
"""Of a small table every column is described."""
ONCE_TOO_LONG = (
    "inspect_dataset", "check_missing", "query_data", "detect_cleaning_issues", "inspect_columns", "standardize_terms",
    "parse_detection_limits", "replace_values", "convert_units", "log_transform", "aggregate", "summarize", "correlate",
    "compare_groups", "regression", "cluster", "compute_anomaly", "reduce_dimensions", "qaqc_blanks", "qaqc_standards",
    "find_intercepts", "profile_intervals", "check_curves", "grid_points", "plot_scatter",
)  # fmt: skip
PLACED = {"x": "Easting", "y": "Northing"}
CLAIM = {"statistic": "mean", "column": A, "value": 1.0}
SCRIPT = "print('===RESULT===', 5, '===END_RESULT===', sep='\\n')"

WIDE: dict[str, list[dict[str, Any]]] = {
    "list_files": [{}],
    "inspect_dataset": [{}],
    "check_missing": [{}],
    "query_data": [{"operation": "describe"}, {"operation": "filter_count", "expression": f"`{A}` > 1"},
                   {"operation": "value_counts", "columns": ["QC"]}, {"operation": "head"}],
    "detect_cleaning_issues": [{}],
    "inspect_columns": [{"columns": COLUMNS[:200]}],
    "verify_claims": [{"claims": [{**CLAIM, "path": "wide.csv"}] * 10}],
    "parse_detection_limits": [{}],
    "remove_duplicates": [{}],
    "standardize_terms": [{"column": "QC"}],
    "filter_rows": [{"column": A, "operator": ">", "value": 1}],
    "convert_types": [{"columns": COLUMNS[500:], "to": "text"}],
    "fix_decimals": [{"columns": ["Comma"]}],
    "replace_values": [{"values": [-999]}],
    "convert_units": [{"columns": COLUMNS[:300], "to_units": ["%"], "from_units": ["ppm"]}],
    "derive_column": [{"derived": [{"name": f"a column with a long name {n}", "expression": f"`{name}` + 1"}
                                   for n, name in enumerate(COLUMNS[:50])]}],
    "select_columns": [{"columns": COLUMNS}, {"rename": {name: f"{name} as renamed" for name in COLUMNS}}],
    "normalize": [{"columns": COLUMNS}],
    "standardize": [{"columns": COLUMNS}],
    "log_transform": [{"columns": COLUMNS}],
    "smooth": [{"columns": COLUMNS[:300], "window": 3}],
    "compute_ratios": [{"pairs": [f"{a}/{b}" for a, b in itertools.pairwise(COLUMNS[:400])]}],
    "threshold": [{"column": A, "value": 1}],
    "rank_by_metric": [{"column": A}],
    "bin_column": [{"column": A, "bins": 20}],
    "aggregate": [{"by": ["QC"]}],
    "pivot": [{"index": ["Sample"], "columns": "QC", "values": COLUMNS[:100]}],
    "melt": [{"id_columns": ["Sample"], "value_columns": COLUMNS}],
    "merge_datasets": [{"right_path": "wide.csv", "on": ["Sample"]}],
    "summarize": [{}, {"by": "QC"}],
    "correlate": [{"target": A}, {"columns": COLUMNS[:300]}],
    "compare_groups": [{"column": A, "by": "QC"}],
    "regression": [{"y": A, "x": COLUMNS[3:40]}],
    "cluster": [{"columns": COLUMNS}],
    "choose_clusters": [{"most": 3}],
    "compute_anomaly": [{"columns": COLUMNS}],
    "detect_outliers": [{}],
    "reduce_dimensions": [{"n_components": 5}],
    "logratio_transform": [{}],
    "censored_summary": [{}],
    "flag_qaqc": [{}],
    "qaqc_blanks": [{"detection_limits": dict.fromkeys(COLUMNS[:1_500], 0.1)}],
    "qaqc_standards": [{}],
    "qaqc_duplicates": [{}],
    "check_intervals": [{"columns": COLUMNS}],
    "composite_intervals": [{"columns": COLUMNS[:200], "length": 2}],
    "find_intercepts": [{"column": A, "cutoff": 0.5}],
    "profile_intervals": [{}],
    "join_intervals": [{"right_path": "wide.csv", "columns": COLUMNS[:50]}],
    "check_coordinates": [{}],
    "reproject": [{"source_crs": "EPSG:28350"}],
    "grid_points": [{"columns": COLUMNS[:200], "cell_size": 10}],
    "variogram": [{"column": A}],
    "nearest": [{}],
    "check_curves": [{"depth": "From"}],
    "plot_scatter": [{"x": A, "y": B, "color": "QC"}],
    "plot_histogram": [{"column": A}],
    "plot_box": [{"column": A, "by": "QC"}],
    "plot_probability": [{"column": A, "by": "QC"}],
    "plot_heatmap": [{"columns": COLUMNS[:60]}],
    "plot_map": [{"color": A}],
    "plot_downhole": [{"depth": "From", "to": "To", "columns": [A, B, C], "hole_column": "Hole", "hole": "H1"}],
    "plot_ternary": [{"columns": [A, B, C]}],
    "plot_control_chart": [{"column": A, "by": "QC", "group": "STD A"}],
    "plot_clusters": [{"columns": [A, B], "label": "Group"}],
}  # fmt: skip
MANY: dict[str, list[dict[str, Any]]] = {
    "list_files": [{}],
    "inspect_dataset": [{}],
    "check_missing": [{}],
    "query_data": [{"operation": "value_counts", "columns": ["Hole"]}, {"operation": "head"}],
    "detect_cleaning_issues": [{}],
    "inspect_columns": [{"columns": ["Hole", "Rock", "Au"], "most_values": 20}],
    "verify_claims": [{"claims": [{"path": "many.csv", "statistic": "mean", "column": "Au", "value": 1.0,
                                   "group": {"Hole": "H00001"}}]}],
    "remove_duplicates": [{"subset": ["Hole"]}],
    "standardize_terms": [{"column": "Rock"}],
    "filter_rows": [{"column": "Hole", "operator": "in", "value": [f"H{n:05}" for n in range(500)]}],
    "convert_types": [{"columns": ["Hole"], "to": "number", "max_missing_share": 1}],
    "replace_values": [{"values": [f"H{n:05}" for n in range(100)]}],
    "normalize": [{"columns": ["Au"], "by": "Hole"}],
    "standardize": [{"columns": ["Au"], "by": "Hole"}],
    "smooth": [{"columns": ["Au"], "by": ["Hole"], "order_by": "From"}],
    "rank_by_metric": [{"column": "Au", "within": "Hole", "n": 1}],
    "aggregate": [{"by": ["Hole"]}, {"cell_size": 5, **PLACED}],
    "pivot": [{"index": ["Hole"], "columns": "Kind", "values": ["Au"], "duplicates": "mean"}],
    "melt": [{"id_columns": ["Hole"], "value_columns": ["Au", "Cu"]}],
    "merge_datasets": [{"right_path": "many.csv", "on": ["Hole"], "cardinality": "many_to_many"}],
    "stack_tables": [{"paths": ["many.csv", "wide.csv"], "columns": "common"}],
    "summarize": [{"by": "Hole"}],
    "correlate": [{}],
    "compare_groups": [{"column": "Au", "by": "Kind"}, {"column": "Kind", "by": "Dip"}],
    "regression": [{"y": "Au", "x": ["Cu"], "by": "Kind"}],
    "cluster": [{"columns": ["Au", "Cu"], "n_clusters": 50}, {"columns": ["Au", "Cu"], "method": "dbscan", "eps": 0.01,
                                                              "min_samples": 2}],
    "compute_anomaly": [{"columns": ["Au"]}],
    "detect_outliers": [{}],
    "censored_summary": [{"by": "Hole"}],
    "flag_qaqc": [{"type_column": "Kind"}],
    "qaqc_standards": [{"standard_column": "Kind", "columns": ["Au"]}],
    "qaqc_duplicates": [{"id_column": "Hole", "columns": ["Au"]}],
    "check_intervals": [{}],
    "composite_intervals": [{"columns": ["Au"], "length": 2}, {"columns": ["Au"], "by": "Rock"}],
    "find_intercepts": [{"column": "Au", "cutoff": 0.5}],
    "profile_intervals": [{"columns": ["Au", "Cu"]}],
    "join_intervals": [{"right_path": "many.csv", "columns": ["Rock"]}],
    "desurvey": [{"depth": "From", "azimuth": "Azimuth", "dip": "Dip"}],
    "check_coordinates": [{}],
    "grid_points": [{"columns": ["Au"], "cell_size": 5}],
    "nearest": [{}],
    "plot_scatter": [{"x": "Au", "y": "Cu", "color": "Hole"}],
    "plot_box": [{"column": "Au", "by": "Hole"}],
    "plot_probability": [{"column": "Au", "by": "Hole"}],
    "plot_map": [{"color": "Hole"}],
    "plot_downhole": [{"depth": "From", "to": "To", "columns": ["Au"], "hole_column": "Hole", "hole": "H00007"}],
    "plot_clusters": [{"columns": ["Au", "Cu"], "label": "Hole"}],
}  # fmt: skip
OTHERWISE = {
    "run_script": "tests/specialists/scripts/test_run_script.py",
    "run_command": "tests/specialists/scripts/test_run_command.py",
    "check_script": "tests/specialists/scripts/test_run_script.py",
    "read_file": "tests/specialists/inspection/test_read_file.py",
    **{name: f"tests/specialists/raster/test_{name}.py" for name in FAMILIES["raster"]},
}
"""Tools that work on no table: their own test holds the same of them."""
CALLS = [
    (table, name, number)
    for table, calls in (("wide.csv", WIDE), ("many.csv", MANY))
    for name, each in calls.items()
    for number in range(len(each))
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("every")
    # With a cache as a run has it, a table is read carefully only once.
    for name in ("w", "scratch", "w/.outcrop", "w/.outcrop/cache"):
        (folder / name).mkdir(mode=0o700)
    write_wide(folder / "w" / "wide.csv")
    write_wide(folder / "w" / "narrower.csv", width=NARROWER)
    write_many(folder / "w" / "many.csv")
    return folder.resolve()


@pytest.fixture
def context(place: Path) -> Iterator[ToolContext]:
    before = {path: path.read_bytes() for path in (place / "w").glob("*.csv")}
    yield ToolContext(place / "w", place / "w" / "results", place / "scratch")
    assert {path: path.read_bytes() for path in before} == before


def write_wide(path: Path, height: int = 60, width: int = WIDTH) -> None:
    """60 rows: samples, QA/QC kinds, places, intervals, and 2,000 elements with gaps, zeros, limits and fill values."""
    random = np.random.default_rng(5)
    values = np.round(np.exp(random.normal(size=(height, WIDTH))), 4).astype(str)
    values[30, 2:1_500:3] = ""
    values[31, 3:1_500:5] = "<0.05"
    values[32, 4:1_500:7] = "0"
    values[33, 5:1_500:11] = "-999"
    kinds = ["Blank"] * 5 + ["STD A"] * 6 + ["STD B"] * 4 + [f"Dup of S{number}" for number in range(20, 26)]
    labels = {
        "Sample": [f"S{row}" for row in range(height)],
        "QC": [*kinds, *["core"] * (height - len(kinds))],
        "Hole": [f"H{row // 30}" for row in range(height)],
        "From": [str(row % 30) for row in range(height)],
        "To": [str(row % 30 + 1) for row in range(height)],
        "Easting": [str(400_000 + 7 * row) for row in range(height)],
        "Northing": [str(6_500_000 + 11 * (row % 7)) for row in range(height)],
        "Comma": [f"{row},5" for row in range(height)],
        "Group": [str(1 + row % 3) for row in range(height)],
    }
    frame = pl.DataFrame(labels).hstack(pl.DataFrame(values, schema=COLUMNS))
    frame[:, : len(labels) + width].write_csv(path)


def write_many(path: Path) -> None:
    """20,000 rows: 10,000 holes of two intervals, as many rock names in two spellings."""
    random = np.random.default_rng(6)
    rows = np.arange(2 * GROUPS)
    holes = rows // 2
    gold = np.round(np.exp(random.normal(size=len(rows))), 4).astype(str)
    gold[::50] = "<0.01"
    pl.DataFrame(
        {
            "Hole": [f"H{hole:05}" for hole in holes],
            "From": rows % 2 * 3.0,
            "To": rows % 2 * 3.0 + 2,
            "Easting": 400_000 + holes % 100 * 10.0,
            "Northing": 6_500_000 + holes // 100 * 10.0,
            "Azimuth": holes % 360,
            "Dip": 60 + rows % 2,
            "Kind": [("core", "chip", "blank")[row % 7 % 3] for row in rows],
            "Rock": [f"rock {hole}" if row % 2 else f"ROCK {hole}" for row, hole in enumerate(holes)],
            "Au": gold,
            "Cu": np.round(np.exp(random.normal(size=len(rows))), 4),
        }
    ).write_csv(path)


def test_every_tool_is_called() -> None:
    called = {*WIDE, *MANY, *OTHERWISE}
    assert called == set(NAMES)
    root = Path(__file__).parents[2]
    assert [path for path in OTHERWISE.values() if not (root / path).is_file()] == []


# The wide calls take minutes.
@pytest.mark.skipif("OUTCROP_LONG" not in os.environ, reason="a long form: OUTCROP_LONG=1 runs it")
@pytest.mark.parametrize(("table", "name", "number"), CALLS, ids=[f"{c[1]}-{c[0][:4]}-{c[2]}" for c in CALLS])
def test_an_answer_is_short_and_the_same_and_holds_no_rows(
    context: ToolContext, table: str, name: str, number: int
) -> None:
    check(context, table, name, (WIDE if table == "wide.csv" else MANY)[name][number])


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name in ONCE_TOO_LONG for number in range(len(WIDE[name]))]
)
def test_an_answer_on_300_columns_is_as_short(context: ToolContext, name: str, number: int) -> None:
    check(context, "narrower.csv", name, narrowed(WIDE[name][number]))


def narrowed(value: Any) -> Any:
    """The arguments without what is about the columns that the narrower table lacks."""
    lacking = set(COLUMNS[NARROWER:])
    if isinstance(value, dict):
        return {key: narrowed(each) for key, each in value.items() if key not in lacking}
    if isinstance(value, list):
        return [narrowed(each) for each in value if not isinstance(each, str) or each not in lacking]
    return value


def check(context: ToolContext, table: str, name: str, given: dict[str, Any]) -> None:
    tool = get_tool(name)
    arguments = {**({"path": table} if "path" in tool.arguments.model_fields else {}), **given}
    found = run_tool(tool, context, arguments)
    results, answer = wire.dumps(found.results).decode(), wire.dumps(found.as_json()).decode()
    check_what_stays(name, found, answer)
    is_wide = table != "many.csv" and not tool.told_whole
    if is_wide:
        assert len(answer) <= limits.ANSWER_CHARS, answer
    if (name, given.get("operation")) not in ROWS_ARE_WANTED:
        if name not in EVERY_COLUMN_IS_WANTED and not tool.told_whole:
            assert len(results) <= RESULT_CHARS, results[:3_000]
        assert len(answer) <= ANSWER_CHARS or tool.told_whole, answer[:6_000]
        assert without_rows(found.results) == found.results
    written = {path: path.read_bytes() for each in found.artifacts if (path := context.workspace / each.path)}
    if name != "list_files":
        again = run_tool(tool, context, arguments)
        assert wire.dumps(again.as_json()).decode() == answer
        assert {path: path.read_bytes() for path in written} == written


def check_what_stays(name: str, found: ToolResult, answer: str) -> None:
    """Of a result that went stale: the files and their rows, the rows worked on, and the fields that the tool names."""
    padded = wire.dumps({**wire.loads(answer), "padding": "word " * 1_000}).decode()
    messages = [Message(role="user", content=[TextBlock(text="go")])]
    for number in range(limits.KEPT_TURNS + 2):
        use = ToolUseBlock(id=f"t{number}", name=name, input={})
        result = ToolResultBlock(tool_use_id=use.id, content="later" if number else padded)
        messages += [Message(role="assistant", content=[use]), Message(role="user", content=[result])]
    [stale] = Compactor(Store(None), projections=projection_of).without_stale_results(messages)[2].content
    assert isinstance(stale, ToolResultBlock)
    assert len(stale.content) <= limits.STALE_FACTS_CHARS + 100
    kept = stale.content.split("\n")
    assert kept[0].startswith("[put aside: ")
    for number, artifact in enumerate(found.artifacts):
        assert f"artifacts[{number}].path = {artifact.path}" in kept
        assert artifact.rows is None or f"artifacts[{number}].rows = {artifact.rows}" in kept
    for key, value in found.results.items():
        if "rows" in key and isinstance(value, int) and not isinstance(value, bool):
            assert f"results.{key} = {value}" in kept
    for key in set(projection_of(name)).intersection(found.results):
        assert not found.results[key] or any(line.startswith(f"results.{key}") for line in kept)


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_has_a_card_a_role_and_described_arguments(name: str) -> None:
    tool = get_tool(name)
    assert tool.name == name
    assert tool.specialists
    assert tool.specialists <= ROLES.keys()
    assert tool.asked_for
    assert all("description" in field for field in tool.schema().input_schema["properties"].values())
    assert len(tool.card) < 1_000


@pytest.mark.skipif(find_spec("rasterio") is None, reason="rasters are an extra")
@pytest.mark.parametrize("name", FAMILIES["raster"])
def test_a_tool_on_rasters_says_what_it_needs(context: ToolContext, name: str) -> None:
    from outcrop_schemas.errors import OutcropError

    arguments: dict[str, dict[str, Any]] = {
        "reproject_raster": {"target_crs": "EPSG:4326"},
        "resample_raster": {"factor": 2},
        "clip_raster": {"box": [0, 0, 1, 1]},
        "align_rasters": {"reference_path": "many.csv"},
        "select_bands": {"bands": [1]},
        "band_math": {"expression": "b1 + 1"},
        "sample_raster": {"raster_path": "many.csv"},
    }
    with pytest.raises(OutcropError):
        run_tool(get_tool(name), context, {"path": "many.csv", **arguments.get(name, {})})
