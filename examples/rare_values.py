"""A specialist in Python, with its standard library only, that speaks protocol 1: which values of a column are rare.

outcrop dispatch --objective "rare values of class" --data samples.csv -- python rare_values.py class
"""

import csv
import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any


def say(message: dict[str, Any]) -> None:
    """One message: a line of JSON on stdout, at once."""
    print(json.dumps(message), flush=True)


def work(request: dict[str, Any], column: str) -> dict[str, Any]:
    """The fields of the completion: a few counts in `results`, everything else in a file."""
    name = request["context"]["data"][0]
    with (Path(request["workspace"]) / name).open(newline="", encoding="utf-8") as file:
        counts = Counter(row[column] for row in csv.DictReader(file))
    say({"type": "progress", "text": f"{len(counts)} values counted", "done": 1, "total": 2})
    target = Path(request["results_dir"]) / f"rare_{column}_{request['dispatch_id']}.csv"
    rare = [value for value, count in counts.items() if count == 1]
    with target.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[column], *([value] for value in rare)])
    return {
        "status": "success",
        "summary": f"{len(rare)} of {len(counts)} values of {column} occur once",
        "results": {"values": len(counts), "rare": len(rare)},
        "artifacts": [{"path": str(target), "kind": "table", "title": f"Rare values of {column}"}],
    }


def main() -> None:
    request = json.loads(sys.stdin.readline())
    about = {"dispatch_id": request["dispatch_id"], "results": {}}
    say({"type": "started", "dispatch_id": request["dispatch_id"], "pid": os.getpid()})
    try:
        done = work(request, sys.argv[1])
    except (IndexError, KeyError, OSError, ValueError) as error:
        done = {"status": "error", "errors": [f"{type(error).__name__}: {error}"]}
    say({"type": "completion", **about, **done})


if __name__ == "__main__":
    main()
