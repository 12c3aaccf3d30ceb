"""Promises about many dispatches at a time, in their short form; OUTCROP_LONG=1 runs the long one."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import psutil

from outcrop import Pool
from outcrop.recovery import open_run

IS_LONG = "OUTCROP_LONG" in os.environ
CANARY = "canary-7f3a-of-no-real-service"


async def test_killing_specialists_at_random_hurts_no_other(workspace: Path, program: Any) -> None:
    count = 200 if IS_LONG else 40
    command = program("time.sleep(0.3); complete(ID)")
    killed = 0
    chance = random.Random(5)

    async with Pool(workers=4, workspace=workspace) as pool:
        tasks = [asyncio.create_task(pool.dispatch("mine", command=command, grace=0.3)) for _ in range(count)]
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0.4)
            alive = [p for p in psutil.Process().children(recursive=True) if command[-1] in " ".join(_arguments(p))]
            if alive and killed < count // 8:
                chance.choice(alive).kill()
                killed += 1
        outcomes = [task.result() for task in tasks]
        recorded = open_run(pool.run_folder).outcomes
    statuses = Counter(outcome.status for outcome in outcomes)
    assert statuses["success"] + statuses["crashed"] == count
    assert 0 < statuses["crashed"] <= killed
    # A result is always the dispatch's own, and each dispatch has exactly one recorded end.
    assert all(o.results["answer"] == o.dispatch_id for o in outcomes if o.status == "success")
    assert Counter(o.dispatch_id for o in recorded) == Counter(o.dispatch_id for o in outcomes)


def _arguments(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


async def test_a_key_of_the_orchestrators_is_in_nothing_that_was_written(
    workspace: Path, program: Any, monkeypatch: Any
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OH_SECRET", "PGPASSFILE"):
        monkeypatch.setenv(name, CANARY)
    body = """
    seen = [dict(os.environ)]
    for pid in ("self", os.getppid(), *filter(str.isdigit, os.listdir("/proc"))):
        for name in ("environ", "cmdline"):
            try:
                seen.append(open(f"/proc/{pid}/{name}", "rb").read().decode("latin-1"))
            except OSError:
                pass
    sys.stderr.write(str(seen))
    complete(seen)
    """
    async with Pool(workspace=workspace) as pool:
        outcome = await pool.dispatch("mine", command=program(body))
    assert outcome.status == "success"
    written = [path for path in workspace.rglob("*") if path.is_file()]
    assert len(written) > 4
    assert [path for path in written if CANARY.encode() in path.read_bytes()] == []
    assert CANARY not in outcome.model_dump_json()
