"""JSON as it is read: integers keep all their digits, wherever they stand."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outcrop_schemas import wire


@given(
    some.lists(
        some.one_of(some.integers(-(10**40), 10**40), some.text(), some.floats(allow_nan=False, allow_infinity=False))
    )
)
def test_what_is_read_is_what_the_standard_library_reads(values: list[object]) -> None:
    assert wire.loads(json.dumps(values)) == values
    assert wire.loads(wire.dumps(values)) == values


@pytest.mark.parametrize("before", [0, 1, (1 << 16) - 20, (1 << 16) - 10, 1 << 16, 3 << 16])
def test_long_integers_keep_their_digits_wherever_a_text_is_looked_through(before: int) -> None:
    assert wire.loads(b"[" + b" " * before + b"18446744073709551617]") == [18446744073709551617]
