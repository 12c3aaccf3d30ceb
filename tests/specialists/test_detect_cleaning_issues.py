"""The tool that finds what is to be cleaned."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.cleaning.standardize_terms import standardize
from outcrop_specialists.tools.inspection.cleaning_issues import duplicate_rows, outliers, term_variants
from outcrop_specialists.tools.inspection.detect_cleaning_issues import Arguments, run

HEADER = ["id", "Au_ppm", "Zn_ppm", "rain", "rock", "same"]
ROWS = [
    ["s1", "<0.01", 5, 2.0, "Shale", "x"],
    ["s2", ">10", -1, -999, "shale", "x"],
    ["s3", "bdl", 6, 4.0, "Shale", "x"],
    ["s4", "0.5", 7, 0.5, " Shale", "x"],
    ["s5", "lost", 900, 1.0, "sand", "x"],
    ["s6", "", 6, 1.5, "sand", "x"],
    ["s6", "", 6, 1.5, "sand", "x"],
]


def test_every_kind_of_issue_is_counted(context: ToolContext, write_rows: Callable[..., str]) -> None:
    found = run(context, Arguments(path=write_rows("t.csv", HEADER, ROWS)))
    issues = {column.pop("name"): column for column in found.results["columns"]}
    assert issues["Au_ppm"] == {
        "type": "text",
        "missing": 2,
        "censored_below": 1,
        "censored_above": 1,
        "censored_without_limit": 1,
        "not_numbers": 1,
    }
    assert (issues["Zn_ppm"]["negative"], issues["Zn_ppm"]["outliers_low"], issues["Zn_ppm"]["outliers_high"]) == (
        1,
        1,
        1,
    )
    assert (issues["rain"]["suspected_fill_values"], issues["rain"]["fill_values"]) == (1, [-999.0])
    assert (issues["rock"]["term_variants"], issues["rock"]["untrimmed"]) == (2, 1)
    assert issues["same"] == {"type": "text", "constant": True}
    assert "id" not in issues
    assert found.results["duplicate_rows"] == 1


def test_the_report_holds_all_columns_and_the_answer_20(context: ToolContext, write_rows: Callable[..., str]) -> None:
    name = write_rows("w.csv", ["k", *(f"c{i}" for i in range(30))], [["a", *[None] * 30], ["b", *range(30)]])
    found = run(context, Arguments(path=name))
    assert (len(found.results["columns"]), found.results["columns_with_issues"]) == (20, 30)
    (artifact,) = found.artifacts
    assert artifact.kind == "report"
    report = json.loads((context.workspace / artifact.path).read_text("utf-8"))
    assert len(report["columns"]) == 31
    assert report["columns"][5] == {"name": "c4", "type": "integer", "missing": 1, "one_value": True}


def test_only_the_named_columns_are_checked(context: ToolContext, write_rows: Callable[..., str]) -> None:
    found = run(context, Arguments(path=write_rows("t.csv", HEADER, ROWS), columns=["Zn_ppm"]))
    assert [column["name"] for column in found.results["columns"]] == ["Zn_ppm"]


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=40))
def test_outliers_equal_numpy(values: list[int]) -> None:
    first, third = np.quantile(values, [0.25, 0.75])
    reach = 1.5 * (third - first)
    found = outliers(pl.Series(values))
    assert found.get("outliers_low", 0) == sum(value < first - reach for value in values)
    assert found.get("outliers_high", 0) == sum(value > third + reach for value in values)
    if found:
        assert found["fences"] == pytest.approx([first - reach, third + reach])


def test_variants_are_values_not_in_the_commonest_spelling() -> None:
    column = pl.Series(["a", "A", "a", "b  c", "B C", "b c", "b c", "d", None])
    assert term_variants(pl.Series([" x", "x y", "z"])) == {"untrimmed": 1}
    assert term_variants(column) == {
        "double_blanks": 1,
        "term_variants": 3,
        "spellings": {"a": ["A"], "b c": ["B C", "b  c"]},
    }


def test_the_spelling_kept_is_the_one_that_standardize_terms_makes() -> None:
    # Both are there twice, so the first of the file is kept; and without its needless blanks.
    texts = [" lime  stone", "LIMESTONE", "Limestone", "Lime Stone", "limestone", "Lime Stone", "lime stone "]
    spellings = term_variants(pl.Series(texts))["spellings"]
    assert spellings == {
        "lime stone": [" lime  stone", "Lime Stone", "lime stone "],
        "LIMESTONE": ["Limestone", "limestone"],
    }
    made = standardize([(text, texts.count(text)) for text in dict.fromkeys(texts)], "keep", {}).final
    assert {other: kept for kept, others in spellings.items() for other in others}.items() <= made.items()


def test_repeated_rows_are_those_after_the_first() -> None:
    assert duplicate_rows(pl.DataFrame({"a": [1, 1, 1, 2], "b": [None, None, None, 3]})) == 2


@pytest.mark.parametrize("kind", [pl.Int8, pl.Int64, pl.UInt8, pl.UInt64, pl.Float64])
def test_fill_values_are_found_among_numbers_of_any_type(context: ToolContext, kind: type[pl.DataType]) -> None:
    is_unsigned = kind in (pl.UInt8, pl.UInt64)
    fill = 99 if is_unsigned else -99
    frame = pl.DataFrame({"x": ["a", "b", "c"], "Au": pl.Series([1, fill, 3], dtype=kind)})
    frame.write_parquet(context.workspace / "t.parquet")
    found = run(context, Arguments(path="t.parquet")).results["columns"]
    fills = [(column["suspected_fill_values"], column["fill_values"]) for column in found if "fill_values" in column]
    assert fills == ([] if is_unsigned else [(1, [-99.0])])


def test_an_integer_column_of_a_text_file_may_hold_a_fill_value(
    context: ToolContext, write_file: Callable[[str, str], str]
) -> None:
    found = run(context, Arguments(path=write_file("t.csv", "x,Au\n1,-999\n2,5\n3,6\n")))
    (column,) = (each for each in found.results["columns"] if each["name"] == "Au")
    assert column["fill_values"] == [-999]


def test_spellings_shown_are_few_and_short(context: ToolContext, write_rows: Callable[..., str]) -> None:
    rows = [[f"{i} {'x' * 100}{blanks}"] for i in range(30) for blanks in ("", " ", "  ", "   ", "    ", "     ")]
    (column,) = run(context, Arguments(path=write_rows("t.csv", ["rock"], rows))).results["columns"]
    shown = [text for kept, others in column["spellings"].items() for text in (kept, *others)]
    assert len(shown) <= 25
    assert max(map(len, shown)) <= 60
