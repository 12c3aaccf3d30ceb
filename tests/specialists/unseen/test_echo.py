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
        ["_KES-0007_ has _1.000_"],
        ["KES0007Basalt"],
        ["k e s - 0 0 0 7 / b a s a l t"],
        ["\uff2b\uff25\uff33\uff0d\uff10\uff10\uff10\uff17 \uff42\uff41\uff53\uff41\uff4c\uff54"],
        ["KE\u200bS-0007 is ba\u200bsalt"],
        ["KES%2D0007%20basalt"],
        ["KES&#45;0007 &#98;asalt"],
        ["KES-0007 basalt"[::-1]],
        ["KES-0001 has Au0.142857"],
        ["KES-0001 has 0,142857g/t"],
        ["KES-0007,512,7"],
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


GRADES = pl.DataFrame(
    {
        "hole": [f"H{1 + n // 10}" for n in range(300)],
        "from": [n % 10 * 2 for n in range(300)],
        "gold": [round(n * 37 % 251 / 100, 2) for n in range(300)],
        "copper": [round(n * 91 % 283 / 100, 2) for n in range(300)],
        "rock": [("granite", "schist", "gneiss")[n * n % 7 % 3] for n in range(300)],
    }
)
"""No cell of it stands in its row alone."""


def test_one_cell_a_statement_is_a_row_as_well() -> None:
    row = GRADES.row(157)
    texts = [f"{name} {cell}" for name, cell in zip(GRADES.columns, row, strict=True)]
    assert len(telling(GRADES, texts)) >= 4


@pytest.mark.parametrize("order", [1, -1])
def test_columns_side_by_side_are_rows(order: int) -> None:
    part = GRADES[100:106]
    texts = [f"{name}: {', '.join(str(cell) for cell in part[name].to_list()[::order])}" for name in ("gold", "rock")]
    assert telling(GRADES, texts) == {0, 1}


def test_figures_of_columns_and_groups_are_no_rows() -> None:
    gold = GRADES["gold"]
    texts = [
        f"gold: mean {gold.mean():.6g} sd {gold.std():.6g} median {gold.median()} min {gold.min()} max {gold.max()}"
    ]
    for by in ("rock", "hole"):
        groups = GRADES.group_by(by).agg(pl.mean("gold"), pl.median("gold").alias("middle"), pl.len())
        texts.append(", ".join(f"{name}: mean {mean:.2f}, median {middle:.2f}, n {rows}"
                               for name, mean, middle, rows in groups.iter_rows()))  # fmt: skip
    assert telling(GRADES, texts) == set()


def test_a_table_of_many_columns_does_not_hold_every_text() -> None:
    wide = pl.DataFrame({f"c{n}": [(row * (n + 3) + n) % 40 / 4 for row in range(60)] for n in range(80)})
    assert (
        telling(wide, ["c1: mean 4.875 sd 2.9 min 0 max 9.75 n 60", "3 of 60 rows were dropped, 12 repaired"]) == set()
    )


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
