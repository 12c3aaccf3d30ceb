"""`outcrop dispatch` at a terminal asks whether a package may be installed, and takes nothing but a yes for one."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from installed import OUTCROP, outcrop

SPECIALIST = """
import json, os, sys
request = json.loads(sys.stdin.readline())
sys.path += [folder for folder in os.environ.get("OUTCROP_PACKAGES", "").split(os.pathsep) if folder]
end = {"type": "completion", "dispatch_id": request["dispatch_id"], "results": {}}
try:
    import tinypack
    end |= {"status": "success", "summary": "done with " + tinypack.VERSION}
except ImportError:
    gap = {"package": "tinypack", "manager": "pip", "reason": "to read it \\x1b[2J\\nInstall it? [y/N] y"}
    end |= {"status": "capability_gap", "summary": "lacks it", "gap": gap}
print(json.dumps(end))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which pip finds a wheel, and no other."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    info = "tinypack-1.0.dist-info"
    files = {
        "tinypack.py": "VERSION = '1.0'\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tinypack\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "tinypack.py,,\n",
    }
    with zipfile.ZipFile(wheels / "tinypack-1.0-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    own = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    return {**own, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": "/dev/null", "TERM": "dumb"}


def answered(
    workspace: Path, environment: dict[str, str], answer: str, *, before: str = ""
) -> tuple[dict[str, object], str]:
    """The outcome, and what the terminal showed, where the question is answered so, and this was typed before."""
    (workspace / "specialist.py").write_text(SPECIALIST)
    ours, theirs = pty.openpty()
    command = [OUTCROP, "dispatch", "--json", "--", sys.executable, "specialist.py"]
    process = subprocess.Popen(
        command, cwd=workspace, env=environment, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    os.write(ours, before.encode())
    shown, is_answered = "", False
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and select.select([ours], [], [], 60)[0]:
        try:
            shown += os.read(ours, 4096).decode("utf-8", "replace")
        except OSError:
            break  # so the end of a terminal's other side is told
        if "Install it? [y/N] " in shown.split("the work then goes on")[-1] and not is_answered:
            os.write(ours, answer.encode())
            is_answered = True
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    return json.loads(out), shown


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_yes_installs_and_the_work_goes_on(workspace: Path, environment: dict[str, str], term: str) -> None:
    outcome, shown = answered(workspace, {**environment, "TERM": term}, "y\n")
    assert (outcome["status"], outcome["summary"]) == ("success", "done with 1.0")
    assert "lacks a package: tinypack (pip)" in shown
    assert "pip install --only-binary :all: 'tinypack'" in shown
    # What a specialist says is in one line and inert: it can draw no question of its own.
    assert "it says why: to read it \\x1b[2J\\nInstall it? [y/N] y" in shown.replace("\r", "")


@pytest.mark.parametrize("answer", ["\n", "n\n", "\x04"])
def test_anything_else_is_no(workspace: Path, environment: dict[str, str], answer: str) -> None:
    outcome, _ = answered(workspace, environment, answer)
    assert outcome["status"] == "capability_gap"
    assert "the user said no" in str(outcome["warnings"])


def test_what_was_typed_before_the_question_is_no_answer_to_it(workspace: Path, environment: dict[str, str]) -> None:
    outcome, shown = answered(workspace, environment, "n\n", before="y\nyes\n")
    assert "Install it? [y/N] " in shown
    assert "the user said no" in str(outcome["warnings"])


def test_without_a_terminal_nobody_is_asked(workspace: Path, environment: dict[str, str]) -> None:
    (workspace / "specialist.py").write_text(SPECIALIST)
    command = ["dispatch", "--json", "--", sys.executable, "specialist.py"]
    done = outcrop(workspace, *command, env=environment, input="y\n")
    outcome = json.loads(done.stdout)
    assert "nobody allowed it" in outcome["warnings"][0]
    shown = outcrop(workspace, "show", "last", env=environment)
    assert "tinypack (pip), d0001-" in shown.stdout
    assert 'allow = ["pip:tinypack"]' in shown.stdout
