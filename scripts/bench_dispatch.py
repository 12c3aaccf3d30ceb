"""What a fresh, confined process per piece of work costs, against other ways to have one. Prints ratios.

All sides import the same data stack and do nothing with it; rounds of all sides are interleaved. Times in milliseconds.
`first` is from the request to the first message of the process, `reaped` until it is known to have ended. Exits 1
where a goal of `docs/performance.md` is missed. Options: --rounds N, --burst N, --quick (no cold rounds, short burst).
"""

from __future__ import annotations

import argparse
import asyncio
import concurrent.futures
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from outcrop.launching import LaunchSpec
from outcrop.launching.environment import environment_for
from outcrop.launching.nursery import NurseryLauncher
from outcrop.policy import build_policy
from outcrop.workspace import Workspace
from outcrop_schemas import wire
from outcrop_schemas.protocol import Dispatch, DispatchLimits
from outcrop_specialists.guard.nursery import PRELOADED

STACK = [name for name in PRELOADED if not name.startswith("outcrop")]
IMPORTS = "import " + ", ".join(STACK)
GOAL_FIRST, GOAL_REAPED, GOAL_RATE, GOAL_TAIL = 0.25, 0.6, 2.5, 2.0


def nothing() -> None:
    """The work of a peer's task."""


def say_hello(writer: int) -> None:
    os.write(writer, b"started\n")
    os._exit(0)


