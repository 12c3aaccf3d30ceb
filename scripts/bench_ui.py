"""How soon the live view shows a long run and a large batch: `scripts/bench_ui.py [--megabytes N] [--events N]`.

Writes the journal of one run of so many megabytes and events (1,000 and 500,000 by default), starts `outcrop ui` and
asks for the list and for the page of the run, both the first time; while the journal is still being read it asks for
the page of a short run. Of a batch of `--jobs` (10,000) it asks for pages of jobs, and searches them. With a Chromium
on the PATH it times the page of the run there too, until DOMContentLoaded. Exits 1 where a first screen takes more than
2 s, or the server more than 400 MB.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

from outcrop.journal import encode
from outcrop_schemas.outcome import Outcome, RunOutcome

GOAL_SECONDS, GOAL_MB = 2.0, 400
AT = "2026-01-01T00:00:00.000+00:00"
LONG, SHORT = "20260101-000000-000000-long", "20260102-000000-000000-short"
BATCH, TEXT_OF_A_JOB = "20260103-000000-000000-jobs", 4_000
BESIDE = 1_100
"""Bytes of two records beside the text of the results."""


def make_run(workspace: Path, name: str, events: int, size: int) -> None:
    """A run whose journal has so many records and about so many bytes."""
    run = workspace / ".outcrop" / "runs" / name
    run.mkdir(parents=True)
    text = "x" * max(1, 2 * size // events - BESIDE)
    with (run / "journal.jsonl").open("wb") as journal:
        journal.write(encode("run", 0, name, AT, {"kind": "pool", "objective": name, "at": AT}))
        for number in range(1, events // 2 + 1):
            dispatch, objective = f"d{number:04d}-{number:016x}", f"objective {number}"
            start = {"specialist": "analytics", "objective": objective, "command": None}
            outcome = Outcome(
                dispatch_id=dispatch,
                specialist="analytics",
                objective=objective,
                status="failed" if number % 5_000 == 0 else "success",
                results={"text": text},
                started_at=AT,
                duration_s=1.0,
            )
            journal.write(encode("start", 2 * number - 1, dispatch, AT, start))
            journal.write(encode("end", 2 * number, dispatch, AT, outcome.model_dump(mode="json")))
    (run / "run.json").write_text("{}")


def make_batch(workspace: Path, jobs: int) -> None:
    """A batch that has ended, with outcomes of the size that those of jobs with a few dispatches have."""
    run = workspace / ".outcrop" / "runs" / BATCH
    run.mkdir(parents=True)
    with (run / "journal.jsonl").open("wb") as journal:
        journal.write(encode("run", 0, BATCH, AT, {"kind": "batch", "jobs": "/jobs.jsonl", "at": AT}))
        for line in range(1, jobs + 1):
            body = {"job": f"{line:064x}", "line": line, "id": f"job {line}", "run_id": f"{BATCH}-{line}"}
            outcome = RunOutcome(
                run_id=f"{BATCH}-{line}",
                objective=f"summarise copper of hole {line}",
                status="failed" if line % 100 == 0 else "success",
                summary="x" * TEXT_OF_A_JOB,
                data=[],
                model="offline",
                started_at=AT,
                duration_s=1.0,
                run_folder="",
            )
            ended = {"kind": "job_end", **body, "outcome": outcome.model_dump(mode="json")}
            journal.write(encode("event", 2 * line - 1, BATCH, AT, {"kind": "job_start", **body}))
            journal.write(encode("event", 2 * line, BATCH, AT, ended))
    (run / "run.json").write_text("{}")


def seconds_to(address: str) -> tuple[float, str]:
    began = time.perf_counter()
    with urllib.request.urlopen(address) as answer:
        text = answer.read().decode()
    return time.perf_counter() - began, text


def seconds_in_browser(address: str) -> float | None:
    """From the request until DOMContentLoaded in Chromium; None where there is none."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address, wait_until="domcontentloaded")
        timing = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        browser.close()
    return float(timing) / 1_000


def measure(workspace: Path) -> bool:
    command = [Path(sys.executable).with_name("outcrop"), "ui", "--workspace", str(workspace), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout
    url = json.loads(process.stdout.readline())["url"]
    is_good = True

    def told(what: str, seconds: float) -> None:
        nonlocal is_good
        is_good &= seconds <= GOAL_SECONDS
        print(f"  {what:44s} {seconds:.2f} s{'' if seconds <= GOAL_SECONDS else '   MISSED'}", flush=True)

    try:
        in_browser = seconds_in_browser(f"{url}run/{LONG}/")
        if in_browser is not None:
            told("the long run in Chromium, DOMContentLoaded", in_browser)
        told("the long run, first or again", seconds_to(f"{url}run/{LONG}/")[0])
        told("a short run meanwhile", seconds_to(f"{url}run/{SHORT}/")[0])
        told("the list", seconds_to(url)[0])
        began = time.perf_counter()
        while "Reading the journal" in seconds_to(f"{url}run/{LONG}/")[1]:
            pass
        print(f"  {'all of the journal read after':44s} {time.perf_counter() - began:.2f} s")
        told("the long run, read", seconds_to(f"{url}run/{LONG}/")[0])
        told("its earlier dispatches, those that failed", seconds_to(f"{url}run/{LONG}/earlier?status=failed")[0])
        jobs = f"{url}run/{BATCH}/jobs"
        told("the batch, the first time", seconds_to(f"{url}run/{BATCH}/")[0])
        told("its first jobs", seconds_to(jobs)[0])
        told("its last jobs", seconds_to(f"{jobs}?before=999999999")[0])
        told("its jobs that failed", seconds_to(f"{jobs}?status=failed")[0])
        told("its jobs searched, nothing found", seconds_to(f"{jobs}?q=nowhere")[0])
        megabytes = psutil.Process(process.pid).memory_info().rss / 1e6
        print(f"  {'memory':44s} {megabytes:.0f} MB{'' if megabytes <= GOAL_MB else '   MISSED'}")
        return is_good and megabytes <= GOAL_MB
    finally:
        process.terminate()
        process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--jobs", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as temporary:
        workspace = Path(temporary)
        make_run(workspace, SHORT, 20, 100_000)
        make_batch(workspace, options.jobs)
        make_run(workspace, LONG, options.events, options.megabytes * 1_000_000)
        size = (workspace / ".outcrop" / "runs" / LONG / "journal.jsonl").stat().st_size
        print(f"{size / 1e6:,.0f} MB of journal, {options.events:,} events")
        return 0 if measure(workspace) else 1


if __name__ == "__main__":
    sys.exit(main())
