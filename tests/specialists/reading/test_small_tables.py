"""Two lines that are a table, and two that are a letter."""

from __future__ import annotations

import pytest

from outcrop_specialists.reading.row_likeness import is_small_table


@pytest.mark.parametrize(
    "text",
    [
        "name,grade\nKST-021,4.2",
        "name;grade\nKST-021;4.2\n",
        "name\tgrade\n\nKST-021\t4.2\n",
        "name|grade\nKST-021|4.2\nKST-022|4.3\n",
        'hole,"from depth",to\nA,1,2\n',
    ],
)
def test_a_header_and_a_row_are_a_table(text: str) -> None:
    assert is_small_table(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name,grade",
        "Dear Sam,\nOrder 12, please.",
        "Dear Sam,\n12, please.",
        "Monday, early\nTuesday, late",
        "one\n2",
        "We met at noon, as we said, and\nwent on",
        "Hello Sam, dear friend of mine\n12, 13",
        "a,b\n1,2\nAnd then we went home.",
    ],
)
def test_other_lines_are_text(text: str) -> None:
    assert not is_small_table(text)
