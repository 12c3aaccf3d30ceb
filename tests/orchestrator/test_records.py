"""A journal of any length is opened by the places of its records, and each record is read when it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop import records
from outcrop.history import History, render_history
from outcrop.journal import encode
from outcrop.records import index_path, read
from outcrop_schemas import limits
from outcrop_schemas.errors import JournalError

AT = "2026-01-01T00:00:00.000+00:00"


def journal(path: Path, dispatches: int, pending: int = 0) -> Path:
    """A journal of so many dispatches, every third of which failed; the last ones have not ended."""
    lines = [encode("run", 0, "r", AT, {"kind": "pool", "objective": '"status":"none"'})]
    for number in range(dispatches):
        name, seq = f"d{number:04d}", 1 + 3 * number
        lines.append(encode("start", seq, name, AT, {"specialist": "analytics", "objective": f"o {number}"}))
        lines.append(encode("event", seq + 1, "r", AT, {"kind": "turn", "number": number}))
        if number < dispatches - pending:
            body = {
                "dispatch_id": name,
                "specialist": "analytics",
                # What only looks like a status stands before the one that counts.
                "objective": '","status":"crashed","',
                "status": "failed" if number % 3 == 0 else "success",
                "errors": ["boom"] * (number % 3 == 0),
                "duration_s": 1.5,
            }
            lines.append(encode("end", seq + 2, name, AT, body))
    path.write_bytes(b"".join(lines))
    return path


def test_records_are_known_by_type_and_detail_and_read_one_at_a_time(tmp_path: Path) -> None:
    found, _ = read(journal(tmp_path / "j", 9))
    assert len(found) == 28
    assert found.statuses() == {"failed": 3, "success": 6}
    assert [record.id for record in found.of("end", "failed")] == ["d0000", "d0003", "d0006"]
    assert [record.body["number"] for record in found.of("event", "turn")] == list(range(9))
    assert [record.seq for record in found] == [entry.seq for entry in found.entries]
    assert [record.seq for record in found[-3:]] == [found[-3].seq, found[-2].seq, found[-1].seq]
    assert found.next_sequence == found[-1].seq + 1
    assert found.find("end", "d0004") == next(record for record in found.of("end") if record.id == "d0004")
    assert found.find("end", "d9999") is None


def test_what_is_changed_meanwhile_is_not_given_out(tmp_path: Path) -> None:
    path = journal(tmp_path / "j", 2)
    found, _ = read(path)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"o 1", b"o 7"))
    assert found[0].body["kind"] == "pool"
    with pytest.raises(JournalError, match="was changed while"):
        list(found)


@pytest.mark.parametrize("pending", [0, 2, 30])
def test_the_history_of_a_journal_is_that_of_its_records_taken_one_by_one(tmp_path: Path, pending: int) -> None:
    found, _ = read(journal(tmp_path / "j", 60, pending))
    history = History()
    for record in found:
        history.take(record.type, record.id, record.body)
    assert render_history(found) == history.render()


class TestIndex:
    """A large journal is looked at once; its index holds as long as the file is what it was."""

    @pytest.fixture
    def path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(limits, "JOURNAL_INDEXED_BYTES", 1)
        return journal(tmp_path / "journal.jsonl", 5)

    def test_it_gives_the_same_records_and_damage(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([*lines[:4], b"no record\n", *lines[6:], b"torn"]))
        first, damage = read(path)
        assert damage
        assert index_path(path).stat().st_mode & 0o777 == 0o600
        monkeypatch.setattr(records, "_scanned", None)  # would fail if it were called
        again, same = read(path)
        assert list(again.entries) == list(first.entries)
        assert [record.seq for record in again] == [record.seq for record in first]
        assert same == damage

    def test_it_is_not_used_for_another_file(self, path: Path) -> None:
        read(path)
        with path.open("ab") as file:
            file.write(encode("event", 16, "r", AT, {"kind": "turn"}))
        assert len(read(path)[0]) == 17

    @pytest.mark.parametrize("text", ["", "{}", "not json\n1", '{"journal":[1,2,3],"entries":0,"damage":{}}'])
    def test_one_that_is_damaged_is_made_again(self, path: Path, text: str) -> None:
        read(path)
        index_path(path).write_text(text)
        assert len(read(path)[0]) == 16
        assert index_path(path).read_text() != text

    def test_one_that_cannot_be_written_is_no_fault(self, path: Path) -> None:
        index_path(path).mkdir()
        assert len(read(path)[0]) == 16
        assert not index_path(path).with_suffix(".tmp").exists()

    def test_a_small_journal_has_none(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "JOURNAL_INDEXED_BYTES", 1 << 20)
        read(path)
        assert not index_path(path).exists()
