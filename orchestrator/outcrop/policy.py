"""What a specialist may touch: the policy that its supervisor applies, as plain data.

Readable are the interpreter, its libraries and the workspace without Outcrop's own records; writable the granted
`results/` folders, the scratch folder and a private shared-memory folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from outcrop.launching.environment import is_file
from outcrop.workspace import HOME

LAYERS = ("rlimits", "no_new_privs", "capabilities", "landlock", "seccomp")
_SETTINGS_FILE = "outcrop.toml"
_SYSTEM = (
    "/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/fonts", "/etc/passwd", "/etc/group",
    "/etc/nsswitch.conf", "/etc/alternatives", "/etc/ssl", "/proc", "/sys/devices/system", "/sys/fs/cgroup",
    "/sys/kernel/mm",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
# Entries of a workspace that get a rule of their own; with more, the whole folder is readable, records and all.
_RULES = 4_000
_GIB = 1 << 30


def limits_of_a_process(memory_bytes: int) -> dict[str, int]:
    """The resource limits of each process. Address space is not among them: polars and OpenMP reserve a lot of it."""
    limits = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 16 * _GIB, "RLIMIT_NOFILE": 4_096, "RLIMIT_DATA": memory_bytes}
    # Counts all processes of the user, so it must leave room for what runs already; root is not bound by it.
    return limits if os.geteuid() == 0 else {**limits, "RLIMIT_NPROC": _own_processes() + 512}


def build_policy(
    workspace: Path, granted: Iterable[Path], scratch: Path, command: Sequence[str] | None, memory_bytes: int
) -> dict[str, Any]:
    """The policy of one dispatch; `granted` are the folders it may write besides its scratch folder."""
    readable = [*_SYSTEM, *interpreter_paths(), *workspace_entries(workspace)]
    if command is not None:
        readable += command_paths(command)
    writable = [str(folder) for folder in granted] + [str(scratch)]
    return {
        "layers": list(LAYERS),
        "rlimits": limits_of_a_process(memory_bytes),
        "readable": readable,
        "writable": writable,
        "listable": [str(workspace)],
        "devices": list(_DEVICES),
    }


def workspace_entries(workspace: Path) -> list[str]:
    """What of the workspace may be read: all of it but Outcrop's own records and settings."""
    own = {HOME, _SETTINGS_FILE}
    with os.scandir(workspace) as entries:
        # A link is followed by the kernel to where it leads, and that is not the workspace's.
        found = [entry.path for entry in entries if entry.name not in own and not entry.is_symlink()]
    return found if len(found) <= _RULES else [str(workspace)]


@cache
def interpreter_paths() -> tuple[str, ...]:
    """This interpreter, its libraries, and the folders its packages are imported from."""
    own = {sys.prefix, sys.base_prefix, sys.exec_prefix, *(path for path in sys.path if path and Path(path).is_dir())}
    return tuple(sorted(own - {str(Path.cwd()), "/"}))


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


def _own_processes() -> int:
    import psutil

    own = os.geteuid()
    return sum(1 for process in psutil.process_iter(["uids"]) if (process.info["uids"] or (None,))[0] == own)
