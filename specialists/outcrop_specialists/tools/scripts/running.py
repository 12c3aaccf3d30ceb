"""A script at work: started confined, waited for, its answer and its files gathered when it has ended."""

from __future__ import annotations

import os
import re
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import DataError
from outcrop_schemas.protocol import ArtifactKind
from outcrop_specialists.guard.script import Script, end_script, has_exited, start_script
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
    """A script that was started, with what is needed to make a result of it."""

    handle: str
    process: Script
    saved: Path
    inputs: list[Path]
    folder: Path
    output: Path
    errors: Path

    def wait(self, seconds: float) -> bool:
        """Whether it has ended within the time."""
        return has_exited(self.process, seconds)

    def stop(self) -> None:
        """End it with all that it started."""
        end_script(self.process, _GRACE_SECONDS)


# Those that were left running; they end with their specialist at the latest.
DETACHED: dict[str, RunningScript] = {}


def start(context: ToolContext, saved: Path, inputs: Sequence[Path], handle: str | None = None) -> RunningScript:
    """Start a saved script in a folder of its own, with its inputs as arguments. Raises DataError."""
    handle = handle or f"script-{secrets.token_hex(4)}"
    folder = context.scratch / handle / "files"
    folder.mkdir(parents=True)
    output, errors = folder.parent / "stdout.log", folder.parent / "stderr.log"
    with output.open("wb") as out, errors.open("wb") as err:
        try:
            process = start_script(
                [sys.executable, "-P", str(saved), *map(str, inputs)],
                readable=[str(saved), *map(str, inputs)],
                writable=[],
                folder=folder,
                environment={"PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"},
                stdout=out.fileno(),
                stderr=err.fileno(),
            )
        except OSError as error:
            raise DataError(f"the script could not be started: {error.strerror or error}") from error
    return RunningScript(handle, process, saved, list(inputs), folder, output, errors)


def detached(running: RunningScript, context: ToolContext, seconds: float) -> ToolResult:
    """What is said of a script that goes on: its handle, and where its output is."""
    DETACHED[running.handle] = running
    log = _place(context, running.output)
    return ToolResult(
        f"The script still runs after {seconds:g} s and goes on; check_script with {running.handle!r} waits for it",
        {"state": "running", "handle": running.handle, "output": log},
        notes=["it ends with this piece of work at the latest"],
    )


def finished(running: RunningScript, context: ToolContext, tool: Tool) -> ToolResult:
    """The answer and the files of a script that has ended. Raises DataError where it failed."""
    running.stop()
    DETACHED.pop(running.handle, None)
    code = running.process.returncode
    printed, logged = _tail(running.output), _tail(running.errors)
    where = _place(context, running.output.parent)
    if code:
        how = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
        said = " | ".join(line.strip() for line in logged.strip().splitlines()[-_ERROR_LINES:])
        raise DataError(f"the script failed ({how}): {said or 'it said nothing on stderr'}; its output is in {where}")
    found = _ANSWER.findall(printed)
    if not found:
        raise DataError(
            f"the script printed no answer between {BEGIN} and {END}, each on a line of its own; "
            f"its output is in {where}"
        )
    answer, notes = _answer(found[-1].strip(), running, context)
    if len(found) > 1:
        notes.append(f"{len(found)} answers were printed; the last one counts")
    artifacts, more = _published(running, context, tool)
    missing = [name for name, said in running.process.layers.items() if said != "ok"]
    if missing:
        notes.append(f"the script was not confined by: {', '.join(missing)}")
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
    note = f"the answer has {len(text)} characters; all of it is in {_place(context, path)}"
    return text[: limits.SCRIPT_ANSWER_CHARS], [note]


def _published(running: RunningScript, context: ToolContext, tool: Tool) -> tuple[list[Any], list[str]]:
    """Put the files that the script left in its folder into `results/`, with lineage."""
    artifacts, notes = [], []
    files = sorted(path for path in running.folder.rglob("*") if path.is_file() and not path.is_symlink())
    files = [path for path in files if not any(part.startswith(".") for part in path.relative_to(running.folder).parts)]
    for path in files[: limits.SCRIPT_FILES]:
        published = publish(
            context,
            tool,
            [*running.inputs, running.saved],
            {"file": path.relative_to(running.folder).as_posix()},
            extension=path.suffix.lstrip(".") or "txt",
            kind=_KINDS.get(path.suffix.lower(), "other"),
            title=f"{path.name}, written by {running.saved.name}",
            write=lambda target, source=path: _copy(source, target),  # type: ignore[misc]
            part=re.sub(r"[^\w-]+", "-", path.stem)[:40],
        )
        artifacts.append(published.artifact)
    if len(files) > limits.SCRIPT_FILES:
        notes.append(f"{len(files) - limits.SCRIPT_FILES} more files stay in {_place(context, running.folder)}")
    return artifacts, notes


def _place(context: ToolContext, path: Path) -> str:
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
