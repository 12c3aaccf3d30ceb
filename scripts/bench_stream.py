"""How fast, and in how much memory, a stream is read: dispatches against `cat FILE | cat > /dev/null`.

The specialist starts `cat FILE` on its own stdout, then prints its completion; a gigabyte goes through two dispatches,
since one may print 512 MiB. Prints the ratio of throughputs (medians of interleaved runs, start and end of the
dispatches included) and how much the orchestrator grew. Exits 1 where a promise is broken: at least 0.6 of the
throughput, growth under 20 MB for the gigabyte (`success`) and for a flood of 2 GB (`output_limit`).
"""

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from outcrop import Pool

ROUNDS = 7
FILE_MB, FLOOD_FILES, GROWTH_MB, LEAST_RATIO = 500, 4, 20, 0.6
PROGRAM = """
import json, subprocess, sys
identifier = json.loads(sys.stdin.buffer.readline())["dispatch_id"]
for _ in range(int(sys.argv[2])):
    subprocess.run(["cat", sys.argv[1]], check=True)
message = {"type": "completion", "dispatch_id": identifier, "status": "success", "results": {}}
sys.stdout.buffer.write(json.dumps(message).encode() + b"\\n")
"""
DECOY = {
    "type": "progress",
    "text": "nested",
    "done": 1,
    "inner": {"type": "completion", "status": "error", "results": {}},
}


def rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write_progress(data: Path) -> None:
    """Progress lines as specialists print them, now and then one with a decoy of a completion in it."""
    lines = [b'{"type":"progress","text":"' + b"clustering the samples " * 9 + b'","done":1,"total":10}\n'] * 4500
    piece = b"".join([*lines, json.dumps(DECOY).encode() + b"\n"])
    with data.open("wb") as file:
        while file.tell() < FILE_MB * 10**6:
            file.write(piece)


def cat_seconds(data: Path) -> float:
    started = time.monotonic()
    subprocess.run(f"cat '{data}' '{data}' | cat > /dev/null", shell=True, check=True)
    return time.monotonic() - started


async def measure(folder: Path) -> int:
    program, data = folder / "program.py", folder / "data.ndjson"
    program.write_text(PROGRAM)
    write_progress(data)
    ours, theirs = [], []
    async with Pool(workers=1, workspace=folder) as pool:

        async def dispatch(files: int) -> str:
            command = [sys.executable, "-S", str(program), str(data), str(files)]
            return (await pool.dispatch("stream", command=command)).status

        await dispatch(1)
        before = rss_mb()
        statuses = set()
        for _ in range(ROUNDS):
            started = time.monotonic()
            statuses |= {await dispatch(1), await dispatch(1)}
            ours.append(time.monotonic() - started)
            theirs.append(await asyncio.to_thread(cat_seconds, data))
            for transcript in pool.run_folder.path.glob("transcripts/*"):
                transcript.unlink()
        after_stream = rss_mb() - before
        flood = await dispatch(FLOOD_FILES)
        after_flood = rss_mb() - before
    ratio = statistics.median(theirs) / statistics.median(ours)
    size = 2 * data.stat().st_size / 1e9 if data.exists() else 0
    print(f"{size:.2f} GB of progress in two dispatches: {', '.join(statuses)}, {statistics.median(ours):.2f} s")
    print(f"cat FILE FILE | cat > /dev/null: {statistics.median(theirs):.2f} s; throughput ratio {ratio:.2f}")
    print(f"growth: {after_stream:.1f} MB after {ROUNDS} rounds, {after_flood:.1f} MB after the flood ({flood})")
    kept = statuses == {"success"} and flood == "output_limit" and max(after_stream, after_flood) < GROWTH_MB
    return 0 if kept and ratio >= LEAST_RATIO else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=".") as temporary:
        sys.exit(asyncio.run(measure(Path(temporary).resolve())))
