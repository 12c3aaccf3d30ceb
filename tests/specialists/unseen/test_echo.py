"""Rows in texts: cells of one row that stand together are found in any words, and figures of a summary are none."""

from __future__ import annotations

import polars as pl
import pytest

from outcrop_specialists.unseen.echo import telling
from outcrop_specialists.unseen.screen import Tables, screened

FRAME = pl.DataFrame(
    {
        "id": [f"KES-{n:04d}" for n in range(50)],
        "Au": [n / 7 for n in range(50)],
        "rock": ["granite", "basalt"] * 25,
        "from": list(range(50)),
        "day": pl.Series([f"2024-{n % 12 + 1:02d}-{n % 28 + 1:02d}" for n in range(50)]).str.to_date(),
        "remark": [f"seen quartz vein {n} near the long grey ridge of tall pine" for n in range(50)],
    }
)


@pytest.mark.parametrize(
    "texts",
    [
        ["KES-0007 is basalt."],
        ["In basalt they sampled kes_0007."],
        ["KES-0007 from 7 m"],
        ["KES-0001 has 0.142857"],
        ["It holds 0.143 g/t", "the sample is KES-0001"],
        ["Seen quartz vein 9, near the long grey ridge", "KES-0009"],
        ["from 12 granite 1.714"],
        ["KES-0030 on 2024-07-03"],
    ],
)
def test_cells_of_one_row_tell_of_it(texts: list[str]) -> None:
    assert telling(FRAME, texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["50 rows, 6 columns; mean Au 3.5, sd 2.08, 25 granite and 25 basalt"],
        ["KES-0007 and KES-0008 are without duplicates."],
        ["KES-0007", "basalt is half of it"],
        ["12 of 50 rows were dropped, 3 repaired"],
        ["The highest grade is 7.0."],
        [""],
    ],
)
def test_one_cell_or_a_figure_of_all_rows_tells_of_none(texts: list[str]) -> None:
    assert telling(FRAME, texts) == set()


def test_what_was_told_before_counts() -> None:
    assert telling(FRAME, ["It holds 0.143 g/t"]) == set()
    assert telling(FRAME, ["It holds 0.143 g/t"], before=["KES-0001"]) == {0}


def test_only_the_statement_that_tells_is_withheld() -> None:
    [shown] = screened(["There are 50 rows. KES-0007 is basalt. All is well."], Tables([FRAME]))
    assert shown == "There are 50 rows. All is well. [1 statement withheld: it tells of rows of the data]"


def test_where_a_table_cannot_be_read_nothing_is_let_through() -> None:
    [shown] = screened(["All is well."], Tables([FRAME], ["b.csv"]))
    assert "All is well" not in shown
    assert "b.csv could not be read" in shown
