"""Starting a specialist process: what a launch takes, what it gives back, and the cold start.

A fork server and a cluster engine fit the same `Launcher`; nothing above this file knows how a process came to be.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from outcrop_schemas.errors import LaunchError
from outcrop_schemas.outcome import Isolation

BUILT_IN = (sys.executable, "-P", "-m", "outcrop_specialists")

# What a specialist gets of the orchestrator's environment. An allow-list, since a deny-list misses the next key.
ALLOWED = (
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_NUMERIC",
    "TZ",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
)
# Numeric libraries pick kernels and threads by these; some processors need them for right numbers.
ALLOWED_PREFIXES = ("OPENBLAS_", "OMP_", "MKL_", "POLARS_MAX_THREADS", "NUMEXPR_")


@dataclass(frozen=True)
class LaunchSpec:
    """One process to start."""

    argv: Sequence[str]
    request: bytes
    environment: Mapping[str, str]
    folder: Path
    channel: int | None = None


@dataclass(frozen=True)
class ExitInfo:
    """How a process ended. Both None: the exit status is unknown (something else reaped it)."""

    code: int | None = None
    signal: int | None = None
    cpu_seconds: float = 0.0
    max_rss_bytes: int = 0


@dataclass
class Child:
    """A running specialist: its pid (also its session), its pipes, and a future of its end."""

    pid: int
    stdout: int
    stderr: int
    exited: asyncio.Future[ExitInfo]
    launch: Literal["nursery", "cold"]
    isolation: dict[str, Isolation] = field(default_factory=dict)

    def close(self) -> None:
        """Close the pipes. The reader must have ended."""
        os.close(self.stdout)
        os.close(self.stderr)


class Launcher(Protocol):
    """Starts processes. `isolation` says beforehand which properties its processes have."""

    def isolation(self) -> dict[str, Isolation]: ...

    async def launch(self, spec: LaunchSpec) -> Child: ...


class ColdLauncher:
    """A plain process per dispatch, in a session of its own."""

    def isolation(self) -> dict[str, Isolation]:
        return {
            "write_confined": Isolation(active=False, by="nothing yet"),
            "read_confined": Isolation(active=False, by="nothing yet"),
            "network_denied": Isolation(active=False, by="nothing yet"),
            "keys_hidden": Isolation(
                active=False, by="environment allow-list; /proc of the orchestrator is not hidden yet"
            ),
            "tree_kill_complete": Isolation(
                active=False, by="own session; a descendant that starts another session escapes"
            ),
            "memory_capped": Isolation(active=False, by="nothing yet"),
            "processes_capped": Isolation(active=False, by="nothing yet"),
            "disk_capped": Isolation(active=False, by="nothing yet"),
        }

    async def launch(self, spec: LaunchSpec) -> Child:
        """Start it. Raises LaunchError."""
        out_read, out_write = os.pipe2(os.O_CLOEXEC)
        err_read, err_write = os.pipe2(os.O_CLOEXEC)
        try:
            # A file, not a pipe: a child that never reads its request cannot stall us, and end of file comes by itself.
            with tempfile.TemporaryFile() as request:
                request.write(spec.request)
                request.seek(0)
                process = subprocess.Popen(  # noqa: ASYNC220 - a vfork; the child is watched by its pidfd
                    spec.argv,
                    stdin=request,
                    stdout=out_write,
                    stderr=err_write,
                    cwd=spec.folder,
                    env=dict(spec.environment),
                    start_new_session=True,
                    pass_fds=() if spec.channel is None else (spec.channel,),
                )
        except (OSError, ValueError) as error:
            os.close(out_read)
            os.close(err_read)
            raise LaunchError(f"{spec.argv[0]} could not be started: {error}") from error
        finally:
            os.close(out_write)
            os.close(err_write)
        return Child(process.pid, out_read, err_read, watch_exit(process), "cold", self.isolation())


def watch_exit(process: subprocess.Popen[bytes]) -> asyncio.Future[ExitInfo]:
    """A future of a child's end. Waits on a pidfd: a grandchild that holds the pipes cannot delay it."""
    loop = asyncio.get_running_loop()
    exited: asyncio.Future[ExitInfo] = loop.create_future()
    descriptor = os.pidfd_open(process.pid)

    def reap() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        info = _reap(process)
        if not exited.done():
            exited.set_result(info)

    loop.add_reader(descriptor, reap)
    return exited


def _reap(process: subprocess.Popen[bytes]) -> ExitInfo:
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except ChildProcessError:
        # SIGCHLD is ignored in this application, so the kernel reaped it.
        process.returncode = 0
        return ExitInfo()
    code = os.waitstatus_to_exitcode(status)
    process.returncode = code
    return ExitInfo(
        code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        max_rss_bytes=usage.ru_maxrss * 1024,
    )


def environment_for(scratch: Path, cache: Path | None, extra: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a specialist: the allowed part of ours, its own folders, and what was asked for.

    `cache` is where the built-in specialists keep matplotlib's font list, which takes seconds to make.
    """
    kept = {name: value for name, value in os.environ.items() if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)}
    folders = {"HOME": str(scratch), "TMPDIR": str(scratch), "MPLCONFIGDIR": str(cache or scratch)}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **kept, **folders, **extra}


def resolve_command(command: Sequence[str]) -> list[str]:
    """A COMMAND with its existing files made absolute, since it runs in its scratch folder. Raises LaunchError."""
    import shutil

    if not command:
        raise LaunchError("no command was given after --")
    found = shutil.which(command[0])
    if found is None:
        raise LaunchError(f"{command[0]}: there is no such program on the PATH")
    arguments = [str(Path(argument).absolute()) if _is_file(argument) else argument for argument in command[1:]]
    return [str(Path(found).absolute()), *arguments]


def _is_file(argument: str) -> bool:
    try:
        return Path(argument).is_file()
    except (OSError, ValueError):
        return False


def signal_name(number: int) -> str:
    """`SIGSEGV` for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
