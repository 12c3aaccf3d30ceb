"""What a page tells of a run: bounded however long the run was, and sensible however it ended."""

from __future__ import annotations

import csv
import hashlib
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from made_runs import answer, made, outcome, record, said

from outcrop.batch_resume import COUNTED, ENDED, STARTED
from outcrop.journal import Journal, encode
from outcrop.properties import unlaunched
from outcrop.recovery import open_run
from outcrop.report.facts import RunFacts, facts_of
from outcrop.report.links import FileLinks
from outcrop.report.page import render_page
from outcrop_schemas import limits

PIECE = {"path": "a.csv", "statistic": "mean", "column": "Au", "value": 1.5, "verdict": "verified", "actual": 1.5}


def facts(*args: Any, **options: Any) -> RunFacts:
    return facts_of(record(*args, **options))


def test_of_ten_thousand_dispatches_the_last_and_those_that_failed_are_shown_and_the_others_counted(
    workspace: Path,
) -> None:
    statuses = ["crashed" if number in (5, 6, 9_999) else "success" for number in range(10_000)]
    run = record(workspace, (outcome(n, status) for n, status in enumerate(statuses)), kind="pool", objective=None)
    tracemalloc.start()
    found = facts_of(run)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    shown = found.dispatches.shown
    assert len(shown) == limits.REPORT_DISPATCHES
    assert [fact.short for fact in shown[:3]] == ["d0005", "d0006", "d9802"]
    assert shown[-1].status == "crashed"
    assert found.dispatches.counts == {"success": 9_997, "crashed": 3}
    assert sum(found.dispatches.left_out.values()) == 10_000 - limits.REPORT_DISPATCHES
    assert len(found.timeline.bars) == limits.REPORT_DISPATCHES
    assert found.status == "partial"
    assert most < 30 << 20


def test_a_run_that_was_killed_has_no_answer_and_its_dispatches_are_interrupted(workspace: Path) -> None:
    found = facts(workspace, [outcome(1)], pending=2)
    assert (found.status, found.answer) == ("interrupted", None)
    assert found.dispatches.counts == {"success": 1, "interrupted": 2}
    assert any("in flight" in notice for notice in found.notices)
    assert [told.more for told in found.not_done] == [1]  # the same sentence of both


def test_a_run_that_was_killed_took_until_its_last_record_however_late_it_is_opened(workspace: Path) -> None:
    folder = made(workspace, [outcome(1)], pending=1)
    with folder.journal.open("ab") as journal:
        last = {"kind": "turn", "turn": 2}
        journal.write(encode("event", 4, folder.run_id, "2026-01-01T00:00:30.000+00:00", last))
    for _ in ("recovered", "opened again"):
        found = facts_of(open_run(folder))
        assert found.seconds == 30.0
        assert [(fact.status, fact.begun, fact.seconds) for fact in found.dispatches.shown] == [
            ("success", 1.0, 2.0),
            ("interrupted", 1.0, 29.0),
        ]
        assert found.timeline.ticks[-1].label == "30 s"


def test_a_run_under_way_shows_what_runs(workspace: Path) -> None:
    folder = made(workspace, [outcome(1)], pending=1)
    journal, _, _ = Journal.reopen(folder.journal)
    try:
        found = facts_of(open_run(folder))
    finally:
        journal.close_now()
    assert found.status == "under way"
    assert [(fact.status, fact.seconds) for fact in found.dispatches.shown] == [("success", 2.0), ("running", None)]


def test_what_is_damaged_in_the_record_is_said(workspace: Path) -> None:
    folder = made(workspace, [outcome(1), outcome(2)])
    folder.journal.write_bytes(folder.journal.read_bytes().replace(b"piece 2", b"piece 7"))
    found = facts_of(open_run(folder))
    assert any("damaged lines" in notice for notice in found.notices)


def test_a_run_without_its_first_record_is_still_told(workspace: Path) -> None:
    folder = made(workspace, [outcome(1)])
    folder.journal.write_bytes(folder.journal.read_bytes().split(b"\n", 1)[1])
    found = facts_of(open_run(folder))
    assert found.dispatches.total == 1
    assert found.setting.version == ""


def test_a_lone_dispatch_lends_its_objective_to_the_page(workspace: Path) -> None:
    found = facts(workspace, [outcome(1, "timeout", errors=["600 s"])], kind="pool", objective=None)
    assert (found.title, found.status) == ("piece 1", "timeout")
    assert [told.text for told in found.not_done] == ["600 s"]


def test_what_the_lead_repeats_of_a_dispatch_is_told_once(workspace: Path) -> None:
    dispatch = outcome(1, "error", blockers=["no column Zn"], errors=["it broke"])
    found = facts(workspace, [dispatch], events=[answer("r", blockers=['Not done: "map": no column Zn'])])
    assert [told.text for told in found.not_done] == ['Not done: "map": no column Zn', "it broke"]


