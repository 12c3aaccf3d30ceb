"""Packages that were installed for a workspace after a gap: on the import path behind all that was there before."""

from __future__ import annotations

import os
import sys

PACKAGES = "OUTCROP_PACKAGES"
"""The variable that names their folders. A COMMAND and a shell command have it too."""

# Behind the interpreter's own folders: no such package takes the place of one that is there.
_BEHIND = (
    "import os, runpy, sys; sys.path += sys.argv.pop(1).split(os.pathsep); del sys.argv[0]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


def package_folders() -> list[str]:
    """The folders of what was installed."""
    return [folder for folder in os.environ.get(PACKAGES, "").split(os.pathsep) if folder]


def put_on_import_path() -> None:
    """Make them importable in this process."""
    sys.path += [folder for folder in package_folders() if folder not in sys.path]


def python() -> tuple[str, ...]:
    """How a script is begun: its path and its arguments follow."""
    folders = package_folders()
    plain = (sys.executable, "-P")
    return (*plain, "-c", _BEHIND, os.pathsep.join(folders)) if folders else plain
