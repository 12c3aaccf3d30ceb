"""A script or a command at work: started confined, waited for, and what a script gave when it has ended.

What a command gave is told in `commands.py`.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import DataError
from outcrop_schemas.protocol import Artifact, ArtifactKind
from outcrop_specialists.guard.script import Script, end_script, has_exited, start_script
from outcrop_specialists.packages import PACKAGES, package_folders, python
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult
from outcrop_specialists.tools.publish import publish, relative

BEGIN, END = "===RESULT===", "===END_RESULT==="
_ANSWER = re.compile(rf"^{BEGIN}\s*$(.*?)^{END}\s*$", re.MULTILINE | re.DOTALL)
_GRACE_SECONDS = 1.0
# A script may print without end; its answer stands at the end of what it prints.
_OUTPUT_READ_BYTES = 1 << 20
_ERROR_LINES = 6
_KINDS: dict[str, ArtifactKind] = {
    ".csv": "table", ".tsv": "table", ".parquet": "table", ".xlsx": "table", ".png": "plot", ".svg": "plot",
    ".pdf": "plot", ".md": "report", ".html": "report",
}  # fmt: skip


@dataclass
class RunningScript:
    """A script or a command that was started, with what is needed to make a result of it.

    A command has one file for all that it says, `output` and `errors` alike, so that it stands there as it came.
    """

    handle: str
    process: Script
    saved: Path
    inputs: list[Path]
    folder: Path
    output: Path
    errors: Path

    @property
    def is_command(self) -> bool:
        return self.output == self.errors

    def wait(self, seconds: float) -> bool:
        """Whether it has ended within the time."""
        return has_exited(self.process, seconds)

    def stop(self) -> None:
        """End it with all that it started."""
        end_script(self.process, _GRACE_SECONDS)


# Those that were left running; they end with their specialist at the latest.
DETACHED: dict[str, RunningScript] = {}
# Where those that ended last said what they said, to be read on.
ENDED: dict[str, Path] = {}
_ENDED_KEPT = 100


def start(
    context: ToolContext,
    saved: Path,
    inputs: Sequence[Path],
    program: Sequence[str] | None = None,
    kind: str = "script",
    one_output: bool = False,
    linked: bool = False,
) -> RunningScript:
    """Start a saved script in a folder of its own, with its inputs as arguments, and `linked` also under their names
    in its folder. Raises DataError."""
    handle = f"{kind}-{secrets.token_hex(4)}"
    folder = context.scratch / handle / "files"
    folder.mkdir(parents=True)
    for name, path in {path.name: path for path in inputs}.items() if linked else ():
        (folder / name).symlink_to(path)
    output = folder.parent / ("output.txt" if one_output else "stdout.log")
    errors = output if one_output else folder.parent / "stderr.log"
    folders = package_folders()
    packages = {PACKAGES: os.pathsep.join(folders)} if folders else {}
    # Appended, so that what comes by two ways into one file stands there in the order it came.
    with output.open("ab") as out, errors.open("ab") as err:
        try:
            process = start_script(
                [*(program or python()), str(saved), *map(str, inputs)],
                readable=[str(saved), *map(str, inputs), *folders],
                writable=[],
                folder=folder,
                environment={"PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg", **packages},
                stdout=out.fileno(),
                stderr=err.fileno(),
            )
        except OSError as error:
            raise DataError(f"the {kind} could not be started: {error.strerror or error}") from error
    return RunningScript(handle, process, saved, list(inputs), folder, output, errors)


def ended(running: RunningScript) -> int:
    """End all that it left behind; its exit code, below 0 the signal that ended it."""
    running.stop()
    DETACHED.pop(running.handle, None)
    ENDED[running.handle] = running.output
    while len(ENDED) > _ENDED_KEPT:
        del ENDED[next(iter(ENDED))]
    return int(running.process.returncode)


def detached(running: RunningScript, context: ToolContext, seconds: float) -> ToolResult:
    """What is said of a script that goes on: its handle, and where its output is."""
    DETACHED[running.handle] = running
    log = place_of(context, running.output)
    return ToolResult(
        f"The script still runs after {seconds:g} s and goes on; check_script with {running.handle!r} waits for it",
        {"state": "running", "handle": running.handle, "output": log},
        notes=["it ends with this piece of work at the latest"],
    )


def finished(running: RunningScript, context: ToolContext, tool: Tool) -> ToolResult:
    """The answer and the files of a script that has ended. Raises DataError where it failed."""
    code = ended(running)
    printed, logged = _tail(running.output), _tail(running.errors)
    where = place_of(context, running.output.parent)
    if code:
        how = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
        said = " | ".join(line.strip() for line in logged.strip().splitlines()[-_ERROR_LINES:])
        raise DataError(f"the script failed ({how}): {said or 'it said nothing on stderr'}; its output is in {where}")
    found = _ANSWER.findall(printed)
    if not found and END in printed and running.output.stat().st_size > _OUTPUT_READ_BYTES:
        raise DataError(
            f"the script's answer is too long: of its output of {running.output.stat().st_size:,} bytes only the last "
            f"{_OUTPUT_READ_BYTES:,} are read, and {BEGIN} stands before them; print less and write the rest to a "
            f"file; its output is in {where}"
        )
    if not found:
        raise DataError(
            f"the script printed no answer between {BEGIN} and {END}, each on a line of its own; "
            f"its output is in {where}"
        )
    answer, notes = _answer(found[-1].strip(), running, context)
    if len(found) > 1:
        notes.append(f"{len(found)} answers were printed; the last one counts")
    artifacts, more = published_files(running, context, tool)
    notes += unconfined(running)
    results = {"state": "finished", "answer": answer, "script": relative(context, running.saved)}
    told = f"The script ended and wrote {len(artifacts)} files" if artifacts else "The script ended"
    return ToolResult(told, results, artifacts, notes + more)


def _answer(text: str, running: RunningScript, context: ToolContext) -> tuple[Any, list[str]]:
    """The answer as JSON where it is that, bounded; the whole of a long one is in a file."""
    try:
        value: Any = wire.loads(text)
    except ValueError:
        value = text
    if len(text) <= limits.SCRIPT_ANSWER_CHARS:
        return value, []
    path = running.folder.parent / "answer.txt"
    path.write_text(text, "utf-8")
    note = f"the answer has {len(text)} characters; all of it is in {place_of(context, path)}"
    return text[: limits.SCRIPT_ANSWER_CHARS], [note]


def files_of(running: RunningScript) -> list[Path]:
    """The files that it left in its folder, links and hidden ones aside."""
    files = sorted(path for path in running.folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in files if not any(part.startswith(".") for part in path.relative_to(running.folder).parts)]


def unconfined(running: RunningScript) -> list[str]:
    """A note where the kernel did not take a layer of its confinement."""
    missing = [name for name, said in running.process.layers.items() if said != "ok"]
    return [f"it was not confined by: {', '.join(missing)}"] if missing else []


def published_files(running: RunningScript, context: ToolContext, tool: Tool) -> tuple[list[Artifact], list[str]]:
    """Put the files that it left in its folder into `results/`, with lineage."""
    artifacts, notes = [], []
    # What a script makes may come of them, so they stand in the lineage of its files, with their versions.
    names = [Path(folder).name for folder in package_folders()]
    packages = {"packages": names} if names else {}
    files = files_of(running)
    for path in files[: limits.SCRIPT_FILES]:
        published = publish(
            context,
            tool,
            [*running.inputs, running.saved],
            {"file": path.relative_to(running.folder).as_posix(), **packages},
            extension=path.suffix.lstrip(".") or "txt",
            kind=_KINDS.get(path.suffix.lower(), "other"),
            title=f"{path.name}, written by {running.saved.name}",
            write=lambda target, source=path: _copy(source, target),  # type: ignore[misc]
            part=re.sub(r"[^\w-]+", "-", path.stem)[:40],
        )
        artifacts.append(published.artifact)
    if len(files) > limits.SCRIPT_FILES:
        notes.append(f"{len(files) - limits.SCRIPT_FILES} more files stay in {place_of(context, running.folder)}")
    return artifacts, notes


def place_of(context: ToolContext, path: Path) -> str:
    """A path in the scratch folder as it is told: relative to the workspace, where it lies in it as a rule."""
    return relative(context, path) if path.resolve().is_relative_to(context.workspace) else str(path)


def _copy(source: Path, target: Path) -> None:
    import shutil

    # The script may have put a link there after we looked; only a regular file of its own is taken.
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as opened, target.open("wb") as out:
        shutil.copyfileobj(opened, out)


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _OUTPUT_READ_BYTES))
        return file.read().decode("utf-8", "replace")
