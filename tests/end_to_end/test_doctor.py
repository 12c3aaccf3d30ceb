"""What `outcrop doctor` says, and what `--require` refuses, on a machine where a layer of confinement is missing.

The machine is this one, broken for real: a small program installs a filter under which the system calls of a layer
fail as on a kernel without it, and then becomes `outcrop`.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from outcrop_specialists.guard import kernel

OUTCROP = Path(sys.executable).parent / "outcrop"
BROKEN = '''
import os, sys
from outcrop_specialists.guard import kernel

LOAD, EQUAL, RETURN, ALLOW, ERRNO = 0x20, 0x15, 0x06, 0x7FFF0000, 0x00050000
ENOSYS, EINVAL, EPERM, ENOSPC = 38, 22, 1, 28

def number(nr, errno):
    """This system call fails."""
    return [(LOAD, 0, 0, 0), (EQUAL, 0, 1, nr), (RETURN, 0, 0, ERRNO | errno)]

def option(nr, place, value, errno):
    """This system call fails when the argument at this place is `value`."""
    return [(LOAD, 0, 0, 0), (EQUAL, 0, 3, nr), (LOAD, 0, 0, 16 + 8 * place), (EQUAL, 0, 1, value),
            (RETURN, 0, 0, ERRNO | errno)]

def without(nr, place, value, errno):
    """This system call fails unless the argument at this place is `value`."""
    return [(LOAD, 0, 0, 0), (EQUAL, 0, 3, nr), (LOAD, 0, 0, 16 + 8 * place), (EQUAL, 1, 0, value),
            (RETURN, 0, 0, ERRNO | errno)]

PRCTL, CLONE, CLONE3, UNSHARE, SETRLIMIT, PRLIMIT, CAPSET, SECCOMP = 157, 56, 435, 272, 160, 302, 126, 317
LAYERS = {
    "landlock": number(444, ENOSYS) + number(445, ENOSYS) + number(446, ENOSYS),
    "seccomp": option(PRCTL, 0, 22, EINVAL) + number(SECCOMP, ENOSYS),
    "rlimits": number(SETRLIMIT, EPERM) + without(PRLIMIT, 2, 0, EPERM),
    "capabilities": number(CAPSET, EPERM) + option(PRCTL, 0, 24, EPERM),
    "namespaces": number(UNSHARE, ENOSPC) + number(CLONE3, ENOSYS) + [
        (LOAD, 0, 0, 0), (EQUAL, 0, 3, CLONE), (LOAD, 0, 0, 16), (0x45, 0, 1, 0x7E020000),
        (RETURN, 0, 0, ERRNO | ENOSPC)],
}
kernel.give_up_new_privileges()
kernel.seccomp_filter(LAYERS[sys.argv[1]] + [(RETURN, 0, 0, ALLOW)])
os.execv(sys.argv[2], sys.argv[2:])
'''

pytestmark = [
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of the system calls are those of x86_64"),
    pytest.mark.skipif(kernel.landlock_abi() < 1, reason="this kernel has no Landlock to be broken"),
]


def run_in(workspace: Path, layer: str | None, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `outcrop` in the workspace where this layer is broken (None: where nothing is)."""
    broken = [sys.executable, "-c", BROKEN, layer] if layer else []
    return subprocess.run(
        [*broken, OUTCROP, *arguments],
        cwd=workspace,
        env={**os.environ, "OUTCROP_BUBBLEWRAP": "0", **environment},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


@pytest.fixture
def run(workspace: Path) -> Any:
    """The same in the test's workspace."""
    return partial(run_in, workspace)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What is isolated by what where no layer is broken."""
    return json.loads(run_in(tmp_path_factory.mktemp("whole"), None, "doctor", "--json").stdout)["isolation"]


@pytest.fixture
def command(workspace: Path) -> list[str]:
    """A COMMAND that completes."""
    program = workspace / "program.py"
    program.write_text(
        "import json, sys\nrequest = json.loads(sys.stdin.readline())\n"
        'print(json.dumps({"type": "completion", "dispatch_id": request["dispatch_id"], "status": "success",'
        ' "results": {}}))\n'
    )
    return ["--", sys.executable, "-S", str(program)]


NO_LANDLOCK = "landlock: (this kernel has no Landlock|Function not implemented)"
BREAKS = [
    ("landlock", {"write_confined": NO_LANDLOCK, "read_confined": NO_LANDLOCK, "keys_hidden": NO_LANDLOCK}),
    ("seccomp", {"network_denied": "seccomp: Invalid argument"}),
    ("rlimits", {"memory_capped": "rlimits: Operation not permitted"}),
    ("capabilities", {"keys_hidden": "capabilities: Operation not permitted"}),
]


@pytest.mark.parametrize(("layer", "lost"), BREAKS, ids=[layer for layer, _ in BREAKS])
def test_a_missing_layer_is_said_and_what_needs_it_is_refused(
    run: Any, command: list[str], whole: Any, layer: str, lost: dict[str, str]
) -> None:
    if layer == "capabilities" and os.geteuid() != 0:
        pytest.skip("only root has capabilities to lose")
    found = run(layer, "doctor", "--json")
    report = json.loads(found.stdout)
    # A missing layer is no fault of the installation: dispatches run, and say so.
    assert (found.returncode, report["ok"]) == (0, True), found.stderr
    for name, reason in lost.items():
        assert whole[name]["active"] is True
        assert report["isolation"][name]["active"] is False
        assert re.search(reason, report["isolation"][name]["by"])
    kept = {name for name, one in whole.items() if one["active"]} - set(lost)
    assert {name for name, one in report["isolation"].items() if one["active"]} == kept

    told = run(layer, "doctor").stdout
    for name, reason in lost.items():
        assert re.search(rf"^  no   {name}: {reason}", told, re.M), told
    assert f"Missing here: {', '.join(name for name in whole if name not in kept)}." in told

    for name in lost:
        refused = run(layer, "dispatch", "--json", "--require", name, *command)
        assert refused.returncode == 1
        outcome = json.loads(refused.stdout)
        assert outcome["status"] == "spawn_error"
        assert f"the required property {name} is not available here" in outcome["errors"][0]
    without = run(layer, "dispatch", "--json", "--require", ",".join(kept), *command)
    outcome = json.loads(without.stdout)
    assert outcome["status"] == "success", outcome["errors"]
    assert all(outcome["isolation"][name]["active"] is False for name in lost)


def test_what_bubblewrap_cannot_do_is_said_and_the_other_layers_stay(
    run: Any, command: list[str], workspace: Path
) -> None:
    folder = workspace / "bin"
    folder.mkdir()
    (folder / "bwrap").symlink_to(shutil.which("false") or "/bin/false")
    path = f"{folder}:{os.environ['PATH']}"
    report = json.loads(run(None, "doctor", "--json", OUTCROP_BUBBLEWRAP="1", PATH=path).stdout)
    said = {check["name"]: check["text"] for check in report["checks"]}
    assert re.match(r"not used: .*/bwrap was tried and failed: it ended with exit code 1", said["bubblewrap"])
    assert report["isolation"]["write_confined"]["by"] == "Landlock"
    outcome = json.loads(
        run(
            None, "dispatch", "--json", "--require", "write_confined", *command, OUTCROP_BUBBLEWRAP="1", PATH=path
        ).stdout
    )
    assert outcome["status"] == "success", outcome["errors"]
    assert "bubblewrap" not in outcome["isolation"]["write_confined"]["by"]


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bwrap on the PATH (apt or pip can install it)")
class TestWithBubblewrap:
    """On a machine that has it."""

    def test_it_is_around_a_command_and_proved(self, run: Any, command: list[str]) -> None:
        report = json.loads(run(None, "doctor", "--json", OUTCROP_BUBBLEWRAP="1").stdout)
        said = {check["name"]: check["text"] for check in report["checks"]}
        if said["bubblewrap"].startswith("not used"):
            pytest.skip(said["bubblewrap"])
        outcome = json.loads(run(None, "dispatch", "--json", *command, OUTCROP_BUBBLEWRAP="1").stdout)
        for found in (report["isolation"], outcome["isolation"]):
            assert found["write_confined"]["by"].startswith("Landlock and bubblewrap")
            assert "Read-only file system" in found["write_confined"]["proof"]

    def test_without_landlock_it_confines_what_is_started_cold(self, run: Any, command: list[str]) -> None:
        report = json.loads(run("landlock", "doctor", "--json", OUTCROP_BUBBLEWRAP="1").stdout)
        said = {check["name"]: check["text"] for check in report["checks"]}
        if said["bubblewrap"].startswith("not used"):
            pytest.skip(said["bubblewrap"])
        asked = ["dispatch", "--json", "--require", "write_confined,read_confined"]
        outcome = json.loads(run("landlock", *asked, *command, OUTCROP_BUBBLEWRAP="1").stdout)
        assert outcome["status"] == "success", outcome["errors"]
        assert outcome["isolation"]["write_confined"]["by"].startswith("bubblewrap")
        # A built-in specialist may be forked, where there is no bubblewrap.
        built_in = run("landlock", *asked, "analytics", "--objective", "count the rows", OUTCROP_BUBBLEWRAP="1")
        assert json.loads(built_in.stdout)["status"] == "spawn_error"

    def test_without_namespaces_it_is_not_used_and_said_so(self, run: Any, command: list[str]) -> None:
        report = json.loads(run("namespaces", "doctor", "--json", OUTCROP_BUBBLEWRAP="1").stdout)
        said = {check["name"]: check["text"] for check in report["checks"]}
        assert re.match(r"not used: .*was tried and failed: .*Creating new namespace failed", said["bubblewrap"], re.S)
        asked = ["dispatch", "--json", "--require", "write_confined"]
        outcome = json.loads(run("namespaces", *asked, *command, OUTCROP_BUBBLEWRAP="1").stdout)
        assert outcome["status"] == "success", outcome["errors"]
        assert "bubblewrap" not in outcome["isolation"]["write_confined"]["by"]
