"""What the runs of a workspace take up, and how they are removed: whole, never one under way, what is kept in peace."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from outcrop.recovery import RunRecord, open_run
from outcrop.runs import REMOVED, RunFolder, all_runs
from outcrop.workspace import Workspace
from outcrop_schemas.errors import JournalError, UsageError, WorkspaceError
from outcrop_specialists.reading.address import MARK
from outcrop_specialists.tools.lineage import record_path, sha256_of

_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_AGE = re.compile(r"([0-9]+)([mhdw])")


def seconds_of(text: str) -> int:
    """The seconds of `30d`, `12h`, `45m` or `2w`. Raises UsageError."""
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text!r} is no age; write 30d, 12h, 45m or 2w")
    return int(found[1]) * _UNITS[found[2]]


def age_of(run: RunFolder) -> float:
    """Seconds since the run's last record."""
    return time.time() - run.journal.stat().st_mtime


def bytes_of(folder: Path) -> int:
    """What the files beneath a folder take on disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if not path.is_dir())


@dataclass(frozen=True)
class Removable:
    """A run that is old enough; `files` are its artifacts, as it recorded them, that no run that is kept has."""

    run: RunFolder
    bytes: int
    seconds: float
    files: tuple[tuple[str, int], ...] = ()

    @property
    def begun(self) -> str:
        return datetime.fromtimestamp(time.time() - self.seconds, UTC).isoformat(timespec="seconds")


def removable(workspace: Workspace, older_than: float, *, keep_artifacts: bool) -> tuple[list[Removable], list[str]]:
    """The runs whose last record is older than so many seconds, and why others that are old enough stay."""
    found: list[Removable] = []
    stay: list[str] = []
    kept: set[str] = set()
    old: list[tuple[RunRecord, float]] = []
    for folder in all_runs(workspace):
        seconds = age_of(folder)  # before it is opened: what is recovered then is written down now
        try:
            run = open_run(folder)
        except JournalError as error:
            stay.append(f"{folder.run_id}: {error}")
            continue
        if seconds <= older_than or run.is_under_way:
            kept |= {path for path, _ in _artifacts(run)} | _inputs(run)
            if run.is_under_way and seconds > older_than:
                stay.append(f"{folder.run_id}: is under way")
        else:
            old.append((run, seconds))
    # Of a run that cannot be read nobody knows which files it has or reads.
    keep_artifacts = keep_artifacts or any(": is under way" not in reason for reason in stay)
    for run, seconds in old:
        own = () if keep_artifacts else tuple(_unchanged(workspace, run, kept))
        kept |= {path for path, _ in own}  # each is listed once
        found.append(Removable(run.folder, bytes_of(run.folder.path), seconds, own))
    return found, stay


def _inputs(run: RunRecord) -> set[str]:
    """The files that a run reads: its own, and those of its dispatches."""
    named = [entry["path"] for entry in run.about.get("data", [])]
    for start in run.records.of("start"):
        named += start.body.get("data", [])
    return {path.partition(MARK)[0] for path in named}


def _artifacts(run: RunRecord) -> Iterator[tuple[str, str]]:
    for outcome in run.each_outcome():
        yield from ((artifact.path, artifact.sha256) for artifact in outcome.artifacts)


def _unchanged(workspace: Workspace, run: RunRecord, kept: set[str]) -> Iterator[tuple[str, int]]:
    """Its artifacts that lie there as it left them; not what somebody changed, or what a kept run has or reads."""
    for path, known in dict(_artifacts(run)).items():
        place = workspace.folder / path
        if path in kept or place.is_symlink() or not place.is_file() or place.parent.name != "results":
            continue
        if sha256_of(place) == known:
            yield path, place.stat().st_size


def remove(workspace: Workspace, runs: Sequence[Removable]) -> int:
    """Remove them; the bytes set free. The workspace must be held. Raises WorkspaceError, naming what stayed."""
    freed = 0
    try:
        for each in runs:
            for path, size in each.files:
                place = workspace.folder / path
                place.unlink(missing_ok=True)
                record_path(place).unlink(missing_ok=True)
                freed += size
            # Renamed first: what is removed halfway is no run.
            aside = each.run.path.with_name(f"{REMOVED}{each.run.run_id}")
            each.run.path.rename(aside)
            freed += each.bytes
        for aside in workspace.runs.glob(f"{REMOVED}*"):
            shutil.rmtree(aside)
    except OSError as error:
        raise WorkspaceError(f"{error.filename}: cannot be removed: {error.strerror}") from error
    return freed
