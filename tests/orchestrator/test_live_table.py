"""The live table on a screen that is smaller than it: what matters stays."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from outcrop.events import DispatchEnded, DispatchLeft, DispatchProgress, DispatchStarted, DispatchWaiting, LeadTurn
from outcrop.live_batch import JobRow, LiveBatch
from outcrop.live_table import LiveTable
from outcrop_schemas.outcome import Outcome


def outcome(number: int, status: Any = "success", **usage: Any) -> Outcome:
    return Outcome(
        dispatch_id=f"d{number:04d}-ab",
        specialist="analytics",
        objective=f"piece {number}",
        status=status,
        started_at="",
        duration_s=1.5,
        usage=usage,
    )


def table_of(count: int, ended: dict[int, Any]) -> LiveTable:
    table = LiveTable()
    for number in range(1, count + 1):
        table.take(DispatchStarted(f"d{number:04d}-ab", "analytics", f"piece {number}"))
    for number, status in ended.items():
        table.take(DispatchEnded(outcome(number, status)))
    return table


def picture(table: LiveTable | LiveBatch, width: int = 80, height: int = 24) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None)
    console.print(table)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("height", [24, 10, 5])
def test_those_at_work_and_the_newest_are_on_the_screen_and_the_others_counted(height: int) -> None:
    ended = {number: "failed" if number == 3 else "success" for number in range(1, 41) if number != 2}
    lines = picture(table_of(41, ended), height=height)
    assert len(lines) < height
    text = "\n".join(lines)
    assert "d0002" in text or height == 5
    assert "d0041" in text
    left = 41 - (len(lines) - 3)
    assert f"{left} more: 1 failed, {left - 1} success" in text or height == 5
    assert "39 of 41 dispatches ended" in lines[0]


def test_those_that_wait_are_told_below_those_at_work_and_are_gone_when_they_leave() -> None:
    table = table_of(2, {1: "success"})
    for number in (3, 4, 5):
        table.take(DispatchWaiting(f"d{number:04d}-ab", "analytics", f"piece {number}"))
    text = "\n".join(picture(table))
    assert "1 of 5 dispatches ended" in text
    assert text.count("waiting") == 3
    short = picture(table, height=6)
    assert "d0002" in "\n".join(short)
    assert "3 more: 3 waiting" in "\n".join(short)
    table.take(DispatchLeft("d0003-ab"))
    table.take(DispatchStarted("d0004-ab", "analytics", "piece 4"))
    rows = [line.split() for line in picture(table)[2:]]
    assert [(row[0], row[-1]) for row in rows] == [
        ("d0001", "success"),
        ("d0002", "running"),
        ("d0004", "running"),
        ("d0005", "waiting"),
    ]


@pytest.mark.parametrize("width", [200, 90, 80, 60, 40, 30, 20, 5, 1])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    table = table_of(3, {1: "success"})
    table.take(DispatchProgress("d0002-ab", {"text": "レイアウト" * 50, "done": 10**12, "total": 10**13}))
    assert max(map(len, picture(table, width))) <= width


def test_time_status_and_specialist_are_left_on_a_narrow_screen() -> None:
    [_, header, row] = picture(table_of(1, {1: "success"}), width=40)
    assert header.split() == ["dispatch", "specialist", "time", "status"]
    assert row.split() == ["d0001", "analytics", "1.5", "s", "success"]


def test_tokens_and_cost_so_far_are_told_where_they_are_known() -> None:
    table = table_of(2, {})
    assert "tokens" not in picture(table)[0]
    table.take(LeadTurn(2, 1_000, "0.25"))
    table.take(DispatchEnded(outcome(1, input_tokens=30, output_tokens=4, spending={"spent_usd": "0.5"})))
    assert "lead: turn 2" in picture(table)[0]
    assert "1,034 tokens" in picture(table)[0]
    assert "$0.7500" in picture(table)[0]


@pytest.mark.parametrize(
    "usage",
    [{"input_tokens": "many"}, {"spending": 5}, {"spending": {"spent_usd": "x"}}, {"spending": {"spent_usd": []}}],
)
def test_an_account_that_makes_no_sense_hurts_nothing(usage: dict[str, Any]) -> None:
    table = table_of(1, {})
    table.take(DispatchEnded(outcome(1, **usage)))
    assert "1 of 1 dispatches ended" in picture(table)[0]


def test_foreign_text_is_inert() -> None:
    table = LiveTable()
    table.take(DispatchStarted("d0001-ab", "\x1b[31mred", "[bold]x[/bold] \u202e :smile:\nforged"))
    text = "\n".join(picture(table, width=200))
    assert "\x1b" not in text
    assert "[bold]x[/bold] \\u202e :smile: forged" in text


@pytest.mark.parametrize("height", [24, 6, 2])
@pytest.mark.parametrize("width", [100, 50, 49, 20, 3])
def test_of_a_batch_the_newest_jobs_fit_the_screen(width: int, height: int) -> None:
    batch = LiveBatch()
    for number in range(1_000):
        batch.take(JobRow(f"line {number}", "success", 1.5, "done\x1b[31m\n" * 20), f"{number}/1000, 2/s, 3 m to go")
    lines = picture(batch, width, height)
    assert len(lines) <= max(height - 1, 2)
    assert max(map(len, lines)) <= width
    assert width < 20 or "line 999" in lines[-1]
    assert width < 100 or "999/1000, 2/s, 3 m to go" in lines[0]
    assert "\x1b" not in "".join(lines)
