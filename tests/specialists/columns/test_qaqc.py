"""QA/QC rows among samples are told when a table of assays is read."""

from __future__ import annotations

from collections.abc import Callable

from outcrop_specialists.columns.qaqc import qaqc_kinds
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext

ROWS = [["S1", 0.1], ["S2", 0.3], ["Duplcate(S2)", 0.5], ["BLANK", 0.01], ["STD 5.2", 5.1], ["Triplicate (S2)", 0.2]]


def test_blanks_standards_and_duplicates_are_counted_and_kept(
    context: ToolContext, write_rows: Callable[..., str]
) -> None:
    table = read_table(context, write_rows("a.csv", ["Field ID", "Au"], ROWS))
    assert table.frame.height == 6
    (note,) = (note for note in table.notes if "QA/QC" in note)
    assert note.startswith("SUSPECTED QA/QC rows among the samples, kept:")
    assert all(told in note for told in ("1 duplicate", "1 blank", "1 standard", "1 triplicate", "beside 2 routine"))
    kinds = qaqc_kinds(table)
    assert kinds is not None
    assert kinds.to_list() == ["routine", "routine", "duplicate", "blank", "standard", "triplicate"]


def test_tables_without_assays_and_assays_without_such_rows_have_no_note(
    context: ToolContext, write_rows: Callable[..., str]
) -> None:
    plain = read_table(context, write_rows("b.csv", ["name", "age"], [["blank", 1], ["x", 2]]))
    assert not any("QA/QC" in note for note in plain.notes)
    assays = read_table(context, write_rows("c.csv", ["Rock", "Au"], [["black shale", 1.5], ["blanket", 2.5]]))
    assert qaqc_kinds(assays) is None
    assert not any("QA/QC" in note for note in assays.notes)
