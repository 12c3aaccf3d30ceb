"""A record that was acknowledged is never lost, and none is invented, whatever happens to the file."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from outcrop.history import History
from outcrop.journal import Journal, encode
from outcrop.records import decode, read
from outcrop.recovery import open_run
from outcrop.runs import RunFolder
from outcrop_schemas.errors import JournalError


def start_body(objective: str = "summarise — 😀") -> dict[str, object]:
    return {
        "specialist": "analytics",
        "objective": objective,
        "data": [],
        "context": {},
        "command": None,
        "timeout_s": 1,
    }


def end_body(dispatch_id: str, status: str = "success") -> dict[str, object]:
    return {
        "dispatch_id": dispatch_id, "specialist": "analytics", "objective": "o", "status": status,
        "started_at": "2026-01-01T00:00:00Z", "duration_s": 1.5, "errors": ["boom"] if status != "success" else [],
    }  # fmt: skip


@pytest.fixture
def journal_bytes() -> bytes:
    lines = [encode("run", 0, "r", "2026-01-01T00:00:00.000+00:00", {"kind": "pool"})]
    for number in range(1, 6):
        lines.append(encode("start", number, f"d{number}", "2026-01-01T00:00:00.000+00:00", start_body()))
    return b"".join(lines)


def test_a_line_begins_with_its_version_and_type(journal_bytes: bytes) -> None:
    assert journal_bytes.split(b"\n")[1].startswith(b'{"v":1,"type":"start","seq":1,"id":"d1","crc32c":"')


def test_a_journal_cut_at_every_byte_keeps_every_whole_record(journal_bytes: bytes, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for length in range(len(journal_bytes) + 1):
        path.write_bytes(journal_bytes[:length])
        records, damage = read(path)
        whole = journal_bytes[:length].count(b"\n")
        assert len(records) == whole
        assert damage.torn_bytes == length - (journal_bytes[:length].rfind(b"\n") + 1)


def test_every_flipped_byte_is_noticed(journal_bytes: bytes) -> None:
    line = journal_bytes.split(b"\n")[1]
    for place in range(len(line)):
        changed = bytes([*line[:place], line[place] ^ 1, *line[place + 1 :]])
        if b"\n" not in changed:
            assert decode(changed) is None


def test_a_block_of_nul_bytes_is_skipped_and_counted(journal_bytes: bytes, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    lines = journal_bytes.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + b"\0" * 4096 + b"\n" + b"".join(lines[3:]))
    records, damage = read(path)
    assert [record.seq for record in records] == [0, 1, 2, 3, 4, 5]
    assert damage.bad_lines == [4]


def test_a_lost_record_is_noticed_by_its_number(journal_bytes: bytes, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    lines = journal_bytes.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert read(path)[1].missing_sequence == [3]


def test_the_next_record_is_not_glued_to_a_torn_tail(journal_bytes: bytes, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(journal_bytes + b'{"v":1,"type":"end","seq":6')
    journal, records, damage = Journal.reopen(path)
    journal.append_now("event", "r", {"kind": "x"})
    journal.close_now()
    assert damage.torn_bytes == 27
    assert [record.seq for record in read(path)[0]] == [0, 1, 2, 3, 4, 5, 6]
    assert read(path)[1].sentences() == []
    assert [torn.read_bytes() for torn in tmp_path.glob("*.torn-*")] == [b'{"v":1,"type":"end","seq":6']
    assert len(records) == 6


async def test_appends_that_come_together_are_all_there_in_order(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "journal.jsonl")
    await asyncio.gather(*(journal.append("event", "r", {"kind": "n", "n": n}) for n in range(200)))
    await journal.close()
    assert [record.body["n"] for record in read(journal.path)[0]] == list(range(200))


class Counting(ThreadPoolExecutor):
    """Threads that count what they are given."""

    given = 0

    def submit(self, *work: Any, **more: Any) -> Future[Any]:
        self.given += 1
        return super().submit(*work, **more)


async def test_appends_that_come_together_share_one_flush(tmp_path: Path) -> None:
    with Counting(2) as writers:
        journal = Journal.create(tmp_path / "journal.jsonl", writers)
        await asyncio.gather(*(journal.append("event", "r", {"kind": "n"}) for _ in range(50)))
        assert writers.given == 1
        await journal.append("event", "r", {"kind": "n"})
        assert writers.given == 2
        await journal.close()


async def test_a_record_whose_caller_is_cancelled_is_written_with_those_beside_it(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "journal.jsonl")
    tasks = [asyncio.create_task(journal.append("event", "r", {"kind": "n", "n": n})) for n in range(3)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    tasks.append(asyncio.create_task(journal.append("event", "r", {"kind": "n", "n": 3})))
    await asyncio.sleep(0)
    await journal.close()
    assert [task.cancelled() for task in tasks] == [False, True, False, False]
    assert [record.body["n"] for record in read(journal.path)[0]] == [0, 1, 2, 3]


def test_a_second_process_cannot_append_to_a_living_journal(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "journal.jsonl")
    with pytest.raises(JournalError, match="still under way"):
        Journal.reopen(journal.path)
    journal.close_now()
    Journal.reopen(journal.path)[0].close_now()


async def test_a_full_disk_is_a_typed_error_for_everyone_who_waits(tmp_path: Path) -> None:
    journal = Journal(Path("/dev/full"), os.open("/dev/full", os.O_WRONLY), 0)
    found = await asyncio.gather(
        *(journal.append("event", "r", {"kind": "x"}) for _ in range(3)), return_exceptions=True
    )
    assert [type(error) for error in found] == [JournalError] * 3
    assert "No space left" in str(found[0])


async def test_a_journal_that_was_closed_says_so(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "journal.jsonl")
    await journal.append("event", "r", {"kind": "x"})
    await journal.close()
    with pytest.raises(JournalError, match="closed"):
        await asyncio.wait_for(journal.append("event", "r", {"kind": "x"}), 10)


def test_what_was_in_flight_when_the_orchestrator_died_becomes_interrupted(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "journal.jsonl")
    journal.append_now("run", "r", {"kind": "pool"})
    for name in ("d1", "d2"):
        journal.append_now("start", name, start_body())
    journal.append_now("end", "d1", end_body("d1"))
    journal.close_now()
    run = open_run(RunFolder(tmp_path))
    assert {outcome.dispatch_id: outcome.status for outcome in run.outcomes} == {"d1": "success", "d2": "interrupted"}
    assert "1 dispatch was in flight" in run.notices[0]
    assert len(open_run(RunFolder(tmp_path)).records) == len(run.records)


def test_an_acknowledged_record_survives_sigkill(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from outcrop.journal import Journal
journal = Journal.create(Path(sys.argv[1]))
number = 0
while True:
    journal.append_now("event", "r", {"kind": "n", "n": number})
    print(number, flush=True)
    number += 1
"""
    path = tmp_path / "journal.jsonl"
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 50:
            process.send_signal(signal.SIGKILL)
            break
    acknowledged = [int(line) for line in process.stdout.read().split()]
    process.wait()
    records, _ = read(path)
    assert len(records) >= max([50, *acknowledged]) + 1
    assert [record.body["n"] for record in records] == list(range(len(records)))


