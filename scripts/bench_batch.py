"""What a batch of short jobs costs: `scripts/bench_batch.py [--jobs N] [--backend dask:ADDRESS]`.

A job hands one summary of two columns to one specialist; the model plans nothing, so that what is measured is ours.
Beside it, in processes of their own: the same work as bare dispatches of a Pool; jobs that dispatch nothing, so that
all of their CPU is scheduling; the tool in a ProcessPoolExecutor (a fresh process per piece on the preloaded
forkserver, and workers that are used again); in a plain Dask LocalCluster, and in our own Dask backend on such a
cluster or, with --backend, on yours. Rates and CPU are those between a tenth of the jobs and all of them, two at a
time: with less than a few hundred jobs they hold much of the nursery's start. Exits 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import multiprocessing
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from outcrop import Pool
from outcrop.batch import Batch
from outcrop.many import Work
from outcrop.models.scripted import turn
from outcrop_schemas.messages import ModelRequest, ModelResponse, TextBlock
from outcrop_specialists.guard.nursery import PRELOADED
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool

GOAL_OVERHEAD_MS, GOAL_RATE, GOAL_GROWN_MB = 5.0, 1.0, 10.0
WORKERS, TABLES = 2, 50
PEER_JOBS = 300
"""So many pieces show the rate of a peer; the long run is ours."""

DASK = "dask.distributed is not installed"
COLUMNS = ["Au", "Cu"]
_TABLE = re.compile(r"t\d+\.csv")


class Plain:
    """A model that knows what to do: a lead that hands out one summary and completes, a specialist that makes it."""

    name = "plain"
    is_free = True

    def __init__(self, *, dispatches: bool = True) -> None:
        self._dispatches, self._count = dispatches, 0

    async def create(self, request: ModelRequest) -> ModelResponse:
        self._count += 1
        is_first = len(request.messages) == 1
        if not is_first or not self._dispatches:
            call = ("complete", {"status": "success", "summary": "done"})
        else:
            said = next(block.text for block in request.messages[0].content if _is_about_a_table(block))
            table = _TABLE.findall(said)[0]
            is_lead = any(tool.name == "dispatch" for tool in request.tools)
            order = {"specialist": "analytics", "objective": f"summarise {table}", "data": [table]}
            call = ("dispatch", order) if is_lead else ("summarize", {"path": table, "columns": COLUMNS})
        return turn(call, turn_id=f"turn_{self._count}")


def _is_about_a_table(block: object) -> bool:
    return isinstance(block, TextBlock) and bool(_TABLE.search(block.text))


@dataclass
class Meter:
    """What the process of one side used between a tenth of its pieces and all of them."""

    pieces: int
    marks: list[tuple[float, float, float]] = field(default_factory=list)
    ended: int = 0

    def tick(self, *_: object) -> None:
        """A piece has ended."""
        self.ended += 1
        if self.ended in (max(1, self.pieces // 10), self.pieces):
            self.marks.append((time.perf_counter(), _cpu(resource.RUSAGE_SELF), psutil.Process().memory_info().rss))

    def result(self) -> dict[str, float]:
        (began, cpu_before, rss_before), (ended, cpu, rss) = self.marks
        pieces = self.pieces - max(1, self.pieces // 10)
        return {
            "pieces": self.pieces,
            "per_second": pieces / (ended - began),
            "own_ms": (cpu - cpu_before) / pieces * 1_000,
            "rss_mb": rss_before / 1e6,
            "grown_mb": (rss - rss_before) / 1e6,
        }


def _cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def of_batch(folder: Path, meter: Meter, backend: str = "local", *, dispatches: bool = True) -> None:
    jobs = folder / "jobs.jsonl"
    lines = (
        json.dumps({"id": f"job-{number}", "objective": f"summarise t{number % TABLES}.csv"})
        for number in range(meter.pieces)
    )
    jobs.write_text("\n".join(lines) + "\n")
    workers = WORKERS if backend == "local" else None
    model = Plain(dispatches=dispatches)
    batch = Batch(jobs, workspace=folder, workers=workers, model=model, on_job=meter.tick, backend=backend)
    found = asyncio.run(batch.start())
    assert dict(found.outcomes.statuses) == {"success": meter.pieces}, found.outcomes.statuses


def of_jobs_without_dispatches(folder: Path, meter: Meter) -> None:
    of_batch(folder, meter, dispatches=False)


def of_pool(folder: Path, meter: Meter) -> None:
    works = [Work("analytics", f"summarise t{n % TABLES}.csv", [f"t{n % TABLES}.csv"]) for n in range(meter.pieces)]

    async def main() -> None:
        async with Pool(workers=WORKERS, model=Plain(), workspace=folder) as pool:
            async for _, outcome in pool.as_completed(works):
                assert outcome.status == "success", outcome.errors
                meter.tick()

    asyncio.run(main())


def summarised(folder: str, number: int) -> str:
    """The piece of work of a peer: the specialist's tool on one table."""
    tool, place = get_tool("summarize"), Path(folder)
    arguments = tool.arguments.model_validate({"path": f"t{number % TABLES}.csv", "columns": COLUMNS})
    return tool.run(ToolContext(place, place / "results", place), arguments).summary


def of_executor(folder: Path, meter: Meter, *, is_fresh: bool = True) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED, "outcrop_specialists.tools.registry"])
    once = 1 if is_fresh else None
    with ProcessPoolExecutor(WORKERS, mp_context=context, max_tasks_per_child=once) as executor:
        futures: list[Future[str]] = [executor.submit(summarised, str(folder), n) for n in range(meter.pieces)]
        for future in as_completed(futures):
            future.result()
            meter.tick()


