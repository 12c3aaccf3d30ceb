"""Columns of results: numbers with a qualifier column, read whole or left as text."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_specialists.columns.choice import numeric, numeric_columns
from outcrop_specialists.reading.suspects import note_suspects
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.reading.types import Typed, type_columns
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.cleaning import filter_rows


def typed(*values: str | None, comma: bool = False, unit: str | None = None) -> Typed:
    column = pl.Series("Au", values, dtype=pl.String)
    return type_columns([column], comma_decimals=comma, units={"Au": unit} if unit else None)


@pytest.mark.parametrize(
    ("values", "numbers", "signs"),
    [
        (("<0.01", "0.5", ">10", None), [0.01, 0.5, 10, None], ["<", "", ">", ""]),
        (("< 0.01 ppm", "0.01<", "5"), [0.01, 0.01, 5], ["<", "<", ""]),
        (("bdl", "0.5", "nd", "<LOD", "2"), [None, 0.5, None, None, 2], ["<", "", "<", "<", ""]),
        (("~3", "ca. 4", "5"), [3, 4, 5], ["~", "~", ""]),
        (("<1,5", "0,25", "2"), [1.5, 0.25, 2], ["<", "", ""]),
        ((">10,000.0", "2,500.5"), [10000, 2500.5], [">", ""]),
        (("<1,000", "2,500"), [1000, 2500], ["<", ""]),
        (("<5", "<5"), [5, 5], ["<", "<"]),
        (("<0.01", "-0.01", "-0.02", "3"), [0.01, 0.01, -0.02, 3], ["<", "<", "", ""]),
        (("<1", "NA", "3"), [1, None, 3], ["<", "", ""]),
    ],
)
def test_results_become_numbers_with_their_qualifiers(
    values: tuple[str | None, ...], numbers: list[float | None], signs: list[str]
) -> None:
    found = typed(*values)
    assert [column.name for column in found.columns] == ["Au", "Au_q"]
    assert found.columns[0].dtype == pl.Float64
    assert found.columns[0].to_list() == numbers
    assert found.columns[1].to_list() == signs
    assert found.qualifiers == {"Au": "Au_q"}


@pytest.mark.parametrize(
    "values",
    [
        ("<5", "5 to 10", ">10"),
        ("<0.01", "0.5", "see note"),
        ("<007", "5"),
        ("<0", "5"),
        ("nd", "sd", "tx"),
        ("nd", "nd"),
        ("<1E2", "5"),
        ("<1A", "5"),
    ],
)
def test_a_column_with_something_else_or_a_doubtful_limit_stays_text(values: tuple[str, ...]) -> None:
    found = typed(*values)
    assert [column.to_list() for column in found.columns] == [list(values)]
    assert found.qualifiers == {}


def test_decimal_commas_and_limits_go_together_where_fields_are_not_separated_by_commas() -> None:
    found = typed("<0,5", "1.234,5", "7", comma=True)
    assert found.columns[0].to_list() == [0.5, 1234.5, 7]
    assert typed("<0,005", "12", comma=True).columns[0].to_list() == [0.005, 12]


def test_a_limit_in_another_unit_than_the_column_keeps_it_text() -> None:
    assert typed("<10 ppb", "0.5", unit="ppm").qualifiers == {}
    assert typed("<10 g/t", "0.5", unit="ppm").qualifiers == {"Au": "Au_q"}


def test_the_note_counts_what_lies_beyond_which_limit() -> None:
    found = typed("<0.01", "<0.02", "bdl", ">10", "-5", "3")
    (note,) = found.notes()
    assert note == (
        "results beyond a limit read as the limit, with a qualifier column beside: 'Au' (2 below 0.01, 0.02, 1 below "
        "a limit that is not given, 1 above 10)"
    )
    note_suspects(found, {})
    assert found.notes()[-1].startswith("SUSPECTED results below a limit written as negative numbers")
    assert found.notes()[-1].endswith("'Au' has 1 (-5)")


def test_a_name_that_is_taken_is_not_used_for_qualifiers() -> None:
    found = type_columns([pl.Series("Au", ["<1", "2"]), pl.Series("Au_q", ["a", "b"])])
    assert [column.name for column in found.columns] == ["Au", "Au_q_", "Au_q"]
    assert found.qualifiers == {"Au": "Au_q_"}


RESULT = st.floats(1e-3, 1e3).map(lambda number: (repr(number), number, ""))
BELOW = st.floats(1e-3, 1e3).map(lambda number: (f"<{number!r}", number, "<"))
ABOVE = st.floats(1e-3, 1e3).map(lambda number: (f"> {number!r}", number, ">"))


@given(st.lists(RESULT | BELOW | ABOVE, min_size=1, max_size=20))
def test_every_result_is_read_as_written(cells: list[tuple[str, float, str]]) -> None:
    found = typed(*(text for text, *_ in cells))
    assert found.columns[0].to_list() == [number for _, number, _ in cells]
    if any(sign for *_, sign in cells):
        assert found.columns[1].to_list() == [sign for *_, sign in cells]


def test_a_derived_table_reads_back_with_its_qualifiers(context: ToolContext, write_rows: Callable[..., str]) -> None:
    name = write_rows("t.csv", ["id", "Au_ppm"], [[1, "<0.01"], [2, "0.5"], [3, "bdl"], [4, ""]])
    first = read_table(context, name)
    found = filter_rows.run(context, filter_rows.Arguments(path=name, column="id", operator="<", value=4))
    again = read_table(context, found.artifacts[0].path)
    assert again.frame.equals(first.frame.head(3))
    assert again.qualifiers == first.qualifiers == {"Au_ppm": "Au_ppm_q"}
    assert numeric_columns(again) == ["id", "Au_ppm"]
    assert numeric(again, "Au_ppm").to_list() == [0.005, 0.5, None]
