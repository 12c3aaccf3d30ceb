"""Run folders with a record that no run has to be made for: of any length, with any text in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from outcrop.journal import encode
from outcrop.recovery import RunRecord, open_run
from outcrop.runs import RunFolder
from outcrop_schemas.journal import RecordType

AT = "2026-01-01T00:00:00.000+00:00"


def outcome(number: int, status: str = "success", **fields: Any) -> dict[str, Any]:
    """The outcome of a dispatch as the journal has it."""
    return {
        "dispatch_id": f"d{number:04d}-0",
        "specialist": "analytics",
        "objective": f"piece {number}",
        "status": status,
        "errors": [],
        "started_at": AT,
        "duration_s": 2.0,
        **fields,
    }


def answer(run: str, **fields: Any) -> dict[str, Any]:
    """The outcome of a run as the journal has it."""
    told = {"run_id": run, "objective": "o", "status": "success", "model": "offline", "started_at": AT}
    return {"kind": "answer", "outcome": {**told, "duration_s": 20.0, "run_folder": "", **fields}}


def said(number: int, message: str, status: str = "success", **fields: Any) -> dict[str, Any]:
    """A turn of a chat as the journal has it."""
    told = {"number": number, "message": message, "status": status, "answer": "an answer", "started_at": AT}
    return {"kind": "chat_answer", "answered": {**told, "duration_s": 1.0, **fields}}


def made(
    workspace: Path,
    outcomes: Iterable[Mapping[str, Any]] = (),
    *,
    events: Iterable[Mapping[str, Any]] = (),
    pending: int = 0,
    name: str = "20260101-000000-000000-aaaa",
    **about: Any,
) -> RunFolder:
    """A run of these dispatches, one a second, then these events; `pending` dispatches have no end."""
    folder = RunFolder(workspace / ".outcrop" / "runs" / name)
    for each in (folder.path, folder.exchanges):
        each.mkdir(parents=True)
    lines: list[bytes] = []

    def write(kind: RecordType, record: str, body: Mapping[str, Any], second: int = 0) -> None:
        at = f"2026-01-01T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.000+00:00"
        lines.append(encode(kind, len(lines), record, at, dict(body)))

    write("run", name, {"kind": "run", "objective": "o", "at": AT, **about})
    second = 0
    for second, each in enumerate(outcomes, 1):
        start = {"specialist": each["specialist"], "objective": each["objective"], "data": each.get("data", [])}
        write("start", each["dispatch_id"], start, second)
        write("end", each["dispatch_id"], each, second + 2)
    for number in range(pending):
        write("start", f"d9{number:03d}-0", {"specialist": "plotting", "objective": f"pending {number}"}, second)
    for event in events:
        write("event", name, event, second)
    folder.journal.write_bytes(b"".join(lines))
    return folder


def record(workspace: Path, *args: Any, **options: Any) -> RunRecord:
    """The same, opened."""
    return open_run(made(workspace, *args, **options))