def test_a_sentence_that_many_say_is_told_once_with_their_number(workspace: Path) -> None:
    found = facts(workspace, [outcome(number, "crashed", warnings=["odd", "odd"]) for number in range(5)])
    assert [(told.text, told.more) for told in found.not_done] == [("ended as crashed", 4)]
    assert [(told.text, told.more) for told in found.warnings] == [("odd", 4)]


def test_what_a_program_says_of_its_tokens_is_believed_only_where_it_is_a_number(workspace: Path) -> None:
    usage = {"input_tokens": -5, "output_tokens": 7, "cache_read_input_tokens": "many"}
    assert facts(workspace, [outcome(1, usage=usage)]).tokens_spent == 7


def test_a_dispatch_that_launched_nothing_says_nothing_of_the_isolation(workspace: Path) -> None:
    never = {name: each.model_dump() for name, each in unlaunched().items()}
    held = {name: {"active": True, "by": "Landlock", "proof": "denied"} for name in never}
    lacked = {name: {"active": False, "by": "the kernel is too old", "proof": None} for name in never}
    outcomes = [outcome(1, isolation=held), outcome(2, "cancelled", isolation=never), outcome(3, isolation=lacked)]
    found = facts(workspace, outcomes).setting.isolation
    assert {(each.held, each.of, each.by) for each in found} == {(1, 2, "the kernel is too old")}
    assert len(found) == len(never)


def test_a_gap_is_told_with_its_fallback(workspace: Path) -> None:
    gap = {"capability": "kriging", "reason": "no package", "package": "gstools", "manager": "pip", "fallback": "idw"}
    found = facts(workspace, [outcome(1, "capability_gap", gap=gap)])
    [told] = found.not_done
    assert told.text == "kriging is missing; reason: no package; package: gstools; manager: pip; fallback: idw"


def test_each_number_of_the_answer_has_its_verdict_where_it_stands(workspace: Path) -> None:
    figures = [
        {"where": "summary", "text": "4", "verdict": "unverifiable", "reason": "no claim"},
        {"where": "summary", "text": "1.5", "verdict": "verified", "claim": 0},
    ]
    told = answer("r", summary="d14 has 4 holes, mean 1.5, and 9", figures=figures, claims=[PIECE])
    found = facts(workspace, events=[told]).answer
    assert found is not None
    assert [(piece.text, piece.figure and piece.figure.verdict) for piece in found.summary] == [
        ("d14 has ", None),
        ("4", "unverifiable"),
        (" holes, mean ", None),
        ("1.5", "verified"),
        (", and 9", None),
    ]
    assert found.summary[3].claim is not None
    assert found.summary[3].claim.operation == "mean of Au"


def test_a_text_that_is_not_the_one_whose_figures_were_traced_stays_text(workspace: Path) -> None:
    figures = [{"where": "summary", "text": "7", "verdict": "verified", "claim": 40}]
    for summary in ("mean 8", "none", ""):
        found = facts_of(
            record(workspace, events=[answer("r", summary=summary, figures=figures)], name=f"r{len(summary)}")
        )
        assert found.answer is not None
        assert "".join(piece.text for piece in found.answer.summary) == summary
        assert all(piece.claim is None for piece in found.answer.summary)


def test_what_reading_mended_and_what_a_cleaning_tool_counted_is_gathered_once(workspace: Path) -> None:
    findings = [
        "REPAIRED 3 rows that lack one empty field",
        "read as missing: 'Au' (2 × —), 'Cu' (3 × n.a.)",
        "SUSPECTED totals, kept as rows: line 9",
        "line 1 above the header skipped (12 characters)",
        "Not said, so left at its default: keep first",
    ]
    results = {"removed": 4, "rows": 9, "is_sorted": True, "columns": [{"name": "Au", "below": 7}]}
    cleaned = outcome(1, specialist="cleaning", findings=findings, results=results)
    found = facts(workspace, [cleaned, outcome(2, findings=findings)]).repairs
    assert [(repair.count, repair.who.short) for repair in found.repaired] == [(3, "d0001"), (5, "d0001")]
    assert [repair.what for repair in found.suspicious] == [findings[2]]
    assert [each.counts for each in found.cleaned] == [{"removed": 4}]


def test_the_jobs_of_a_batch_are_those_that_were_said_last(workspace: Path) -> None:
    def job(line: int, status: str | None) -> dict[str, Any]:
        body = {"job": f"j{line}", "line": line, "id": None, "run_id": f"r{line}"}
        if status is None:
            return {"kind": "job_start", **body}
        return {"kind": "job_end", **body, "outcome": {"status": status, "objective": "o", "duration_s": 1.0}}

    events = [
        job(1, None),
        job(1, "crashed"),
        job(1, None),
        job(1, "success"),
        job(2, None),
        job(2, "error"),
        job(3, None),
    ]
    found = facts(workspace, events=events, kind="batch", objective=None).jobs
    assert found is not None
    assert [(each.line, each.status) for each in found.shown] == [(2, "error"), (3, "interrupted"), (1, "success")]
    assert found.counts == {"success": 1, "error": 1, "interrupted": 1}


