"""Totals at the end of a table and aggregates amid it."""

from __future__ import annotations

from collections.abc import Callable

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