def of_warm_executor(folder: Path, meter: Meter) -> None:
    of_executor(folder, meter, is_fresh=False)


@contextmanager
def dask_cluster() -> Iterator[Any]:
    from dask.distributed import Client, LocalCluster

    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


def of_dask(folder: Path, meter: Meter) -> None:
    from dask.distributed import as_completed as dask_as_completed

    with dask_cluster() as client:
        futures = client.map(summarised, [str(folder)] * meter.pieces, range(meter.pieces), pure=False)
        for future in dask_as_completed(futures):
            future.result()
            meter.tick()


def of_our_dask(folder: Path, meter: Meter) -> None:
    with dask_cluster() as client:
        of_batch(folder, meter, f"dask:{client.scheduler_info()['address']}")


@dataclass(frozen=True)
class Side:
    """One way to do the work; `told` is what it is called in the table."""

    told: str
    work: Callable[[Path, Meter], None]
    is_ours: bool = False
    needs_dask: bool = False
    is_all_counted: bool = True
    """Not where a fork server of the standard library starts the processes: nobody is told what they used."""


SIDES = {
    "batch": Side("outcrop batch, local", of_batch, is_ours=True),
    "scheduling": Side("outcrop batch, jobs that dispatch nothing", of_jobs_without_dispatches, is_ours=True),
    "pool": Side("outcrop Pool, bare dispatches", of_pool),
    "fresh": Side("ProcessPoolExecutor, a fresh process per piece", of_executor, is_all_counted=False),
    "warm": Side("ProcessPoolExecutor, workers used again", of_warm_executor, is_all_counted=False),
    "dask": Side("Dask LocalCluster, workers used again", of_dask, needs_dask=True),
    "our dask": Side("outcrop batch, our Dask backend", of_our_dask, needs_dask=True),
}


def measured(name: str, pieces: int, backend: str | None) -> dict[str, float] | str:
    """What a side took in a process of its own; a reason where it cannot be run."""
    if SIDES[name].needs_dask and not (importlib.util.find_spec("distributed")):
        return DASK
    with tempfile.TemporaryDirectory(dir=".") as temporary:
        folder = Path(temporary).resolve()
        for number in range(TABLES):
            (folder / f"t{number}.csv").write_text(f"sample,Au,Cu\na,0.{number + 1},10\nb,0.2,20\nc,0.4,30\n")
        command = [sys.executable, __file__, "--side", name, "--jobs", str(pieces), "--folder", str(folder)]
        done = subprocess.run([*command, *(["--backend", backend] if backend else [])], capture_output=True, text=True)
    if done.returncode:
        return f"it failed: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}"
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_side(name: str, pieces: int, folder: Path, backend: str | None) -> None:
    meter = Meter(pieces)
    if name == "our dask" and backend:
        of_batch(folder, meter, backend)
    else:
        SIDES[name].work(folder, meter)
    all_ms = (_cpu(resource.RUSAGE_SELF) + _cpu(resource.RUSAGE_CHILDREN)) / pieces * 1_000
    print(json.dumps({**meter.result(), "all_ms": all_ms}))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=PEER_JOBS)
    parser.add_argument("--backend", help="dask:ADDRESS of a cluster of yours that sees this folder")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        run_side(options.side, options.jobs, options.folder, options.backend)
        return 0
    columns = (
        "",
        "pieces",
        "per second",
        "own CPU, ms a piece",
        "CPU of all, with the start",
        "RSS at 10 %, MB",
        "grown",
    )
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    found: dict[str, dict[str, float]] = {}
    for name, side in SIDES.items():
        taken = measured(name, options.jobs if side.is_ours else min(options.jobs, PEER_JOBS), options.backend)
        if isinstance(taken, str):
            print(f"| {side.told} | skipped: {taken} | | | | | |", flush=True)
            continue
        found[name] = taken
        everything = f"{taken['all_ms']:.1f}" if side.is_all_counted else "not known"
        figures = "{pieces:.0f} | {per_second:.1f} | {own_ms:.1f} | {everything} | {rss_mb:.0f} | {grown_mb:.1f}"
        print(f"| {side.told} | {figures.format(**taken, everything=everything)} |", flush=True)
    return judge(found)


def judge(found: dict[str, dict[str, float]]) -> int:
    batch, overhead = found["batch"], found["scheduling"]["own_ms"]
    rate = batch["per_second"] / found["fresh"]["per_second"]
    grown = max(batch["grown_mb"], found["scheduling"]["grown_mb"])
    more = batch["own_ms"] - found["pool"]["own_ms"]
    print(
        f"\na job takes {more:.1f} ms of this process's CPU more than its dispatch alone: two turns of a lead among it"
    )
    goals = {
        f"CPU of a job without its dispatches <= {GOAL_OVERHEAD_MS} ms": (overhead, overhead <= GOAL_OVERHEAD_MS),
        f"rate against a fresh process per piece >= {GOAL_RATE}": (rate, rate >= GOAL_RATE),
        f"memory from a tenth to the end <= {GOAL_GROWN_MB} MB": (grown, grown <= GOAL_GROWN_MB),
    }
    for name, (value, is_met) in goals.items():
        print(f"{'met   ' if is_met else 'MISSED'}  {name}: {value:.2f}")
    return 0 if all(is_met for _, is_met in goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
