"""Which tools there are. A tool's file is imported when its role is played, its libraries when it runs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from outcrop_schemas.errors import UnknownNameError
from outcrop_specialists.tools.base import Tool

# By family: the folder in which a tool's file lies.
FAMILIES: dict[str, tuple[str, ...]] = {
    "inspection": (
        "list_files",
        "inspect_dataset",
        "check_missing",
        "query_data",
        "detect_cleaning_issues",
        "inspect_columns",
        "verify_claims",
        "read_file",
    ),
    "cleaning": (
        "parse_detection_limits",
        "remove_duplicates",
        "standardize_terms",
        "filter_rows",
        "convert_types",
        "fix_decimals",
        "replace_values",
        "convert_units",
    ),
    "transform": (
        "derive_column",
        "select_columns",
        "normalize",
        "standardize",
        "log_transform",
        "smooth",
        "compute_ratios",
        "threshold",
        "rank_by_metric",
        "bin_column",
        "aggregate",
        "pivot",
        "melt",
        "merge_datasets",
        "stack_tables",
    ),
    "statistics": ("summarize", "correlate", "compare_groups", "regression"),
    "multivariate": ("cluster", "choose_clusters", "compute_anomaly", "detect_outliers", "reduce_dimensions"),
    "geochemistry": ("logratio_transform", "censored_summary"),
    "quality": ("flag_qaqc", "qaqc_blanks", "qaqc_standards", "qaqc_duplicates"),
    "scripts": ("run_script", "run_command", "check_script"),
    "drilling": (
        "check_intervals",
        "composite_intervals",
        "desurvey",
        "find_intercepts",
        "profile_intervals",
        "join_intervals",
    ),
    "spatial": ("check_coordinates", "reproject", "grid_points", "variogram", "nearest"),
    "logs": ("check_curves",),
    "raster": (
        "inspect_raster",
        "reproject_raster",
        "resample_raster",
        "clip_raster",
        "align_rasters",
        "select_bands",
        "band_math",
        "raster_gradient",
        "raster_texture",
        "sample_raster",
    ),
    "plots": (
        "plot_scatter",
        "plot_histogram",
        "plot_box",
        "plot_probability",
        "plot_heatmap",
        "plot_map",
        "plot_downhole",
        "plot_ternary",
        "plot_control_chart",
        "plot_clusters",
    ),
}
_MODULES = {name: f"outcrop_specialists.tools.{family}.{name}" for family, names in FAMILIES.items() for name in names}
NAMES: tuple[str, ...] = tuple(_MODULES)


def family_of(name: str) -> str:
    """The family of a tool; empty for one that is not among `NAMES`."""
    return next((family for family, names in FAMILIES.items() if name in names), "")


@cache
def get_tool(name: str) -> Tool:
    """The tool of this name. Raises UnknownNameError."""
    if name not in NAMES:
        from difflib import get_close_matches

        raise UnknownNameError("tool", name, get_close_matches(name, NAMES), NAMES)
    tool = import_module(_MODULES[name]).TOOL
    assert isinstance(tool, Tool)
    return tool


def projection_of(name: str) -> tuple[str, ...]:
    """The fields that stay of a stale result of this tool; none of one that is not among `NAMES`."""
    return get_tool(name).projection if name in NAMES else ()


def all_tools() -> list[Tool]:
    """Every tool, in the order of `NAMES`."""
    return [get_tool(name) for name in NAMES]


def tools_of(specialist: str, extra: Iterable[str] = ()) -> list[Tool]:
    """The tools that a specialist has, in the order of `NAMES`."""
    wanted = set(extra)
    return [tool for tool in all_tools() if specialist in tool.specialists or tool.name in wanted]
