"""Totals at the end of a table and aggregates amid it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outcrop_schemas.errors import DataError
from outcrop_specialists.columns.suspicions import suspicions
from outcrop_specialists.reading.tables import Table

Read = Callable[..., Table]


def test_a_total_that_is_proven_by_its_numbers_is_left_out_with_a_note(read_lines: Read) -> None:
    table = read_lines("site,Zn,Pb", "K1,120,35.5", "K2,95,41", "Total,215,76.5")
    assert table.frame["site"].to_list() == ["K1", "K2"]
    assert (
        "the last row left out, being no rows but totals: 'Total' (of its 2 numbers 2 are the sum of the 2 rows above)"
        in table.notes
    )


def test_a_mean_may_be_rounded_and_stand_below_a_total(read_lines: Read) -> None:
    table = read_lines("site,Zn", "K1,1", "K2,2", "K3,2", "Sum,5", "Mean,1.67")
    assert table.frame["site"].to_list() == ["K1", "K2", "K3"]
    assert any("the last 2 rows left out" in note for note in table.notes)
    wrong = read_lines("site,Zn", "K1,1", "K2,2", "K3,2", "Sum,5", "Mean,1.7", "Average,1.3")
    assert wrong.frame.height == 6


def test_a_row_called_total_with_other_numbers_is_kept_and_suspected(read_lines: Read) -> None:
    table = read_lines("site,Zn,Pb", "K1,120,35", "K2,95,41", "Total,215,70")
    assert table.frame.height == 3
    assert (
        "SUSPECTED totals, kept as rows: the last row, 'Total' (of its 2 numbers 1 are the sum of the 2 rows above)"
        in table.notes
    )


def test_aggregates_amid_the_rows_are_suspected_and_kept(read_lines: Read) -> None:
    table = read_lines("region,kind,t", "N,Au,10", "N,Cu,20", "N,All,30", "S,Au,5", "S,Cu,15", "S,All,20")
    assert table.frame.height == 6
    assert any("SUSPECTED aggregate rows" in note and "'kind' is 'All' in 2 rows" in note for note in table.notes)
    assert not any("aggregate" in note for note in read_lines("a,b", "All,1", "All,2").notes)


ROWS = [f"K{i},{value},{value * 10}" for i, value in enumerate((1.5, 2.5, 3.5, 4.5), start=1)]


@pytest.mark.parametrize(
    "foot",
    [
        "Mean,3,30", "AVG,3,30", "Moyenne,3,30", "Std Dev,1.29,12.91", "StdDev,1.12,11.18", "Min,1.5,15",
        "Maximum,4.5,45", "Median,3,30", "Count,4,4", "n,4,4", "TOTAL:,12,120", ",12,120",
    ],
)  # fmt: skip
def test_statistics_that_are_proven_are_left_out(read_lines: Read, foot: str) -> None:
    table = read_lines("site,Zn,Pb", *ROWS, foot)
    assert table.frame["site"].to_list() == ["K1", "K2", "K3", "K4"]
    assert any("the last row left out, being no rows but totals" in note for note in table.notes)


@pytest.mark.parametrize("foot", ["Mean,9,9", "SD,9,9", "n,9,9", "P90,9,9", "CV,9,9", "Geomean,9,9", ",9,9"])
def test_statistics_that_are_not_are_suspected(read_lines: Read, foot: str) -> None:
    table = read_lines("site,Zn,Pb", *ROWS, foot)
    assert table.frame.height == 5
    assert any(note.startswith("SUSPECTED totals, kept as rows: the last row") for note in table.notes)
    assert "total" in suspicions(table, ["Zn"])


def test_a_block_of_statistics_is_one_in_any_order(read_lines: Read) -> None:
    foot = ["Mean,3,30", "StdDev,1.29,12.91", "Min,1.5,15", "Max,4.5,45", "n,4,4", "Total,12,120"]
    assert read_lines("site,Zn,Pb", *ROWS, *foot).frame.height == 4
    table = read_lines("site,Zn,Pb", *ROWS, *foot[:2], "Min,7,7")
    assert table.frame.height == 7
    assert "the last 3 rows, which look like statistics ('Mean', 'StdDev', 'Min')" in suspicions(table, ["Zn"])
    assert not any("QA/QC" in note for note in table.notes)


def test_names_that_read_like_statistics_are_names_where_others_are_alike(read_lines: Read) -> None:
    assert not read_lines("id,v,w", *(f"P{i},{i},1" for i in range(1, 13))).notes
    assert not read_lines("id,wet,v", "a,n,1", "b,y,2", "c,n,3").notes
    assert read_lines("site,v,w", "K1,1,2", "K2,2,2", "Minto,3,2").frame.height == 3


@pytest.mark.parametrize("foot", ["n = 4,,", "End of report,,", "(4 rows),,", "Checked by: NN,,"])
def test_remarks_in_the_last_rows_are_left_out(read_lines: Read, foot: str) -> None:
    table = read_lines("site,Zn,Pb", *ROWS, foot)
    assert table.frame.height == 4
    assert "the last row left out, being no rows but remarks: only the first column holds something" in table.notes
    assert read_lines("site,Zn,Pb", *ROWS, "K5,,").frame.height == 5


@pytest.mark.parametrize("foot", ["(4 rows)", "End of report", "END", "Total", "n = 4", "---"])
def test_a_line_of_one_field_at_the_end_is_skipped_and_a_cut_off_row_refused(read_lines: Read, foot: str) -> None:
    table = read_lines("site,Zn,Pb", *ROWS, foot)
    assert table.frame.height == 4
    assert any(note.startswith("1 lines below the table skipped") for note in table.notes)
    with pytest.raises(DataError, match="line 6 has 1 fields, 3 are expected"):
        read_lines("site,Zn,Pb", *ROWS, "K5")
    with pytest.raises(DataError, match="1 fields"):
        read_lines("site,Zn,Pb", "Mine 1,2,3", "Mine 2,3,4", "Mine 3")
