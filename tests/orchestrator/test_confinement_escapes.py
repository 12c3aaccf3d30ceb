"""Ways out of the confinement that were once open, and every way of the same kind."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from outcrop import Pool
from outcrop.launching import LaunchSpec
from outcrop.launching.cold import ColdLauncher
from outcrop.launching.supervised import SupervisedChild
from outcrop.policy import build_policy, command_paths
from outcrop.properties import of_launch
from outcrop.workspace import Workspace
from outcrop_schemas.errors import PathError, WorkspaceError
from outcrop_schemas.outcome import ISOLATION_PROPERTIES, Isolation
from outcrop_specialists.guard import calls, kernel, landlock, seccomp
from outcrop_specialists.guard.confine import LAYERS, confine

needs_landlock = pytest.mark.skipif(kernel.landlock_abi() < 1, reason="this kernel has no Landlock")
ATTEMPTS = """
import ctypes, resource, socket
libc = ctypes.CDLL(None, use_errno=True)
def attempt(action):
    try:
        action()
    except OSError as error:
        return error.errno
    return 0
def call(*arguments):
    if libc.syscall(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "")
complete({name: attempt(action) for name, action in ACTIONS.items()})
"""


async def tried(pool: Pool, program: Any, actions: dict[str, str], *arguments: str, **options: Any) -> dict[str, int]:
    """The errno of each action, 0 where it was done."""
    table = "ACTIONS = {" + ", ".join(f"{name!r}: lambda: {code}" for name, code in actions.items()) + "}\n"
    outcome = await pool.dispatch("mine", command=[*program(table + ATTEMPTS), *arguments], **options)
    assert outcome.status == "success", outcome.errors
    found: dict[str, int] = outcome.results["answer"]
    return found


# What Landlock cannot take, and what is no file for anybody else.


@pytest.mark.parametrize("argument", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "pipe", "socket", "file"])
@needs_landlock
async def test_no_argument_turns_a_layer_off(pool: Pool, program: Any, tmp_path: Path, argument: str) -> None:
    if argument == "pipe":
        os.mkfifo(tmp_path / "pipe")
    elif argument == "socket":
        socket.socket(socket.AF_UNIX).bind(str(tmp_path / "socket"))
    elif argument == "file":
        (tmp_path / "file").write_text("x")
    (tmp_path / "secret").write_text("s")
    given = argument if argument.startswith("/") else str(tmp_path / argument)
    found = await tried(pool, program, {"read": f'open("{tmp_path}/secret")'}, given, require=["write_confined"])
    assert found == {"read": 13}


@needs_landlock
def test_landlock_passes_over_what_lies_on_no_file_system(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    pipe, (near, far) = os.pipe(), socket.socketpair()
    memory = os.memfd_create("x")
    odd = [f"/proc/self/fd/{number}" for number in (*pipe, near.fileno(), memory)]
    child = os.fork()
    if child == 0:
        try:
            kernel.give_up_new_privileges()
            landlock.apply([*odd, "/proc"], [str(tmp_path / "own"), *odd], odd, odd)
            (tmp_path / "own" / "file").write_text("x")
            try:
                (tmp_path / "file").write_text("x")
            except PermissionError:
                os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for end in (*pipe, memory):
        os.close(end)
    near.close()
    far.close()


# What was proved is compared with what this launch got.


@pytest.mark.parametrize("layer", LAYERS)
def test_what_one_launch_lost_is_not_claimed_of_it(layer: str) -> None:
    proved = {name: Isolation(active=True, by="proved") for name in ISOLATION_PROPERTIES}
    layers = dict.fromkeys(LAYERS, "ok")
    assert of_launch(proved, layers) == proved  # type: ignore[arg-type]
    lost = {name for name, one in of_launch(proved, {**layers, layer: "Invalid argument"}).items() if not one.active}  # type: ignore[arg-type]
    assert (
        lost
        == {
            "rlimits": {"memory_capped", "processes_capped"},
            "no_new_privs": {"write_confined", "read_confined", "network_denied", "keys_hidden"},
            "capabilities": {"keys_hidden"},
            "landlock": {"write_confined", "read_confined", "keys_hidden"},
            "seccomp": {"network_denied"},
        }[layer]
    )


class Losing(ColdLauncher):
    """Starts without one layer, as on a kernel that refuses it now."""

    layer = ""

    async def launch(self, spec: LaunchSpec) -> SupervisedChild:
        if spec.argv and "probe" not in " ".join(spec.argv):
            layers = [name for name in spec.policy["layers"] if name != self.layer]
            spec = replace(spec, policy={**spec.policy, "layers": layers})
        return await super().launch(spec)


@pytest.mark.parametrize(("layer", "name"), [("landlock", "write_confined"), ("seccomp", "network_denied")])
async def test_a_layer_that_is_refused_after_it_was_proved_is_said_and_where_required_nothing_runs(
    workspace: Path, program: Any, layer: str, name: str
) -> None:
    launcher = Losing()
    launcher.layer = layer
    trace = workspace / "results" / "ran"
    command = program(f"open({str(trace)!r}, 'w')\ncomplete()")
    async with Pool(workspace=workspace, launcher=launcher) as pool:
        if not (await pool._desk.shared.proof.get())[name].active:  # type: ignore[index]
            pytest.skip(f"this kernel cannot give {name}")
        required = await pool.dispatch("mine", command=command, require=[name])
        has_run = trace.exists()
        outcome = await pool.dispatch("mine", command=command)
    assert required.status == "spawn_error"
    assert layer in required.errors[0]
    assert not has_run
    assert outcome.status == "success"
    assert not outcome.isolation[name].active
    assert "not taken for this launch" in outcome.isolation[name].by


# The folders that are granted.


def links_in(workspace: Path, outside: Path) -> dict[str, Path]:
    return {"above": workspace, "records": workspace / ".outcrop", "outside": outside, "inside": workspace / "other"}


@pytest.mark.parametrize("leads", ["above", "records", "outside", "inside"])
@pytest.mark.parametrize("data", [[], ["results/sub/x.csv"]])
async def test_a_results_folder_that_is_a_link_grants_nothing(
    pool: Pool, program: Any, workspace: Path, tmp_path: Path, leads: str, data: list[str]
) -> None:
    (workspace / "results" / "sub").mkdir(parents=True, exist_ok=True)
    (workspace / "results" / "sub" / "x.csv").write_text("x\n")
    (workspace / "other").mkdir()
    place = workspace / "results" / "sub" / "results" if data else workspace / "results"
    if not data:
        place.rename(workspace / "before")
    place.symlink_to(links_in(workspace, tmp_path)[leads])
    outcome = await pool.dispatch("mine", data=data, command=program("complete()"))
    assert outcome.status == "spawn_error"
    assert "the results folder is a link" in outcome.errors[0]


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_what_is_no_folder_is_no_results_folder(workspace: Path, kind: str) -> None:
    place = workspace / "results"
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.write_text("x")
    with pytest.raises(PathError, match="is a link, or no folder"):
        Workspace(workspace).grant_results([])


@needs_landlock
@pytest.mark.parametrize("replaced_by", ["link", "folder"])
def test_a_folder_that_is_replaced_between_grant_and_confinement_ends_the_start(
    workspace: Path, tmp_path: Path, replaced_by: str
) -> None:
    taken = Workspace(workspace)
    (tmp_path / "elsewhere").mkdir()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with taken.granted([]) as folders:
        identities = {str(folder): identity for folder, identity in folders.items()}
        policy = build_policy(taken.folder, folders, scratch, None, 1 << 30, identities=identities)
        (workspace / "results").rename(workspace / "before")
        if replaced_by == "link":
            (workspace / "results").symlink_to(tmp_path / "elsewhere")
        else:
            (workspace / "results").mkdir()
        child = os.fork()
        if child == 0:
            try:
                confine(policy)
            except landlock.ReplacedError:
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# What can be read.


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "bin").mkdir(parents=True)
    (folder / "secret").write_text("s")
    return folder


def granted_by(*command: str) -> set[str]:
    return set(command_paths(command))


def test_a_program_in_a_home_does_not_open_the_home(home: Path) -> None:
    tool = home / "bin" / "tool"
    tool.write_text("#!/bin/sh\n")
    (home / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (home / "link").symlink_to(tool)
    for program in (tool, home / "link"):
        found = granted_by(str(program))
        assert {str(tool), "/bin/sh"} <= found
        assert {path for path in found if home in Path(path).parents or Path(path) in home.parents} <= {
            str(tool),
            str(program),
        }
        assert str(home) not in found


def test_an_environment_and_an_installation_of_python_are_readable(home: Path) -> None:
    environment, base = home / "env", home / "python"
    (environment / "bin").mkdir(parents=True)
    (base / "bin").mkdir(parents=True)
    (base / "lib" / "python3.12").mkdir(parents=True)
    (base / "lib" / "python3.12" / "os.py").touch()
    (base / "bin" / "python3").touch()
    (environment / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\n")
    (environment / "bin" / "python").symlink_to(base / "bin" / "python3")
    (environment / "bin" / "tool").write_text("#!/bin/sh\n")
    (home / "bin" / "tool").write_text(f"#!{environment}/bin/python\n")
    for program in (environment / "bin" / "python", environment / "bin" / "tool", home / "bin" / "tool"):
        found = granted_by(str(program))
        assert {str(environment), str(base)} <= found
        assert str(home) not in found


async def test_it_reads_nothing_beside_its_program(pool: Pool, home: Path) -> None:
    tool = home / "bin" / "tool"
    tool.write_text(f'#!/bin/sh\nread request\ncat {home}/secret >&2 || echo "no" >&2\n')
    tool.chmod(0o755)
    outcome = await pool.dispatch("mine", command=[str(tool)])
    assert "Permission denied" in " ".join(outcome.errors)


OWN_PROGRAM = """
import asyncio, json, sys
from outcrop import Pool

