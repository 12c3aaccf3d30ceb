"""An outer wall for cold starts: bubblewrap, with a view of the file system, a process table and a network of its own.

The supervisor is started inside it, so that it confines the specialist there once more (Landlock forbids mounts: this
wall must come first). Forked specialists cannot have it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

from outcrop_specialists.guard.places import PRIVATE

_NAMESPACES = ("pid", "net", "mnt", "ipc", "uts")
# Made by bubblewrap itself.
_OWN = ("/proc", "/dev")
_TRY_SECONDS = 10.0


def find_bubblewrap() -> str | None:
    """The program on the PATH."""
    return shutil.which("bwrap")


def options_for(policy: Mapping[str, Any], packages: str) -> list[str]:
    """The options with which bubblewrap makes the wall.

    Readable are the policy's folders and `packages`, writable its writable ones; Outcrop's own records are not there.
    """
    options = ["--die-with-parent", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    options += ["--proc", "/proc", "--dev", "/dev"]
    for option in _mounts(policy, packages):
        options += option
    return [*options, "--remount-ro", "/", "--chdir", "/"]


def own_namespaces() -> dict[str, str]:
    """Ours, so that a process inside the wall can see whether it is in others."""
    return {name: str(Path("/proc/self/ns", name).readlink()) for name in _NAMESPACES}


def complaint(program: str) -> str:
    """What it says when it is started by itself, for who wants to know why it is not used."""
    options = ["--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    try:
        ran = subprocess.run(
            [program, *options, "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={"PATH": os.defpath},
            timeout=_TRY_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ran.stderr.strip()[-300:] or f"it ended with exit code {ran.returncode}"


def _mounts(policy: Mapping[str, Any], packages: str) -> Iterable[list[str]]:
    """Binds from the top of the tree downwards, each over what is above it."""
    workspaces = policy["listable"]
    readable = _without_inner([*policy["readable"], *workspaces, packages])
    found = {path: ["--ro-bind", path, path] for path in readable if os.path.lexists(path)}
    for workspace in workspaces:
        for name in PRIVATE:
            hidden = Path(workspace, name)
            if hidden.is_dir():
                found[str(hidden)] = ["--tmpfs", str(hidden)]
            elif hidden.exists():
                found[str(hidden)] = ["--ro-bind", "/dev/null", str(hidden)]
    # Packages of the workspace lie among what is hidden.
    found |= {path: ["--ro-bind", path, path] for path in policy["readable"] if set(PurePath(path).parts) & PRIVATE}
    found |= {path: ["--bind", path, path] for path in policy["writable"]}
    yield from (found[path] for path in sorted(found, key=lambda path: len(PurePath(path).parts)))
    # What is written between the binds would be lost without a word.
    yield from (["--remount-ro", option[1]] for option in found.values() if option[0] == "--tmpfs")


def _without_inner(paths: Iterable[str]) -> list[str]:
    """These paths without those that lie in another one, and without what bubblewrap makes itself."""
    kept: list[str] = []
    for path in sorted(set(paths), key=lambda path: len(PurePath(path).parts)):
        if not any(PurePath(path).is_relative_to(outer) for outer in (*kept, *_OWN)):
            kept.append(path)
    return kept
