"""Examines an installation: Python, libraries, model, workspace, and what is confined and what is not yet."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from outcrop.launch import ColdLauncher
from outcrop.settings import Settings
from outcrop.workspace import Workspace
from outcrop_schemas.errors import WorkspaceBusyError, WorkspaceError
from outcrop_schemas.outcome import Isolation


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    is_good: bool
    text: str


@dataclass(frozen=True)
class Report:
    """All checks, and the isolation that specialists get here."""

    checks: list[Check]
    isolation: dict[str, Isolation]

    @property
    def is_good(self) -> bool:
        return all(check.is_good for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        return {
            "ok": self.is_good,
            "checks": [vars(check) for check in self.checks],
            "isolation": {name: found.model_dump() for name, found in self.isolation.items()},
        }


def examine(workspace: str | Path) -> Report:
    """Look at everything; nothing is changed but the workspace's own `.outcrop` folder."""
    return Report(
        [_python(), *_libraries(), _byte_code(), _processes(), _model(), _workspace(workspace)],
        ColdLauncher().isolation(),
    )


def _python() -> Check:
    text = f"{platform.python_version()} on {platform.system()} {platform.release()}"
    return Check("Python", sys.version_info >= (3, 11), text)


def _libraries() -> Iterator[Check]:
    for requirement in requires("outcrop") or []:
        if ";" in requirement:
            continue
        name = requirement.split(">")[0].split("=")[0].split("<")[0].strip()
        try:
            yield Check(name, True, version(name))
        except PackageNotFoundError:
            yield Check(name, False, "is not installed; run scripts/setup or install outcrop again")


def _byte_code() -> Check:
    import numpy

    cached = Path(numpy.__file__).parent / "__pycache__"
    if cached.is_dir() and any(cached.iterdir()):
        return Check("byte code", True, "libraries are compiled")
    return Check(
        "byte code", False, "libraries are not compiled: every process starts several times slower; run scripts/setup"
    )


def _processes() -> Check:
    if hasattr(os, "pidfd_open"):
        return Check("processes", True, "pidfd available")
    return Check("processes", False, "this system has no pidfd; Outcrop needs Linux 5.3 or later")


def _model() -> Check:
    key = (
        "a key is set, but Claude models come with the next versions"
        if os.environ.get("ANTHROPIC_API_KEY")
        else "no key is needed"
    )
    return Check("model", True, f"{Settings().model}: a deterministic planner, no language model; {key}")


def _workspace(folder: str | Path) -> Check:
    try:
        workspace = Workspace(folder)
        workspace.hold()
        workspace.release()
    except WorkspaceBusyError as error:
        return Check("workspace", True, str(error))
    except WorkspaceError as error:
        return Check("workspace", False, str(error))
    return Check("workspace", True, f"{workspace.folder} can be written to")