def test_the_page_of_a_batch_that_was_killed_tells_how_many_jobs_there_are_and_how_many_began(workspace: Path) -> None:
    begun = [{"kind": STARTED, "job": f"j{line}", "line": line, "id": None, "run_id": f"r{line}"} for line in (1, 2)]
    ended = {"status": "success", "objective": "o", "duration_s": 1.0}
    done = {"kind": ENDED, "job": "j1", "line": 1, "id": None, "outcome": ended}
    links = FileLinks(workspace / "report.html", workspace, workspace)
    seen: list[str] = []

    def told(*events: dict[str, Any]) -> str:
        name = f"2026010{len(seen)}-000000-000000-aaaa"
        seen.append(name)
        found = facts(workspace, name=name, events=[*events, *begun, done], kind="batch", objective=None)
        return render_page(found, links)

    assert "A batch of 1,200 jobs, of which 2 had begun." in told({"kind": COUNTED, "jobs": 1200})
    assert "A batch of 2 jobs." in told({"kind": COUNTED, "jobs": 2})
    # Resumed: the last count holds. Records of before have none.
    assert "A batch of 3 jobs, of which 2 had begun." in told(
        {"kind": COUNTED, "jobs": 9}, {"kind": COUNTED, "jobs": 3}
    )
    assert "A batch of 2 jobs." in told()


def test_a_long_batch_shows_its_failures_first(workspace: Path) -> None:
    events = [
        {
            "kind": "job_end",
            "job": str(line),
            "line": line,
            "id": None,
            "outcome": {"status": "error" if line == 700 else "success", "objective": "o", "duration_s": 1.0},
        }
        for line in range(800)
    ]
    found = facts(workspace, events=events, kind="batch", objective=None).jobs
    assert found is not None
    assert found.shown[0].line == 700
    assert (len(found.shown), found.left_out) == (limits.REPORT_JOBS, 300)


def test_files_that_are_gone_changed_or_too_many_are_said_to_be(workspace: Path) -> None:
    def file(name: str, count: int, sha: str = "0" * 64) -> dict[str, Any]:
        return {"path": name, "kind": "table", "title": "", "bytes": count, "sha256": sha}

    with (workspace / "here.csv").open("w", newline="") as out:
        csv.writer(out).writerows([["a", "b"], *([n, n] for n in range(50))])
    here = (workspace / "here.csv").read_bytes()
    size, sha = len(here), hashlib.sha256(here).hexdigest()
    many = [file(f"gone{n}.csv", 9) for n in range(limits.REPORT_ARTIFACTS)]
    found = facts(workspace, [outcome(1, artifacts=[file("here.csv", size, sha), file("here2.csv", 5), *many])])
    (workspace / "here.csv").write_text("a,b\n1,2\n")
    again = facts(workspace, [outcome(1, artifacts=[file("here.csv", size, sha)])], name="again")
    assert found.artifacts[0].head is not None
    assert found.artifacts[0].head.columns == ("a", "b")
    assert len(found.artifacts[0].head.rows) == limits.REPORT_TABLE_ROWS
    assert found.artifacts[0].note == ""
    assert "not there" in found.artifacts[1].note
    assert found.more_artifacts == 2
    assert "changed" in again.artifacts[0].note


@pytest.mark.parametrize(("name", "kind"), [("a.csv", "table"), ("a.json", "report"), ("a.png", "plot")])
def test_a_file_of_the_same_size_with_other_bytes_is_said_to_have_changed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    (workspace / name).write_bytes(b"a,b\n1,2\n")
    recorded = {
        "path": name,
        "kind": kind,
        "title": "",
        "bytes": 8,
        "sha256": hashlib.sha256(b"a,b\n1,3\n").hexdigest(),
    }
    found = facts(workspace, [outcome(1, artifacts=[recorded])])
    assert "changed" in found.artifacts[0].note
    monkeypatch.setattr(limits, "REPORT_HASHED_BYTES", 7)
    again = facts(workspace, [outcome(1, artifacts=[recorded])], name="again")
    assert ("changed" in again.artifacts[0].note) is (kind == "plot")


@pytest.mark.parametrize(
    ("statuses", "status"),
    [(["partial"], "partial"), (["success", "success"], "success"), (["success", "cancelled"], "partial")],
)
def test_a_chat_is_called_by_its_first_message_and_ends_as_its_answers_did(
    workspace: Path, statuses: list[str], status: str
) -> None:
    turns = [said(number, f"message {number}", each) for number, each in enumerate(statuses, 1)]
    found = facts(workspace, events=turns, kind="chat", objective=None)
    assert (found.title, found.status) == ("message 1", status)


def test_a_chat_longer_than_its_page_counts_all_of_its_answers(workspace: Path) -> None:
    turns = [said(number, f"message {number}", "error" if number == 1 else "success") for number in range(1, 300)]
    found = facts(workspace, events=turns, kind="chat", objective=None)
    assert found.conversation is not None
    assert len(found.conversation.turns) == limits.REPORT_TURNS
    assert (found.title, found.status) == ("message 1", "partial")
