"""The one rule for answers on wide tables: at most so many characters, what matters first, all of it in a file.

A small table is told whole, as its tool tells it. Of a table of more columns than that (qualifier columns aside) the
answer as compact JSON is kept within `limits.ANSWER_CHARS`: lists and mappings lose their last entries, sentences
their ends, and `not_shown` counts what was left out, by field. The whole answer is a report beside the results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import WorkspaceError
from outcrop_schemas.protocol import Artifact
from outcrop_specialists.reading.report import kind_of
from outcrop_specialists.reading.tables import TableRead
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult
from outcrop_specialists.tools.inspection.preview import cut
from outcrop_specialists.tools.publish import publish

SUMMARY_CHARS, TITLE_CHARS = (90, 220), 50
"""The summary repeats figures: it is the shorter the more room they need."""
FIGURES_CHARS = 700
NOTES_SHARE = 0.25
"""So much of the room notes get where the results could fill it."""
NOTES_TOLD = 4
NOTE_CHARS = 90
TEXT_CHARS = 80
"""Texts of results are cut from here on."""
COUNTS_CHARS = 70
"""Room for `not_shown`; where it takes more the rest is fitted once more."""
COUNTS_TOLD, ROUNDS = 6, 4
NUMBERS_TOGETHER, SCALARS_TOGETHER = 20, 4
"""A record of so many numbers, a list of so many scalars (a maximum and its place) stays whole."""
PATHS = ("path", "file")
LEAST_ROOM = 60


def shortened(
    tool: Tool, context: ToolContext, arguments: ToolArguments, result: ToolResult, read: Sequence[TableRead]
) -> ToolResult:
    """The result as it is told: as it is where the tables read are small or the answer is short."""
    is_wide = any(table.width > limits.SMALL_TABLE_COLUMNS for table in read)
    if not is_wide or tool.told_whole or _chars(result.as_json()) <= limits.ANSWER_CHARS:
        return result
    files = [*result.artifacts, *_published(tool, context, arguments, result, read)]
    artifacts = [file.model_copy(update={"title": cut(file.title, TITLE_CHARS)}) for file in files]
    bare = replace(result, summary="", results={}, notes=[], artifacts=artifacts)
    room = limits.ANSWER_CHARS - _chars(bare.as_json()) - COUNTS_CHARS
    least, most = SUMMARY_CHARS
    summary = cut(result.summary, min(most, max(least, room - min(FIGURES_CHARS, _chars(result.results)))))
    bare, room = replace(bare, summary=summary), room - _chars(summary)
    over = 0
    for_results = max(room - _chars(result.notes), int(room * (1 - NOTES_SHARE)))
    for attempt in range(ROUNDS):
        lost: Counter[str] = Counter()
        results = _struct(result.results, for_results, "", lost)
        if attempt == ROUNDS - 1:
            results = _emptied(results, result.results, over, lost)
        over = _over(replace(bare, results=results), lost, len(result.notes))
        if over <= 0:
            break
        for_results -= over
    notes = _sentences(result.notes, -over - len(',"notes":[]'))
    lost["notes"] = len(result.notes) - len(notes)
    lost["ends of notes"] = sum(note not in result.notes for note in notes)
    return replace(bare, results={**results, "not_shown": _counts(lost)}, notes=notes)


def _over(bare: ToolResult, lost: Counter[str], notes: int) -> int:
    """By how much the answer is too long without its notes; they are counted as if none could be told."""
    counts = _counts(lost + Counter({"notes": notes, "ends of notes": notes}))
    return _chars(replace(bare, results={**bare.results, "not_shown": counts}).as_json()) - limits.ANSWER_CHARS


def _emptied(results: dict[str, Any], whole: dict[str, Any], over: int, lost: Counter[str]) -> dict[str, Any]:
    """As the last resort, the longest fields with nothing in them."""
    found = dict(results)
    for key in sorted(found, key=lambda key: -_chars(found[key])):
        if over <= 0 or not isinstance(found[key], list | dict):
            continue
        for within in [what for what in lost if what == key or what.startswith(f"{key}.")]:
            del lost[within]
        lost[key] = len(whole[key])
        over -= _chars(found[key]) - 2 - len(f',"{key}":{lost[key]}')
        found[key] = type(found[key])()
    return found


def _counts(lost: Counter[str]) -> dict[str, int]:
    """What was left out by field; of many fields those with most, the others together."""
    first = dict(lost.most_common(COUNTS_TOLD))
    others = sum(lost.values()) - sum(first.values())
    return {what: count for what, count in {**first, "in other fields": others}.items() if count}


def _published(
    tool: Tool, context: ToolContext, arguments: ToolArguments, result: ToolResult, read: Sequence[TableRead]
) -> list[Artifact]:
    """The whole answer as a file; none where nothing can be written (a folder for reading only is looked at too)."""
    given = arguments.model_dump(mode="json")
    whole = wire.dumps(result.as_json())
    try:
        published = publish(
            context,
            tool,
            list(dict.fromkeys(table.path for table in read)),
            {name: value for name, value in given.items() if not name.endswith("path")},
            extension="json",
            kind="report",
            title="the whole answer",
            write=lambda path: _write(path, whole),
            part="answer",
        )
    except (WorkspaceError, OSError):
        return []
    return [published.artifact]


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _sentences(notes: Sequence[str], room: int) -> list[str]:
    """The first sentences, what is suspicious before what was only found; long ones without their ends."""
    order = {"suspicious": 0, "repaired": 1, "found": 2}
    ranked = sorted(notes, key=lambda note: order[kind_of(note)])
    most = max(NOTE_CHARS, room // max(1, min(len(notes), NOTES_TOLD)) - 4)
    told: list[str] = []
    for note in ranked:
        short = cut(note, most)
        room -= _chars(short) + 1
        if room < 0:
            break
        told.append(short)
    return told


def _fitting(value: Any, room: int, where: str, lost: Counter[str]) -> Any:
    """The value in so many characters of JSON, or as few as can be had."""
    if _chars(value) <= room:
        return value
    if isinstance(value, str):
        return cut(value, max(TEXT_CHARS, room - 2))
    if isinstance(value, list):
        kept = _first([("", item) for item in value], room, where, lost)
        return [item for _, item in kept]
    if isinstance(value, dict):
        if _is_mapping(value):
            return dict(_first(list(value.items()), room, where, lost))
        return _struct(value, room, where, lost)
    return value


def _first(entries: list[tuple[str, Any]], room: int, where: str, lost: Counter[str]) -> list[tuple[str, Any]]:
    """The first entries that fit; of the very first one what fits of it."""
    kept: list[tuple[str, Any]] = []
    left = room - 2
    for key, item in entries:
        size = _chars(item) + (_chars(key) + 1 if key else 0) + 1
        if size > left:
            # A row of cells stays a row: it is shown whole or not at all.
            if not kept and left >= LEAST_ROOM and not isinstance(item, list):
                within = f"{where}.{key or 0}" if where else key
                kept.append((key, _fitting(item, left - (size - _chars(item)), within, lost)))
            break
        kept.append((key, item))
        left -= size
    if len(kept) < len(entries):
        lost[where] += len(entries) - len(kept)
    return kept


def _struct(record: dict[str, Any], room: int, where: str, lost: Counter[str]) -> dict[str, Any]:
    """A record with all its keys: what is short stays, the others share the room that is left, the shortest first."""
    long = {key: _chars(value) for key, value in record.items() if _can_shrink(key, value)}
    left = room - _chars({key: 0 if key in long else value for key, value in record.items()}) + len(long)
    found = dict(record)
    for number, key in enumerate(sorted(long, key=lambda key: long[key])):
        share = left // (len(long) - number)
        found[key] = _fitting(record[key], share, f"{where}.{key}" if where else key, lost)
        left -= _chars(found[key])
    return found


def _can_shrink(key: str, value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > TEXT_CHARS and not key.endswith(PATHS)
    if isinstance(value, list):
        return len(value) > SCALARS_TOGETHER or any(isinstance(item, list | dict) for item in value)
    return isinstance(value, dict) and bool(value)


def _is_mapping(value: dict[str, Any]) -> bool:
    """Whether a dictionary's keys are names in the data, entries of a list rather than fields of a record."""
    items = list(value.values())
    if all(isinstance(item, dict) for item in items) or all(isinstance(item, list) for item in items):
        return True
    return len(items) > NUMBERS_TOGETHER and len({isinstance(item, list | dict | str) for item in items}) == 1


def _chars(value: Any) -> int:
    return len(wire.dumps(value).decode())
