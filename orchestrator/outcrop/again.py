"""A finished run once more: real specialists and tools on copies of its files, with the answers that its models gave.

It is done in a workspace of its own beneath `.outcrop/`, so that no file is there before: what comes out was made anew.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outcrop.events import Watcher, nobody
from outcrop.gaps.deciding import OnGap
from outcrop.gaps.requirement import parsed
from outcrop.launching import Launcher
from outcrop.memory import Memory, Remembered
from outcrop.models.recorded import Difference, RecordedModel, ordinal_of
from outcrop.recovery import RunRecord, open_run
from outcrop.run import Run
from outcrop.settings import LEAD, RoleSettings, Settings
from outcrop.workspace import HOME
from outcrop_schemas.errors import UsageError, WorkspaceError
from outcrop_schemas.outcome import RunOutcome
from outcrop_specialists.brief import MEMORY, SKILLS
from outcrop_specialists.context.skills import FOLDER
from outcrop_specialists.reading.address import MARK
from outcrop_specialists.tools.lineage import sha256_of

_SKILL = re.compile(r"^- ([a-z0-9-]+): ", re.MULTILINE)


@dataclass
class Again:
    """What became of it. `files` says of each artifact whether it is `same`, `changed`, `missing` or `new`."""

    run_id: str
    outcome: RunOutcome
    differences: list[Difference] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Of dispatches that ended otherwise: how then, how now."""

    @property
    def is_same(self) -> bool:
        return not (self.differences or self.statuses) and set(self.files.values()) <= {"same"}

    def as_json(self) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "same": self.is_same,
            "status": self.outcome.status,
            "differences": [{"agent": each.agent, "turn": each.turn, "told": each.told} for each in self.differences],
            "files": self.files,
            "statuses": {agent: {"then": then, "now": now} for agent, (then, now) in self.statuses.items()},
        }


async def run_again(
    record: RunRecord,
    answers: RunRecord,
    settings: Settings,
    watcher: Watcher = nobody,
    launcher: Launcher | str = "auto",
) -> Again:
    """Do the run of `record` again with the models' answers of `answers`, as a rule the same run.

    Raises UsageError for what is no finished run of a lead, or where its files are not what they were.
    """
    about = record.about
    if about.get("kind") != "run" or record.is_under_way:
        raise UsageError(f"{record.folder.run_id} is no finished run of an objective, so it cannot be done again")
    workspace = record.folder.path.parents[2]
    inputs = [*about.get("data", []), *about.get("attach", [])]
    _check(workspace, inputs)
    with _copied(workspace, inputs, _skills_told(about)) as place:
        model = RecordedModel(answers.folder, [place, workspace])
        work = _AsThen(
            about,
            about["objective"],
            [entry["path"] for entry in about.get("data", [])],
            workspace=place,
            model=model,
            pins=about.get("pins"),
            attach=[entry["path"] for entry in about.get("attach", [])],
            settings=_as_then(settings, record),
            watcher=watcher,
            launcher=launcher,
            on_gap=_as_decided(record),
        )
        outcome = await work.start()
        assert work.desk is not None
        made = open_run(work.desk.folder)
        found = Again(record.folder.run_id, outcome, list(model.differences.values()))
        then, now = _files(record), _files(made)
        for path in dict.fromkeys([*then, *now]):
            is_new, is_missing = path not in then, path not in now
            same = "same" if then.get(path) == now.get(path) else "changed"
            found.files[path] = "new" if is_new else "missing" if is_missing else same
        ended, ends = _statuses(record), _statuses(made)
        for agent in dict.fromkeys([*ended, *ends]):
            if ended.get(agent) != ends.get(agent):
                found.statuses[agent] = (ended.get(agent, "-"), ends.get(agent, "-"))
        return found


def _as_then(settings: Settings, record: RunRecord) -> Settings:
    """The settings with each agent's turns and window as they were: its prompt names the turns, and by the window tools
    are offered, told of and summed up."""
    agents = {LEAD: record.about, **{start.body["specialist"]: start.body for start in record.records.of("start")}}
    roles = dict(settings.roles)
    for role, told in agents.items():
        if window := told.get("window"):
            then = {**window, "window_tokens": window.get("tokens"), "turns": told.get("turns")}
            then = {name: value for name, value in then.items() if name in RoleSettings.model_fields and value}
            roles[role] = roles.get(role, RoleSettings()).model_copy(update=then)
    gaps = settings.gaps.model_copy(update={"ask": True})
    return settings.model_copy(update={"roles": roles, "gaps": gaps})


def _as_decided(record: RunRecord) -> OnGap:
    """Packages that were installed for the run are installed for it again."""
    packages = {str(parsed(gap["package"])) for gap in record.events("gap") if gap["installed"]}
    return lambda question: question.requirement in packages


def _check(workspace: Path, inputs: list[dict[str, Any]]) -> None:
    """Raises UsageError where a file is gone or is not what the run read."""
    for entry in inputs:
        path = workspace / str(entry["path"]).partition(MARK)[0]
        if not path.is_file():
            raise UsageError(
                f"{entry['path']} is no longer there; `outcrop replay --on FILE` follows its plan on others"
            )
        if entry.get("sha256") and sha256_of(path) != entry["sha256"]:
            raise UsageError(
                f"{entry['path']} was changed since the run; `outcrop replay --on {entry['path']}` follows its plan"
            )


class _AsThen(Run):
    """A run that is told what its lead was told then of earlier ones; what was remembered since is none of it."""

    def __init__(self, about: Mapping[str, Any], *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._then = [block for block in about.get("known", ()) if block.startswith(MEMORY)]

    def _known(self, skills: Mapping[str, str], facts: Sequence[Remembered]) -> list[str]:
        return [*super()._known(skills, ()), *self._then]


def _skills_told(about: Mapping[str, Any]) -> list[str]:
    """The skills that there were then."""
    return [name for block in about.get("known", ()) if block.startswith(SKILLS) for name in _SKILL.findall(block)]


@contextmanager
def _copied(workspace: Path, inputs: list[dict[str, Any]], skills: Sequence[str]) -> Iterator[Path]:
    """A workspace with copies of these files and skills, and of what is remembered. Raises WorkspaceError."""
    memory = Memory(workspace / HOME)
    memory.check_place()
    with tempfile.TemporaryDirectory(prefix="again-", dir=workspace / HOME) as name:
        place = Path(name)
        try:
            for entry in inputs:
                file = str(entry["path"]).partition(MARK)[0]
                (place / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(workspace / file, place / file)
            for name in skills:
                skill = workspace / FOLDER / name
                if skill.is_dir():
                    shutil.copytree(skill, place / FOLDER / name, symlinks=True)
            if (packages := workspace / HOME / "packages").is_dir():
                # Files that nobody changes need no second copy.
                shutil.copytree(packages, place / HOME / "packages", symlinks=True, copy_function=os.link)
            if memory.path.is_file():
                kept = Memory(place / HOME).path
                kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                shutil.copy2(memory.path, kept)
        except OSError as error:
            told = f"{error.filename}: the files of the run cannot be copied: {error.strerror}"
            raise WorkspaceError(told) from error
        yield place


def _files(run: RunRecord) -> dict[str, str]:
    return {artifact.path: artifact.sha256 for outcome in run.each_outcome() for artifact in outcome.artifacts}


def _statuses(run: RunRecord) -> dict[str, str]:
    return {ordinal_of(entry.id): entry.detail for entry in run.records.entries if entry.type == "end"}