class Ours:
    """Our nursery, confined and supervised: a request without a tool to call, answered by a built-in specialist."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder)
        self.workspace.hold()
        self.launcher = NurseryLauncher(self.workspace.home / "cache")
        self._number = 0

    async def open(self) -> None:
        self.launcher.warm()
        await self.launcher.ready.wait()

    def _spec(self) -> LaunchSpec:
        self._number += 1
        scratch = self.workspace.home / "cache" / f"s{self._number}"
        scratch.mkdir()
        policy = build_policy(self.workspace.folder, [], scratch, None, 8 << 30)
        request = Dispatch(
            dispatch_id="d1",
            specialist="analytics",
            objective="nothing",
            workspace=str(self.workspace.folder),
            results_dir=str(scratch),
            limits=DispatchLimits(timeout_seconds=60, grace_seconds=1, result_chars=8_000, preview_rows=20),
        )
        # Without a model channel the specialist says that it has started, completes with an error, and exits.
        line = wire.dumps(request.model_dump(mode="json")) + b"\n"
        return LaunchSpec(None, line, environment_for(scratch, None, {}), scratch, policy, 8 << 30, 512)

    async def one(self) -> tuple[float, float]:
        started = time.perf_counter()
        child = await self.launcher.launch(self._spec())
        first = await asyncio.to_thread(os.read, child.stdout, 65536)
        heard = time.perf_counter()
        await child.exited
        reaped = time.perf_counter()
        await child.stop(1.0)
        child.close()
        assert child.kind == "nursery"
        assert first.startswith(b'{"type":"started"')
        return (heard - started) * 1000, (reaped - started) * 1000


def forkserver_context() -> multiprocessing.context.ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(STACK)
    return context


def forkserver_one(context: multiprocessing.context.ForkServerContext) -> tuple[float, float]:
    ours, theirs = context.Pipe(duplex=False)
    started = time.perf_counter()
    process = context.Process(target=hello_over, args=(theirs,))
    process.start()
    theirs.close()
    ours.recv_bytes()
    heard = time.perf_counter()
    process.join()
    reaped = time.perf_counter()
    ours.close()
    return (heard - started) * 1000, (reaped - started) * 1000


def hello_over(pipe: multiprocessing.connection.Connection) -> None:
    pipe.send_bytes(b"started")


def cold_one() -> tuple[float, float]:
    started = time.perf_counter()
    program = f"{IMPORTS}\nimport os; os.write(1, b'x'); os._exit(0)"
    process = subprocess.Popen([sys.executable, "-P", "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(1)
    heard = time.perf_counter()
    process.wait()
    return (heard - started) * 1000, (time.perf_counter() - started) * 1000


async def burst_of_ours(ours: Ours, count: int) -> tuple[float, list[float]]:
    """Dispatches per second with two at a time, and the latency of each."""
    latencies: list[float] = []
    left = iter(range(count))

    async def worker() -> None:
        for _ in left:
            latencies.append((await ours.one())[1])

    started = time.perf_counter()
    await asyncio.gather(worker(), worker())
    return count / (time.perf_counter() - started), latencies


def burst_of_executor(count: int, context: multiprocessing.context.BaseContext) -> float:
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context, max_tasks_per_child=1) as executor:
        list(executor.map(abs, range(2)))
        started = time.perf_counter()
        for future in [executor.submit(nothing) for _ in range(count)]:
            future.result()
        return count / (time.perf_counter() - started)


def burst_of_loky(count: int) -> float | None:
    try:
        from joblib.externals.loky import get_reusable_executor
    except ImportError:
        return None
    started = time.perf_counter()
    for _ in range(count):
        # A fresh process per piece of work is a fresh executor.
        executor = get_reusable_executor(1, reuse=False)
        executor.submit(__import__, "sklearn.cluster").result()
        executor.shutdown(wait=True)
    return count / (time.perf_counter() - started)


def show(name: str, pairs: list[tuple[float, float]]) -> tuple[float, float]:
    first, reaped = (statistics.median(column) for column in zip(*pairs, strict=True))
    worst = sorted(pair[1] for pair in pairs)[int(len(pairs) * 0.99)]
    print(f"| {name} | {first:.1f} | {reaped:.1f} | {worst:.1f} |")
    return first, reaped


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--burst", type=int, default=2_000)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    context = forkserver_context()
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(Path(folder))
        await ours.open()
        rows: dict[str, list[tuple[float, float]]] = {
            "nursery, confined": [],
            "multiprocessing forkserver": [],
            "cold": [],
        }
        forkserver_one(context)
        for number in range(options.rounds):
            rows["nursery, confined"].append(await ours.one())
            rows["multiprocessing forkserver"].append(forkserver_one(context))
            if number < 7 and not options.quick:
                rows["cold"].append(cold_one())
        print("| fresh process per piece, stack loaded | first, ms | reaped, ms | p99 reaped, ms |\n|---|---|---|---|")
        medians = {name: show(name, pairs) for name, pairs in rows.items() if pairs}
        own = psutil.Process()
        before = (own.memory_info().rss, own.num_fds())
        rate, latencies = await burst_of_ours(ours, 200 if options.quick else options.burst)
        grown, descriptors = own.memory_info().rss - before[0], own.num_fds() - before[1]
        executor_rate = burst_of_executor(40 if options.quick else 200, context)
        spawn_rate = None if options.quick else burst_of_executor(6, multiprocessing.get_context("spawn"))
        loky_rate = None if options.quick else burst_of_loky(4)
        await ours.launcher.close()
    return judge(medians, rate, latencies, grown, descriptors, executor_rate, spawn_rate, loky_rate)


def judge(
    medians: dict[str, tuple[float, float]],
    rate: float,
    latencies: list[float],
    grown: int,
    descriptors: int,
    executor_rate: float,
    spawn_rate: float | None,
    loky_rate: float | None,
) -> int:
    ours, peer = medians["nursery, confined"], medians["multiprocessing forkserver"]
    latencies.sort()
    p50, p99 = latencies[len(latencies) // 2], latencies[int(len(latencies) * 0.99)]
    print(f"\ndispatches per second, two at a time: {rate:.1f}")
    print(f"ProcessPoolExecutor on the preloaded forkserver, one task per child: {executor_rate:.1f} per second")
    if spawn_rate and loky_rate:
        print(f"ProcessPoolExecutor spawn, one task per child, nothing imported: {spawn_rate:.2f} per second")
        print(f"loky, a fresh executor per piece, scikit-learn imported: {loky_rate:.2f} per second")
    if "cold" in medians:
        first, reaped = (cold / own for cold, own in zip(medians["cold"], ours, strict=True))
        print(f"a cold start takes {first:.0f} times as long to its first message, {reaped:.0f} times to reaped")
    print(f"{len(latencies)} dispatches: p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    print(f"the orchestrator grew by {grown / 1e6:.1f} MB and {descriptors} descriptors")
    goals = {
        f"first message against the forkserver <= {GOAL_FIRST}": (ours[0] / peer[0], ours[0] / peer[0] <= GOAL_FIRST),
        f"reaped against the forkserver <= {GOAL_REAPED}": (ours[1] / peer[1], ours[1] / peer[1] <= GOAL_REAPED),
        f"rate against ProcessPoolExecutor >= {GOAL_RATE}": (rate / executor_rate, rate / executor_rate >= GOAL_RATE),
        f"p99 against p50 <= {GOAL_TAIL}": (p99 / p50, p99 / p50 <= GOAL_TAIL),
    }
    for name, (value, is_met) in goals.items():
        print(f"{'met   ' if is_met else 'MISSED'}  {name}: {value:.2f}")
    return 0 if all(is_met for _, is_met in goals.values()) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
