"""The shortcut for plain numbers gives what the full rules give, or passes the column on to them."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from outcrop_specialists.reading import plain, types

CELL = st.one_of(
    st.none(),
    st.text(alphabet="0123456789eE.+- ,_xNAinf\t", max_size=6),
    st.floats(allow_nan=False).map(repr),
    st.integers(-(2**70), 2**70).map(str),
    st.sampled_from(["", " ", "-0", "00", "0.0", "9007199254740993", "1e999", "nan", "inf", "٣", "5.", ".5", "+5"]),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(CELL, max_size=6), semicolons=st.booleans())
@example(values=["9007199254740993", "0.5"], semicolons=False)
@example(values=[None, ""], semicolons=False)
def test_types_and_notes_are_the_same_with_and_without_the_shortcut(
    monkeypatch: pytest.MonkeyPatch, values: list[str | None], semicolons: bool
) -> None:
    column = pl.Series("c", values, dtype=pl.String)
    quick = types.type_columns([column], comma_decimals=semicolons)
    with monkeypatch.context() as patched:
        patched.setattr(types, "plain_numbers", lambda column, exact_float: None)
        full = types.type_columns([column], comma_decimals=semicolons)
    assert [each.dtype for each in quick.columns] == [each.dtype for each in full.columns]
    assert all(one.equals(other, null_equal=True) for one, other in zip(quick.columns, full.columns, strict=True))
    assert quick.notes() == full.notes()
    assert quick.qualifiers == full.qualifiers


def test_work_done_ahead_keeps_its_order_and_raises_what_went_wrong() -> None:
    assert list(plain.ahead(lambda n: n * n, range(50))) == [n * n for n in range(50)]
    with pytest.raises(ZeroDivisionError):
        list(plain.ahead(lambda n: 1 // n, [2, 1, 0]))


@given(
    values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=9),
    spoilt=st.sampled_from(["", "+", "0", "-0"]),
)
def test_integers_are_known_to_be_plain_by_the_length_of_their_texts(values: list[int], spoilt: str) -> None:
    texts = [str(value) for value in values]
    if spoilt:
        texts[0] = "-0" if spoilt == "-0" else f"{spoilt}{abs(values[0])}"
    column = pl.Series("c", [*texts, None, ""])
    numbers = column.cast(pl.Int64, strict=False)
    # What is beyond 64 bits never comes that far: `+9223372036854775808` is no Int64.
    assert numbers.null_count() > 2 or plain._are_shortest(column, numbers) is (not spoilt)


LOOKS = [
    "12",
    "1,234",
    "1.234,5",
    "12/03/2020",
    "2020-03-12",
    "2020/03/12",
    "12 mar 2020",
    "<0.01",
    "12.5 m",
    "1 234",
    "-7",
]
TO_ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


@given(
    values=st.lists(st.tuples(st.sampled_from(LOOKS), st.booleans()), min_size=1, max_size=6),
    semicolons=st.booleans(),
)
def test_digits_of_other_scripts_are_text_and_break_nothing(values: list[tuple[str, bool]], semicolons: bool) -> None:
    texts = [text.translate(TO_ARABIC) if is_foreign else text for text, is_foreign in values]
    found = types.type_columns([pl.Series("c", texts)], comma_decimals=semicolons).columns[0]
    if any(is_foreign for _, is_foreign in values):
        assert found.dtype == pl.String
        assert found.to_list() == texts
