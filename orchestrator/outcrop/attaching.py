"""Attached files: named before anything starts, read in a specialist process, kept by their content for a replay.

What is said of a file depends on the reader (`outcrop_specialists/context/attachments.py`): no row is for the lead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from outcrop.runs import RunFolder
from outcrop.workspace import Workspace
from outcrop_schemas.errors import PathError
from outcrop_schemas.outcome import Outcome
from outcrop_specialists.brief import ATTACH, ATTACHMENT
from outcrop_specialists.context.store import Store
from outcrop_specialists.guard.places import PRIVATE


@dataclass(frozen=True)
class Attached:
    """What was read: the texts as an agent sees them, and the handles by which the run's folder keeps them."""

    texts: tuple[str, ...] = ()
    handles: tuple[str, ...] = ()


class CallTool(Protocol):
    """Runs one tool in a process of its own; `reader` is whose window the answer is for."""

    def __call__(self, tool: str, arguments: Mapping[str, Any], reader: str) -> Awaitable[Outcome]: ...


class Screen(Protocol):
    """Takes out of texts what tells of rows of these tables, and of others of the workspace `but` some."""

    def __call__(self, texts: Sequence[str], tables: Sequence[str], but: Sequence[str]) -> Awaitable[list[str]]: ...


def to_attach(workspace: Workspace, paths: Sequence[str | Path]) -> tuple[str, ...]:
    """The files as they are named in briefs, each once. Raises PathError for one that cannot be attached."""
    found = dict.fromkeys(workspace.data(path) for path in paths)
    for path in found:
        if private := PRIVATE.intersection(Path(path).parts):
            raise PathError(path, f"is Outcrop's own ({', '.join(sorted(private))}) and is not attached")
    return tuple(found)


async def read_attachments(
    call: CallTool,
    folder: RunFolder,
    paths: Sequence[str],
    reader: str,
    *,
    is_lead: bool = False,
    tables: Sequence[str] = (),
    screen: Screen | None = None,
) -> Attached:
    """Have files read for one agent and keep what was read; for one that sees no rows, also none of `tables` that a
    text tells of, and what `screen` leaves of it. Raises SpillError where it cannot be kept."""
    if not paths:
        return Attached()
    asked = {"paths": list(paths), "reader": "lead" if is_lead else "specialist", "tables": list(tables)}
    outcome = await call(ATTACH, asked, reader)
    texts = outcome.results.get("texts")
    if not outcome.is_good or not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        # Reasons may quote what stands in the files.
        texts = [f"{ATTACHMENT}{path} could not be read ({outcome.status})" for path in paths]
    elif screen is not None:
        texts = await _screened(texts, tables, paths, screen)
    store = Store(folder.attached)
    return Attached(tuple(texts), tuple(store.put(text) for text in texts))


async def _screened(texts: Sequence[str], tables: Sequence[str], paths: Sequence[str], screen: Screen) -> list[str]:
    """The texts with the line above each as it is: it is ours. A text is not compared with its own lines, should its
    file pass for a table."""
    heads = [text.partition("\n") for text in texts]
    left = await screen([body for _, _, body in heads], tables, [path for path in paths if path not in tables])
    return [head + newline + body for (head, newline, _), body in zip(heads, left, strict=True)]


def attached_before(folder: RunFolder, handles: Sequence[str]) -> list[str]:
    """The texts that were kept. Raises ArgumentError for one that is gone, DataError for one that was changed."""
    store = Store(folder.attached)
    return [store.whole(handle) for handle in handles]
