"""SIGKILL at random moments, also while a run is opened again: what was acknowledged is there, and nothing else.

Four rounds; OUTCROP_LONG=1 makes it two hundred.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from outcrop import Pool
from outcrop.recovery import open_run
from outcrop.runs import RunFolder

ROUNDS = 200 if "OUTCROP_LONG" in os.environ else 4
ORCHESTRATOR = """
import asyncio, sys
from outcrop import Pool

async def main():
    async with Pool(workers=6, workspace=sys.argv[1]) as pool:
        async def one(number):
            outcome = await pool.dispatch("shell", f"piece {number}", command=["sh", sys.argv[2]])
            print(outcome.dispatch_id, outcome.status, flush=True)
        print("ready", flush=True)
        await asyncio.gather(*(one(number) for number in range(400)))

asyncio.run(main())
"""
OPENER = """
import sys
from pathlib import Path
from outcrop import Pool
from outcrop.recovery import open_run
from outcrop.runs import RunFolder
print("ready", flush=True)
open_run(RunFolder(Path(sys.argv[1])))
print("opened", flush=True)
"""
SPECIALIST = """
read -r request
id=$(printf %s "$request" | sed 's/.*"dispatch_id":"\\([^"]*\\)".*/\\1/')
printf '{"type":"completion","dispatch_id":"%s","status":"success","results":{"answer":"%s"}}\\n' "$id" "$id"
"""


def killed_after(command: list[str], lines: int, seconds: float) -> list[str]:
    """Run it, SIGKILL it so many seconds after so many lines behind the first; its whole lines."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    said = b"".join(process.stdout.readline() for _ in range(lines))
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.kill()
    said += process.stdout.read()
    process.stdout.close()
    process.wait()
    return [line.decode() for line in said.split(b"\n")[:-1]]


@pytest.mark.timeout(180 + 30 * ROUNDS)
def test_what_was_acknowledged_survives_every_kill_and_nothing_is_invented(workspace: Path, tmp_path: Path) -> None:
    script = tmp_path / "specialist.sh"
    script.write_text(SPECIALIST)
    # What the isolation was proved to be is kept; until it is, no outcome is told.
    with Pool(workspace=workspace) as pool:
        pool.dispatch_sync("shell", command=["true"])
        first = pool.run_folder.path
    shutil.rmtree(first)
    chance = random.Random(11)
    interrupted = acknowledged_in_all = 0
    for _ in range(ROUNDS):
        command = [sys.executable, "-c", ORCHESTRATOR, str(workspace), str(script)]
        said = killed_after(command, chance.choice([0, 1, 3]), chance.uniform(0, 0.1))
        acknowledged = dict(line.split(" ") for line in said)
        [folder] = (workspace / ".outcrop" / "runs").iterdir()
        # The orchestrator that opens the run again is killed as well, once or twice; later ones find less to do.
        for _ in range(chance.randint(0, 2)):
            killed_after([sys.executable, "-c", OPENER, str(folder)], 0, chance.uniform(0, 0.02))
        run = open_run(RunFolder(folder))
        check_one_end_each(run.folder, acknowledged)
        assert list(run.damage) == []
        interrupted += sum(outcome.status == "interrupted" for outcome in run.outcomes)
        acknowledged_in_all += len(acknowledged)
        # Opening it once more changes nothing.
        before = run.folder.journal.read_bytes()
        assert open_run(run.folder).outcomes == run.outcomes
        assert run.folder.journal.read_bytes() == before
        folder.rename(tmp_path / folder.name)
    # The rounds met both: what had ended, and what was in flight.
    assert interrupted > 0
    assert acknowledged_in_all > 0


def check_one_end_each(folder: RunFolder, acknowledged: dict[str, str]) -> None:
    """Every dispatch that began has one end: the one that was acknowledged, its own, or `interrupted`."""
    run = open_run(folder)
    ends = Counter(record.id for record in run.records if record.type == "end")
    assert ends == Counter(record.id for record in run.records if record.type == "start")
    statuses = {outcome.dispatch_id: outcome.status for outcome in run.outcomes}
    assert {name: statuses.get(name) for name in acknowledged} == acknowledged
    for outcome in run.outcomes:
        assert outcome.status in ("success", "interrupted")
        if outcome.status == "success":
            assert outcome.results == {"answer": outcome.dispatch_id}
            assert outcome.dispatch_id in folder.transcript(outcome.dispatch_id).read_text()
