"""What is bounded stays so: memory, descriptors, threads and processes, whatever is printed and however many wait.

OUTCROP_LONG=1 runs the sizes that are promised.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from processes import begun_since

from outcrop import Pool
from outcrop.launching import LaunchSpec
from outcrop.launching.cold import ColdLauncher
from outcrop.launching.supervised import SupervisedChild
from outcrop.recovery import open_run
from outcrop_schemas import limits

IS_LONG = "OUTCROP_LONG" in os.environ
MB = 1 << 20
Program = Callable[[str], list[str]]

# An orchestrator of its own: what else the tests have in memory is none of its.
MEASURED = """
import asyncio, sys, threading
from pathlib import Path
import psutil
from outcrop import Pool

own, highest, is_over = psutil.Process(), 0, threading.Event()

def look():
    global highest
    while not is_over.wait(0.003):
        highest = max(highest, own.memory_info().rss)

async def main(workspace, workers, count, warm, *commands):
    global highest
    async with Pool(workers=int(workers), workspace=workspace) as pool:
        await pool.dispatch("mine", command=[sys.executable, warm])
        before = highest = own.memory_info().rss
        threading.Thread(target=look, daemon=True).start()
        work = [pool.dispatch("mine", command=[sys.executable, path]) for path in commands for _ in range(int(count))]
        outcomes = await asyncio.gather(*work)
        is_over.set()
        print(highest - before, *(outcome.status for outcome in outcomes))

