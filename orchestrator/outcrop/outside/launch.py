"""Starting an outside server under a supervisor of its own, confined as a COMMAND is, with a pipe to its stdin."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from outcrop.launching import Child, Launcher, LaunchSpec
from outcrop.launching.environment import environment_for
from outcrop.outside.config import McpServer
from outcrop.policy import build_policy, spared
from outcrop_schemas import limits
from outcrop_schemas.errors import LaunchError

# What looking up names and checking certificates needs beyond what every process may read.
_OF_THE_NETWORK = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
    "/etc/ca-certificates",
)  # fmt: skip
_MODULES = "node_modules"


@dataclass(frozen=True)
class Ground:
    """Where a server is started: the workspace that it reads, and who starts it."""

    workspace: Path
    launcher: Launcher
    bubblewrap: str | None = None


@dataclass(frozen=True)
class Started:
    """A server that runs; `stdin` is our end of its standard input, which we close."""

    child: Child
    stdin: int


async def launch(server: McpServer, ground: Ground, scratch: Path) -> Started:
    """Start it with `scratch` as its working and only writable folder. Raises LaunchError, OSError."""
    command = resolved(server.command, ground.workspace)
    environment = environment_for(scratch, None, server.variables(str(ground.workspace)))
    with ExitStack() as theirs:
        read_end, write_end = os.pipe2(os.O_CLOEXEC)
        theirs.callback(os.close, read_end)
        try:
            spec = LaunchSpec(
                argv=command,
                request=b"",
                environment=environment,
                folder=scratch,
                policy=_policy(server, ground.workspace, scratch, command),
                memory_bytes=limits.OUTSIDE_MEMORY_BYTES,
                processes=limits.OUTSIDE_PROCESSES,
                # It has no network to be shut off from where bubblewrap is around it.
                bubblewrap=None if server.network else ground.bubblewrap,
                stdin=read_end,
            )
            return Started(await ground.launcher.launch(spec), write_end)
        except BaseException:
            os.close(write_end)
            raise


def resolved(command: Sequence[str], workspace: Path) -> list[str]:
    """The command with its program and its files made absolute; relative ones start at the workspace.

    Raises LaunchError where there is no such program.
    """
    program, *arguments = [word.replace("{workspace}", str(workspace)) for word in command]
    found = shutil.which(str(workspace / Path(program).expanduser()) if "/" in program else program)
    if found is None:
        raise LaunchError(f"there is no program {program!r} {'there' if '/' in program else 'on the PATH'}")
    return [str(Path(found).absolute()), *(_absolute(argument, workspace) for argument in arguments)]


def _absolute(argument: str, workspace: Path) -> str:
    """An argument that names a file of the workspace by its absolute path, since the server runs in its scratch."""
    path = workspace / argument
    try:
        return str(path) if not argument.startswith("-") and path.is_file() else argument
    except (OSError, ValueError):
        return argument


def _policy(server: McpServer, workspace: Path, scratch: Path, command: Sequence[str]) -> dict[str, object]:
    policy = build_policy(workspace, [], scratch, command, limits.OUTSIDE_MEMORY_BYTES, limits.OUTSIDE_PROCESSES)
    asked = [str((workspace / Path(path).expanduser()).resolve()) for path in server.reads]
    more = [*asked, *_modules_of(command)]
    if server.network:
        policy["network"] = True
        more += [path for name in _OF_THE_NETWORK for path in (name, os.path.realpath(name))]
    policy["readable"] = [*policy["readable"], *spared(more, workspace)]
    return policy


def _modules_of(command: Sequence[str]) -> list[str]:
    """The installations of Node packages that the command lies in: a program of one needs its neighbours."""
    found: dict[str, None] = {}
    for word in command:
        parents = Path(word).resolve().parents if word.startswith("/") else ()
        outermost = [folder for folder in parents if folder.name == _MODULES][-1:]
        found |= dict.fromkeys(map(str, outermost))
    return list(found)
