"""Which tools there are. A tool's file is imported when its role is played, its libraries when it runs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from outcrop_schemas.errors import UnknownNameError
from outcrop_specialists.tools.base import Tool

# By family: the folder in which a tool's file lies.
FAMILIES: dict[str, tuple[str, ...]] = {
    "inspection": ("list_files", "inspect_dataset", "check_missing", "query_data", "detect_cleaning_issues"),
    "cleaning": ("parse_detection_limits", "remove_duplicates", "standardize_terms", "filter_rows"),
    "statistics": ("summarize", "correlate"),
    "multivariate": ("cluster", "compute_anomaly", "reduce_dimensions"),
    "plots": ("plot_scatter", "plot_histogram", "plot_map", "plot_clusters"),
}
_MODULES = {name: f"outcrop_specialists.tools.{family}.{name}" for family, names in FAMILIES.items() for name in names}
NAMES: tuple[str, ...] = tuple(_MODULES)


@cache
def get_tool(name: str) -> Tool:
    """The tool of this name. Raises UnknownNameError."""
    if name not in NAMES:
        from difflib import get_close_matches

        raise UnknownNameError("tool", name, get_close_matches(name, NAMES), NAMES)
    tool = import_module(_MODULES[name]).TOOL
    assert isinstance(tool, Tool)
    return tool


def all_tools() -> list[Tool]:
    """Every tool, in the order of `NAMES`."""
    return [get_tool(name) for name in NAMES]


def tools_of(specialist: str, extra: Iterable[str] = ()) -> list[Tool]:
    """The tools that a specialist has, in the order of `NAMES`."""
    wanted = set(extra)
    return [tool for tool in all_tools() if specialist in tool.specialists or tool.name in wanted]
