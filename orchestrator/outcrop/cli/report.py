"""`outcrop report`: the page about a run."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from outcrop.cli.boundary import BAD, GOOD
from outcrop.cli.output import say, say_json, warn
from outcrop.cli.records import open_named
from outcrop.recovery import as_this_version_writes
from outcrop_schemas.errors import UsageError


def report(options: Namespace) -> int:
    """Write it anew from the record, say where it is, and open it where that is asked for."""
    from outcrop.report.writing import write_report

    output = _output(options.output) if options.output is not None else None
    run = open_named(options)
    with as_this_version_writes(run.folder):
        path = write_report(run, output)
    if options.json:
        say_json({"run_id": run.folder.run_id, "report": str(path), "bytes": path.stat().st_size})
    else:
        say(str(path))
    return _open(path) if options.open else GOOD


def _output(given: str) -> Path:
    """A new file in a folder that is there. Raises UsageError."""
    path = Path(given)
    if os.path.lexists(path):
        raise UsageError(f"{given} is there already; nothing is replaced")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent}: there is no such folder")
    return path


def _open(path: Path) -> int:
    import webbrowser

    if webbrowser.open(path.as_uri()):
        return GOOD
    warn(f"no browser could be opened; the report is {path}")
    return BAD
