"""A table that a tool wrote reads back as it was written, types, codes and units included."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.cleaning import filter_rows


def all_rows(context: ToolContext, name: str, column: str) -> str:
    """Write the table again, every row of it."""
    arguments = filter_rows.Arguments(path=name, column=column, operator="is_null", keep="others")
    return filter_rows.run(context, arguments).artifacts[0].path


def written(context: ToolContext, frame: pl.DataFrame) -> tuple[str, Table]:
    frame = frame.with_columns(pl.int_range(len(frame)).alias("row"))
    frame.write_parquet(context.workspace / "t.parquet")
    path = all_rows(context, "t.parquet", "row")
    return path, read_table(context, path)


def test_a_country_code_na_survives_every_step(context: ToolContext, write_file: Callable[[str, str], str]) -> None:
    name = write_file("c.csv", "id,country\n1,NA\n2,DE\n3,NA\n4,\n5,Namibia\n".replace("5,Namibia\n", ""))
    path = all_rows(context, all_rows(context, name, "id"), "id")
    assert read_table(context, path).frame["country"].to_list() == ["NA", "DE", "NA", None]
    only = filter_rows.Arguments(path=path, column="country", operator="==", value="NA")
    path = filter_rows.run(context, only).artifacts[0].path
    assert read_table(context, path).frame["country"].to_list() == ["NA", "NA"]


@pytest.mark.parametrize(
    "values",
    [
        ["007", "8", None],
        ["NA", "-", "null", "nan"],
        ["1E2", "12"],
        ["true", "false"],
        ["2020-01-01", None],
        [" a ", 'q"x', "l\ni", "a,b", "# c"],
        ["1,234", "5"],
        ["Total", "Total"],
        [None, None],
        [1.0, 2.0, 1e300, None],
        [1, None, 2**62],
        [True, None, False],
        [date(2020, 1, 1), None],
        [datetime(2020, 1, 1, 12, 0, 0, 5), None],
        [datetime(2020, 1, 1, 12, tzinfo=UTC), None],
    ],
)
def test_a_column_reads_back_as_it_was(context: ToolContext, values: list[object]) -> None:
    kind = pl.String if all(value is None or isinstance(value, str) for value in values) else None
    frame = pl.DataFrame({"v": pl.Series(values, dtype=kind)})
    found = written(context, frame)[1].frame.select("v")
    assert_frame_equal(found, frame)


def test_a_column_of_times_that_lacks_all_reads_back(context: ToolContext) -> None:
    frame = pl.DataFrame({"v": pl.Series([None, None], dtype=pl.Datetime("us", "UTC"))})
    assert_frame_equal(written(context, frame)[1].frame.select("v"), frame)


def test_units_survive(context: ToolContext, write_file: Callable[[str, str], str]) -> None:
    name = write_file("u.csv", "Sample,Depth,Au\n,m,g/t\nA1,1.5,0.2\nA2,3,0.4\n")
    assert read_table(context, all_rows(context, name, "Sample")).units == {"Depth": "m", "Au": "g/t"}


def test_names_that_look_like_data_and_units_that_look_like_rows_survive(
    context: ToolContext,
) -> None:
    frame = pl.DataFrame({"1990": ["ppm", "x"], "2": [1, 2], "#": ["m", "m"]})
    assert_frame_equal(written(context, frame)[1].frame.drop("row"), frame)


def test_fill_values_and_totals_are_still_suspected(context: ToolContext) -> None:
    notes = written(context, pl.DataFrame({"a": ["x", "y", "Total"], "v": [-999, 3, 3]}))[1].notes
    assert any("SUSPECTED fill values" in note for note in notes)
    assert "SUSPECTED total, kept as a row: data row 3, the last, begins 'Total'" in notes


def test_a_file_that_was_changed_is_read_as_any_other(context: ToolContext) -> None:
    path, table = written(context, pl.DataFrame({"v": ["007", "8"]}))
    table.path.write_text(table.path.read_text().replace("007", "7"))
    assert read_table(context, path).frame["v"].to_list() == [7, 8]


@pytest.mark.parametrize("columns", ['[{"name":"v","type":"Object"}]', "[3]", '[{"name":"w","type":"String"}]', "7"])
def test_a_record_that_does_not_fit_is_not_believed(context: ToolContext, columns: str) -> None:
    path, table = written(context, pl.DataFrame({"v": ["007", "8"]}))
    record = table.path.parent / ".lineage" / f"{table.path.name}.json"
    text = record.read_text()
    start = text.index('"columns":') + len('"columns":')
    record.write_text(text[:start] + columns + text[text.index("]", start) + 1 :])
    assert read_table(context, path).frame["v"].to_list() == ["007", "8"]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(st.characters(codec="utf-8"), min_size=1) | st.none(), min_size=1),
    data=st.data(),
)
def test_any_text_and_float_reads_back(context: ToolContext, texts: list[str | None], data: st.DataObject) -> None:
    floats = st.lists(st.floats(allow_nan=False) | st.none(), min_size=len(texts), max_size=len(texts))
    frame = pl.DataFrame({"t": texts, "f": data.draw(floats)}, schema={"t": pl.String, "f": pl.Float64})
    assert_frame_equal(written(context, frame)[1].frame.drop("row"), frame, check_exact=True)
