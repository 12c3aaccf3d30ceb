"""A journal that grows is followed: each line looked at once, counts exact, memory small, damage survived."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import AT, made, outcome

from outcrop.journal import encode
from outcrop.ledger import RESERVED, SETTLED, accounts_in
from outcrop.records import read
from outcrop.recovery import as_it_stands
from outcrop.report.facts import facts_of
from outcrop.runs import RunFolder
from outcrop.ui.counting import facts_of_all, facts_of_ending
from outcrop.ui.follow import Follower
from outcrop.ui.places import Pairs, Place
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError


def start(number: int) -> bytes:
    body = {"specialist": "analytics", "objective": f"piece {number}", "data": []}
    return encode("start", 1 + 2 * number, f"d{number:04d}-0", AT, body)


def end(number: int, status: str = "success", **fields: object) -> bytes:
    return encode("end", 2 + 2 * number, f"d{number:04d}-0", AT, outcome(number, status, **fields))


def test_what_comes_is_counted_once_and_lines_that_are_being_written_are_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(encode("run", 0, "r", AT, {"kind": "pool", "objective": None}))
    follower = Follower(path)
    assert follower.read_all()
    assert not follower.read_all()
    lines = start(0) + start(1) + end(0, "failed")
    with path.open("ab") as file:
        for byte in range(len(lines)):
            file.write(lines[byte : byte + 1])
            file.flush()
            follower.read_all()
    totals = follower.totals()
    assert (totals.records, totals.dispatches, totals.running, totals.statuses) == (4, 2, 1, {"failed": 1})
    assert list(follower.dispatches.open) == ["d0001-0"]
    assert follower.is_whole


def test_damaged_lines_are_counted_and_the_others_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    first = encode("run", 0, "r", AT, {"kind": "pool"})
    path.write_bytes(first + start(0).replace(b"piece", b"peace") + start(1) + b"no record\n" + end(1) + b'{"v":1,"ty')
    follower = Follower(path)
    follower.read_all()
    assert (follower.bad_lines, len(follower.dispatches), follower.dispatches.statuses) == (2, 1, {"success": 1})
    assert follower.is_whole


def test_a_journal_that_was_put_in_the_place_of_another_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(encode("run", 0, "r", AT, {"kind": "pool"}) + start(0) + end(0))
    follower = Follower(path)
    follower.read_all()
    other = tmp_path / "other"
    other.write_bytes(encode("run", 0, "r", AT, {"kind": "pool"}) + start(5))
    other.replace(path)
    follower.read_all()
    assert list(follower.dispatches.open) == ["d0005-0"]
    assert follower.dispatches.statuses == {}
    path.unlink()
    with pytest.raises(JournalError):
        follower.read_all()


def test_what_was_spent_is_what_the_ledger_of_the_run_says(workspace: Path) -> None:
    call = {"agent": "lead", "role": "lead", "model": "m", "usd": "0.5", "tokens": 100}
    events = [
        {"kind": RESERVED, "call": "lead/1", **call},
        {"kind": SETTLED, "call": "lead/1", **call, "usd": "0.125", "tokens": 40, "usage": {}},
        {"kind": RESERVED, "call": "lead/2", **call},
    ]
    folder = made(workspace, [outcome(1)], events=events)
    follower = Follower(folder.journal)
    follower.read_all()
    assert follower.accounts() == accounts_in(read(folder.journal)[0])
    assert (follower.totals().spent_usd, follower.totals().spent_tokens) == ("0.625", 140)


def test_a_long_run_is_shown_by_its_last_dispatches_those_that_failed_and_counts_of_all(workspace: Path) -> None:
    count = 3 * limits.REPORT_DISPATCHES
    folder = made(workspace, [outcome(n, "failed" if n == 7 else "success") for n in range(1, count)], pending=2)
    follower = Follower(folder.journal)
    follower.read_all()
    facts = facts_of_all(folder, follower)
    ids = [fact.id for fact in facts.dispatches.shown]
    assert "d0007-0" in ids
    assert ids == sorted(ids)
    assert len(ids) <= limits.REPORT_DISPATCHES + 1
    assert facts.dispatches.counts == {"success": count - 2, "failed": 1, "interrupted": 2}
    shown = {
        status: sum(fact.status == status for fact in facts.dispatches.shown) for status in facts.dispatches.counts
    }
    left = facts.dispatches.left_out
    assert {status: shown[status] + left.get(status, 0) for status in shown} == facts.dispatches.counts


def test_a_short_run_has_the_facts_of_its_report(workspace: Path) -> None:
    folder = made(workspace, [outcome(1), outcome(2, "failed", errors=["exit code 1"])])
    follower = Follower(folder.journal)
    follower.read_all()
    seen = facts_of_all(folder, follower)
    before = folder.journal.read_bytes()
    assert seen == facts_of(as_it_stands(folder, read(folder.journal)[0]))
    assert folder.journal.read_bytes() == before  # who looks on writes nothing


def test_the_end_of_a_journal_is_shown_before_all_of_it_was_read(workspace: Path) -> None:
    big = [outcome(n, results={"text": "x" * 7_000}) for n in range(1, 1_200)]
    folder = made(workspace, big, objective="all of it")
    assert folder.journal.stat().st_size > 2 * limits.UI_START_BYTES
    facts = facts_of_ending(folder)
    assert facts.objective == "all of it"
    assert facts.dispatches.shown[-1].id == "d1199-0"
    assert all(fact.status == "success" for fact in facts.dispatches.shown)


def test_a_journal_without_its_first_record_is_shown_all_the_same(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / ".outcrop" / "runs" / "r")
    folder.path.mkdir(parents=True)
    folder.journal.write_bytes(b"damaged\n" + start(0) + end(0))
    follower = Follower(folder.journal)
    follower.read_all()
    assert facts_of_all(folder, follower).dispatches.total == 1
    assert facts_of_ending(folder).dispatches.total == 1


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["begin", "success", "failed"])), max_size=60))
def test_pairs_say_what_a_list_of_them_would(steps: list[tuple[int, str]]) -> None:
    pairs, model, running = Pairs(), [], {}
    for place, (number, step) in enumerate(steps):
        name = f"d{number}"
        if step == "begin":
            pairs.begin(name, Place(place, 1))
            if name in running:
                model[running[name]][1] = place
            else:
                running[name] = len(model)
                model.append([name, place, None, ""])
        else:
            pairs.finish(name, Place(place, 2), step)
            if name in running:
                model[running.pop(name)][2:] = [place, step]
    each = map(pairs.__getitem__, range(len(pairs)))
    told = [[pair.start.at, pair.end.at if pair.end else None, pair.status] for pair in each]
    assert told == [[at, ended, status] for _, at, ended, status in model]
    assert pairs.open == running
    assert [pair.number for pair in pairs.before(len(model), {"failed"})] == [
        number for number in reversed(range(len(model))) if model[number][3] == "failed"
    ]
