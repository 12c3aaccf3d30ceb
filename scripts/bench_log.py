"""How soon a long log answers: `scripts/bench_log.py [--megabytes N]`.

Writes the journal of one run with dispatches of 8,000 characters each until it is so large (1,000 MB by default), then
asks `outcrop show`, `replay`, `replay --step`, `log --errors` and `runs` for their first screen, the first time without
an index of the journal and then with one; before that the same of a log of 1 MB. Exits 1 where a screen takes more than
2 s or 200 MB.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from outcrop.journal import encode
from outcrop.records import index_path
from outcrop_schemas.outcome import Outcome

GOAL_SECONDS, GOAL_MB = 2.0, 200
SCREEN_LINES = 40
COMMANDS = (
    ("show", "last"),
    ("replay", "last"),
    ("replay", "last", "--step"),
    ("log", "last", "--errors"),
    ("log", "last"),
    ("runs",),
)
AT = "2026-01-01T00:00:00.000+00:00"
ONE_IN = 5_000
"""So many dispatches to one that failed."""


def make_log(folder: Path, size: int) -> int:
    """A run whose journal has at least `size` bytes; the number of its dispatches."""
    run = folder / ".outcrop" / "runs" / "20260101-000000-000000-bench"
    run.mkdir(parents=True)
    text, number, seq = "figure " * 1_100, 0, 1
    with (run / "journal.jsonl").open("wb") as journal:
        about = {"kind": "pool", "objective": None, "at": AT}
        journal.write(encode("run", 0, run.name, AT, about))
        while journal.tell() < size:
            number += 1
            name = f"d{number:04d}-{number:016x}"
            start = {"specialist": "analytics", "objective": f"objective {number}", "command": None}
            journal.write(encode("start", seq, name, AT, start))
            status = "failed" if number % ONE_IN == 0 else "success"
            outcome = Outcome(
                dispatch_id=name,
                specialist="analytics",
                objective=f"objective {number}",
                status=status,
                summary="done",
                results={"text": text},
                errors=["exit code 1"] * (status == "failed"),
                started_at=AT,
                duration_s=1.0,
            )
            journal.write(encode("end", seq + 1, name, AT, outcome.model_dump(mode="json")))
            seq += 2
    (run / "run.json").write_text(json.dumps(about))
    return number


def first_screen(folder: Path, command: tuple[str, ...]) -> tuple[float, float]:
    """Seconds until the first screen of a command, or its end, and the megabytes that it took."""
    outcrop = Path(sys.executable).parent / "outcrop"
    began = time.perf_counter()
    process = subprocess.Popen([outcrop, *command], cwd=folder, stdout=subprocess.PIPE)
    assert process.stdout
    for _, _ in zip(range(SCREEN_LINES), process.stdout, strict=False):
        pass
    seconds = time.perf_counter() - began
    process.stdout.close()
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return seconds, used.ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_000)
    wanted = parser.parse_args().megabytes
    is_kept = True
    with tempfile.TemporaryDirectory(dir=".") as temporary:
        for size in (1, wanted):
            folder = Path(temporary) / str(size)
            dispatches = make_log(folder, size * 1_000_000)
            print(f"{size} MB of log, {dispatches} dispatches")
            for command in COMMANDS:
                for what in ("first", "again"):
                    if what == "first":
                        journal = next(folder.glob(".outcrop/runs/*/journal.jsonl"))
                        index_path(journal).unlink(missing_ok=True)
                    seconds, megabytes = first_screen(folder, command)
                    is_good = seconds <= GOAL_SECONDS and megabytes <= GOAL_MB
                    is_kept &= is_good
                    missed = "" if is_good else "   MISSED"
                    print(f"  {' '.join(command):21s} {what}: {seconds:.2f} s, {megabytes:.0f} MB{missed}", flush=True)
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