async def main():
    async with Pool(workspace=sys.argv[1], launcher="cold") as pool:
        outcome = await pool.dispatch("mine", command=sys.argv[2:])
        print(json.dumps([outcome.status, outcome.results, outcome.errors]))

asyncio.run(main())
"""


@needs_landlock
@pytest.mark.parametrize("place", ["workspace", "above", "PYTHONPATH"])
def test_a_program_that_lies_around_the_workspace_does_not_open_its_records(
    workspace: Path, program: Any, place: str
) -> None:
    (workspace / "outcrop.toml").write_text("")
    folder = workspace if place == "workspace" else workspace.parent
    (workspace.parent / "beside").write_text("s")
    own = folder / "own.py"
    own.write_text(OWN_PROGRAM)
    environment = dict(os.environ)
    start = [sys.executable, str(own)]
    if place == "PYTHONPATH":
        environment["PYTHONPATH"] = str(workspace)
        start = [sys.executable, "-c", OWN_PROGRAM]
    names = {"lock": ".outcrop/lock", "settings": "outcrop.toml", "beside": "../beside"}
    actions = ", ".join(f"{name!r}: lambda: open({str(workspace / path)!r})" for name, path in names.items())
    command = program("ACTIONS = {" + actions + "}\n" + ATTEMPTS)
    said = subprocess.run(
        [*start, str(workspace), *command], cwd="/", env=environment, capture_output=True, check=True, text=True
    )
    assert json.loads(said.stdout)[:2] == ["success", {"answer": {"lock": 13, "settings": 13, "beside": 13}}]


def test_a_prefix_that_holds_the_workspace_is_split(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    around = workspace.parent
    (workspace / ".outcrop").mkdir()
    (around / "lib").mkdir()
    (workspace / "data.csv").touch()
    monkeypatch.setattr("outcrop.policy.interpreter_paths", lambda: (str(around),))
    readable = build_policy(workspace, [], around / "scratch", None, 1 << 30)["readable"]
    assert str(around / "lib") in readable
    assert str(workspace / "data.csv") in readable
    assert not {str(around), str(workspace), str(workspace / ".outcrop")} & set(readable)


# Calls.

OTHERS = {
    "prlimit": "resource.prlimit(PID, resource.RLIMIT_CORE)",
    "prlimit, set": "resource.prlimit(PID, resource.RLIMIT_NOFILE, (0, 0))",
    "nice": "os.setpriority(os.PRIO_PROCESS, PID, 5)",
    "nice of a user": "os.setpriority(os.PRIO_USER, os.getuid(), 5)",
    "affinity": "os.sched_setaffinity(PID, os.sched_getaffinity(0))",
    "scheduler": "os.sched_setscheduler(PID, os.SCHED_OTHER, os.sched_param(0))",
    "scheduling": "os.sched_setparam(PID, os.sched_param(0))",
    "disk": f"call({calls.ON_PROCESSES['ioprio_set'][0][0]}, 1, PID, 0)",
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers in this test are those of x86_64")
async def test_it_changes_no_other_process_and_may_change_itself(pool: Pool, program: Any) -> None:
    actions = {}
    for number, pid in enumerate(("os.getppid()", str(os.getpid()), "1")):
        actions |= {f"{name} {number}": code.replace("PID", pid) for name, code in OTHERS.items()}
    assert set((await tried(pool, program, actions)).values()) == {1}
    own = {name: code for name, code in OTHERS.items() if name not in ("nice of a user", "prlimit, set")}
    for pid in ("0", "os.getpid()"):
        allowed = {name: code.replace("PID", pid) for name, code in own.items()}
        assert set((await tried(pool, program, allowed)).values()) == {0}


async def test_only_pairs_of_streams_can_be_made(pool: Pool, program: Any) -> None:
    kinds = {"stream": 1, "datagram": 2, "raw": 3, "packets": 5, "quiet": 2 | socket.SOCK_CLOEXEC}
    actions = {name: f"socket.socketpair(1, {kind})" for name, kind in kinds.items()}
    actions |= {"own": f"socket.socketpair(1, {1 | socket.SOCK_NONBLOCK})", "internet": "socket.socketpair(2, 1)"}
    actions |= {"asyncio": "__import__('asyncio').new_event_loop().close()"}
    actions |= {"multiprocessing": "__import__('multiprocessing').Pipe()"}
    found = await tried(pool, program, actions)
    assert {name for name, number in found.items() if number == 0} == {"stream", "own", "asyncio", "multiprocessing"}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers in this test are those of x86_64")
async def test_nothing_outlives_it_in_the_kernel(pool: Pool, program: Any) -> None:
    names = [name for name in calls.DENIED if name.startswith(("shm", "sem", "msg", "mq_"))]
    actions = {name: f"call({calls.DENIED[name][0]}, 0, 4096, 0o600, 0)" for name in names}
    assert set((await tried(pool, program, actions)).values()) == {1}
    assert len(names) == 13


async def test_mode_owner_and_times_of_what_is_not_its_own_stay(pool: Pool, program: Any, workspace: Path) -> None:
    data = workspace / "data.csv"
    data.write_text("x\n")
    os.utime(data, (1000, 1000))
    before = data.stat()
    path = repr(str(data))
    found = await tried(
        pool,
        program,
        {
            "mode": f"os.chmod({path}, 0o777)",
            "mode of what is open": f"os.fchmod(os.open({path}, os.O_RDONLY), 0o777)",
            "times": f"os.utime({path}, (1, 1))",
            "times of what is open": f"os.utime(os.open({path}, os.O_RDONLY), (1, 1))",
            "owner": f"os.chown({path}, 1, 1)",
            "attribute": f"os.setxattr({path}, 'user.x', b'x')",
        },
    )
    after = data.stat()
    assert (after.st_mode, after.st_mtime, after.st_uid) == (before.st_mode, before.st_mtime, before.st_uid)
    assert os.listxattr(data) == []
    assert {name: number for name, number in found.items() if number} == {"attribute": 95}


COPYING = """
import shutil, sqlite3, tarfile, zipfile
folder = request["results_dir"] + "/own"
os.makedirs(folder)
os.chdir(folder)
open("a.txt", "w").write("text")
shutil.copyfile("a.txt", "b.txt")
shutil.copy("a.txt", "c.txt")
shutil.copy2("a.txt", "d.txt")
shutil.copytree(".", "../copied")
shutil.move("b.txt", "../copied/moved.txt")
with tarfile.open("a.tar", "w") as file:
    file.add("a.txt")
