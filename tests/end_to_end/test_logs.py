"""`outcrop log`, `runs`, `diff` and `gc` on runs that really were, through the installed command."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import installed
import pytest

from outcrop.logbook import redacted

Command = Callable[..., CompletedProcess[str]]
SECRET = "Saddleback"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with three runs: a summary, the same of other data, and one that could not be done."""
    folder = tmp_path_factory.mktemp("runs")
    rows = [f"{SECRET}{n},{n / 10},{'granite' if n % 2 else 'shale'}" for n in range(1, 30)]
    for name, extra in (("one.csv", []), ("two.csv", [f"{SECRET}30,99,shale"])):
        (folder / name).write_text("\n".join(["sample,Cu_ppm,rock", *rows, *extra]) + "\n")
    asked = [("summarise Cu_ppm by rock", "one.csv", 0), ("summarise Cu_ppm by rock", "two.csv", 0)]
    for words, name, status in (*asked, ("summarise Zn_ppm by rock", "one.csv", 1)):
        done = installed.outcrop(folder, "run", words, "--data", name, "--model", "offline")
        assert done.returncode == status
    return folder


@pytest.fixture
def runs(made: Path, outcrop: Command, workspace: Path) -> list[str]:
    """A copy of them in the test's own workspace, by their ids."""
    shutil.copytree(made, workspace, dirs_exist_ok=True)
    return [entry["run_id"] for entry in said(outcrop("runs", "--json"))]