class FullDisk:
    """Takes half of what is written, then says that there is no room; and may refuse to cut or to flush."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, broken: tuple[str, ...]) -> None:
        self.is_full = False
        for name in ("write", "ftruncate", "fdatasync"):
            monkeypatch.setattr(os, name, self._replaced(name, getattr(os, name), name in broken))

    def _replaced(self, name: str, real: Any, is_broken: bool) -> Any:
        def call(descriptor: int, *given: Any) -> Any:
            if self.is_full and is_broken:
                if name == "write" and len(given[0]) > 200:
                    return real(descriptor, given[0][: len(given[0]) // 2])
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(descriptor, *given)

        return call


@pytest.mark.parametrize("broken", [("write",), ("write", "ftruncate"), ("fdatasync",), ("fdatasync", "ftruncate")])
@pytest.mark.parametrize("is_waited_for", [True, False])
async def test_what_is_acknowledged_after_a_failed_write_is_in_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: tuple[str, ...], is_waited_for: bool
) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal.create(path)
    disk = FullDisk(monkeypatch, broken=broken)

    async def append(name: str) -> None:
        if is_waited_for:
            await journal.append("event", name, {"kind": "x" * 500})
        else:
            journal.append_now("event", name, {"kind": "x" * 500})

    await append("before")
    for turn in range(3):
        disk.is_full = True
        for _ in range(2):
            with pytest.raises(JournalError, match="No space left"):
                await append("refused")
        disk.is_full = False
        await append(f"after {turn}")
    await asyncio.gather(*(append(f"together {n}") for n in range(5)))
    await journal.close()
    records, damage = read(path)
    assert [record.id for record in records][:4] == ["before", "after 0", "after 1", "after 2"]
    assert len(records) == 9
    assert not damage
    reopened, again, damage = Journal.reopen(path)
    reopened.close_now()
    assert (len(again), bool(damage)) == (9, False)


async def test_of_records_that_fail_together_none_is_there_and_those_behind_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal.create(path)
    disk = FullDisk(monkeypatch, broken=("write",))
    disk.is_full = True
    work = [journal.append("event", f"r{n}", {"kind": "x"}) for n in range(20)]
    ends = await asyncio.gather(*work, return_exceptions=True)
    assert {type(end) for end in ends} == {JournalError}
    disk.is_full = False
    with pytest.raises(ValueError, match="not JSON"):
        await journal.append("event", "bad", {"kind": object()})
    await journal.append("event", "kept", {"kind": "x"})
    await journal.close()
    records, damage = read(path)
    assert ([record.id for record in records], [record.seq for record in records]) == (["kept"], [0])
    assert not damage


def history_of(count: int, **ends: str) -> History:
    history = History()
    for number in range(1, count + 1):
        name = f"d{number:04d}"
        history.take("start", name, start_body(f"objective {number}"))
        status = ends.get(name, "success")
        if status != "running":
            history.take("end", name, end_body(name, status))
    return history


def test_the_lead_is_told_of_the_last_twenty_and_a_count_of_the_older() -> None:
    shown = history_of(25, d0002="timeout", d0003="partial", d0025="running").render()
    assert shown is not None
    lines = shown.splitlines()
    assert lines[1] == "[5 older: 4 successes, 1 errors, 0 pending]"
    assert len(lines) == 22
    assert lines[2].startswith("[d0006] analytics: success (1.5 s) — objective 6")
    assert lines[-1].startswith("[d0025] analytics: running — objective 25")


def test_an_old_dispatch_that_still_runs_is_counted_as_pending() -> None:
    history = history_of(25, d0001="running")
    shown = history.render()
    assert shown is not None
    assert "[5 older: 4 successes, 0 errors, 1 pending]" in shown
    history.take("end", "d0001", end_body("d0001", "crashed"))
    shown = history.render()
    assert shown is not None
    assert "[5 older: 4 successes, 1 errors, 0 pending]" in shown


def test_objectives_and_errors_are_shortened_to_one_line() -> None:
    history = History()
    history.take("start", "d1", start_body("line one\nline two " + "x" * 1000))
    history.take("end", "d1", {**end_body("d1", "error"), "errors": ["e" * 1000]})
    shown = history.render()
    assert shown is not None
    line = shown.splitlines()[1]
    assert "line one line two" in line
    assert len(line) < 300 + 300 + 100


def test_nothing_is_rendered_before_the_first_dispatch() -> None:
    assert History().render() is None