with tarfile.open("a.tar") as file:
    file.extractall("from_tar")
with zipfile.ZipFile("a.zip", "w") as file:
    file.write("a.txt")
with zipfile.ZipFile("a.zip") as file:
    file.extractall("from_zip")
sqlite3.connect("a.db").execute("create table t(x)").connection.commit()
subprocess.run(["cp", "-a", "a.txt", "e.txt"], check=True)
import joblib, numpy, polars
import matplotlib.figure
figure = matplotlib.figure.Figure()
figure.add_subplot().plot([1, 2])
figure.savefig("a.png")
frame = polars.DataFrame({"x": range(1000)})
frame.write_parquet("a.parquet")
frame.write_csv("a.csv")
large = numpy.ones(300_000)
joblib.dump(large, "a.joblib")
sums = joblib.Parallel(2)(joblib.delayed(numpy.sum)(large) for _ in range(2))
complete([open(name).read() for name in ("c.txt", "d.txt", "e.txt", "from_tar/a.txt", "from_zip/a.txt")] + sums)
"""


async def test_what_copies_and_writes_with_modes_and_times_does_its_work(pool: Pool, program: Any) -> None:
    outcome = await pool.dispatch("mine", command=program(COPYING))
    assert outcome.status == "success", outcome.errors
    assert outcome.results == {"answer": ["text"] * 5 + [300_000.0] * 2}


def emulated(program: list[tuple[int, int, int, int]], audit: int, number: int, *arguments: int) -> int:
    """What the filter answers to a call."""
    data = {0: number, 4: audit} | {16 + 8 * place: value & 0xFFFFFFFF for place, value in enumerate(arguments)}
    loaded, at = 0, 0
    while True:
        code, if_true, if_false, value = program[at]
        if code == 0x06:
            return value
        if code == 0x20:
            loaded = data.get(value, 0)
        elif code == 0x54:
            loaded &= value
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += if_true if holds else if_false
        at += 1


def machines() -> Iterator[tuple[str, int, int]]:
    yield "x86_64", 0, 0xC000003E
    yield "aarch64", 1, 0xC00000B7


@pytest.mark.parametrize(("machine", "column", "audit"), list(machines()))
def test_the_filter_answers_each_call_alike_on_both_machines(machine: str, column: int, audit: int) -> None:
    program = seccomp.build_filter(machine=machine, immune=77, own=88)

    def answer(numbers: tuple[int, int], *arguments: int) -> int:
        return emulated(program, audit, numbers[column], *arguments)

    denied, ignored, allowed = 0x50001, 0x50000, 0x7FFF0000
    for table, expected in ((calls.DENIED, denied), (calls.IGNORED, ignored), (calls.UNSUPPORTED, 0x5005F)):
        assert {answer(numbers) for numbers in table.values() if numbers[column] >= 0} == {expected}
    for numbers, argument, kind in calls.ON_PROCESSES.values():
        before = [] if kind < 0 else [kind]
        assert [answer(numbers, *before, pid) for pid in (0, 88, 77, 1)] == [allowed, allowed, denied, denied], argument
        if before:
            assert answer(numbers, kind + 1, 0) == denied
    assert [answer(calls.KILL, pid, 9) for pid in (77, 88)] == [ignored, allowed]
    pairs = ((1, 1), (1, 0x80801), (1, 2), (1, 5), (2, 1))
    assert [answer(calls.SOCKETPAIR, *pair) for pair in pairs] == [allowed, allowed, denied, denied, denied]
    assert [answer(calls.IOCTL, 3, number) for number in (0x5401, 0x40086602)] == [allowed, denied]
    assert [answer(calls.CLONE, flags) for flags in (17, 0x10000011)] == [allowed, denied]
    assert emulated(program, audit, calls.CLONE3[column]) == 0x50026
    assert emulated(program, 0x40000003, 1) == 0x80000000


# Keys.


def test_the_probe_finds_an_environment_that_can_be_read_whosever_it_is() -> None:
    code = "from outcrop_specialists.guard.probe import _read_environments; _read_environments()"
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], env={"CANARY": "x"}, stdin=subprocess.PIPE
    ) as other:
        ran = subprocess.run([sys.executable, "-c", code], env={"PATH": os.defpath}, check=False)
        other.communicate()
    assert ran.returncode == 0


# Limits and names.


@pytest.mark.parametrize("limit", [24, 40, 64, 128, 1024])
def test_a_low_limit_of_open_files_works_or_is_named(workspace: Path, program: Any, limit: int) -> None:
    command = [
        "-m",
        "outcrop.cli.main",
        "dispatch",
        "--workspace",
        str(workspace),
        "--json",
        "--",
        *program("complete()"),
    ]
    ran = subprocess.run(
        ["/bin/sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
    )
    if limit >= 64:
        assert json.loads(ran.stdout)["status"] == "success", ran.stderr
    else:
        assert "Errno 22" not in ran.stderr
        assert "Traceback" not in ran.stderr
        assert ran.returncode == 0 or f"may have {limit} (ulimit -n)" in ran.stderr + ran.stdout


@pytest.mark.parametrize("where", ["itself", "above"])
def test_a_workspace_whose_name_is_no_text_is_refused_with_the_reason(tmp_path: Path, where: str) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff"))
    folder = odd if where == "itself" else odd / "inner"
    folder.mkdir(parents=True)
    with pytest.raises(WorkspaceError, match=r"bad\\xff.*is not UTF-8"):
        Workspace(folder)
