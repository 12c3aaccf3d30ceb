"""Previews are bounded whatever the table holds."""

from __future__ import annotations

import json

import polars as pl
import regex
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas import limits
from outcrop_specialists.tools.inspection.preview import cell, cut, preview


def test_never_more_than_20_rows_40_columns_and_200_characters() -> None:
    frame = pl.DataFrame({f"c{i}": ["x" * 1000] * 100 for i in range(100)})
    shown = preview(frame, 1_000_000)
    assert len(shown["rows"]) == limits.PREVIEW_ROWS == 20
    assert len(shown["columns"]) == len(shown["rows"][0]) == limits.PREVIEW_COLUMNS == 40
    assert shown["more_columns"] == 60
    assert shown["rows"][0][0] == "x" * 199 + "…"


def test_cells_are_json_with_numbers_as_they_are() -> None:
    values = [1, 0.1, None, True, float("nan"), float("inf"), "ä"]
    assert [cell(value) for value in values] == [1, 0.1, None, True, None, "inf", "ä"]
    assert json.loads(json.dumps(preview(pl.DataFrame({"a": [0.1 + 0.2]}), 5)))["rows"] == [[0.30000000000000004]]


@given(st.text(max_size=60), st.integers(2, 30))
def test_text_is_cut_between_graphemes(text: str, most: int) -> None:
    short = cut(text, most)
    assert len(short) <= most
    if short == text:
        return
    graphemes = regex.findall(r"\X", text)
    assert short[:-1] in {"".join(graphemes[:count]) for count in range(len(graphemes))}


def test_a_family_is_not_torn_apart() -> None:
    family = "👨‍👩‍👧‍👦"
    assert cut("ab" + family + "c" * 10, 8) == "ab…"
