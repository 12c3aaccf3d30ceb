"""What a specialist may touch: the policy that its supervisor applies, as plain data.

Readable are the interpreter, its libraries and the workspace without Outcrop's own records; writable the granted
`results/` folders and the scratch folder.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from outcrop.launching.environment import is_file
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
) -> dict[str, Any]:
    """The policy of one dispatch; `granted` are the folders it may write besides its scratch folder."""
    readable = [*SYSTEM, *interpreter_paths(), *workspace_entries(workspace)]
    if command is not None:
        readable += command_paths(command)
    writable = [str(folder) for folder in granted] + [str(scratch)]
    return {
        "layers": list(LAYERS),
        "rlimits": limits_of_a_process(memory_bytes, processes),
        "readable": readable,
        "writable": writable,
        "listable": [str(workspace)],
        "devices": list(DEVICES),
    }


def command_paths(command: Sequence[str]) -> list[str]:
    """The program of a COMMAND with the installation it lies in, and its arguments that are files."""
    found = []
    for program in {Path(command[0]), Path(command[0]).resolve()}:
        found.append(str(program))
        installation = program.parent.parent
        if program.parent.name in ("bin", "sbin") and installation != Path("/"):
            found.append(str(installation))
    arguments = [argument for argument in command[1:] if argument.startswith("/")]
    return found + [argument for argument in arguments if is_file(argument)]


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
