"""convert_types: numbers, text, dates and true/false, and what could not be converted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.tools.base import ToolResult
from outcrop_specialists.tools.cleaning.dates import dates_of, fitting_orders

Made = Callable[..., tuple[pl.DataFrame, ToolResult]]


WriteFrame = Callable[[str, pl.DataFrame], str]


@pytest.mark.parametrize(
    ("values", "to", "expected"),
    [
        (["1", " 2.5 ", "+3", None], "number", [1.0, 2.5, 3.0, None]),
        (["1", "2"], "number", [1, 2]),
        ([1.0, 2.0, None], "integer", [1, 2, None]),
        ([34873.0, 7.0], "text", ["34873", "7"]),
        ([0.1, 7.0], "text", ["0.1", "7.0"]),
        ([True, False], "number", [1, 0]),
        (["Yes", "n", "TRUE", None], "boolean", [True, False, True, None]),
        ([1, 0], "boolean", [True, False]),
        (["2020-01-31", None], "date", [date(2020, 1, 31), None]),
        ([datetime(2020, 1, 31, 12)], "date", [date(2020, 1, 31)]),
    ],
)
def test_values_are_converted(
    made: Made, write_frame: WriteFrame, values: list[Any], to: str, expected: list[Any]
) -> None:
    name = write_frame("t.parquet", pl.DataFrame({"v": values, "other": ["k"] * len(values)}))
    frame, found = made("convert_types", path=name, columns=["v"], to=to)
    assert frame["v"].to_list() == expected
    assert found.results["became_missing"] == 0


def test_what_cannot_be_converted_is_counted_and_too_much_is_refused(made: Made, write_frame: WriteFrame) -> None:
    name = write_frame("t.parquet", pl.DataFrame({"v": ["1", "<0.01", "1,5", "x"]}))
    with pytest.raises(
        ArgumentError, match=r"3 of 4 values of 'v'.* first in data row 2.*parse_detection_limits.*fix_decimals"
    ):
        made("convert_types", path=name, columns=["v"], to="number")
    frame, found = made("convert_types", path=name, columns=["v"], to="number", max_missing_share=0.75)
    assert frame["v"].to_list() == [1, None, None, None]
    assert found.results["columns"]["v"]["became_missing"] == 3
    assert any("became missing: v 3" in note for note in found.notes)


def test_leading_zeros_that_are_lost_are_said(made: Made, write_frame: WriteFrame) -> None:
    name = write_frame("t.parquet", pl.DataFrame({"v": ["007", "12"]}))
    _, found = made("convert_types", path=name, columns=["v"], to="integer")
    assert any("1 values lose leading zeros" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("2/1/2020", "DMY", date(2020, 1, 2)),
        ("2/1/2020", "MDY", date(2020, 2, 1)),
        ("2.1.2020 13:45", "DMY", date(2020, 1, 2)),
        ("02-Jan-2020", "DMY", date(2020, 1, 2)),
        ("January 2, 2020", "MDY", date(2020, 1, 2)),
        ("2020/1/2", "YMD", date(2020, 1, 2)),
        ("20200102", "YMD", date(2020, 1, 2)),
        ("2/1/99", "DMY", date(1999, 1, 2)),
        ("2/1/05", "DMY", date(2005, 1, 2)),
        ("31/2/2020", "DMY", None),
        ("13/13/2020", "DMY", None),
        ("2020", "YMD", None),
        ("tomorrow", "DMY", None),
        ("43832", "excel_serial", date(2020, 1, 2)),
    ],
)
def test_dates_are_read_in_the_order_that_is_said(text: str, order: Any, expected: date | None) -> None:
    assert dates_of(pl.Series("d", [text]), order).values.item() == expected


def test_dates_need_an_order_and_it_is_said_which_ones_fit(made: Made, write_frame: WriteFrame) -> None:
    name = write_frame("t.parquet", pl.DataFrame({"d": ["1/2/2020", "3/4/2020"], "e": ["1/13/2020", "2/2/2020"]}))
    with pytest.raises(ArgumentError, match="fits DMY and MDY") as caught:
        made("convert_types", path=name, columns=["d"], to="date")
    assert caught.value.field == "date_order"
    with pytest.raises(ArgumentError, match="fits MDY"):
        made("convert_types", path=name, columns=["e"], to="date")
    frame, _ = made("convert_types", path=name, columns=["d", "e"], to="date", date_order="MDY")
    assert frame["e"].to_list() == [date(2020, 1, 13), date(2020, 2, 2)]


@given(day=st.dates(date(1970, 1, 1), date(2068, 12, 31)), order=st.sampled_from(["DMY", "MDY", "YMD"]))
def test_any_date_is_read_back_in_its_order(day: date, order: Any) -> None:
    form = {"DMY": "%d/%m/%Y", "MDY": "%m-%d-%Y", "YMD": "%Y.%m.%d"}[order]
    column = pl.Series("d", [day.strftime(form)])
    assert dates_of(column, order).values.item() == day
    assert order in fitting_orders(column)
