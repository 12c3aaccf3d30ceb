"""Types of columns: decided by every value, codes stay text, nothing is applied that is only suspected."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_specialists.reading.types import Typed, note_sentinels, sentinels_of, type_columns


def typed(*values: str | None, comma: bool = False) -> tuple[pl.Series, str]:
    found = type_columns([pl.Series("c", values, dtype=pl.String)], comma_decimals=comma)
    return found.columns[0], " / ".join(found.notes())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("1", "2", None), [1, 2, None]),
        ((" 2550.00", "1"), [2550.0, 1.0]),
        (("+1", "-2"), [1, -2]),
        ((".5", "5.", "1e-05", "1.5E10"), [0.5, 5.0, 1e-05, 1.5e10]),
        (("0.1", "0.2", "1e12"), [0.1, 0.2, 1e12]),
        (("9223372036854775807",), [9223372036854775807]),
    ],
)
def test_numbers_become_numbers(values: tuple[str | None, ...], expected: list[float | None]) -> None:
    assert typed(*values)[0].to_list() == expected
    assert typed(*values)[0].dtype.is_numeric()


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (("000837", "837"), "1 with leading zeros as in codes, first in data row 1"),
        (("0E0", "0E8", "12"), "2 with exponents as in codes, first in data row 1"),
        (("100", "12E4", "1E2", "1998E107"), "3 with exponents as in codes, first in data row 2"),
        (("9223372036854775808", "1"), "integers beyond 64 bits"),
        (("9007199254740993", "0.5"), "long integers beside decimals"),
        (("1.5E400", "1.0"), "beyond 64-bit floats"),
    ],
)
def test_numbers_that_may_be_codes_or_lose_digits_stay_text(values: tuple[str, ...], reason: str) -> None:
    column, notes = typed(*values)
    assert column.to_list() == list(values)
    assert reason in notes


def test_one_late_word_keeps_the_whole_column_text() -> None:
    column, notes = typed(*["1"] * 5000, "<5", "5 to 6")
    assert column.dtype == pl.String
    assert notes == (
        "kept as text though mostly numbers: 'c' (2 of 5002 values are not numbers, first in data row 5001; "
        "1 are beyond a detection limit)"
    )


def test_words_for_missing_are_counted_among_numbers() -> None:
    column, notes = typed("1", "NA", "N/A", "nan", "-", "", "None", "NA")
    assert column.to_list() == [1, None, None, None, None, None, None, None]
    assert notes == "read as missing: 'c' (2 × NA, 1 × N/A, 1 × nan, 1 × -, 1 × None)"


def test_na_is_missing_among_words_but_a_code_among_two_letter_codes() -> None:
    column, notes = typed("MALE", "NA", "FEMALE", None)
    assert column.to_list() == ["MALE", None, "FEMALE", None]
    assert notes == "read as missing: 'c' (1 × NA)"
    column, notes = typed("NA", "ZA", "NA", "AO")
    assert column.to_list() == ["NA", "ZA", "NA", "AO"]
    assert notes == "'NA' kept as a code beside other two-letter codes (it could also mean missing): 'c' 2"
    assert typed("M", "F", "NA")[0].to_list() == ["M", "F", None]


def test_the_word_none_stays_a_term_among_words() -> None:
    assert typed("None", "Weak", "Strong")[0].to_list() == ["None", "Weak", "Strong"]


def test_text_keeps_its_blanks() -> None:
    assert typed(" a", "b  c ", "   ")[0].to_list() == [" a", "b  c ", None]


def test_only_iso_dates_that_exist_become_dates() -> None:
    assert typed("2020-01-31", "NA", "2020-02-29")[0].dtype == pl.Date
    assert typed("2020-01-31", "2021-02-29")[0].dtype == pl.String
    assert typed("08.03.2019", "05.04.2019")[0].dtype == pl.String


def test_decimal_commas_are_read_where_they_can_be_nothing_else() -> None:
    column, notes = typed("1.234,5", "98,7", "45", comma=True)
    assert column.to_list() == [1234.5, 98.7, 45.0]
    assert notes == "decimal commas read as decimals: 'c'"
    assert typed("680971,416970065", comma=True)[0].to_list() == [680971.416970065]
    assert typed("0,125", comma=True)[0].to_list() == [0.125]


def test_a_comma_or_point_that_can_be_read_in_two_ways_leaves_text() -> None:
    column, notes = typed("1,234", "5,678", comma=True)
    assert column.to_list() == ["1,234", "5,678"]
    assert "decimals or thousands, first in data row 1" in notes
    both = [
        pl.Series("certain", ["1,5", "2"]),
        pl.Series("point", ["1.234", "2.500"]),
        pl.Series("comma", ["1,234", "2"]),
    ]
    found = type_columns(both, comma_decimals=True)
    assert [column.to_list() for column in found.columns] == [[1.5, 2.0], ["1.234", "2.500"], [1.234, 2.0]]


def test_decimal_commas_are_not_looked_for_in_comma_separated_files() -> None:
    assert typed("1,5", "2,5")[0].to_list() == ["1,5", "2,5"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, -99.0, -999.0, 4.0, 0.0], [(-999.0, 1), (-99.0, 1)]),
        ([-9, -9, 3], [(-9.0, 2)]),
        ([-9, -5, 3], []),
        ([-999.25, -12.0, 30.0], [(-999.25, 1)]),
        ([-9999, -2000, 3], []),
        ([-9], [(-9.0, 1)]),
        ([1, 2], []),
    ],
)
def test_fill_values_are_suspected_only_far_from_the_rest(
    values: list[float], expected: list[tuple[float, int]]
) -> None:
    assert sentinels_of(pl.Series("c", values)) == expected


def test_suspected_fill_values_are_never_applied() -> None:
    column = pl.Series("c", [1, -999])
    found = Typed([column])
    note_sentinels([column], found)
    assert found.columns[0].to_list() == [1, -999]
    assert found.notes() == [
        "SUSPECTED fill values, kept as numbers (remove them before computing): 'c' has -999 in 1 rows"
    ]


def test_notes_name_few_columns_and_count_the_others() -> None:
    found = type_columns([pl.Series(f"c{i}", ["1", "NA"]) for i in range(30)])
    assert found.notes() == [
        "read as missing: " + ", ".join(f"'c{i}' (1 × NA)" for i in range(8)) + " and 22 more columns"
    ]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_floats_written_by_python_come_back_bit_for_bit(values: list[float]) -> None:
    assert typed(*map(repr, values))[0].cast(pl.Float64).to_list() == values


@given(st.lists(st.text(alphabet="0123456789eE.+-, <NA", max_size=6), min_size=1, max_size=8))
def test_a_column_is_numeric_only_if_python_reads_every_value_the_same(values: list[str]) -> None:
    typing = type_columns([pl.Series("c", values, dtype=pl.String)])
    column = typing.columns[0]
    if not column.dtype.is_numeric():
        return
    signs = typing.columns[1].to_list() if typing.qualifiers else [""] * len(values)
    for text, found, sign in zip(values, column.to_list(), signs, strict=True):
        value = text.strip().strip("<") if sign else text
        assert bool(sign) == ("<" in text)
        if found is None:
            assert value.strip() in ("", "NA", "-", ".", "--")
        else:
            assert float(value) == found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("1,234", "12"), [1234, 12]),
        (("1,234", None, "1,234,567", "999"), [1234, None, 1234567, 999]),
        (("-1,234.5", "0.25"), [-1234.5, 0.25]),
    ],
)
def test_commas_that_separate_thousands_are_read_and_counted(values: tuple[str, ...], expected: list[float]) -> None:
    column, notes = typed(*values)
    assert column.to_list() == expected
    commas = sum("," in (value or "") for value in values)
    assert notes == f"commas read as separators of thousands: 'c' ({commas} values)"


@pytest.mark.parametrize("values", [("0,123", "5"), ("12,34", "5"), ("1,234", "1,23"), ("5", "1,2345"), ("01,234",)])
def test_commas_that_may_be_decimals_keep_a_column_text_with_a_note(values: tuple[str, ...]) -> None:
    column, notes = typed(*values)
    assert column.to_list() == list(values)
    assert "kept as text: 'c' (commas may mark decimals or thousands, first in data row" in notes


def test_where_commas_may_be_decimals_thousands_need_a_proof() -> None:
    assert typed("1,234.5", "7", comma=True)[0].to_list() == [1234.5, 7]
    assert typed("1,234", "7", comma=True)[0].to_list() == ["1,234", "7"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("2020-01-02T10:00:00", None), [datetime(2020, 1, 2, 10), None]),
        (("2020-01-02 10:00", "2020-01-03"), [datetime(2020, 1, 2, 10), datetime(2020, 1, 3)]),
        (("2020-01-02T10:00:00.25",), [datetime(2020, 1, 2, 10, 0, 0, 250_000)]),
        (("2020-01-02T10:00Z", "2020-01-02T10:00:00+05:30"),
         [datetime(2020, 1, 2, 10, tzinfo=UTC), datetime(2020, 1, 2, 4, 30, tzinfo=UTC)]),
        (("2020-01-02T10:00:00.000000+0100",), [datetime(2020, 1, 2, 9, tzinfo=UTC)]),
    ],
)  # fmt: skip
def test_timestamps_become_times(values: tuple[str, ...], expected: list[datetime]) -> None:
    column, notes = typed(*values)
    assert column.to_list() == expected
    assert ("times with a zone read as UTC" in notes) == any(v and v.tzinfo is not None for v in expected)


@pytest.mark.parametrize(
    "values",
    [("2020-01-02T10:00:00", "soon"), ("2020-02-30T10:00:00",), ("2020-01-02T10:00Z", "2020-01-02T10:00"), ("10:00",)],
)
def test_a_column_of_times_is_read_whole_or_not_at_all(values: tuple[str, ...]) -> None:
    assert typed(*values)[0].to_list() == list(values)


@given(st.lists(st.datetimes(), min_size=1), st.sampled_from(["T", " "]))
def test_times_that_python_writes_are_read_to_the_microsecond(times: list[datetime], separator: str) -> None:
    texts = [time.isoformat(separator) for time in times]
    assert typed(*texts)[0].to_list() == times