def said(done: CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_runs_tell_what_they_take_and_how_they_ended(outcrop: Command, runs: list[str]) -> None:
    listed = said(outcrop("runs", "--json"))
    assert [entry["status"] for entry in listed] == ["success", "success", "error"]
    assert all(entry["bytes"] > 10_000 and entry["age_s"] < 300 for entry in listed)
    shown = outcrop("runs").stdout
    assert "summarise Cu_ppm by rock" in shown
    assert "3 runs" in shown


def test_a_log_tells_each_dispatch_its_calls_and_what_went_wrong(outcrop: Command, runs: list[str]) -> None:
    lines = said(outcrop("log", runs[0], "--json"))["lines"]
    of_lead = [line["what"] for line in lines if line["agent"] == "lead"]
    assert of_lead[:3] == ["begins a run", "turn 1", "given back: list_files"]
    ends = said(outcrop("log", runs[0], "--tool", "complete", "--json"))["lines"]
    assert {line["status"] for line in ends} == {"ok"}
    dispatch = next(line["agent"] for line in lines if line["what"].startswith("begins: "))
    of_it = said(outcrop("log", runs[0], "--dispatch", dispatch[:5], "--json"))["lines"]
    assert {line["agent"] for line in of_it} == {dispatch}
    called = [line for line in of_it if line["what"] == "calls summarize"]
    assert [line["status"] for line in called] == ["ok"]
    assert "Cu_ppm" in called[0]["text"]
    assert said(outcrop("log", runs[0], "--tool", "summarize", "--json"))["lines"] == called
    assert said(outcrop("log", runs[0], "--errors", "--json"))["lines"] == []
    assert "Nothing went wrong" in outcrop("log", runs[0], "--errors").stdout
    wrong = outcrop("log", runs[2], "--errors").stdout
    assert "[error]" in wrong
    assert "Zn_ppm" in wrong


def test_an_unknown_dispatch_is_named(outcrop: Command, runs: list[str]) -> None:
    done = outcrop("log", runs[0], "--dispatch", "d0099")
    assert done.returncode == 2
    assert "no dispatch 'd0099'" in done.stderr


def test_an_export_can_be_made_without_anything_of_the_users(
    outcrop: Command, runs: list[str], workspace: Path
) -> None:
    assert outcrop("log", runs[0], "--export", "whole.jsonl").returncode == 0
    assert outcrop("log", runs[0], "--export", "bare.jsonl", "--redact").returncode == 0
    whole, bare = ((workspace / name).read_text() for name in ("whole.jsonl", "bare.jsonl"))
    assert "granite" in whole
    for word in ("granite", "Cu_ppm", "one.csv", SECRET):
        assert word not in bare
    assert len(bare.splitlines()) == len(whole.splitlines())
    statuses = [json.loads(line)["body"].get("status") for line in bare.splitlines()]
    assert "success" in statuses
    again = outcrop("log", runs[0], "--export", "whole.jsonl")
    assert again.returncode == 2
    assert "nothing is replaced" in again.stderr
    assert outcrop("log", runs[0], "--redact").returncode == 2


def test_no_record_of_any_kind_tells_names_when_it_is_redacted() -> None:
    """Whatever form a record has: lists and objects under names of our own may hold names of the user's."""
    column = {"name": SECRET, "type": "number", "role": "element", "values": [SECRET]}
    body = {"kind": "plan", "columns": [SECRET, column], "rows": [[SECRET, 1.5]], "id": SECRET, "status": [SECRET]}
    body |= {"plan": {"inputs": [{"id": "input1", "file": SECRET, "columns": [column]}]}, "files": {"input1": SECRET}}
    found = redacted({"v": 1, "type": "event", "seq": 3, "id": "run-1", "body": body})
    assert SECRET not in json.dumps(found)
    assert (found["id"], found["seq"], found["body"]["kind"]) == ("run-1", 3, "plan")


def test_two_runs_are_compared(outcrop: Command, runs: list[str]) -> None:
    found = {each["what"]: each for each in said(outcrop("diff", runs[0], runs[1], "--json"))["differences"]}
    assert found["objective"]["change"] == "same"
    assert found["data one.csv"]["change"] == "only_first"
    assert found["data two.csv"]["change"] == "only_second"
    # What was made of the one is compared with what was made of the other.
    figures = {what.partition(" in ")[0]: each for what, each in found.items() if what.startswith("figure ")}
    assert {each["change"] for each in figures.values()} <= {"same", "changed"}
    granite, shale = (figures[f"figure mean of Cu_ppm rock = {rock}"] for rock in ("granite", "shale"))
    assert (granite["change"], shale["change"]) == ("same", "changed")
    assert any(what == "artifact results/{data 1}_summarize.csv" for what in found)
    assert found["status"] == {"what": "status", "change": "same", "first": "success", "second": "success"}
    same = said(outcrop("diff", runs[0], runs[0], "--json"))["differences"]
    assert {each["change"] for each in same} == {"same"}
    assert any(each["what"].startswith("figure ") for each in same)
    assert "things differ" in outcrop("diff", runs[0], runs[2]).stdout


def test_old_runs_are_listed_first_and_removed_when_asked(outcrop: Command, runs: list[str], workspace: Path) -> None:
    folders = workspace / ".outcrop" / "runs"
    for name in runs[:2]:
        os.utime(folders / name / "journal.jsonl", (time.time() - 40 * 86_400,) * 2)
    results = sorted(path.name for path in (workspace / "results").glob("*.csv"))
    listed = said(outcrop("gc", "--older-than", "30d", "--json"))
    assert [each["run_id"] for each in listed["runs"]] == runs[:2]
    assert not listed["removed"]
    assert all((folders / name).is_dir() for name in runs)
    changed = workspace / listed["runs"][0]["files"][0]
    changed.write_text("mine now\n")
    kept = said(outcrop("gc", "--older-than", "30d", "--keep-artifacts", "--json"))
    assert [each["files"] for each in kept["runs"]] == [[], []]
    done = outcrop("gc", "--older-than", "30d", "--yes")
    assert "Removed 2 runs" in done.stdout
    assert [path.name for path in folders.iterdir()] == runs[2:]
    assert changed.read_text() == "mine now\n"
    assert len(results) == 2
    assert [path.name for path in (workspace / "results").glob("*.csv")] == [changed.name]
    assert [entry["run_id"] for entry in said(outcrop("runs", "--json"))] == runs[2:]


def test_files_that_a_dispatch_of_a_kept_run_reads_stay(outcrop: Command, runs: list[str], workspace: Path) -> None:
    """A lone dispatch names its data in its own record, not in that of its run."""
    folders = workspace / ".outcrop" / "runs"
    [made, *_] = sorted((workspace / "results").glob("*.csv"))
    name = str(made.relative_to(workspace))
    assert outcrop("dispatch", "analytics", "--objective", "summarise mean", "--data", name).returncode == 0
    for run in runs:
        os.utime(folders / run / "journal.jsonl", (time.time() - 40 * 86_400,) * 2)
    listed = said(outcrop("gc", "--older-than", "30d", "--json"))
    assert [each["run_id"] for each in listed["runs"]] == runs
    files = [path for each in listed["runs"] for path in each["files"]]
    assert files
    assert name not in files


def test_a_run_that_was_killed_long_ago_is_as_old_as_its_record(
    outcrop: Command, runs: list[str], workspace: Path
) -> None:
    """To open it writes down what was in flight; that makes it no younger. Of one that cannot be read no file goes."""
    journals = [workspace / ".outcrop" / "runs" / run / "journal.jsonl" for run in runs]
    lines = journals[0].read_bytes().splitlines(keepends=True)
    at = next(place for place, line in enumerate(lines) if b'"type":"start"' in line)
    journals[0].write_bytes(b"".join(lines[: at + 1]))
    for journal in journals[:2]:
        os.utime(journal, (time.time() - 40 * 86_400,) * 2)
    listed = said(outcrop("gc", "--older-than", "30d", "--json"))
    assert [each["run_id"] for each in listed["runs"]] == runs[:2]
    assert any(each["files"] for each in listed["runs"])
    assert "interrupted" in journals[0].read_text()


@pytest.mark.parametrize("age", ["30", "d", "3 days", "-1d"])
def test_an_age_that_is_none_is_refused(outcrop: Command, workspace: Path, age: str) -> None:
    done = outcrop("gc", f"--older-than={age}")
    assert done.returncode == 2
    assert "is no age" in done.stderr
