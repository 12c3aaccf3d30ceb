"""The white list: of a run's figures only those are shown that code vouches for, in whatever way they are written."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from outcrop_schemas import wire
from outcrop_schemas.claims import CheckedClaim
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.unseen.allowed import MARK, Allowed
from outcrop_specialists.unseen.letters import plain
from outcrop_specialists.unseen.looking import LookArguments, look
from outcrop_specialists.unseen.number_words import worded_numbers

ROWS = 40
WriteFile = Callable[[str, str | bytes], str]


@pytest.fixture
def table(write_file: WriteFile) -> str:
    """Samples with a grade each of its own, in four holes; `H9` has two of them."""
    lines = ["id,hole,Au,Cu_2,As"]
    for n in range(1, ROWS + 1):
        hole = "H9" if n > ROWS - 2 else f"H{n % 3}"
        lines.append(f"KES-{n:03d},{hole},{n * n / 7:.4f},{n % 5},{1000 if n == 7 else 0}")
    return write_file("a.csv", "\n".join(lines) + "\n")


def said(context: ToolContext, *texts: str, asked: str = "", **allow: Any) -> list[str]:
    """The texts of a run with `a.csv`, as they are shown."""
    given = {"objective": asked, "data": ["a.csv"], **allow}
    shown = look(
        context, LookArguments(tool="screen", arguments={"texts": list(texts), "allow": given}, tables=["a.csv"])
    )
    return [str(text) for text in shown["texts"]]


def claim(statistic: str, value: float, **fields: Any) -> dict[str, Any]:
    made = CheckedClaim.model_validate(
        {"path": "a.csv", "statistic": statistic, "value": value, "verdict": "verified", "actual": value, **fields}
    )
    return made.model_dump(mode="json")


@pytest.mark.parametrize(
    "text",
    [
        "40 rows, 5 columns.",
        "Au: mean 79.0714, median 60.0714, max 228.5714.",
        "The 95th percentile of Au is 206.8357; its R2 was not asked for.",
        "hole has 4 distinct values.",
        "H1 and H2 are holes; Cu_2 is a column of a.csv.",
    ],
)
def test_figures_of_whole_columns_and_names_are_shown(context: ToolContext, table: str, text: str) -> None:
    assert said(context, text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Au of it is 3.5714.",
        "Au is 3.57 there.",
        "The mean is 79.0714.",
        "4 were found.",
        "It is 021-KES.",
        "Au: 4 1 7 3 . 5 .",
        "Au has 41753 of them.",
        "Au is three point five seven there.",
        "Au ist drei Komma fünf.",
        "Au est trois virgule cinq.",
        "Au es tres coma cinco.",
        "Au is dreihundertsiebenundfünfzig.",
        "Au is fiftyseven.",
        "Au has seven.",
        "Au is ③.⑤⑦ and ³⁵⁷, Ⅲ.Ⅴ.",
        "Au is ٣.٥٧ or 三五七.",
        "Au is III-V-VII, or LVII.",
        "Au is 3\u200b.\u200b57 or &#51;.&#53;7.",
        "Au is ⚂⚄ or ⠼⠉.",
        "Au is 0x165 or 1e1.",
        "[3571 lines that look like rows of data are not shown]",
        "[357 statements withheld: it tells of rows of the data]",
        "7. Au\n3. Cu",
    ],
)
def test_other_figures_are_not_in_whatever_way_they_are_written(context: ToolContext, table: str, text: str) -> None:
    [shown] = said(context, text)
    left = shown.replace("statement withheld", "")
    assert MARK in left or "withheld" in shown
    assert not re.findall(r"(?<!\[)\d(?! statement)", left)
    assert not [number for number in worded_numbers(left) if number.value]


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        (claim("value", 3.5714, column="Au", where="id == 'KES-005'"), "Au of KES-005"),
        (claim("max", 3.5714, column="Au", where="id == 'KES-005'"), "Au"),
        (claim("mean", 3.5714, column="Au", where="id == 'KES-005'"), "Au"),
        (claim("mean", 225.7, column="Au", where="hole == 'H9'"), "mean of Au"),
        (claim("max", 207.1429, column="Au", where="hole != 'H9'", verdict="refuted"), "Au"),
        (claim("min", 0.5714, column="Au", group={"hole": "H2"}), "least Au by hole"),
        (claim("percentile", 9.1429, column="Au", percent=18.0), "percentiles of Au"),
        (claim("rows", 17, where="Au < 43"), "rows by Au"),
        (claim("rows", 17, where="Au < (Cu_2 + 43)"), "rows by Au"),
        (claim("rows", 13, where="hole == 'H1' and Au >= 0.5"), "how many of H1 have Au of at least 0.5?"),
        (claim("rows", 2, where="hole == 'H9' and Au > 9.5"), "how many of H9 have Au above 9.5?"),
        (claim("sum", 3162.7, column="Au", where="hole != 'H9'"), "sum of Au by hole"),
        (claim("sd", 158.11, column="As"), "sd of As"),
        (claim("mean", 25, column="As"), "mean of As"),
        (claim("weighted_mean", 7.0, column="Au", with_column="As"), "mean of Au by As"),
    ],
)
def test_a_verified_claim_that_hands_out_a_cell_opens_nothing(
    context: ToolContext, table: str, made: dict[str, Any], asked: str
) -> None:
    text = f"The {made['statistic']} of Au, As: {made['value']:g} rows."
    [shown] = said(context, text, asked=asked, claims=[made])
    assert shown == f"The {made['statistic']} of Au, As: {MARK} rows."


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        (claim("mean", 75.2527, column="Au", group={"hole": "H1"}), "mean of Au by hole"),
        (claim("rows", 17, where="Au < 43"), "how many have Au below 43?"),
        (claim("rows", 11, where="hole == 'H1' and Au >= 4.5"), "how many of H1 have at least 4.5?"),
        (claim("percentile", 9.1429, column="Au", percent=18.0), "percentile 18 of Au"),
    ],
)
def test_a_verified_claim_of_a_group_or_of_rows_that_the_user_chose_is_shown(
    context: ToolContext, table: str, made: dict[str, Any], asked: str
) -> None:
    text = f"Of Au {made['value']:g} rows."
    assert said(context, text, asked=asked, claims=[made]) == [text]


def test_a_table_that_a_script_wrote_vouches_for_nothing(
    context: ToolContext, table: str, write_file: WriteFile
) -> None:
    def record(name: str, tool: str, **parameters: Any) -> None:
        write_file(f"results/{name}", "Au\n" + "3.5714\n" * 30)
        inputs = [{"path": "a.csv", "sha256": ""}]
        write_file(
            f"results/.lineage/{name}.json", wire.dumps({"tool": tool, "parameters": parameters, "inputs": inputs})
        )

    record("s.csv", "run_script", code="x")
    record("d.csv", "derive_column", expression="3.5714")
    record("f.csv", "filter_rows", column="Au", operator=">", value=3.2)
    record("g.csv", "filter_rows", column="Au", operator=">", value=100)
    write_file("results/no_record.csv", "Au\n" + "3.5714\n" * 30)
    text = "The mean of Au is 3.5714."
    for name in ("s.csv", "d.csv", "f.csv", "no_record.csv"):
        made = claim("mean", 3.5714, column="Au", path=f"results/{name}")
        assert said(context, text, asked="mean of Au above 100", claims=[made]) == [f"The mean of Au is {MARK}."]
    made = claim("mean", 3.5714, column="Au", path="results/g.csv")
    assert said(context, text, asked="mean of Au above 100", claims=[made]) == [text]


def test_letters_of_another_script_and_of_identifiers_are_held_back(context: ToolContext, table: str) -> None:
    assert said(context, "The \u043aestrel of granit\u0435, in \u0433\u0440\u0430\u043d\u0438\u0442.") == [
        f"The {MARK} of {MARK}, in {MARK}."
    ]
    assert said(context, "in \u0433\u0440\u0430\u043d\u0438\u0442", asked="\u0433\u0440\u0430\u043d\u0438\u0442?") == [
        "in \u0433\u0440\u0430\u043d\u0438\u0442"
    ]
    assert said(context, "5 μm at σ", asked="5 μm") == ["5 μm at σ"]
    assert said(context, "σ τ ρ ε λ") == [f"σ {MARK}"]


def test_letters_of_an_identifier_do_not_stay_where_few_rows_have_them(
    context: ToolContext, write_file: WriteFile
) -> None:
    write_file("a.csv", "id,Au\n" + "".join(f"{'QXZ' if n == 7 else 'ABC'}-{n},{n}\n" for n in range(30)))
    assert said(context, "It is 7 of qxz, not of abc.") == [f"It is {MARK} of {MARK}, not of abc."]


def test_entries_of_a_list_may_count(context: ToolContext, table: str) -> None:
    text = "1. Au is fine.\n2. So is Cu_2.\n3) And hole."
    assert said(context, text) == [text]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("four point two one", ["4.21"]),
        ("vierhunderteinundzwanzig", ["421"]),
        ("cuatro coma dos uno", ["4.21"]),
        ("quatre-vingt-deux", ["26"]),
        ("hundred and two", ["102"]),
        ("two of three groups in the second half, but once", []),
        ("one and two, the third one", []),
        ("a canon is often done with intent", []),
    ],
)
def test_numbers_in_words(text: str, values: list[str]) -> None:
    assert [number.value for number in worded_numbers(text)] == values


_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def _worded(cell: str) -> str:
    return " ".join("point" if sign == "." else _WORDS[int(sign)] for sign in cell if sign in "0123456789.")


DISGUISES: tuple[Callable[[str], str], ...] = (
    lambda cell: cell,
    lambda cell: cell[::-1],
    lambda cell: " ".join(cell),
    lambda cell: cell.replace(".", ","),
    lambda cell: f"{float(cell) * 1000:g} ppb",
    lambda cell: f"x{cell}y",
    lambda cell: f"{cell}-kestrel",
    lambda cell: _worded(cell),
    lambda cell: _worded(cell).replace(" ", ""),
    lambda cell: cell.translate({ord(str(n)): chr(0x2460 + n - 1) for n in range(1, 10)}),
    lambda cell: cell.translate({ord(str(n)): chr(0x0660 + n) for n in range(10)}),
    lambda cell: cell.translate({ord(str(n)): chr(0x1D7CE + n) for n in range(10)}),
    lambda cell: "\u200b".join(cell),
)
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


@given(
    columns=st.lists(
        st.lists(st.decimals(1, 999, places=2), min_size=30, max_size=30, unique=True), min_size=1, max_size=3
    ),
    told=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 29), st.sampled_from(DISGUISES)), min_size=1, max_size=8),
)
@settings(
    max_examples=25,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_figure_passes_that_is_none_of_a_whole_column(
    context: ToolContext, columns: list[list[Any]], told: list[tuple[int, int, Callable[[str], str]]]
) -> None:
    frame = pl.DataFrame({f"c{chr(97 + n)}": [float(each) for each in cells] for n, cells in enumerate(columns)})
    frame.write_csv(context.workspace / "a.csv")
    texts = [
        f"In {frame.columns[column % frame.width]} it is {disguise(f'{columns[column % frame.width][row]:.2f}')}."
        for column, row, disguise in told
    ]
    for text in said(context, *texts, asked="look at ca, cb and cc"):
        left = re.sub(r"\[\d statements? withheld[^\]]*\]", "", text)
        assert not [sign for sign in left if unicodedata.category(sign) in ("Nd", "Nl", "No") and not sign.isascii()]
        for number in [*_DIGITS.findall(plain(left)), *(each.value or "0" for each in worded_numbers(left))]:
            assert any(_agrees(number, figure) for figure in _figures(frame)), (texts, text)


def _figures(frame: pl.DataFrame) -> list[float]:
    found = [float(frame.height), float(frame.width), 0.0]
    for series in frame.get_columns():
        quantiles = [series.quantile(p / 100, "linear") for p in (5, 10, 25, 75, 90, 95)]
        for each in (
            series.mean(),
            series.median(),
            series.std(),
            series.min(),
            series.max(),
            series.sum(),
            *quantiles,
        ):
            assert isinstance(each, float)
            found.append(each)
    return found


def _agrees(number: str, figure: float) -> bool:
    value = float(number.replace(",", "."))
    return math.isclose(value, figure, rel_tol=5.1e-3) or math.isclose(float(number.replace(",", "")), figure)


def test_what_is_known_is_what_was_asked() -> None:
    allowed = Allowed(["Au of KES-005"], "those above 0.5", [3])
    assert [allowed.says(text) for text in ("KES-005", "0.5", "3 files", "KES-006", "0.6", "5")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def test_an_objective_that_names_every_figure_makes_none_known() -> None:
    every = " ".join(f"{n / 100}" for n in range(100, 999))
    allowed = Allowed(["above 4.21"], f"which of these is it: {every}")
    assert allowed.says("4.21")
    assert not allowed.says("4.22")
