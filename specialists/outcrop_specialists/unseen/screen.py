"""Takes out of texts whatever tells of a row: lines that look like rows, and statements that hold cells of one row.

The number of statements that were taken out stands in their place.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from outcrop_schemas import limits
from outcrop_schemas.errors import DataError, PathError, WorkspaceError
from outcrop_specialists.paths import resolve_inside
from outcrop_specialists.reading.address import MARK
from outcrop_specialists.reading.row_lines import NOTE, with_plain_breaks, without_row_lines
from outcrop_specialists.reading.several import SeveralTablesError
from outcrop_specialists.reading.tables import read_table
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.inspection.list_files import entries_of
from outcrop_specialists.tools.lineage import record_of
from outcrop_specialists.unseen.allowed import Allowed
from outcrop_specialists.unseen.echo import told
from outcrop_specialists.unseen.inner import inner_tables
from outcrop_specialists.unseen.letters import plain
from outcrop_specialists.unseen.origins import is_of_columns
from outcrop_specialists.unseen.spoken import spoken

if TYPE_CHECKING:
    import polars as pl

WITHHELD = "withheld: it tells of rows of the data"
_BETWEEN = re.compile(r"((?<=[.!?;])\s+|\n+)")


@dataclass
class Tables:
    """The tables that texts are compared with; `unread` are those that could not be read or were too many.

    A table of few rows that a tool made of others (it has a lineage record) is a result, and is told of like one; so is
    one of which each row is of a whole column.
    """

    frames: list[pl.DataFrame] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, context: ToolContext, paths: Sequence[str]) -> Tables:
        found = cls()
        for path in dict.fromkeys(paths):
            try:
                found._add(context, path)
            except (DataError, PathError, WorkspaceError):
                found.unread.append(path)
        return found

    def add_others(self, context: ToolContext, but: Sequence[str] = ()) -> None:
        """Add what else of tables there is in the workspace, as far as there is room: a specialist may read any."""
        self._known.update(but)
        left = limits.SCREEN_OTHER_BYTES
        for entry in sorted(entries_of(context.workspace, context.workspace, []), key=lambda each: str(each["path"])):
            if entry["kind"] != "table" or entry["path"] in self._known or entry["bytes"] > left:
                continue
            left -= entry["bytes"]
            with contextlib.suppress(DataError, PathError, WorkspaceError):
                self._add(context, entry["path"])

    def _add(self, context: ToolContext, path: str) -> None:
        self._known.add(path)
        record = record_of(resolve_inside(context.workspace, path.partition(MARK)[0]))
        if record is not None and is_of_columns(record):
            return
        for frame in _frames(context, path):
            if record is not None and frame.height <= limits.PREVIEW_ROWS:
                continue
            if len(self.frames) >= limits.SCREEN_TABLES:
                raise DataError("too many tables")
            self.frames += [frame, *islice(inner_tables(frame), limits.SCREEN_TABLES)]


def _frames(context: ToolContext, path: str) -> Iterator[pl.DataFrame]:
    try:
        yield read_table(context, path).frame
    except SeveralTablesError as error:
        for listed in error.tables:
            if not listed.problem:
                yield read_table(context, f"{path}#{listed.name}").frame


def screened(
    texts: Sequence[str], tables: Tables, before: Sequence[str] = (), allowed: Allowed | None = None
) -> list[str]:
    """The texts without what tells of a row, and with `allowed` of figures only those. Where a table could not be read,
    nothing of them is let through."""
    if tables.unread:
        return [f"[{WITHHELD}, or may: {', '.join(tables.unread[:3])} could not be read]" if t else "" for t in texts]
    texts = [plain(text) for text in texts] if allowed else texts
    # One line that is full of figures is a summary as often as a row; of several the table is plain to see.
    parts = [_BETWEEN.split(without_row_lines(text) if "\n" in text.strip() else text) for text in texts]
    if allowed:
        # What is compared is what would be shown.
        parts = [_allowed(split, text, allowed) for split, text in zip(parts, texts, strict=True)]
    places = [(t, p) for t, split in enumerate(parts) for p in range(0, len(split), 2) if split[p].strip()]
    figures = allowed.passed if allowed else frozenset[float]()
    said = [spoken(parts[t][p], figures) for t, p in places]
    earlier = [spoken(text) for text in before]
    taken: set[int] = set()
    for frame in tables.frames:
        taken |= told(frame, said, earlier, figures)
    gone = {places[number] for number in taken}
    return [_joined(split, {p for t, p in gone if t == number}) for number, split in enumerate(parts)]


def _allowed(split: Sequence[str], text: str, allowed: Allowed) -> list[str]:
    """The statements of a text with what is on the white list. A note on rows that were taken out is ours, and not one
    that stood in the text."""
    ours = {part for part in split if NOTE.fullmatch(part)}.difference(_BETWEEN.split(with_plain_breaks(text)))
    found = list(split)
    entry = 0
    for place in range(0, len(split), 2):
        if split[place] not in ours:
            is_line = place == 0 or "\n" in split[place - 1]
            found[place], number = allowed.shown(split[place], "".join(split[:place]), entry if is_line else -1)
            entry = number if is_line else entry
    return found


def _joined(split: Sequence[str], gone: set[int]) -> str:
    if not gone:
        return "".join(split)
    kept = "".join(
        split[p] + (split[p + 1] if p + 1 < len(split) else "") for p in range(0, len(split), 2) if p not in gone
    )
    count = "1 statement" if len(gone) == 1 else f"{len(gone)} statements"
    return f"{kept.rstrip()} [{count} {WITHHELD}]".lstrip()


def screened_value(value: Any, tables: Tables, before: Sequence[str] = ()) -> Any:
    """JSON of which no text and no figure tells of a row. Names of fields are ours, and are not looked at."""
    leaves: list[str] = []
    _collect(value, leaves)
    shown = iter(zip(leaves, screened(leaves, tables, before), strict=True))
    return _rebuilt(value, shown)


def texts_in(value: Any) -> list[str]:
    """The texts of an answer, one by one."""
    leaves: list[str] = []
    _collect(value, leaves)
    return [each for each in leaves if any(map(str.isalpha, each))]


def _collect(value: Any, leaves: list[str]) -> None:
    if isinstance(value, Mapping):
        for child in value.values():
            _collect(child, leaves)
    elif isinstance(value, list | tuple):
        for child in value:
            _collect(child, leaves)
    elif value is not None and not isinstance(value, bool):
        leaves.append(str(value))


def _rebuilt(value: Any, shown: Iterator[tuple[str, str]]) -> Any:
    if isinstance(value, Mapping):
        return {key: _rebuilt(child, shown) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_rebuilt(child, shown) for child in value]
    if value is None or isinstance(value, bool):
        return value
    was, now = next(shown)
    return value if was == now else now
