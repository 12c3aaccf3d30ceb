"""The one rule for results beyond a limit, and the sentences that tell it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns.censoring import (
    as_written,
    censored_values,
    missing_count,
    notes_on,
    substituted,
    with_qualifiers,
)
from outcrop_specialists.columns.choice import numeric
from outcrop_specialists.reading.tables import Table
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool


@pytest.fixture
def table() -> Table:
    frame = pl.DataFrame(
        {
            "Au": [0.01, 0.5, 10.0, None, None, 0.01],
            "Au_q": ["<", "", ">", "<", "", ""],
            "Cu": [1, 2, 3, 4, 5, 6],
        }
    )
    return Table(Path("/w/a.csv"), frame, qualifiers={"Au": "Au_q"})


def test_below_a_limit_stands_half_of_it_and_above_one_the_limit(table: Table) -> None:
    assert numeric(table, "Au").to_list() == [0.005, 0.5, 10.0, None, None, 0.01]
    assert substituted(table, "Cu").to_list() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_tools_that_treat_censoring_get_limits_and_masks(table: Table) -> None:
    found = censored_values(table, "au")
    assert found.values.to_list() == [0.01, 0.5, 10.0, None, None, 0.01]
    assert found.below.to_list() == [True, False, False, True, False, False]
    assert found.above.to_list() == [False, False, True, False, False, False]
    assert found.count == 3
    plain = censored_values(table, "Cu")
    assert (plain.count, plain.values.dtype, len(plain.below)) == (0, pl.Float64, 6)


def test_a_column_that_was_replaced_before_is_not_replaced_again(table: Table) -> None:
    half = Table(table.path, table.frame, qualifiers=table.qualifiers, substituted={"Au": "half"})
    assert numeric(half, "Au").to_list() == table.frame["Au"].to_list()
    assert censored_values(half, "Au").values.to_list()[:2] == [0.02, 0.5]
    assert "replaced before by method half" in notes_on(half, ["Au"])[0]
    zero = Table(table.path, table.frame, qualifiers=table.qualifiers, substituted={"Au": "zero"})
    with pytest.raises(ArgumentError, match="has zero for what is below a limit"):
        censored_values(zero, "Au")


def test_a_result_without_a_number_is_not_missing(table: Table) -> None:
    assert missing_count(table, "Au") == 1
    assert as_written(table, "Au").to_list() == ["<0.01", "0.5", ">10", "<", None, "0.01"]


def test_the_sentence_tells_counts_limits_share_and_rule(table: Table) -> None:
    assert notes_on(table, ["Cu", "Au"]) == [
        "Au: 1 below 0.01, 1 below a limit that is not given, 1 above 10 of 5 results (40 % below), half the limit "
        "(DL/2) used below, left out where no limit is given, the limit used above; with so many below a limit a mean "
        "or sd depends on the rule"
    ]


def test_many_columns_are_told_briefly() -> None:
    names = [f"e{i}" for i in range(40)]
    frame = pl.DataFrame({name: [1.0] for name in names} | {f"{name}_q": ["<"] for name in names})
    notes = notes_on(Table(Path("a.csv"), frame, qualifiers={name: f"{name}_q" for name in names}), names)
    assert len(notes) == 9
    assert notes[-1] == "32 more columns used hold results beyond a limit, likewise"


def test_a_column_is_selected_with_its_qualifiers(table: Table) -> None:
    assert with_qualifiers(table, ["Cu", "Au"]) == ["Cu", "Au", "Au_q"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("summarize", {"columns": ["Au"]}),
        ("correlate", {"columns": ["Au", "Cu"]}),
        ("cluster", {"columns": ["Au", "Cu"], "n_clusters": 2}),
        ("compute_anomaly", {"columns": ["Au"]}),
        ("reduce_dimensions", {"columns": ["Au", "Cu"]}),
        ("plot_histogram", {"column": "Au"}),
        ("plot_scatter", {"x": "Au", "y": "Cu"}),
        ("query_data", {"operation": "describe", "columns": ["Au"]}),
    ],
)
def test_every_tool_that_takes_a_censored_column_says_by_which_rule(
    context: ToolContext, write_rows: Callable[..., str], tool: str, arguments: dict[str, object]
) -> None:
    rows = [["<0.02" if i % 4 == 0 else 0.5 + i, i * i % 7, i] for i in range(12)]
    name = write_rows("t.csv", ["Au", "Cu", "id"], rows)
    found = run_tool(get_tool(tool), context, {"path": name, **arguments})
    sentence = "Au: 3 below 0.02 of 12 results (25 % below), half the limit (DL/2) used below"
    assert sum(sentence in note for note in found.notes) == 1
    clean = run_tool(get_tool("summarize"), context, {"path": name, "columns": ["Cu"]})
    assert not any("used below" in note for note in clean.notes)
