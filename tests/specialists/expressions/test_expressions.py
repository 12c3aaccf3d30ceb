"""Expressions over a table: the same meaning as polars, and nothing that is not allowed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError
from outcrop_specialists.columns import censoring
from outcrop_specialists.expressions.computing import compute, rows_where
from outcrop_specialists.reading.tables import Table

FRAME = pl.DataFrame(
    {
        "GR": [10.0, 20.0, 30.0, None],
        "In": [1, 2, 0, 4],
        "Cu %": [1.0, 2.0, 0.0, 3.0],
        "rock": ["schist", "Schist ", "gneiss", None],
        "hole": ["007", "34873", "A1", "34873"],
        "day": [date(2020, 1, 31), date(2021, 6, 1), None, date(2019, 12, 31)],
        "at": [datetime(2020, 1, 1, 12), None, datetime(2020, 1, 2), datetime(2020, 1, 1)],
        "ok": [True, False, None, True],
        "^.*$": [1, 2, 3, 4],
    }
)
TABLE = Table(Path("t.csv"), FRAME)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("clip((GR - percentile(GR, 5)) / (percentile(GR, 95) - percentile(GR, 5)), 0, 1)", [0.0, 0.5, 1.0, None]),
        ("-2 ** 2", [-4.0] * 4),
        ("2 ** -1", [0.5] * 4),
        ("2 ** 3 ** 2", [512.0] * 4),
        ("7 - 2 - 1", [4] * 4),
        ("7 / 2", [3.5] * 4),
        ("-7 // 2", [-4] * 4),
        ("-7 % 3", [2] * 4),
        ("gr + 1", [11.0, 21.0, 31.0, None]),
        ("`Cu %` * 2", [2.0, 4.0, 0.0, 6.0]),
        ('col("Cu %") * 2', [2.0, 4.0, 0.0, 6.0]),
        ("`^.*$` + 1", [2, 3, 4, 5]),
        ("1 < In <= 2", [False, True, False, False]),
        ("GR between 10 and 20", [True, True, False, None]),
        ("between(GR, 10, 20)", [True, True, False, None]),
        ("GR not between 10 and 20", [False, False, True, None]),
        ("GR is null", [False, False, False, True]),
        ("GR IS NOT NULL", [True, True, True, False]),
        ("is_null(GR) or In == 0", [False, False, True, True]),
        ("GR not in (10, 20.0)", [False, False, True, None]),
        ("In in [1, -2, 4]", [True, False, False, True]),
        ("not ok", [False, True, None, False]),
        ("ok and GR > 100", [False, False, False, None]),
        ("ok or GR > 5", [True, True, True, True]),
        ("rock == 'schist'", [True, False, False, None]),
        ("rock in ('schist', 'gneiss')", [True, False, True, None]),
        ("rock contains 'chist'", [True, True, False, None]),
        ("starts_with(lower(strip(rock)), 'sch')", [True, True, False, None]),
        ("contains(rock, '.')", [False, False, False, None]),
        ("hole + '-' + upper(rock)", ["007-SCHIST", "34873-SCHIST ", "A1-GNEISS", None]),
        ("hole == '34873'", [False, True, False, True]),
        ("year(day) * 100 + month(day)", [202001, 202106, None, 201912]),
        ("day >= '2020-01-31'", [True, True, None, False]),
        ("day - '2020-01-01'", [30.0, 517.0, None, -1.0]),
        ("at > day", [False, None, None, True]),
        ("at == '2020-01-01T12:00'", [True, None, False, False]),
        ("if_else(GR > 15, 'high', 'low')", ["low", "high", "high", None]),
        ("if_else(In == 0, null, In)", [1, 2, None, 4]),
        ("coalesce(GR, In)", [10.0, 20.0, 30.0, 4.0]),
        ("min(GR, In)", [1.0, 2.0, 0.0, 4.0]),
        ("max(GR) - min(GR)", [20.0] * 4),
        ("mean(GR) + median(GR) + std(GR) + sum(In)", [57.0] * 4),
        ("round(In / 8, 1)", [0.1, 0.2, 0.0, 0.5]),
        ("abs(-In)", [1, 2, 0, 4]),
    ],
)
def test_an_expression_has_the_value_that_it_says(text: str, expected: list[Any]) -> None:
    assert compute(TABLE, text).values.to_list() == expected


@pytest.mark.parametrize(
    ("text", "expected", "label"),
    [
        ("GR / In", [10.0, 10.0, None, None], "division by zero at character 4"),
        ("In // 0", [None] * 4, "division by zero at character 4"),
        ("5.0 % In", [0.0, 1.0, None, 1.0], "division by zero at character 5"),
        ("log(`Cu %`) > 0", [False, True, None, True], "log of zero or less at character 1"),
        ("sqrt(In - 1)", [0.0, 1.0, None, 3**0.5], "sqrt of a negative number at character 1"),
        ("In ** -1", [1.0, 0.5, None, 0.25], "power that is not defined at character 4"),
        ("exp(In * 1000)", [None, None, 1.0, None], "result beyond 64-bit floats"),
    ],
)
def test_what_is_not_defined_is_missing_and_counted(text: str, expected: list[Any], label: str) -> None:
    found = compute(TABLE, text)
    assert found.values.to_list() == expected
    missing_before = sum(value is None for value in expected) - (text == "GR / In")
    assert found.undefined == {label: missing_before}
    assert f"{missing_before} rows: {label}; missing there" in found.notes


def test_a_condition_on_what_is_not_defined_is_not_met() -> None:
    mask, notes = rows_where(TABLE, "GR / In > 0")
    assert mask.to_list() == [True, True, False, False]
    assert "1 rows: division by zero at character 4; missing there" in notes
    assert "2 rows for which missing values leave the condition unknown are left out" in notes


def test_text_that_nearly_matches_is_counted() -> None:
    assert any(
        note.startswith("1 rows: 'rock' differs only in case") for note in compute(TABLE, "rock == 'schist'").notes
    )
    assert any("fails for letter case only" in note for note in compute(TABLE, "rock contains 'SCH'").notes)


def test_integers_that_could_leave_64_bits_are_computed_with_floats_and_it_is_said() -> None:
    table = Table(Path("b.csv"), pl.DataFrame({"n": [2**62, 3], "u": pl.Series([1, 2], dtype=pl.UInt8)}))
    found = compute(table, "n * 4")
    assert found.values.to_list() == [2.0**64, 12.0]
    assert any("64-bit floats" in note for note in found.notes)
    assert compute(table, "n + 1").values.to_list() == [2**62 + 1, 4]
    assert compute(table, "u - 2").values.to_list() == [-1, 0]


def test_results_beyond_a_limit_are_taken_by_their_one_rule() -> None:
    frame = pl.DataFrame({"Au": [0.01, 0.5, 10.0], "Au_q": ["<", "", ">"]})
    table = Table(Path("c.csv"), frame, qualifiers={"Au": "Au_q"})
    with censoring.noted() as sentences:
        assert compute(table, "Au * 2").values.to_list() == [0.01, 1.0, 20.0]
    assert any("half the limit (DL/2)" in sentence for sentence in sentences)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("rock > 5", 6, "text (column 'rock') is compared with a number"),
        ("hole == 34873", 6, "in quotes to compare text"),
        ("GR == '10'", 4, "without quotes"),
        ("rock < 'b'", 6, "by the alphabet"),
        ("rock in (1, 2)", 10, "is compared with a number"),
        ("rock + 1", 1, "convert_types"),
        ("GR + ok", 6, "true or false"),
        ("if_else(GR, 1, 2)", 9, "compare it with something"),
        ("if_else(ok, 1, 'a')", 1, "mixes a number and text"),
        ("GR == null", 4, "is null"),
        ("GR = 5", 4, "write == to compare"),
        ("GR & ok", 4, "write and"),
        ("Rg + 1", 1, "closest"),
        ("day > 'soon'", 7, "YYYY-MM-DD"),
        ("percentile(GR, 101)", 16, "0 to 100"),
        ("clip(GR)", 1, "clip(number, low, high)"),
        ("2x > 1", 1, "backticks"),
        ("GR > 1 in (1)", 8, "join them with and"),
        ("(GR + 1", 8, "because of ( at character 1"),
        ("'open", 1, "not closed"),
        ("contains(rock, hole)", 16, "text in quotes"),
    ],
)
def test_an_error_names_the_place_and_what_is_allowed(text: str, place: int, reason: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        compute(TABLE, text)
    assert caught.value.field == "expression"
    where = "at its end" if place > len(text) else f"at character {place},"
    assert where in caught.value.reason
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('id')",
        "eval('1')",
        "exec('x = 1')",
        "open('/etc/passwd')",
        "().__class__.__bases__[0]",
        "GR.__class__",
        "rock.str.contains('a')",
        "pl.read_csv('x')",
        "np.load('x')",
        "lambda: 1",
        "(lambda x: x)(1)",
        "[GR for GR in (1, 2)]",
        "{'a': 1}",
        "GR if ok else 1",
        "GR; In",
        "GR\nimport os",
        "f'{GR}'",
        "x := 1",
        "GR, In",
        "*GR",
        "@GR",
        "$GR",
        "#GR",
        "9 ** 9999",
        "9 ** 9 ** 9999999",
        "1e999",
        "99999999999999999999",
        "(" * 150 + "1" + ")" * 150,
        "-" * 500 + "1",
        "not " * 300 + "ok",
        "+".join(["GR"] * 300),
        "+".join(["1"] * 999),
        "x" * (limits.EXPRESSION_CHARS + 1),
        "getattr(GR, 'a')",
        "contains(rock, '" + "a" * 10 + "', 'b')",
        "rock in ()",
        "null",
        "\\x41",
        "GR \x00 1",
        "if_else(true, GR)",
        "   ",
    ],
)
def test_what_is_not_an_allowed_expression_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError):
        compute(TABLE, text)


def test_a_long_sum_and_a_long_list_are_allowed() -> None:
    assert compute(TABLE, "+".join(["In"] * 100)).values.to_list() == [100, 200, 0, 400]
    listed = ",".join(map(str, range(400)))
    assert rows_where(TABLE, f"In in ({listed})")[0].to_list() == [True] * 4


def test_a_number_is_no_condition() -> None:
    with pytest.raises(ArgumentError, match="not a condition"):
        rows_where(TABLE, "GR + 1")


# --- random expressions, each built twice: as text, and with plain polars ---------------------------------------------
NUMBERS = pl.DataFrame(
    {
        "a": [1.5, -2.0, None, 0.0, 7.25, 3.0],
        "b": [3, -4, 0, None, 9, 3],
        "p": [0.5, 1.0, 2.0, 8.0, 0.25, 3.0],
    }
)
Built = tuple[str, pl.Expr]
BINARY: dict[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
COMPARE: dict[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def number_of(leaf: float | str) -> Built:
    return (leaf, pl.col(leaf)) if isinstance(leaf, str) else (repr(leaf), pl.lit(leaf))


def grown(inner: st.SearchStrategy[Built]) -> st.SearchStrategy[Built]:
    return st.one_of(
        st.tuples(st.sampled_from(sorted(BINARY)), inner, inner).map(
            lambda t: (f"({t[1][0]} {t[0]} {t[2][0]})", BINARY[t[0]](t[1][1], t[2][1]))
        ),
        inner.map(lambda t: (f"({t[0]} / p)", t[1].cast(pl.Float64) / pl.col("p"))),
        inner.map(lambda t: (f"(-{t[0]})", -t[1])),
        inner.map(lambda t: (f"abs({t[0]})", t[1].abs())),
        inner.map(lambda t: (f"log1p(abs({t[0]}))", t[1].cast(pl.Float64).abs().log1p())),
        inner.map(lambda t: (f"sqrt(abs({t[0]}))", t[1].cast(pl.Float64).abs().sqrt())),
        inner.map(lambda t: (f"({t[0]} // 3)", t[1] // 3)),
        inner.map(lambda t: (f"({t[0]} % 3)", t[1] % 3)),
        inner.map(lambda t: (f"clip({t[0]}, -5, 5)", t[1].cast(pl.Float64).clip(-5.0, 5.0))),
        inner.map(lambda t: (f"mean({t[0]})", t[1].mean())),
        inner.map(lambda t: (f"percentile({t[0]}, 30)", t[1].cast(pl.Float64).quantile(0.3, "linear"))),
        st.tuples(inner, inner).map(lambda t: (f"max({t[0][0]}, {t[1][0]})", pl.max_horizontal(t[0][1], t[1][1]))),
        st.tuples(inner, inner).map(lambda t: (f"coalesce({t[0][0]}, {t[1][0]})", pl.coalesce(t[0][1], t[1][1]))),
    )


numbers = st.recursive(
    (st.sampled_from(["a", "b", "p"]) | st.integers(0, 9) | st.floats(0, 9, width=16)).map(number_of),
    grown,
    max_leaves=8,
)
tests = st.tuples(st.sampled_from(sorted(COMPARE)), numbers, numbers).map(
    lambda t: (f"({t[1][0]} {t[0]} {t[2][0]})", COMPARE[t[0]](t[1][1].cast(pl.Float64), t[2][1].cast(pl.Float64)))
)
conditions = st.recursive(
    tests,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda t: (f"({t[0][0]} and {t[1][0]})", t[0][1] & t[1][1])),
        st.tuples(inner, inner).map(lambda t: (f"({t[0][0]} or {t[1][0]})", t[0][1] | t[1][1])),
        inner.map(lambda t: (f"(not {t[0]})", ~t[1])),
    ),
    max_leaves=4,
)


def by_polars(expr: pl.Expr) -> list[Any]:
    return pl.select(pl.int_range(NUMBERS.height).alias("i")).hstack(NUMBERS).select("i", x=expr)["x"].to_list()


@settings(max_examples=150, deadline=None)
@given(built=numbers)
def test_random_arithmetic_equals_plain_polars(built: Built) -> None:
    found = compute(Table(Path("n.csv"), NUMBERS), built[0]).values.cast(pl.Float64)
    expected = pl.Series(by_polars(built[1]), dtype=pl.Float64, strict=False)
    assert found.is_null().to_list() == expected.is_null().to_list()
    assert found.drop_nulls().to_list() == pytest.approx(expected.drop_nulls().to_list(), rel=1e-12, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(built=conditions)
def test_random_conditions_equal_plain_polars(built: Built) -> None:
    mask, _ = rows_where(Table(Path("n.csv"), NUMBERS), built[0])
    assert mask.to_list() == [bool(value) for value in by_polars(built[1])]


@settings(max_examples=200, deadline=None)
@given(text=st.text("abGR .,+-*/%()[]<>=!&|'\"`0123456789enotrdiu\n", max_size=40))
def test_any_text_gives_a_value_or_an_error_that_says_where(text: str) -> None:
    try:
        found = compute(TABLE, text)
    except ArgumentError as error:
        where = error.reason
    else:
        where = "" if len(found.values) == FRAME.height else "wrong length"
    assert where.startswith(("at ", "is empty", "gives")) or not where
