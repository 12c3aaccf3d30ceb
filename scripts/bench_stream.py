"""How fast, and in how much memory, a stream is read: one dispatch against `cat FILE | cat > /dev/null`.

Prints the ratio of throughputs (medians of interleaved runs) and how much the orchestrator grew. Exits 1 where a
promise is broken: growth under 20 MB for 480 MB of progress (`success`) and for 2 GB (`output_limit`).
"""

import asyncio
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from outcrop import Pool

ROUNDS = 7
STREAM_MB, FLOOD_MB, GROWTH_MB = 480, 2048, 20
PROGRAM = """
import json, sys
identifier = json.loads(sys.stdin.buffer.readline())["dispatch_id"]
line = b'{"type":"progress","text":"' + b"x" * 200 + b'","done":1,"total":10}\\n'
chunk = line * ((1 << 20) // len(line))
for _ in range(int(sys.argv[1])):
    sys.stdout.buffer.write(chunk)
message = {"type": "completion", "dispatch_id": identifier, "status": "success", "results": {}}
sys.stdout.buffer.write(json.dumps(message).encode() + b"\\n")
"""


def rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cat_seconds(data: Path) -> float:
    started = time.monotonic()
    subprocess.run(f"cat '{data}' | cat > /dev/null", shell=True, check=True)
    return time.monotonic() - started


async def measure(folder: Path) -> int:
    program, data = folder / "program.py", folder / "data"
    program.write_text(PROGRAM)
    with data.open("wb") as file:
        for _ in range(STREAM_MB):
            file.write(b"x" * (1 << 20))
    ours, theirs = [], []
    async with Pool(workers=1, workspace=folder) as pool:

        async def dispatch(megabytes: int) -> str:
            command = [sys.executable, str(program), str(megabytes)]
            return (await pool.dispatch("stream", command=command)).status

        await dispatch(1)
        before = rss_mb()
        for _ in range(ROUNDS):
            started = time.monotonic()
            status = await dispatch(STREAM_MB)
            ours.append(time.monotonic() - started)
            theirs.append(await asyncio.to_thread(cat_seconds, data))
            for transcript in pool.run_folder.path.glob("transcripts/*"):
                transcript.unlink()
        after_stream = rss_mb() - before
        flood = await dispatch(FLOOD_MB)
        after_flood = rss_mb() - before
    ratio = statistics.median(theirs) / statistics.median(ours)
    print(f"{STREAM_MB} MB of progress: {status}, {statistics.median(ours):.2f} s with its transcript on disk")
    print(f"throughput against cat | cat: {ratio:.2f} (the writer in Python and the transcript are in it)")
    print(f"growth: {after_stream:.1f} MB after {STREAM_MB} MB, {after_flood:.1f} MB after {FLOOD_MB} MB ({flood})")
    kept = status == "success" and flood == "output_limit" and max(after_stream, after_flood) < GROWTH_MB
    return 0 if kept else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=".") as temporary:
        sys.exit(asyncio.run(measure(Path(temporary).resolve())))
