"""A batch on real files whose orchestrator is killed again and again: each job ends once, none is done in secret.

Twelve jobs and two kills; OUTCROP_LONG=1 makes it five hundred and ten.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from processes import is_alive

from outcrop.batch_resume import UNKNOWN
from outcrop.records import Records, read
from outcrop.recovery import open_run
from outcrop.runs import RunFolder

IS_LONG = "OUTCROP_LONG" in os.environ
JOBS, KILLS = (500, 10) if IS_LONG else (12, 2)
ELEMENTS = ("Cu", "Zn", "Pb", "Ni", "Co", "As")
MEASURES = ("Culmen Length (mm)", "Culmen Depth (mm)", "Flipper Length (mm)", "Body Mass (g)")
WORK = (
    *[("als_an7_grab.csv", f"summarise {element}") for element in ELEMENTS],
    *[("als_an7_grab.csv", f"plot a histogram of {element}") for element in ELEMENTS],
    *[("penguins_raw.csv", f"plot a histogram of {measure}") for measure in MEASURES],
    *[("penguins_raw.csv", f"summarise {measure}") for measure in MEASURES],
    ("penguins_raw.csv", "remove duplicate rows"),
)


@dataclass
class Killing:
    """A batch whose orchestrator is started, and killed at a random moment."""

    workspace: Path
    jobs: Path
    chance: random.Random

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "outcrop.cli.main", "batch", str(self.jobs), "--workspace"]
        options = (str(self.workspace), "--workers", "2", "--resume", *options)
        return subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def killed(self, after: int, *options: str, at_work: bool) -> None:
        """Start it, and kill it a moment after so many jobs have ended, or when a specialist is at work after that.

        What it started must end as well.
        """
        process = self.start(*options)
        wanted, deadline = self.ended + after, time.monotonic() + 240
        while process.poll() is None and (self.ended < wanted or (at_work and not self.is_at_work())):
            assert time.monotonic() < deadline, "it did not get so far"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
        if not at_work:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.chance.uniform(0, 0.5))
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        assert all_gone(family)

    @property
    def ended(self) -> int:
        return sum(entry.detail == "job_end" for entry in self.records().entries) if self.folder else 0

    def is_at_work(self) -> bool:
        """Whether a dispatch has begun, and not ended."""
        last = [runs[-1] for runs in self.runs().values()][-2:] if self.folder else []
        return any(run.journal.is_file() and read(run.journal)[0].in_flight() for run in last)

    @property
    def folder(self) -> RunFolder | None:
        for path in (self.workspace / ".outcrop" / "runs").glob("*/run.json"):
            if b'"kind":"batch"' in path.read_bytes():
                return RunFolder(path.parent)
        return None

    def records(self) -> Records:
        assert self.folder is not None
        return read(self.folder.journal)[0]

    def ends(self) -> list[dict[str, Any]]:
        return [record.body for record in self.records().of("event", "job_end")] if self.folder else []

    def runs(self) -> dict[str, list[RunFolder]]:
        """The runs of each job, in the order they began."""
        found: dict[str, list[RunFolder]] = {}
        for record in self.records().of("event", "job_start"):
            run = RunFolder(self.workspace / ".outcrop" / "runs" / record.body["run_id"])
            found.setdefault(record.body["job"], []).append(run)
        return found

    def results(self) -> list[dict[str, Any]]:
        assert self.folder is not None
        return [json.loads(line) for line in (self.folder.path / "results.jsonl").read_text().splitlines()]


def all_gone(family: list[psutil.Process]) -> bool:
    psutil.wait_procs(family, timeout=10)
    return not any(map(is_alive, family))


@pytest.fixture
def killing(workspace: Path, shared: Path) -> Killing:
    for name in {name for name, _ in WORK}:
        shutil.copyfile(shared / "data" / "files" / name, workspace / name)
    jobs = workspace / "jobs.jsonl"
    lines = [
        json.dumps({"id": f"{number}", "objective": objective, "data": name})
        for number, (name, objective) in zip(range(JOBS), WORK * JOBS, strict=False)
    ]
    jobs.write_text("\n".join(lines) + "\n")
    return Killing(workspace, jobs, random.Random(7))


def had_effects_unknown(run: RunFolder) -> bool:
    """Whether a specialist was at work when the run's orchestrator was killed."""
    found = open_run(run)
    return found.answer is None and bool(found.records.statuses()["interrupted"])


@pytest.mark.timeout(3_600 if IS_LONG else 300)
def test_a_batch_that_is_killed_again_and_again_ends_every_job_once(
    killing: Killing, record_property: Callable[[str, object], None]
) -> None:
    each = JOBS // (KILLS + 3)
    # Half of the times what is not known is left alone ...
    first = (KILLS + 1) // 2
    for number in range(first):
        killing.killed(killing.chance.randint(1, each), at_work=number % 2 == 0)
    told = {body["job"]: body["outcome"] for body in killing.ends() if body["outcome"]["status"] == "interrupted"}
    assert all(outcome["errors"] == [UNKNOWN] for outcome in told.values())
    for job, runs in killing.runs().items():
        again = [run for run in runs[:-1] if had_effects_unknown(run)]
        assert not again, f"{job} was done again in secret"
        assert job not in told or had_effects_unknown(runs[-1])
    # ... and half of the times it is done again.
    for number in range(KILLS - first):
        killing.killed(killing.chance.randint(1, each), "--retry", "interrupted", at_work=number % 2 == 0)
    last = killing.start("--retry", "interrupted")
    assert last.wait(3_000) == 0
    check_results(killing, set(told))
    again = Counter(len(runs) for runs in killing.runs().values())
    record_property("figures", f"{len(told)} flagged, jobs by how often they were begun: {dict(again)}")
    everybody = psutil.process_iter(["cwd"])
    assert all_gone([process for process in everybody if str(killing.workspace) in (process.info["cwd"] or "")])


def check_results(killing: Killing, flagged: set[str]) -> None:
    """One result a job, in order, with all its files; no job came to an answer twice."""
    results = killing.results()
    assert [result["line"] for result in results] == list(range(1, JOBS + 1))
    assert {result["status"] for result in results} == {"success"}
    ends = Counter(body["job"] for body in killing.ends())
    assert len(ends) == JOBS
    assert {job for job, count in ends.items() if count > 1} <= flagged, "an end that nobody asked for"
    runs = killing.runs()
    assert {sum(open_run(run).answer is not None for run in found) for found in runs.values()} == {1}
    files = [artifact for result in results for artifact in result["artifacts"]]
    assert len(files) > JOBS // 4
    for artifact in files:
        content = (killing.workspace / artifact["path"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == artifact["sha256"]
