"""Writes derived files: named by what made them, published whole and never over another file, with lineage.

`<stem>_<tool>_<8 hex>.<ext>` in `results/` beside the first input. The eight digits come from the inputs' hashes, the
parameters and the tool's version: the same work gives the same name, and the file that is there is used again.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from outcrop_schemas import wire
from outcrop_schemas.errors import PathError
from outcrop_schemas.protocol import Artifact, ArtifactKind
from outcrop_specialists.reading.address import table_of
from outcrop_specialists.reading.fingerprints import fingerprint
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.lineage import WrittenColumn, record_of, record_path
from outcrop_specialists.tools.lineage import sha256_of as sha256_of

# With tool, part, hash and extension a name stays within the 255 bytes of a file system.
_STEM_BYTES = 120


class Maker(Protocol):
    """What made a file: a tool, as far as names and records need it."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...


@dataclass(frozen=True)
class Published:
    """A file in place. `reused` says that the same work had made it before."""

    path: Path
    artifact: Artifact
    reused: bool


def publish(
    context: ToolContext,
    tool: Maker,
    inputs: Sequence[Path],
    parameters: dict[str, Any],
    *,
    extension: str,
    kind: ArtifactKind,
    title: str,
    write: Callable[[Path], None],
    part: str = "",
    columns: Sequence[WrittenColumn] = (),
    folder: str = "",
) -> Published:
    """Let `write(temporary_path)` make a file and put it in place under its name, with a lineage record.

    `part` tells apart several files of one call; `folder` is one inside the results folder; `columns` are the types
    and units of a table's columns, so that it reads back as it was (`reading/written.py`).
    Raises PathError where the results folder, its records or the file's name lead elsewhere through a link.
    """
    sources = [_source(context, path) for path in inputs]
    known = [source["sha256"] + (f"#{source['table']}" if "table" in source else "") for source in sources]
    made_by = {"tool": tool.name, "version": tool.version, "parameters": parameters, "inputs": known}
    place = results_folder(context, inputs, folder)
    stem = _stem(inputs[0]) if inputs else "outcrop"
    name = f"{stem}_{tool.name}{'_' + part if part else ''}_{wire.digest(made_by)[:8]}.{extension}"
    target = place / name
    _refuse_links(target)
    while target.exists():
        if _is_intact(target):
            return _published(context, target, kind, title, reused=True)
        # Somebody changed or half-copied the file since: it is theirs now, ours goes beside it.
        target = target.with_name(f"{target.stem}+.{extension}")
        _refuse_links(target)
    record = record_path(target)
    record.parent.mkdir(exist_ok=True)
    temporary = place / f".{secrets.token_hex(8)}.{extension}"
    # With its mode from the start: a confined process changes none later.
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
    try:
        write(temporary)
        lineage = {
            "file": relative(context, target),
            "stem": stem,
            "sha256": sha256_of(temporary),
            "tool": tool.name,
            "version": tool.version,
            "parameters": parameters,
            "inputs": sources,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        if columns:
            lineage["columns"] = [asdict(column) for column in columns]
        reused = not _link(temporary, target)
        if not reused:
            _write_aside(record, wire.dumps(lineage))
    finally:
        temporary.unlink(missing_ok=True)
    return _published(context, target, kind, title, reused=reused)


def results_folder(context: ToolContext, inputs: Sequence[Path], inside: str = "") -> Path:
    """`results/` beside the first input, or its own folder when that is already a `results/`; made where missing.

    `inside` names a folder within it.
    """
    if not inputs:
        folder = context.results_dir
    else:
        beside = inputs[0].parent
        folder = beside if beside.name == "results" else beside / "results"
    folder = folder / inside
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PathError(folder, f"the results folder cannot be made: {error.strerror}") from error
    if not folder.resolve().is_relative_to(context.workspace):
        raise PathError(folder, "the results folder leads out of the workspace; remove the link and try again")
    return folder.resolve()


def _refuse_links(target: Path) -> None:
    """Nothing is read or written through a link that stands where a file or the folder of records belongs."""
    records = record_path(target).parent
    if records.is_symlink() or (records.exists() and not records.is_dir()):
        raise PathError(records, "the folder of lineage records is a link or a file; remove it and try again")
    if target.is_symlink():
        raise PathError(target, "a link stands where the result is to be written; remove it and try again")
    if record_path(target).is_symlink():
        raise PathError(record_path(target), "a link stands where the lineage record belongs; remove it and try again")


def _source(context: ToolContext, path: Path) -> dict[str, str]:
    """An input as it is recorded, with the name of the table in it where its file holds several."""
    found = {"path": relative(context, path), "sha256": fingerprint(context.workspace, path)}
    return {**found, "table": table_of(path)} if table_of(path) else found


def _stem(path: Path) -> str:
    """The stem of the user's own file: a chain of five tools must not make a name of five tools, nor one too long."""
    record = record_of(path)
    stem = str(record.get("stem", path.stem)) if record else path.stem
    if table_of(path):
        stem += "_" + (re.sub(r"[^\w.+-]+", "-", table_of(path)).strip("-") or "all")
    return stem.encode()[:_STEM_BYTES].decode("utf-8", "ignore")


def relative(context: ToolContext, path: Path) -> str:
    """The path as it is reported: relative to the workspace."""
    return path.resolve().relative_to(context.workspace).as_posix()


def _published(context: ToolContext, path: Path, kind: ArtifactKind, title: str, *, reused: bool) -> Published:
    return Published(path, Artifact(path=relative(context, path), kind=kind, title=title), reused)


def _is_intact(target: Path) -> bool:
    record = record_of(target)
    return record is not None and record.get("sha256") == sha256_of(target)


def _link(temporary: Path, target: Path) -> bool:
    """Publish without replacing: a link fails where a rename would silently overwrite."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        return False
    return True


def _write_aside(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("xb") as file:  # x: never through a link that waits there
        file.write(data)
    temporary.replace(path)
