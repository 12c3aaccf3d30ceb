"""The `outcrop` command as most tests run it: a process of its own for each, forked where the imports are done already.

A command that only looks at a record spends its time in imports. So each process of pytest has one that imports what
commands need, and forks a child for each command: with its own arguments, folder, environment and streams, in which
the `main` of the installed script runs to the interpreter's own end. `OUTCROP` is that script, for tests to which its
start, its streams, its terminal or its signals matter.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

OUTCROP = Path(sys.executable).with_name("outcrop")
PATIENCE_SECONDS = 150.0
# What commands import when they are called; no thread and no file is opened by that.
IMPORTED = (
    "outcrop.cli.boundary",
    "outcrop.cli.facts",
    "outcrop.cli.records",
    "outcrop.cli.work",
    "outcrop.lead.toolbox",
    "outcrop.models",
    "outcrop.report.writing",
    "outcrop.run",
)
_SHIM = """#!{python} -SEP
import sys
sys.path.append({tests!r})
from installed import pass_on
pass_on({address!r})
"""


def outcrop(
    folder: Path,
    *arguments: str | bytes | os.PathLike[str],
    env: Mapping[str, str] | None = None,
    input: str = "",
    timeout: float = PATIENCE_SECONDS,
) -> subprocess.CompletedProcess[str]:
    """Run `outcrop` with these arguments in this folder; what `subprocess.run` would give."""
    command = [str(OUTCROP), *map(os.fsdecode, arguments)]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        given.write(input.encode())
        given.seek(0)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
            asking.settimeout(timeout)
            process = _begin(asking, address(), command, folder, env, (given, out, error))
            try:
                code = _end(asking)
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, timeout) from None
        return subprocess.CompletedProcess(command, code, _text(out), _text(error))


def shim(folder: Path) -> Path:
    """An executable `outcrop` in this folder that does the same, for what is run by a shell."""
    path = folder / "outcrop"
    path.write_text(_SHIM.format(python=sys.executable, tests=str(Path(__file__).parent), address=address()))
    path.chmod(0o755)
    return path


def pass_on(place: str) -> None:
    """In the shim: have the command run with our streams, pass signals on to it, and end as it ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        process = _begin(asking, place, sys.argv, Path.cwd(), None, (sys.stdin, sys.stdout, sys.stderr))
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: os.kill(process, number))
        code = _end(asking)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


@functools.cache
def address() -> str:
    """Where this process's own server listens, which ends with it."""
    name = f"outcrop-tests-{os.getpid()}"
    command = [sys.executable, "-P", __file__, name]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    assert server.stdout.readline() == "ready\n"
    _SERVERS.append(server)
    return f"\0{name}"


_SERVERS: list[subprocess.Popen[str]] = []


def _begin(
    asking: socket.socket,
    place: str,
    command: list[str],
    folder: Path,
    env: Mapping[str, str] | None,
    streams: tuple[IO[bytes] | IO[str], ...],
) -> int:
    """Ask for a command; its process id."""
    asked = {"command": command, "folder": str(folder), "environment": dict(os.environ if env is None else env)}
    request = os.memfd_create("request")
    try:
        os.write(request, json.dumps(asked).encode())
        asking.connect(place)
        socket.send_fds(asking, [b"d"], [request, *(stream.fileno() for stream in streams)])
    finally:
        os.close(request)
    return int(asking.recv(16))


def _end(asking: socket.socket) -> int:
    return int(asking.recv(16))


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode()


def _serve(name: str) -> None:
    """Fork a child for each command until nobody holds our stdin; returns in the child, once it is set up to be it."""
    import gc
    import select
    from importlib import import_module

    for module in IMPORTED:
        import_module(module)
    from outcrop_specialists.tools.registry import all_tools

    all_tools()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(f"\0{name}")
    listening.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        waiting, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in waiting:
            os._exit(0)
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _watch(connection)
            return
        connection.close()


def _watch(connection: socket.socket) -> None:
    """Fork the command and say who it is and how it ended; returns in the command."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, [request, *streams], _, _ = socket.recv_fds(connection, 1, 4)
    process = os.fork()
    if process == 0:
        connection.close()
        _become(request, streams)
        return
    for descriptor in (request, *streams):
        os.close(descriptor)
    connection.sendall(str(process).encode())
    _, status = os.waitpid(process, 0)
    connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(request: int, streams: list[int]) -> None:
    """Take on what a new process would have been given, and forget what it would not share."""
    import random

    with open(request, "rb") as file:
        file.seek(0)
        asked = json.loads(file.read())
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = asked["command"]
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    random.seed()
    tempfile.tempdir = None


if __name__ == "__main__":
    _serve(sys.argv[1])
    from outcrop.cli.main import main

    main()
