"""Which files runs have made: from their journals, for `summarise_artifacts`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from outcrop.records import read
from outcrop.runs import RunFolder, all_runs
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import OutcropError
from outcrop_schemas.outcome import Outcome

_COUNTED = 10 * limits.CHAT_ARTIFACTS


def artifacts_of(folder: RunFolder) -> Iterator[dict[str, Any]]:
    """The verified artifacts of one run, the newest dispatch first; none of a run whose record cannot be read."""
    try:
        outcomes = [Outcome.model_validate(record.body) for record in read(folder.journal)[0].of("end")]
    except (OutcropError, ValueError, OSError):
        return
    for outcome in reversed(outcomes):
        for artifact in outcome.artifacts:
            yield {"path": artifact.path, "kind": artifact.kind, "title": artifact.title, "run_id": folder.run_id}


def made_in(
    workspace: Workspace, runs: Collection[str] | None, paths: Sequence[str]
) -> tuple[list[dict[str, Any]], int]:
    """The newest artifacts of these runs, or of all runs of the workspace, each file once; how many more there are.
    With `paths` only those."""
    found: dict[str, dict[str, Any]] = {}
    for folder in reversed(all_runs(workspace)):
        if runs is not None and folder.run_id not in runs:
            continue
        if len(found) > _COUNTED:
            break
        for artifact in artifacts_of(folder):
            if not paths or artifact["path"] in paths:
                found.setdefault(artifact["path"], artifact)
    listed = list(found.values())
    return listed[: limits.CHAT_ARTIFACTS], max(0, len(listed) - limits.CHAT_ARTIFACTS)
