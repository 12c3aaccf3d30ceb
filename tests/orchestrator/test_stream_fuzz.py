"""Streams that were damaged in every way but one: where the completion's bytes are whole, it is delivered.

A recorded stream is mutated: over-long and corrupt lines, NULs, not UTF-8, CRLF, pieces of lines in between, and text
glued before and behind the completion. Three hundred streams, five of them through a process; OUTCROP_LONG=1 makes it
ten thousand and fifty.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outcrop import Pool
from outcrop.stream import StreamScanner
from outcrop_schemas import limits

IS_LONG = "OUTCROP_LONG" in os.environ
STREAMS, PROCESSES = (10_000, 50) if IS_LONG else (300, 5)
ID = "d0001-0123456789abcdef"

# What `outcrop dispatch analytics --objective "summarise Au"` printed before its completion (its transcript but for
# the id), and lines of other programs among it.
RECORDED = (
    b'{"type":"started","dispatch_id":"d0001-0123456789abcdef","pid":9742}\n'
    b'{"type":"progress","text":"inspect_dataset","tool":"inspect_dataset"}\n'
    b'{"type":"progress","text":"reading assays.csv"}\n'
    b'{"type":"progress","text":"summarize","tool":"summarize"}\n'
    b'{"type":"progress","text":"reading assays.csv"}\n'
    b'{"type":"progress","text":"summarising Au","done":0,"total":1}\n'
    b'{"type":"progress","text":"caf\xc3\xa9","done":2,"total":3,"partial":{"rows":120,"mean":4.25}}\n'
    b"UserWarning: column 3 has mixed types {'a': 1}\n"
    b'{"type":"log","level":"info","text":"the completion follows"}\n'
)
SPLICES = [
    b"\0" * 512,
    b"\xff\xfe\xfd",
    b"\xc3\x28",
    b"\r",
    b"\r\n",
    b"\x1b[2J\x1b]0;t\x07",
    b"\xe2\x80\xa8",
    b'{"',
    b"[[[[",
]
GLUED_BEFORE = [
    b"epoch 3 of 5 ",
    b"{1} of {2} ",
    b'{"type":"progress","te',
    b"\xff\0",
    b'"completion": ',
    b"\\",
    b'\\"',
]
GLUED_BEHIND = [b" done", b"}", b"\0\0", b'{"type":"progress"}', b"\xff", b'"', b" completion"]


def completion_of(chance: random.Random, dispatch_id: str) -> tuple[bytes, Any]:
    """A completion with its keys in any order, and its answer."""
    answer = chance.choice(
        ["plain", 'quo"ted } { \\ ', "caf\u00e9 \u2028 \U0001f600", "x" * chance.randint(1, 200_000)]
    )
    message = {
        "type": "completion",
        "dispatch_id": dispatch_id,
        "status": "success",
        "summary": "{done} [at last]",
        "results": {
            "answer": answer,
            "rows": [{"name": f"r{n}", "at": {"x": n}} for n in range(chance.choice([0, 3, 40]))],
        },
        "findings": [{"statement": f"finding {n}"} for n in range(chance.choice([0, 2]))],
    }
    keys = list(message)
    if chance.random() < 0.5:
        chance.shuffle(keys)
    text = json.dumps({key: message[key] for key in keys}, ensure_ascii=chance.random() < 0.5)
    return text.encode(), answer


def damaged(line: bytes, chance: random.Random) -> bytes:
    """Another line of the stream: corrupt, cut, with something put in. It stays one line, or becomes none."""
    place = chance.randint(0, len(line))
    kind = chance.randrange(6)
    if kind == 0:
        return line[:place] + chance.choice(SPLICES) + line[place:]
    if kind == 1:
        return bytes(byte ^ (chance.random() < 0.05) * chance.randint(1, 255) for byte in line).replace(b"\n", b"?")
    if kind == 2:
        return line[:place]
    if kind == 3:
        return chance.randbytes(chance.randint(1, 400)).replace(b"\n", b"?")
    if kind == 4:
        return line + b"\r"
    return line[:place] + line


def stream_of(chance: random.Random, dispatch_id: str) -> tuple[bytes, Any]:
    """One damaged stream with its completion whole, and the answer in it."""
    completion, answer = completion_of(chance, dispatch_id)
    recorded = RECORDED.replace(ID.encode(), dispatch_id.encode())
    lines = [damaged(line, chance) if chance.random() < 0.5 else line for line in recorded.split(b"\n")[:-1]]
    lines += [b"", b'{"type":"completion","dispatch_id":"d0009-another","status":"success","results":{}}']
    if chance.random() < 0.02:
        lines.append(b'{"type":"progress","text":"' + b"A" * limits.STREAM_LINE_BYTES)
    chance.shuffle(lines)
    glue = chance.random()
    if glue < 0.25:
        completion = chance.choice(GLUED_BEFORE) + completion
    elif glue < 0.4:
        completion += chance.choice(GLUED_BEHIND)
    elif glue < 0.5:
        completion = b"\xef\xbb\xbf  " + completion + b"\r"
    lines.insert(chance.randint(0, len(lines)), completion)
    return b"\n".join(lines) + chance.choice([b"", b"\n", b"\r\n", b"\n\n\0"]), answer


def pieces(data: bytes, chance: random.Random) -> list[bytes]:
    """Cut at random, from single bytes to whole pipes."""
    largest = chance.choice([1 if len(data) < 20_000 else 64, 7, 500, 65_536, 1 << 20])
    found, place = [], 0
    while place < len(data):
        size = chance.randint(1, max(largest, len(data) // 5_000))
        found.append(data[place : place + size])
        place += size
    return found


@pytest.mark.timeout(3_600 if IS_LONG else 180)
def test_a_whole_completion_is_delivered_whatever_is_around_it() -> None:
    first = int(os.environ.get("OUTCROP_SEED", "0"))
    lost = []
    for seed in range(first, first + STREAMS):
        chance = random.Random(seed)
        data, answer = stream_of(chance, ID)
        scanner = StreamScanner(ID)
        for piece in pieces(data, chance):
            scanner.feed(piece)
        scanner.finish()
        if scanner.valid is None or scanner.valid.completion.results.get("answer") != answer:
            lost.append(seed)
    assert lost == []


async def test_the_same_through_a_process_and_a_pipe(
    pool: Pool, program: Callable[[str], list[str]], tmp_path: Path
) -> None:
    body = """
    import random
    data = open(os.environ["STREAM"], "rb").read().replace(b"{ID}", ID.encode())
    chance = random.Random(len(data))
    while data:
        written = os.write(1, data[:chance.choice([1, 100, 5_000, 65_536, 1 << 20])])
        data = data[written:]
    """
    # In the workspace, where it can be read.
    folder = pool.run_folder.path.parents[2]
    command, answers = program(body), []
    for seed in range(PROCESSES):
        data, answer = stream_of(random.Random(f"process {seed}"), "{ID}")
        (folder / f"stream{seed}").write_bytes(data)
        answers.append(answer)
    outcomes = await asyncio.gather(
        *(
            pool.dispatch("mine", command=command, environment={"STREAM": str(folder / f"stream{seed}")})
            for seed in range(PROCESSES)
        )
    )
    for outcome, answer in zip(outcomes, answers, strict=True):
        assert (outcome.status, outcome.errors) == ("success", [])
        results = outcome.results
        if outcome.truncated:
            assert outcome.truncated.spill is not None
            results = json.loads(Path(outcome.truncated.spill).read_bytes())
        assert results["answer"] == answer
