"""Run folders: making one, finding one again, and what lies in it."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from outcrop.records import decode
from outcrop.spill import SpillStore, write_private
from outcrop.workspace import Workspace
from outcrop_schemas import wire
from outcrop_schemas.errors import UnknownNameError, WorkspaceError
from outcrop_schemas.regular import NotAFileError, open_file, read_file

REMOVED = ".removed-"
"""So the name of a folder begins that is being removed: no run to anybody, also where that was interrupted."""


@dataclass(frozen=True)
class RunFolder:
    """`.outcrop/runs/<run_id>/` and the places in it."""

    path: Path

    @property
    def run_id(self) -> str:
        return self.path.name

    @property
    def journal(self) -> Path:
        return self.path / "journal.jsonl"

    @property
    def exchanges(self) -> Path:
        return self.path / "exchanges"

    @property
    def spill(self) -> SpillStore:
        return SpillStore(self.path / "spill")

    @property
    def stored(self) -> Path:
        """Where the lead's own turns go that were summed up."""
        return self.path / "stored"

    @property
    def gaps(self) -> Path:
        """What the installer of packages said."""
        return self.path / "gaps"

    @property
    def attached(self) -> Path:
        """What agents were shown of attached files, by content."""
        return self.path / "attached"

    @property
    def outside(self) -> Path:
        """What outside servers write, and which tools of theirs were offered."""
        return self.path / "outside"

    @property
    def requests(self) -> Path:
        """Where other processes ask its orchestrator for something; made by the first that does."""
        return self.path / "requests"

    def transcript(self, dispatch_id: str) -> Path:
        return self.path / "transcripts" / f"{dispatch_id}.ndjson"

    def scratch(self, dispatch_id: str) -> Path:
        return self.path / "work" / dispatch_id

    def has_begun(self) -> bool:
        """Whether its first record was written. So it was taken to be where something else has the journal's name, or
        it may not be read: who opens that run is told."""
        try:
            with open_file(self.journal) as journal:
                return journal.readline().endswith(b"\n")
        except (NotAFileError, PermissionError):
            return True
        except OSError:
            return False

    def begun_as(self) -> dict[str, Any] | None:
        """What its first record says; None where that is damaged or cannot be read. Raises OSError."""
        try:
            with open_file(self.journal) as journal:
                record = decode(journal.readline().removesuffix(b"\n"))
        except (NotAFileError, PermissionError):
            return None
        return record.body if record else None

    def about(self) -> dict[str, Any]:
        """The contents of run.json."""
        about: dict[str, Any] = wire.loads(read_file(self.path / "run.json"))
        return about

    def describe(self, about: dict[str, Any]) -> None:
        """Write run.json, for people; what counts is the first record of the journal. Raises WorkspaceError."""
        temporary = self.path / ".run.json"
        try:
            write_private(temporary, wire.dumps(about), is_flushed=False)
            temporary.replace(self.path / "run.json")
        except OSError as error:
            raise WorkspaceError(f"{self.path}: run.json cannot be written: {error.strerror}") from error


def new_run(workspace: Workspace) -> RunFolder:
    """A new run folder, private to the owner. Raises WorkspaceError."""
    # Microseconds, so that runs of one second sort as they began.
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    folder = workspace.runs / f"{stamp}-{secrets.token_hex(2)}"
    try:
        folder.mkdir(mode=0o700)
        for name in ("transcripts", "exchanges", "work"):
            (folder / name).mkdir(mode=0o700)
    except OSError as error:
        raise WorkspaceError(f"{folder}: the run folder cannot be made: {error.strerror}") from error
    return RunFolder(folder)


def all_runs(workspace: Workspace) -> list[RunFolder]:
    """The runs of a workspace, oldest first; a folder without a first record is none (its orchestrator was killed)."""
    if not workspace.runs.is_dir():
        return []
    folders = [RunFolder(path) for path in sorted(workspace.runs.iterdir()) if not path.name.startswith(REMOVED)]
    return [folder for folder in folders if folder.has_begun()]


def find_run(name: str, workspace: Workspace) -> RunFolder:
    """The run that `name` means: a run folder, a run id or its unique beginning, or `last`. Raises UnknownNameError."""
    with contextlib.suppress(OSError):  # what no file can be called is no folder
        if (Path(name) / "journal.jsonl").exists():
            return RunFolder(Path(name).resolve())
    runs = all_runs(workspace)
    if name == "last" and runs:
        return runs[-1]
    matching = [run for run in runs if name and run.run_id.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    ids = [run.run_id for run in runs]
    raise UnknownNameError("run", name, [run.run_id for run in matching] or get_close_matches(name, ids), ids[-20:])