asyncio.run(main(*sys.argv[1:]))
"""


def growth_of(workspace: Path, workers: int, count: int, *commands: list[str]) -> tuple[int, Counter[str]]:
    """By how many bytes an orchestrator grows through so many dispatches of each command but the first, which warms."""
    arguments = [str(workspace), str(workers), str(count), *(command[-1] for command in commands)]
    done = subprocess.run([sys.executable, "-c", MEASURED, *arguments], capture_output=True, text=True, timeout=1_500)
    assert done.returncode == 0, done.stderr
    growth, *statuses = done.stdout.split()
    return int(growth), Counter(statuses)


FLOODS = {
    "one line": ("sys.stdout.buffer.write(b'A' * (1 << 20))", 200, 20, "print(); complete()", "success"),
    "stderr": ("sys.stderr.buffer.write(b'noise\\n' * 174_763)", 1_000, 100, "complete()", "success"),
    "messages": (
        "sys.stdout.buffer.write(b'{\"type\":\"progress\"}\\n' * 50_000)", 100, 6,
        "sys.stdout.flush(); complete()", "success",
    ),
    "no end": ("sys.stdout.buffer.write(b'y' * (1 << 20))", 10_000, 10_000, "complete()", "output_limit"),
}  # fmt: skip


@pytest.mark.timeout(1_600 if IS_LONG else 180)
@pytest.mark.parametrize("flood", FLOODS)
def test_the_orchestrator_grows_by_less_than_64_mb_whatever_is_printed(
    workspace: Path, program: Program, flood: str
) -> None:
    write, promised, moderate, then, status = FLOODS[flood]
    body = f"for _ in range({promised if IS_LONG else moderate}): {write}\n{then}"
    growth, statuses = growth_of(workspace, 1, 1, program("complete()"), program(body))
    assert statuses == {status: 1}
    assert growth < 64 * MB


COSTLY = {
    "a table of commas": (
        "with open('c.csv', 'wb') as file:\n"
        "    for _ in range(100): file.write(b',' * (1 << 20))\n"
        "complete(artifacts=[{'path': 'c.csv', 'kind': 'table'}])",
        "success",
    ),
    "ids of others": (
        "for _ in range(8):\n"
        "    sys.stdout.write('{\"type\":\"completion\",\"dispatch_id\":\"' + 'y' * 15_000_000 + '\"}\\n')\n"
        "complete()",
        "success",
    ),
    "many values": (
        "sys.stdout.write('{\"type\":\"completion\",\"dispatch_id\":\"' + ID + '\",\"status\":\"success\",'\n"
        "  '\"results\":{\"a\":[' + '[],' * 5_200_000 + '[]]}}\\n')",
        "protocol_error",
    ),
    "many records": ("complete([{'name': 's%d' % n, 'au': n * 0.37, 'cu': n} for n in range(80_000)])", "success"),
    "many artifacts": ("complete(artifacts=['a%d' % n for n in range(500_000)])", "success"),
    "one text": ("complete('y' * 16_000_000)", "success"),
    "glued": ("sys.stdout.write('{\"type\":\"progress\",\"text\":\"' + 'a' * 15_000_000); complete()", "success"),
}  # fmt: skip


@pytest.mark.timeout(180)
@pytest.mark.parametrize("kind", COSTLY)
def test_the_orchestrator_grows_by_less_than_64_mb_whatever_it_has_to_read(
    workspace: Path, program: Program, kind: str
) -> None:
    body, status = COSTLY[kind]
    growth, statuses = growth_of(workspace, 1, 1, program("complete()"), program(body))
    assert statuses == {status: 1}
    assert growth < 64 * MB


@pytest.mark.timeout(1_600 if IS_LONG else 180)
@pytest.mark.parametrize(
    ("workers", "count", "allowed_mb"), [(4, 200, 256), (200, 200, 640)] if IS_LONG else [(4, 16, 256)]
)
def test_results_of_five_megabytes_from_many_calls_are_not_all_in_memory(
    workspace: Path, program: Program, workers: int, count: int, allowed_mb: int
) -> None:
    big = program("complete('y' * 5_000_000)")
    growth, statuses = growth_of(workspace, workers, count, program("complete()"), big)
    assert statuses == {"success": count}
    assert growth < allowed_mb * MB


async def test_ten_thousand_calls_that_wait_cost_little_and_end_at_once(workspace: Path, program: Program) -> None:
    command, own = program("time.sleep(300)"), psutil.Process()
    async with Pool(workers=2, workspace=workspace) as pool:
        before = own.memory_info().rss
        tasks = [
            asyncio.create_task(pool.dispatch("mine", "x" * 2_000, command=command, grace=0.1)) for _ in range(10_000)
        ]
        while sum(record.type == "start" for record in open_run(pool.run_folder).records) < 2:
            await asyncio.sleep(0.05)
        # Each has an id, is told of and can be cancelled while it waits: some 9 kB.
        assert own.memory_info().rss - before < 112 * MB
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert all(task.cancelled() for task in tasks)
        # Those that only waited never were.
        assert [outcome.status for outcome in open_run(pool.run_folder).outcomes] == ["cancelled"] * 2


async def test_calls_over_the_limit_wait_for_others_to_end(
    workspace: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "OPEN_DISPATCHES", 3)
    async with Pool(workers=2, workspace=workspace) as pool:
        outcomes = await asyncio.gather(*(pool.dispatch("mine", command=program("complete()")) for _ in range(8)))
    assert [outcome.status for outcome in outcomes] == ["success"] * 8


async def test_of_many_that_are_called_at_once_few_start_at_a_time(workspace: Path, program: Program) -> None:
    starting, most = 0, 0

    class Counting(ColdLauncher):
        async def launch(self, spec: LaunchSpec) -> SupervisedChild:
            nonlocal starting, most
            starting += 1
            most = max(most, starting)
            try:
                return await super().launch(spec)
            finally:
                starting -= 1

    command = program("complete()")
    async with Pool(workers=40, workspace=workspace, launcher=Counting()) as pool:
        await pool.dispatch("mine", command=command)
        most = 0
        outcomes = await asyncio.gather(*(pool.dispatch("mine", command=command) for _ in range(40)))
    assert {outcome.status for outcome in outcomes} == {"success"}
    assert 1 < most <= limits.STARTS_AT_A_TIME


QUICK = """
read -r request
id=$(printf %s "$request" | sed 's/.*"dispatch_id":"\\([^"]*\\)".*/\\1/')
sleep 300 > /dev/null 2>&1 < /dev/null &
printf '{"type":"completion","dispatch_id":"%s","status":"success","results":{"answer":1}}\\n' "$id"
"""


@pytest.mark.timeout(3_600 if IS_LONG else 180)
async def test_dispatches_leave_descriptors_threads_and_processes_as_they_were(workspace: Path, tmp_path: Path) -> None:
    count = 2_000 if IS_LONG else 40
    (tmp_path / "quick.sh").write_text(QUICK)
    command, own = ["sh", str(tmp_path / "quick.sh")], psutil.Process()
    others = own.children()
    async with Pool(workers=4, workspace=workspace) as pool:

        async def dispatched(number: int) -> Counter[str]:
            work = (pool.dispatch("shell", command=command, grace=0.2) for _ in range(number))
            return Counter(outcome.status for outcome in await asyncio.gather(*work))

        await dispatched(16)
        before = await descriptors_of(own, others)
        assert await dispatched(count) == {"success": count}
        assert await descriptors_of(own, others) == before
        assert begun_since(others) == []
        # No reader is left; a hand for each worker, and the threads that journals share, stay once they were needed.
        names = Counter(thread.name.split("-d")[0].rstrip("_0123456789") for thread in threading.enumerate())
        assert names["read"] == 0
        assert names["outcrop-hand"] <= 4
        assert names["outcrop-journal"] <= 5


async def descriptors_of(own: psutil.Process, others: list[psutil.Process]) -> int:
    """How many are open once the last supervisors, which end after their last word, have been reaped."""
    for _ in range(500):
        if not begun_since(others):
            break
        await asyncio.sleep(0.02)
    return own.num_fds()
