"""What stays of a tool's result once it is stale: the fields by which the work goes on, each as `path = value`.

First the files it wrote with their rows and columns, then the fields that mean the same in every tool (paths, counts of
rows, columns, the statistic and the rule of its computation), then those that the tool names (`Tool.projection`), then
what else stands at the top of its results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from outcrop_schemas import wire
from outcrop_specialists.context.records import label, lines_of

SUMMARY_CHARS, VALUE_CHARS, ARTIFACTS_SHOWN = 300, 160, 20
_OURS = ("summary", "results", "artifacts", "status")
_OF_A_FILE = ("path", "rows", "columns")
_NAME = re.compile(r"[^.\[\]]+(?=\.|\[|$)")
_ALWAYS = re.compile(
    r"(?:\w+_)?(?:paths?|files?|rows?|columns?|counts?|statistics?|rules?|method|units?|column_count|n)"
    r"|rows_\w+|(?:total|removed|added|dropped|kept)(?:_\w+)?|status|dispatch_id|errors?"
)


def projected(content: str, names: Sequence[str] = ()) -> list[str] | None:
    """The fields that stay of a result, those that matter most first; None where it is no result of our own."""
    try:
        value = wire.loads(content)
    except ValueError:
        return None
    if not isinstance(value, dict) or not any(name in value for name in _OURS):
        return None
    found = {line: None for line in artifacts_of(value)}
    if isinstance(summary := value.get("summary"), str):
        found[f"summary = {' '.join(summary.split())[:SUMMARY_CHARS]}"] = None
    rest = {key: child for key, child in value.items() if key not in ("artifacts", "summary")}
    # What stands nearer to the top is about more of the result.
    fields = dict(sorted(_fields(rest), key=lambda field: _depth(field[0])))
    top = [path for path in fields if _depth(path) <= 1 and path != "notes"]
    common = [path for path in top if _ALWAYS.fullmatch(_NAME.findall(path)[-1])]
    named = [path for path in fields if not set(names).isdisjoint(_NAME.findall(path))]
    lines = [f"{path} = {_told(fields[path])}" for path in dict.fromkeys(common)]
    others = [f"{path} = {_told(fields[path])}" for path in top if path not in {*common, *named}]
    return [*found, *lines, *_as_records({path: fields[path] for path in named if path not in common}), *others]


def _as_records(fields: Mapping[str, Any]) -> Iterator[str]:
    """Fields as lines, those of one record with its labels."""
    by_record: dict[str, dict[str, Any]] = {}
    for path, value in fields.items():
        name = _NAME.findall(path)[-1]
        record = path[: len(path) - len(name) - 1] if path.endswith(f".{name}") else ""
        by_record.setdefault(record, {})[path[len(record) :].lstrip(".")] = value
    for record, values in by_record.items():
        labels = {key: text for key, value in values.items() if record and (text := label(key, value))}
        told = {key: labels.get(key) or _told(value) for key, value in values.items()}
        lines = lines_of(record, told, labels) if record else []
        yield from lines or [f"{record}.{key} = {value}".lstrip(".") for key, value in told.items()]


def files_in(content: str) -> list[str]:
    """The paths of the files that a result says were written."""
    try:
        value = wire.loads(content)
    except ValueError:
        return []
    records = _artifacts(value) if isinstance(value, dict) else []
    return [record["path"] for record in records if isinstance(record.get("path"), str)]


def artifacts_of(value: dict[str, Any]) -> list[str]:
    """Path, rows and columns of each file that a result names."""
    return [
        f"artifacts[{number}].{name} = {_told(record[name])}"
        for number, record in enumerate(_artifacts(value)[:ARTIFACTS_SHOWN])
        for name in _OF_A_FILE
        if record.get(name) is not None
    ]


def _artifacts(value: dict[str, Any]) -> list[dict[str, Any]]:
    listed = value.get("artifacts")
    return [record for record in listed if isinstance(record, dict)] if isinstance(listed, list) else []


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field with a scalar or a list of scalars."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _fields(child, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(child, list) for child in value):
        yield path, f"{len(value)} rows"
    elif isinstance(value, list) and any(isinstance(child, dict) for child in value):
        for number, child in enumerate(value):
            yield from _fields(child, f"{path}[{number}]")
    elif value is not None and value != []:
        yield path, value


def _depth(path: str) -> int:
    return path.count(".") + path.count("[")


def _told(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())[:VALUE_CHARS]
    text = wire.dumps(value).decode()
    if len(text) <= VALUE_CHARS or not isinstance(value, list):
        return text
    return f"{len(value)} entries: {text[:VALUE_CHARS].rpartition(',')[0]}, …"
