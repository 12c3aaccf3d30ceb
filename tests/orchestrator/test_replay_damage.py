"""`replay --verify` on records that are not whole: every loss is found, and no crash is taken for one."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Run, ScriptedModel
from outcrop.blocks import FILE_NAME
from outcrop.cli.main import run as command
from outcrop.journal import Journal, encode
from outcrop.models.scripted import turn
from outcrop.recovery import open_run
from outcrop.replay import Checked, lead_request, verify
from outcrop.runs import RunFolder
from outcrop_schemas.errors import JournalError
from outcrop_schemas.messages import ModelRequest

CSV = "sample,Au,Cu\na,0.1,10\nb,0.2,20\nb,0.2,20\n"
DISPATCH = ("dispatch", {"specialist": "cleaning", "objective": "drop duplicates", "data": ["assays.csv"]})
DONE = ("complete", {"status": "success", "summary": "cleaned", "findings": ["one row was twice there"]})
CLEANING = [
    turn(("remove_duplicates", {"path": "assays.csv"})),
    turn(("complete", {"status": "success", "summary": "1 removed", "results": {"removed": 1}})),
]
LEAD = [
    turn(("check_missing", {"path": "assays.csv"}), ("pin", {"key": "limit", "value": "0.01 ppm"})),
    turn(DISPATCH),
    turn(DONE),
]


async def run_once(workspace: Path, lead: Any, cleaning: Any) -> Path:
    (workspace / "assays.csv").write_text(CSV)
    models = {"lead": lead, "cleaning": cleaning}
    return Path(
        (await Run("clean", ["assays.csv"], workspace=workspace, launcher=warm(), model=models).start()).run_folder
    )


@pytest.fixture
async def folder(workspace: Path) -> Path:
    return await run_once(workspace, ScriptedModel(LEAD), ScriptedModel(CLEANING))


def checked(folder: Path) -> list[Checked]:
    return verify(open_run(RunFolder(folder)))


def differences(folder: Path) -> list[str]:
    return [f"{one.agent[:5]}: {one.difference}" for one in checked(folder) if one.difference]


def specialist(folder: Path) -> Path:
    [path] = (folder / "exchanges").glob("d0001-*.jsonl")
    return path


def change(path: Path, edit: Callable[[list[bytes]], list[bytes]]) -> None:
    path.write_bytes(b"".join(edit(path.read_bytes().splitlines(keepends=True))))


def without(marker: bytes) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [line for line in lines if marker not in line]


def lead_lines(edit: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    return lambda folder: change(folder / "exchanges" / "lead.jsonl", edit)


def work_lines(edit: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    return lambda folder: change(specialist(folder), edit)


def journal_lines(edit: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    return lambda folder: change(folder / "journal.jsonl", edit)


def second(line: bytes) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [lines[0], line + b"\n", *lines[2:]]


def replaced(old: bytes, new: bytes, place: int = -1) -> Callable[[list[bytes]], list[bytes]]:
    def edit(lines: list[bytes]) -> list[bytes]:
        assert old in lines[place]
        lines[place] = lines[place].replace(old, new)
        return lines

    return edit


def no_exchanges(folder: Path) -> None:
    for path in (folder / "exchanges").iterdir():
        path.unlink()


def as_folder(folder: Path) -> None:
    path = specialist(folder)
    path.unlink()
    path.mkdir()


def stray_exchange(folder: Path) -> None:
    shutil.copy(specialist(folder), folder / "exchanges" / "d0002-0.jsonl")


def pieces(old: bytes, new: bytes) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = folder / "exchanges" / FILE_NAME
        assert old in path.read_bytes()
        path.write_bytes(path.read_bytes().replace(old, new))

    return damage


def without_piece(marker: bytes) -> Callable[[Path], None]:
    return lambda folder: change(folder / "exchanges" / FILE_NAME, without(marker))


DAMAGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "all exchanges deleted": (no_exchanges, "3 prompts were sent, 0 are recorded"),
    "the lead's exchanges deleted": (
        lambda f: (f / "exchanges" / "lead.jsonl").unlink(),
        "3 prompts were sent, 0 are recorded",
    ),
    "a specialist's exchanges deleted": (
        lambda f: specialist(f).unlink(),
        "2 turns were answered, 0 are recorded",
    ),
    "the lead's last line dropped": (lead_lines(lambda lines: lines[:-1]), "3 prompts were sent, 2 are recorded"),
    "a specialist's last line dropped": (
        work_lines(lambda lines: lines[:-1]),
        "2 turns were answered, 1 are recorded",
    ),
    "a first line dropped": (work_lines(lambda lines: lines[1:]), "d0001: prompt 1:"),
    "a line twice": (work_lines(lambda lines: [*lines, lines[-1]]), "3 are recorded"),
    "a middle line garbage": (lead_lines(second(b"X{")), "line 2 is damaged"),
    "a line that is no object": (lead_lines(second(b"[]")), "no JSON object"),
    "a hash removed": (lead_lines(replaced(b'"sha256"', b'"sha"', 1)), "line 2 is damaged: it has no 'sha256'"),
    "an answer's hash removed": (lead_lines(replaced(b'"response_sha256"', b'"x"', 1)), "no 'response_sha256'"),
    "an answer that is none": (lead_lines(replaced(b'"assistant"', b'"x"')), "line 3 is damaged: messages."),
    "an answer removed": (lead_lines(replaced(b'"response"', b'"x"')), "line 3 is damaged"),
    "a count of kept messages that is none": (lead_lines(replaced(b'"keep":2', b'"keep":null', 2)), "is damaged"),
    "the final answer rewritten": (pieces(b'"cleaned"', b'"CLEANED"'), "line 3 is damaged: the piece"),
    "a specialist's answer rewritten": (pieces(b"1 removed", b"9 removed"), "line 2 is damaged: the piece"),
    "a piece removed": (without_piece(b'"cleaned"'), "is not recorded"),
    "how an answer ended rewritten": (
        lead_lines(replaced(b"tool_use", b"end_turn")),
        "prompt 3: the record is damaged",
    ),
    "how a specialist's ended rewritten": (work_lines(replaced(b"tool_use", b"end_turn")), "prompt 2: the record is"),
    "an exchange file that is a folder": (as_folder, "cannot be read"),
    "exchanges of nobody": (stray_exchange, "the journal does not know it"),
    "a dispatch removed from the journal": (
        journal_lines(lambda lines: [line for line in lines if b'"id":"d0001-' not in line]),
        "the journal lacks the records before",
    ),
    "an outcome removed from the journal": (
        journal_lines(without(b'"type":"end"')),
        "the journal lacks the records before",
    ),
    "the lead's tool results removed": (journal_lines(without(b'"lead_tool"')), "in turn 1 is not recorded"),
    "the places of prompts removed": (journal_lines(without(b'"kind":"turn"')), "0 prompts were sent, 3 are recorded"),
    "the first record removed": (journal_lines(lambda lines: lines[1:]), "the journal lacks the records before"),
    "a record made unreadable": (journal_lines(second(b"X")), "damaged lines of the journal"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_what_was_lost_or_changed_is_a_difference_and_no_traceback(folder: Path, name: str) -> None:
    harm, words = DAMAGE[name]
    harm(folder)
    assert words in "\n".join(differences(folder))
    # What recovery writes down the first time must not hide it the second time.
    assert words in "\n".join(differences(folder))


@pytest.mark.parametrize("field", ["summary", "findings", "blockers", "status"])
def test_an_answer_that_the_lead_did_not_give_is_found(folder: Path, field: str) -> None:
    def forge(lines: list[bytes]) -> list[bytes]:
        record = json.loads(lines[-1])
        assert record["body"]["kind"] == "answer"
        forged = {"summary": "all is well", "findings": [], "blockers": ["none"], "status": "partial"}
        record["body"]["outcome"][field] = forged[field]
        return [*lines[:-1], encode("event", record["seq"], record["id"], record["at"], record["body"])]

    assert differences(folder) == []
    change(folder / "journal.jsonl", forge)
    assert differences(folder) == [f"lead: the recorded answer is not what the lead said: {field}"]


async def test_a_success_that_the_run_lowered_to_partial_is_no_difference(workspace: Path) -> None:
    folder = await run_once(workspace, ScriptedModel([turn(DISPATCH), turn(DONE)]), ScriptedModel([]))
    record = open_run(RunFolder(folder))
    assert record.answer is not None
    assert record.answer.status == "partial"
    assert [one.difference for one in await asyncio.to_thread(verify, record)] == [None, None]


@pytest.mark.parametrize(
    "lead",
    [
        [],
        [turn(DISPATCH)],
        [turn(("complete", {}))] * 3,
        [turn(text="hm")] * 3,
        [turn(("pin", {"key": "a", "value": "b"}))] * 3,
    ],
    ids=["no turn", "one turn", "invalid", "idle", "repeated"],
)
async def test_a_run_without_an_answer_of_its_lead_verifies(workspace: Path, lead: list[Any]) -> None:
    folder = await run_once(workspace, ScriptedModel(lead), ScriptedModel(CLEANING))
    record = open_run(RunFolder(folder))
    assert record.answer is not None
    assert record.answer.status == "error"
    assert await asyncio.to_thread(differences, folder) == []
    request = await asyncio.to_thread(lead_request, record)
    assert request.messages[-1].role == "user"


class Waiting:
    """A model that never answers; it says when it was asked."""

    name = "waiting"

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()

    async def create(self, request: ModelRequest) -> Any:
        self.is_asked.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize("who", ["lead", "cleaning"])
async def test_a_run_that_is_cancelled_in_the_middle_of_a_turn_verifies(workspace: Path, who: str) -> None:
    (workspace / "assays.csv").write_text(CSV)
    waiting = Waiting()
    models: dict[str, Any] = {"lead": ScriptedModel(LEAD[1:]), "cleaning": ScriptedModel(CLEANING), who: waiting}
    run = Run("clean", ["assays.csv"], workspace=workspace, launcher=warm(), model=models)
    task = asyncio.create_task(run.start())
    await asyncio.wait_for(waiting.is_asked.wait(), 30)
    assert run.desk is not None
    under_way = await asyncio.to_thread(verify, open_run(run.desk.folder))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    record = open_run(run.desk.folder)
    assert record.answer is not None
    assert record.answer.status == "cancelled"
    assert [one.difference for one in [*under_way, *await asyncio.to_thread(verify, record)] if one.difference] == []
    request = await asyncio.to_thread(lead_request, record)
    assert request.messages[-1].role == "user"


def killed_at(folder: Path, count: int, *, is_answered: bool, copy: Path) -> Path:
    """The run as it would lie there, had its orchestrator died right after `count` journal records."""
    shutil.copytree(folder, copy)
    change(copy / "journal.jsonl", lambda lines: lines[:count])
    kept = (copy / "journal.jsonl").read_bytes()
    turns = kept.count(b'"kind":"turn"')
    change(copy / "exchanges" / "lead.jsonl", lambda lines: lines[: turns if is_answered else max(0, turns - 1)])
    if b'"type":"start"' not in kept:
        specialist(copy).unlink()
    elif b'"type":"end"' not in kept:
        change(specialist(copy), lambda lines: [lines[0], lines[1][: len(lines[1]) // 2]])
    return copy


def test_a_run_that_is_killed_at_any_record_verifies_without_a_false_alarm(folder: Path, tmp_path: Path) -> None:
    count = len((folder / "journal.jsonl").read_bytes().splitlines())
    assert count > 8
    for records in range(1, count):
        kept = (folder / "journal.jsonl").read_bytes().splitlines()[:records]
        # Without the answer to a turn there is nothing of that turn in the journal either.
        for is_answered in (True, False) if b'"kind":"turn"' in kept[-1] else (True,):
            copy = tmp_path / f"killed-{records}-{is_answered}"
            killed_at(folder, records, is_answered=is_answered, copy=copy)
            with (copy / "journal.jsonl").open("ab") as journal:
                journal.write(b'{"v":1,"torn')
            assert differences(copy) == [], (records, is_answered)


def test_a_run_under_way_verifies_though_its_exchanges_are_ahead_of_what_was_read(folder: Path, tmp_path: Path) -> None:
    count = len((folder / "journal.jsonl").read_bytes().splitlines())
    for records in range(1, count):
        copy = tmp_path / f"under-way-{records}"
        shutil.copytree(folder, copy)
        change(copy / "journal.jsonl", lambda lines, records=records: lines[:records])  # type: ignore[misc]
        journal, _, _ = Journal.reopen(copy / "journal.jsonl")
        with (copy / "journal.jsonl").open("ab") as file:
            file.write(b'{"v":1,"being writ')
        assert open_run(RunFolder(copy)).is_under_way
        assert differences(copy) == [], records
        journal.close_now()


def test_the_prompt_of_a_killed_run_is_one_that_its_lead_could_have_seen(folder: Path, tmp_path: Path) -> None:
    sent = [json.loads(line) for line in (folder / "exchanges" / "lead.jsonl").read_bytes().splitlines()]
    count = len((folder / "journal.jsonl").read_bytes().splitlines())
    interrupted = 0
    for records in range(3, count):
        copy = killed_at(folder, records, is_answered=True, copy=tmp_path / f"killed-{records}")
        shown = lead_request(open_run(RunFolder(copy)))
        kept = (copy / "journal.jsonl").read_bytes()
        assert shown.messages[-1].role == "user"
        roles = [message.role for message in shown.messages]
        assert all(one != other for one, other in pairwise(roles))
        if b'"interrupted"' in kept:
            # In the middle of the second turn: what was sent last, byte for byte.
            assert hash_of(shown) == sent[1]["sha256"]
            interrupted += 1
    assert interrupted


def hash_of(request: ModelRequest) -> str:
    return sha256(request.as_bytes()).hexdigest()


def test_the_prompt_of_a_damaged_run_is_refused_with_a_sentence(folder: Path) -> None:
    lead_lines(second(b"X{"))(folder)
    with pytest.raises(JournalError, match=r"prompt cannot be rebuilt: .*line 2 is damaged"):
        lead_request(open_run(RunFolder(folder)))


@pytest.mark.parametrize("name", ["a middle line garbage", "the first record removed", "a record made unreadable"])
def test_looking_at_damage_does_not_add_to_the_journal(folder: Path, name: str) -> None:
    DAMAGE[name][0](folder)
    told = open_run(RunFolder(folder)).notices
    size = (folder / "journal.jsonl").stat().st_size
    for _ in range(3):
        assert open_run(RunFolder(folder)).notices == told
    assert (folder / "journal.jsonl").stat().st_size == size


def test_a_second_crash_is_recorded_though_it_tore_as_much_as_the_first(folder: Path) -> None:
    for times in (1, 2):
        with (folder / "journal.jsonl").open("ab") as journal:
            journal.write(b'{"v":1,"torn')
        assert "12 bytes were torn off" in open_run(RunFolder(folder)).notices[0]
        assert (folder / "journal.jsonl").read_bytes().count(b'"kind":"recovered"') == times


def test_the_command_says_what_is_lost_and_ends_with_1(
    folder: Path, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["replay", folder.name, "--verify", "--workspace", str(workspace)]
    assert command(arguments) == 0
    no_exchanges(folder)
    journal_lines(lambda lines: lines[1:])(folder)
    capsys.readouterr()
    assert command(arguments) == 1
    said = capsys.readouterr()
    assert "journal: differs: the journal lacks the records before number 1" in said.out
    assert "byte for byte" not in said.out
    assert "Traceback" not in said.err
    assert command(["show", folder.name, "--workspace", str(workspace)]) == 0
    assert "its first record is lost" in capsys.readouterr().out


class Repeating:
    """A model that numbers the calls of each turn from nought, so that ids come again."""

    def __init__(self, turns: list[Any]) -> None:
        self._turns = iter(turns)
        self.name = "repeating"

    async def create(self, request: ModelRequest) -> Any:
        return next(self._turns)


async def test_ids_that_come_again_in_a_later_turn_are_told_apart(workspace: Path) -> None:
    cleaning = [turn(("list_files", {})), *CLEANING]
    lead = [turn(("pin", {"key": "a", "value": "x"})), turn(("pin", {"key": "b", "value": "y"})), *LEAD]
    folder = await run_once(workspace, Repeating(lead), Repeating(cleaning))
    found = await asyncio.to_thread(checked, folder)
    assert [(one.prompts, one.difference) for one in found] == [(5, None), (3, None)]


async def test_a_scripted_model_gives_every_call_an_id_of_its_own() -> None:
    model = ScriptedModel([turn(("pin", {}), ("pin", {})), turn(("pin", {})), lambda request: turn(("pin", {}))])
    request = ModelRequest(system="s", messages=[])
    ids = [call.id for _ in range(3) for call in (await model.create(request)).tool_uses()]
    assert len(set(ids)) == 4


async def test_integers_beyond_64_bits_are_recorded_with_all_their_digits(workspace: Path) -> None:
    huge = turn(("pin", {"key": "a", "value": 10**30 + 7}), ("list_files", {"x": [-(2**63) - 1, 2**64 + 1, 1e16]}))
    folder = await run_once(workspace, ScriptedModel([huge, turn(DONE)]), ScriptedModel([]))
    assert await asyncio.to_thread(differences, folder) == []
    shown = (await asyncio.to_thread(lead_request, open_run(RunFolder(folder)))).as_bytes()
    assert all(str(number).encode() in shown for number in (10**30 + 7, -(2**63) - 1, 2**64 + 1))
