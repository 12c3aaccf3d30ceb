"""What a specialist may touch: the policy that its supervisor applies, as plain data.

Readable are the interpreter, its libraries and the workspace without Outcrop's own records; writable the granted
`results/` folders and the scratch folder.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from outcrop.launching.environment import is_file
from outcrop.workspace import HOME
from outcrop_schemas import limits
from outcrop_specialists.guard.confine import LAYERS
from outcrop_specialists.guard.places import DEVICES, SYSTEM, interpreter_paths, workspace_entries

_GIB = 1 << 30


def limits_of_a_process(memory_bytes: int, processes: int) -> dict[str, int]:
    """The resource limits of each process. Address space is not among them: polars and OpenMP reserve a lot of it."""
    bounds = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 16 * _GIB, "RLIMIT_NOFILE": 4_096, "RLIMIT_DATA": memory_bytes}
    # Counts all processes and threads of the user: it must leave room for what runs already. Root is not bound by it.
    return bounds if os.geteuid() == 0 else {**bounds, "RLIMIT_NPROC": _own_tasks(int(time.monotonic())) + processes}


def build_policy(
    workspace: Path,
    granted: Iterable[Path],
    scratch: Path,
    command: Sequence[str] | None,
    memory_bytes: int,
    processes: int = limits.DISPATCH_PROCESSES,
    *,
    identities: Mapping[str, tuple[int, int]] | None = None,
    needed: Iterable[Sequence[str]] = (),
) -> dict[str, Any]:
    """The policy of one dispatch; `granted` are the folders it may write besides its scratch folder.

    `identities` say what those among them must still be that somebody could replace. Of each of the `needed`
    alternatives one layer must be taken, or nothing is started.
    """
    outside = [*SYSTEM, *interpreter_paths(), *(command_paths(command) if command is not None else [])]
    readable = [*spared(outside, workspace), *workspace_entries(workspace)]
    writable = list(dict.fromkeys([*(str(folder) for folder in granted), str(scratch)]))
    return {
        "layers": list(LAYERS),
        "rlimits": limits_of_a_process(memory_bytes, processes),
        "readable": readable,
        "writable": writable,
        "listable": [str(workspace)],
        "devices": list(DEVICES),
        "identities": identities or {},
        "needed": [list(layers) for layers in needed],
    }


def spared(paths: Iterable[str], workspace: Path) -> list[str]:
    """These paths; one that a workspace lies in without what is on the way to it, since its records lie there too."""
    found: list[str] = []
    for path in paths:
        folder = Path(os.path.realpath(path))
        if workspace.is_relative_to(folder):
            found += _beside(folder, workspace)
        elif not folder.is_relative_to(workspace / HOME) or folder.is_file():
            found.append(path)
    return found


def _beside(folder: Path, workspace: Path) -> list[str]:
    found: list[str] = []
    while folder != workspace:
        following = folder / workspace.relative_to(folder).parts[0]
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            found += [entry.path for entry in entries if entry.path != str(following) and not entry.is_symlink()]
        folder = following
    return found


def command_paths(command: Sequence[str]) -> list[str]:
    """The program of a COMMAND, what interprets it with the installation that it has, and its arguments that are files.

    Not the folder that a program lies in: `~/bin/tool` would open the home.
    """
    programs = [Path(command[0])]
    if interpreter := _interpreter_of(programs[0]):
        programs.append(interpreter)
    found = []
    for path in dict.fromkeys(named for program in programs for named in (program, program.resolve())):
        found += [str(path), *installation_of(path)]
    return [*dict.fromkeys(found), *(argument for argument in command[1:] if _is_granted(argument))]


def _is_granted(argument: str) -> bool:
    # Under these a name means another file for each process: what it names here is none of the specialist's.
    return argument.startswith("/") and not argument.startswith(("/dev/", "/proc/")) and is_file(argument)


def _interpreter_of(program: Path) -> Path | None:
    """What the first line of a script names."""
    with contextlib.suppress(OSError, ValueError), program.open("rb") as file:
        words = os.fsdecode(file.read(256).partition(b"\n")[0]).split()
        if words and words[0].startswith("#!/"):
            return Path(words[0][2:])
    return None


def installation_of(program: Path) -> list[str]:
    """The prefixes of a Python: its virtual environment, and where the standard library lies; nothing of a program."""
    prefix = program.parent.parent
    if program.parent.name not in ("bin", "sbin") or prefix == Path("/"):
        return []
    prefixes, is_environment = [prefix], False
    with contextlib.suppress(OSError, UnicodeDecodeError):
        lines = (prefix / "pyvenv.cfg").read_text("utf-8").splitlines()
        is_environment = True
        fields = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}
        if home := fields.get("home"):
            prefixes += [Path(home).parent, Path(home).resolve().parent]
    found = [str(one) for one in dict.fromkeys(prefixes) if any(one.glob("lib*/python3.*/os.py"))]
    return [*([str(prefix)] if is_environment else []), *found]


@lru_cache(maxsize=1)
def _own_tasks(second: int) -> int:
    """The processes of this user with their threads, by one look through /proc in each second."""
    own, count = str(os.getuid()), 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                fields = dict(line.split(":", 1) for line in (folder / "status").read_text("latin-1").splitlines())
                count += int(fields["Threads"]) if fields["Uid"].split()[0] == own else 0
    return count
