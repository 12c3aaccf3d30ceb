"""What a specialist is started with: the allowed part of our environment, and a command made absolute."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from outcrop_schemas.errors import LaunchError
from outcrop_specialists.guard.places import allowed_environment

BUILT_IN = (sys.executable, "-P", "-m", "outcrop_specialists")


def environment_for(scratch: Path, cache: Path | None, extra: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a specialist: the allowed part of ours, its own folders, and what was asked for.

    `cache` is where the built-in specialists keep matplotlib's font list, which takes seconds to make.
    """
    folders = {"HOME": str(scratch), "TMPDIR": str(scratch), "MPLCONFIGDIR": str(cache or scratch)}
    return {**allowed_environment(), **folders, **extra}


def resolve_command(command: Sequence[str]) -> list[str]:
    """A COMMAND with its existing files made absolute, since it runs in its scratch folder. Raises LaunchError."""
    import shutil

    if not command:
        raise LaunchError("no command was given after --")
    found = shutil.which(command[0])
    if found is None:
        raise LaunchError(f"{command[0]}: there is no such program on the PATH")
    arguments = [str(Path(argument).absolute()) if is_file(argument) else argument for argument in command[1:]]
    return [str(Path(found).absolute()), *arguments]


def as_text(command: Sequence[str]) -> str:
    """A command as it can be written down: bytes of a file name that are no text are replaced."""
    return " ".join(os.fsencode(part).decode("utf-8", "replace") for part in command)


def is_file(argument: str) -> bool:
    """Whether a command's argument names an existing file; False for what is no path at all."""
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
