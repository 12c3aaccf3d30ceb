"""The misbehaving specialists at random, four at a time, confined or not: each ends in its status, and in time.

Short: eight of the quick ones once. OUTCROP_LONG=1: twenty rounds (or OUTCROP_ROUNDS) of all of them.
"""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from outcrop_schemas.outcome import Outcome

IS_LONG = "OUTCROP_LONG" in os.environ
OUTCROP = Path(sys.executable).parent / "outcrop"
# None of the quick ones hangs: on a machine that is busy they may have more time, and their bound some slack.
TIMEOUT, GRACE, SLACK = (4.0, 1.0, 0.0) if IS_LONG else (30.0, 1.0, 30.0)
ROUNDS = int(os.environ.get("OUTCROP_ROUNDS", "20")) if IS_LONG else 1
QUICK = ("f01", "f03", "f05", "f06", "f11", "f21", "f24", "f30", "f32", "f33", "f35", "f38", "f48", "f72", "f73", "f74")
# What is promised of these is promised of the confined.
ONLY_CONFINED = ("f78", "f79")
# The command's outcome, kept for us too.
TEE = """
import subprocess, sys
done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE)
open(sys.argv[1], "wb").write(done.stdout)
sys.stdout.buffer.write(done.stdout)
sys.exit(done.returncode)
"""


@dataclass(frozen=True)
class Turn:
    """One injector's turn in one round."""

    name: str
    round: int
    unconfined: bool

    def __str__(self) -> str:
        return f"{self.name}, round {self.round}, {'unconfined' if self.unconfined else 'confined'}"


# Each turn has a bound of its own.
@pytest.mark.timeout(7_200 if IS_LONG else 600)
def test_at_random_and_four_at_a_time_each_ends_in_its_status_and_in_time(shared: Path, tmp_path: Path) -> None:
    faults = shared / "faults"
    if not (faults / "run_faults.py").is_file():
        pytest.skip("the fault injectors are not beside this checkout")
    chance = random.Random(os.environ.get("OUTCROP_SEED", "rounds"))
    turns = [turn for number in range(ROUNDS) for turn in one_round(faults, number, chance)]
    with ThreadPoolExecutor(4) as four:
        complaints = [said for said in four.map(lambda turn: complaint(faults, turn, tmp_path), turns) if said]
    assert complaints == []
    assert len(turns) >= ROUNDS * 8


def one_round(faults: Path, number: int, chance: random.Random) -> list[Turn]:
    names = [case["name"] for case in json.loads((faults / "expect.json").read_text())]
    if not IS_LONG:
        names = chance.sample([name for name in names if name.startswith(QUICK)], 8)
    chance.shuffle(names)
    return [Turn(name, number, chance.random() < 0.5 and not name.startswith(ONLY_CONFINED)) for name in names]


def complaint(faults: Path, turn: Turn, folder: Path) -> str | None:
    """What is wrong with the outcome of this turn; None where it is as promised."""
    kept, tee = folder / f"{turn.round}-{turn.name}.json", folder / "tee.py"
    tee.write_text(TEE)
    runner = [sys.executable, str(tee), str(kept), str(OUTCROP), "dispatch", "--json"]
    runner += ["--unconfined"] if turn.unconfined else []
    limits = ["--timeout", str(TIMEOUT), "--grace", str(GRACE)]
    done = subprocess.run(
        # The slack is for the command's own start on a busy machine; the bound that is promised is looked at below.
        [sys.executable, faults / "run_faults.py", *limits, "--slack", "100", turn.name],
        env={**os.environ, "RUNNER": shlex.join(runner)},
        capture_output=True,
        text=True,
        timeout=170,
    )
    if done.returncode:
        return f"{turn}: {done.stdout}{done.stderr}"
    outcome = Outcome.model_validate_json(kept.read_bytes())
    if outcome.duration_s > TIMEOUT + GRACE + 1 + SLACK:
        return f"{turn}: it took {outcome.duration_s} s by its own account"
    return None
