"""What is told of a command: how it ended or that it goes on, and its output, bounded, with where all of it is."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from outcrop_schemas import limits
from outcrop_schemas.protocol import Artifact
from outcrop_specialists.reading.long_text import Cursor, TextForm, opened
from outcrop_specialists.reading.pages import fitting_part, go_to, json_chars, page_from
from outcrop_specialists.tools.base import Tool, ToolContext, ToolResult
from outcrop_specialists.tools.publish import publish
from outcrop_specialists.tools.scripts import running
from outcrop_specialists.tools.scripts.running import RunningScript

# What programs print is taken for UTF-8; what is none of it is shown all the same.
PRINTED = TextForm("utf-8", 0, "\n")
_COUNTED_BYTES = 1 << 20
CUT = "…"
# How a shell says that a signal ended what it ran.
_BY_SIGNAL = 128


def still_running(command: RunningScript, context: ToolContext, seconds: float) -> ToolResult:
    """What is said of a command that goes on: its handle, and its output so far."""
    running.DETACHED[command.handle] = command
    where = running.place_of(context, command.output)
    return ToolResult(
        f"The command still runs after {seconds:g} s and goes on; its output goes to {where}, check_script with "
        f"{command.handle!r} waits for it",
        {"state": "running", "handle": command.handle, **shown(command.output), "output_file": where},
        notes=["it ends with this piece of work at the latest"],
    )


def finished(command: RunningScript, context: ToolContext, tool: Tool) -> ToolResult:
    """How a command ended, what it said and the files it wrote: also of one that failed."""
    code = running.ended(command)
    notes = running.unconfined(command)
    results: dict[str, Any] = {"state": "finished", "handle": command.handle, **_status(code, notes)}
    output = shown(command.output)
    if "head" in output:
        output["output_file"] = running.place_of(context, command.output)
        notes.append(f"check_script with {command.handle!r} and start_line reads all of its output")
    artifacts: list[Artifact] = []
    if running.files_of(command):
        text = command.saved.read_text("utf-8")
        saved = publish(
            context,
            tool,
            command.inputs,
            {"command": text},
            extension="sh",
            kind="other",
            title="the command that was run",
            write=lambda path: _write(path, text),
            folder="scripts",
        )
        command.saved = saved.path
        artifacts, more = running.published_files(command, context, tool)
        artifacts, notes = [*artifacts, saved.artifact], notes + more
    how = f"signal {results['signal']}" if "signal" in results else f"exit code {code}"
    said = f"it said {output['output_lines']} lines" if output["output_bytes"] else "it said nothing"
    return ToolResult(f"The command ended with {how}; {said}", {**results, **output}, artifacts, notes)


def shown(path: Path) -> dict[str, Any]:
    """The output in a file: all of it where that is short, else its first and last lines."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(min(size, limits.COMMAND_LOG_BYTES))
        lines = _count(file, head, size)
        file.seek(max(0, size - limits.COMMAND_LOG_BYTES))
        tail = head if size <= len(head) else file.read(min(size, limits.COMMAND_LOG_BYTES))
    found: dict[str, Any] = {"output_lines": lines, "output_bytes": size}
    is_long = size > limits.COMMAND_LOG_BYTES or lines > limits.COMMAND_LOG_LINES
    text = head.decode("utf-8", "replace")
    if not is_long and lines <= limits.COMMAND_LINES and _is_short(text):
        return {**found, "output": text}
    wanted = limits.COMMAND_LOG_LINES_SHOWN if is_long else limits.COMMAND_LINES // 2
    first = _fitting(text.split("\n")[: min(wanted, lines)])
    ending = tail.decode("utf-8", "replace").removesuffix("\n").split("\n")
    # What does not begin with the file may begin amid a line.
    ending = ending if size <= len(head) else ending[1:] or ending
    # The end of what was said matters most: of a single giant line it is shown too.
    count = min(wanted, lines - len(first)) or int(lines == 1)
    last = _fitting(ending[len(ending) - count :], from_end=True)
    left_out = max(0, lines - len(first) - len(last))
    return {**found, "head": "\n".join(first), "left_out_lines": left_out, "tail": "\n".join(last)}


def page(path: Path, start_line: int, start_char: int, lines: int | None) -> dict[str, Any]:
    """A page of the output in a file. Raises ArgumentError for a place that it does not have."""
    with opened(path) as file:
        cursor = Cursor(file, PRINTED)
        go_to(cursor, start_line, start_char)
        found = page_from(cursor, lines, limits.COMMAND_CHARS).as_json()
        total, is_exact = cursor.count_lines(time.monotonic() + limits.READ_COUNT_SECONDS)
    return {"output_lines": total, **({} if is_exact else {"is_estimate": True}), **found}


def _status(code: int, notes: list[str]) -> dict[str, Any]:
    if code < 0:
        return {"signal": _name(-code)}
    if code > _BY_SIGNAL and _name(code - _BY_SIGNAL).startswith("SIG"):
        notes.append(f"exit code {code} mostly says that {_name(code - _BY_SIGNAL)} ended a program in it")
    return {"exit_code": code}


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _count(file: Any, head: bytes, size: int) -> int:
    """The lines of the first `size` bytes of a file of which `head` was read."""
    count, last, left = head.count(b"\n"), head[-1:], size - len(head)
    while left > 0 and (block := file.read(min(left, _COUNTED_BYTES))):
        count, last, left = count + block.count(b"\n"), block[-1:], left - len(block)
    return count + (last not in (b"", b"\n"))


def _is_short(text: str) -> bool:
    longest = max(map(len, text.split("\n")))
    return longest <= limits.COMMAND_LINE_CHARS and json_chars(text) <= limits.COMMAND_CHARS


def _fitting(lines: Sequence[str], *, from_end: bool = False) -> list[str]:
    """The first lines as far as they fit into half of what may be shown, or the last ones; of a long line its
    beginning, or its end."""
    found: list[str] = []
    room = limits.COMMAND_CHARS // 2
    for line in reversed(lines) if from_end else lines:
        text = _end_of(line) if from_end else _beginning_of(line)
        room -= json_chars(text) + len("\\n")
        if room < 0:
            break
        found.append(text)
    return found[::-1] if from_end else found


def _beginning_of(line: str) -> str:
    text = fitting_part(line[: limits.COMMAND_LINE_CHARS], limits.COMMAND_LINE_CHARS)
    return text if text == line else text + CUT


def _end_of(line: str) -> str:
    text = fitting_part(line[: -limits.COMMAND_LINE_CHARS - 1 : -1], limits.COMMAND_LINE_CHARS)[::-1]
    return text if text == line else CUT + text


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def shell() -> str:
    """The shell that commands are given to."""
    return next((path for path in ("/bin/bash", "/usr/bin/bash") if os.access(path, os.X_OK)), "/bin/sh")
