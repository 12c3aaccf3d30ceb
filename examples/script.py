"""Many tables, one question each, in a plain script: `python examples/script.py FOLDER COLUMN`.

Ends early and in order on SIGTERM or Ctrl-C: what is under way gets ten seconds, and what was done is told. The exit
code is 0 where all went well, 1 where a table failed, and 130 where it ended early.
"""

import asyncio
import signal
import sys
from pathlib import Path

from outcrop import Pool, Work


async def main(folder: Path, tables: list[str], column: str) -> int:
    works = [Work("analytics", f"summarise {column}", [name], tag=name) for name in tables]
    done = failed = 0
    async with Pool(workers=2, workspace=folder, model="offline") as pool:
        pool.drain_on(signal.SIGTERM, signal.SIGINT, seconds=10)
        async for work, outcome in pool.as_completed(works):
            done += 1
            failed += not outcome.is_good
            print(f"{work.tag}: {outcome.status}, {outcome.summary or '; '.join(outcome.errors)}", flush=True)
        print(pool.statistics()["statuses"])
        if pool.health()["status"] == "draining":
            print(f"ended early: {done} of {len(works)} tables")
            return 130
    return 1 if failed else 0


if __name__ == "__main__":
    home = Path(sys.argv[1])
    sys.exit(asyncio.run(main(home, sorted(path.name for path in home.glob("*.csv")), sys.argv[2])))
