"""Figures are found in texts, and agree with a value or do not, by our tolerance."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_schemas.claims import Claim
from outcrop_specialists.citing import agrees, claims_cited, figures_in
from outcrop_specialists.naming import claims_of, distance, is_telling


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("median 0.01 ppm, P95 0.064", ["0.01", "0.064"]),
        ("4,685 rows in 7 types", ["4,685", "7"]),
        ("86.2 % is shale", ["86.2 %"]),
        ("see results/a_summarize_12ab34cd.csv of 2019-07-05", []),
        ("r = −0.47 at 1e-3", ["−0.47", "1e-3"]),
        ("version 1.2.3 and hole B1-116", []),
        ("between 10 and 20.", ["10", "20"]),
    ],
)
def test_the_figures_of_a_text_are_its_numbers_and_not_its_names(text: str, found: list[str]) -> None:
    assert [figure.text for figure in figures_in(text)] == found


@pytest.mark.parametrize(
    ("claimed", "actual", "agree"),
    [
        ("0.041", 0.041121642969984204, False),
        ("0.0411", 0.041121642969984204, True),
        ("0.0412", 0.041121642969984204, False),
        ("0.4", 0.363793141028788, False),
        ("0.364", 0.363793141028788, True),
        ("683", 683.0, True),
        ("683", 683.4, True),
        ("5", 5.4, False),
        (0.363793141028788, 0.3637931410287881, True),
    ],
)
def test_a_figure_agrees_by_its_digits_when_these_are_fine_enough(claimed: str, actual: float, agree: bool) -> None:
    assert agrees(claimed, actual) is agree


@given(st.floats(1e-9, 1e9), st.integers(4, 12))
def test_a_rounded_figure_of_four_digits_agrees_with_its_origin(actual: float, digits: int) -> None:
    assert agrees(f"{actual:#.{digits}g}", actual)


def test_counts_agree_exactly() -> None:
    assert agrees("707", 707, is_count=True)
    assert not agrees("706", 707, is_count=True)


def test_the_claims_of_a_text_are_those_whose_value_stands_in_it() -> None:
    mean = Claim(path="a.csv", statistic="mean", column="Cu", value=0.363793141028788)
    share = Claim(path="a.csv", statistic="share", where="Vsh > 0.5", value=0.862243819987323)
    rows = Claim(path="a.csv", statistic="rows", value=707)
    text = "Cu has a mean of 0.3638; 86.2 % is more than half shale"
    assert claims_cited([text], [mean, share, rows]) == [mean, share]


def claim(statistic: str, column: str | None = None, value: float = 0, statement: str = "") -> Claim:
    return Claim.model_validate(
        {"path": "a.csv", "statistic": statistic, "column": column, "value": value, "statement": statement}
    )


@pytest.mark.parametrize(
    ("text", "place", "statistic", "is_named"),
    [
        ("0 of 178 rows removed", 0, "min", False),
        ("outliers low 0, outliers high 701", 0, "min", False),
        ("p value 0, n 23438", 0, "min", False),
        ("median 0.3 min 0 max 24.4", 1, "min", True),
        ("mean 23 over 40 rows, and a minimum of 40; X", 1, "rows", True),
        ("mean 23 over 40 rows, and a minimum of 40; X", 2, "rows", False),
        ("mean 23 over 40 rows, and a minimum of 40; X", 2, "min", True),
        ("The means of Cu and Ni are 0.4 and 0.1", 1, "mean", True),
        ("5 is the mean. Then 7", 0, "mean", True),
        ("The mean is below. Hole 7 is dry", 0, "mean", False),
        ("5 % of it", 0, "share", True),
        ("As said, 60 in a.csv.", 0, "rows", True),
        ("As said, 60 in b.csv.", 0, "rows", False),
        ("40 holes", 0, "rows", False),
    ],
)
def test_the_words_beside_a_figure_say_what_it_is_of(text: str, place: int, statistic: str, is_named: bool) -> None:
    assert (distance(figures_in(text)[place], claim(statistic, "Cu")) is not None) is is_named


def test_the_sentence_of_whoever_claims_it_names_a_figure_in_any_language() -> None:
    figure = figures_in("Het gemiddelde is 20 van 7 gaten")[0]
    assert distance(figure, claim("mean", "Cu")) is None
    assert distance(figure, claim("mean", "Cu", statement="Het gemiddelde is 20 van 7 gaten")) == 0


@pytest.mark.parametrize(
    ("text", "telling"),
    [("0", False), ("0.05", False), ("40", False), ("0.711", True), ("178", True), ("1.5e10", False), ("1,000", True)],
)
def test_a_figure_of_many_digits_tells_by_itself_what_it_is(text: str, telling: bool) -> None:
    assert is_telling(figures_in(text)[0]) is telling


def test_where_there_is_room_for_some_each_figure_has_the_claim_that_its_words_name_first() -> None:
    def of(column: str, statistic: Any, value: float, percent: float | None = None) -> Claim:
        return Claim(path="a.csv", statistic=statistic, column=column, value=value, percent=percent)

    lead = [of("Au", "percentile", 0.005, percent) for percent in (5, 25, 50)]
    lead += [of("Au", "missing", 0), of("Cu", "missing", 0), of("Au", "min", 0.005), of("Au", "median", 0.005)]
    rest = [of("Au", "count", 31), of("Cu", "count", 31), of("Cu", "sd", 113.028), of("Cu", "max", 477)]
    text = "Au: median 0.005 min 0.005 n 31; Cu: sd 113.028 max 477 n 31; 0 above a limit."
    wanted = claims_of([text, text], [*lead, *rest])
    assert [(claim.column, claim.statistic) for claim in wanted[:6]] == [
        ("Au", "median"), ("Au", "min"), ("Au", "count"), ("Cu", "sd"), ("Cu", "max"), ("Cu", "count"),
    ]  # fmt: skip
    assert len(wanted) == len(lead) + len(rest)
