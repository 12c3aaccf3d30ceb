"""Where each file of a run comes from: input, tool, file, and the figures of the answer that were computed from it.

Read from the lineage records beside the files; laid out in columns, what was made right of what it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from outcrop.artifacts import MISSING
from outcrop.report.answer import ClaimFact
from outcrop.report.previews import Files
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import PathError
from outcrop_specialists.reading.address import MARK
from outcrop_specialists.tools.lineage import record_path

Kind = Literal["input", "tool", "file", "missing", "figures", "refuted figures"]
_RECORD_BYTES = 1 << 20
# Five columns fit the width of a page.
WIDTH, HEIGHT, _ACROSS, _DOWN, _MARGIN = 150, 44, 34, 16, 4
_LABEL_CHARS = 21
_HASH = re.compile(r"_[0-9a-f]{8}(?=\.\w+$)")


@dataclass(frozen=True)
class Node:
    """One box. `detail` is all there is to say of it; `path` names a file."""

    key: str
    kind: Kind
    label: str
    detail: str
    path: str = ""
    above: str = ""
    x: int = 0
    y: int = 0

    @property
    def short(self) -> str:
        """Cut in the middle, without the hash that all files of one call have: they differ in what is before it."""
        label, half = _HASH.sub("", self.label), _LABEL_CHARS // 2
        return label if len(label) <= _LABEL_CHARS else f"{label[:half]}…{label[-half:]}"


@dataclass(frozen=True)
class Edge:
    start: Node
    end: Node

    @property
    def curve(self) -> str:
        """The path of its line."""
        x1, y1 = self.start.x + WIDTH, self.start.y + HEIGHT // 2
        x2, y2 = self.end.x, self.end.y + HEIGHT // 2
        middle = (x1 + x2) // 2
        return f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"


@dataclass(frozen=True)
class Lineage:
    """The graph, from left to right. `left_out` files had no more room."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    width: int
    height: int
    left_out: int

    def made_from(self, node: Node) -> list[Node]:
        return [edge.start for edge in self.edges if edge.end.key == node.key]


def lineage_of(paths: Sequence[str], claims: Sequence[ClaimFact], files: Files) -> Lineage:
    """The graph behind these files and claims."""
    found = _Gathered()
    queue = list(dict.fromkeys([*paths, *(claim.claim.path for claim in claims)]))
    seen: set[str] = set()
    while queue and len(seen) < limits.REPORT_LINEAGE_FILES:
        path = queue.pop(0)
        if path not in seen:
            seen.add(path)
            queue += found.file(path, _record(files, path), is_there=_is_there(files, path))
    found.figures(claims, seen)
    return _laid_out(found.nodes, found.edges, len(set(queue) - seen))


def _record(files: Files, path: str) -> Mapping[str, Any]:
    """The lineage record of a file; empty where Outcrop did not make it."""
    try:
        data, size = files.read(record_path(Path(path)).as_posix(), _RECORD_BYTES)
        record = wire.loads(data) if size <= _RECORD_BYTES else {}
    except (PathError, OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _is_there(files: Files, path: str) -> bool:
    """Whether there is such a file; one that may only not be looked at is taken to be."""
    try:
        files.size(path.partition(MARK)[0])
    except PathError as error:
        return error.reason != MISSING
    except ValueError:
        # No file can be called so.
        return False
    except OSError:
        return True
    return True


class _Gathered:
    """Nodes and edges as they are found, each once."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: dict[tuple[str, str], None] = {}

    def file(self, path: str, record: Mapping[str, Any], *, is_there: bool) -> list[str]:
        """Add a file with the tool that made it; what it was made from."""
        name = path.rpartition("/")[2]
        tool = record.get("tool")
        if not isinstance(tool, str):
            self._add(_node(path, name, "input", is_there=is_there))
            return []
        self._add(_node(path, name, "file", is_there=is_there))
        given = [entry for entry in record.get("inputs") or () if isinstance(entry, dict)]
        inputs = [str(entry.get("path", "")) for entry in given]
        parameters = wire.dumps(record.get("parameters")).decode()
        version = record.get("version", "?")
        key = f"tool:{tool}:{version}:{parameters}:{inputs}"
        self._add(Node(key, "tool", tool, f"{tool}, version {version}: {parameters}", "", f"tool, version {version}"))
        self.edges[key, f"file:{path}"] = None
        for each in inputs:
            self.edges[f"file:{each}", key] = None
        return inputs

    def figures(self, claims: Iterable[ClaimFact], seen: set[str]) -> None:
        """Add what was computed again from the files."""
        by_path: dict[str, list[ClaimFact]] = {}
        for claim in claims:
            by_path.setdefault(claim.claim.path, []).append(claim)
        for path, those in by_path.items():
            if path not in seen:
                continue
            verified = sum(claim.claim.verdict == "verified" for claim in those)
            refuted = sum(claim.claim.verdict == "refuted" for claim in those)
            label = f"{verified} ✓ {refuted} ✗ of {len(those)}" if refuted else f"{verified} of {len(those)} verified"
            detail = "; ".join(f"{claim.operation} {claim.claimed} {claim.claim.verdict}" for claim in those[:20])
            kind: Kind = "refuted figures" if refuted else "figures"
            self._add(Node(f"figures:{path}", kind, label, f"figures computed again: {detail}", "", kind))
            self.edges[f"file:{path}", f"figures:{path}"] = None

    def _add(self, node: Node) -> None:
        self.nodes.setdefault(node.key, node)


def _node(path: str, name: str, kind: Kind, *, is_there: bool) -> Node:
    """The box of a file; of one that is gone nobody can see whether it was given or made."""
    if is_there:
        return Node(f"file:{path}", kind, name, path, path, kind)
    return Node(f"file:{path}", "missing", name, f"{path}: is no longer there", path, "missing")


def _laid_out(nodes: Mapping[str, Node], edges: Iterable[tuple[str, str]], left_out: int) -> Lineage:
    known = [(start, end) for start, end in edges if start in nodes and end in nodes]
    layers = _layers(nodes, known)
    rows: dict[int, list[str]] = {}
    for key in nodes:
        rows.setdefault(layers[key], []).append(key)
    placed: dict[str, Node] = {}
    before: dict[str, list[str]] = {}
    for start, end in known:
        before.setdefault(end, []).append(start)
    for layer in sorted(rows):
        # Beside what they were made from, so that few lines cross.
        order = sorted(rows[layer], key=lambda key: _height_of(before.get(key, ()), placed))
        for row, key in enumerate(order):
            x, y = _MARGIN + layer * (WIDTH + _ACROSS), _MARGIN + row * (HEIGHT + _DOWN)
            placed[key] = replace(nodes[key], x=x, y=y)
    width = 2 * _MARGIN + (max(rows, default=0) + 1) * (WIDTH + _ACROSS) - _ACROSS
    height = 2 * _MARGIN + max(map(len, rows.values()), default=0) * (HEIGHT + _DOWN) - _DOWN
    return Lineage(
        list(placed.values()), [Edge(placed[start], placed[end]) for start, end in known], width, height, left_out
    )


def _height_of(keys: Iterable[str], placed: Mapping[str, Node]) -> int:
    return min((placed[key].y for key in keys if key in placed), default=0)


def _layers(nodes: Iterable[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """How many steps each is from the first; records that lead in a circle stop somewhere."""
    layers = dict.fromkeys(nodes, 0)
    for _ in range(len(layers)):
        moved = False
        for start, end in edges:
            if layers[end] <= layers[start] < len(layers):
                layers[end], moved = layers[start] + 1, True
        if not moved:
            break
    return layers
