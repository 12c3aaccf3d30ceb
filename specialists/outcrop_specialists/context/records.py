"""What a tool's JSON result says, a line a record: figures stand with the short texts that say of what they are.

A record is an object or a row of a table. Its short texts (a column's name, a group, a unit) are labels:
`columns[3] (name Cu, unit ppm): min = 0.002, max = 1.5`. What lies within a labelled record has its labels too. A
figure without any is `path = value`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from outcrop_schemas import wire

VALUE_CHARS = 200
_LINE_CHARS, _LABEL_CHARS, _LABEL_WORDS = 300, 48, 5
_LABELS_OF_ONE, _LABELS_CHARS = 4, 120
_TEXTS_OF_A_LIST = 20
_OF_WHAT = {
    *("name", "id", "label", "key", "group", "element", "column", "variable", "hole", "hole_id", "sample"),
    *("first", "second", "x", "y", "value"),
}
_UNIT = {"unit", "units"}
_NO_LABEL = {
    *("summary", "message", "note", "notes", "rule", "title", "text", "description", "comment", "status"),
    *("path", "file"),
}
_OF_THE_FORM = {"type", "role", "kind", "method", "format", "delimiter", "transform", "operation", "op", "dispatch_id"}
_APART = ("artifacts[",)

Sentences = Callable[[str], Sequence[str]]


class Record(str):
    """The line of a record, with what it is made of."""

    path: str
    labels: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, path: str, labels: Sequence[tuple[str, str]], fields: Sequence[tuple[str, str]]) -> str:
        """A plain `path = value` where there is nothing else to say."""
        head = path
        if labels:
            head = f"{path} ({', '.join(f'{key} {value}' for key, value in labels)})".lstrip()
        if len(fields) == 1:
            [(name, value)] = fields
            line = f"{head}.{name} = {value}" if head else f"{name} = {value}"
        else:
            line = f"{head}: {', '.join(f'{name} = {value}' for name, value in fields)}"
        if not labels and len(fields) == 1:
            return line
        record = cls(line)
        record.path, record.labels, record.fields = path, tuple(value for _, value in labels), tuple(fields)
        return record


def fields_of(fact: str) -> list[str]:
    """The `path = value` of which a fact tells; a fact that is no record is one itself."""
    if not isinstance(fact, Record):
        return [fact]
    return [f"{fact.path}.{name} = {value}".lstrip(".") for name, value in fact.fields]


def lines_of(path: str, told: Mapping[str, str], texts: Mapping[str, str]) -> list[str]:
    """The lines of one record: what was `told` of its fields, of which `texts` are short enough for labels."""
    labels = _within(_chosen_labels(texts), _LABELS_CHARS)
    fields = [field for field in told.items() if field not in labels]
    return [Record.of(path, labels, line) for line in _lines(fields)] if fields else []


def label(key: str, value: Any) -> str:
    """A short text that may say of what figures are; empty where it is none."""
    if not isinstance(value, str) or len(value) > _LABEL_CHARS or key.split("[")[0].lower() in _NO_LABEL:
        return ""
    told = " ".join(value.split())
    return "" if not told or ("/" in told and "." in told) or told.count(" ") >= _LABEL_WORDS else told


def records(
    value: Any, name: str, sentences: Sentences, is_concrete: Callable[[str], bool], *, is_all: bool = False
) -> Iterator[str]:
    """The lines of a JSON value. Of a long text it is those of its `sentences` that are worth it, and of one that is
    no label only what `is_concrete`; with `is_all` every short text."""
    yield from _Walk(sentences, is_concrete, is_all).of(value, name, [])


class _Walk:
    def __init__(self, sentences: Sentences, is_concrete: Callable[[str], bool], is_all: bool) -> None:
        self._sentences, self._is_concrete, self._is_all = sentences, is_concrete, is_all

    def of(self, value: Any, path: str, above: list[tuple[str, str]]) -> Iterator[str]:
        if isinstance(value, dict):
            yield from self._of_object(value, path, above)
        elif isinstance(value, list):
            table = _with_header(value)
            for number, child in table if table else enumerate(value):
                yield from self.of(child, f"{path}[{number}]", above)
        else:
            for name, told in self._leaf("", path or "value", value):
                yield Record.of("", above, [(name, told)])

    def _of_object(self, value: Mapping[str, Any], path: str, above: list[tuple[str, str]]) -> Iterator[str]:
        value = _rows_named(value)
        short = {key: told for key, child in value.items() if (told := label(key, child))}
        is_apart = path.startswith(_APART) or (self._is_all and not above and "." not in path and "[" not in path)
        has_more = any(child is not None and key not in short for key, child in value.items())
        own = [] if is_apart or not has_more else _chosen_labels(short)
        labels = [*own, *(label for label in above if label not in own)]
        labels = _within(labels, _LABELS_CHARS)
        lengths = {len(child) for child in value.values() if isinstance(child, list) and _has_figure(child)}
        fields: list[tuple[str, str]] = []
        texts: list[tuple[str, str]] = []
        nested: list[tuple[str, Any]] = []
        for key, child in value.items():
            if key in short and (key, short[key]) in labels:
                continue
            if isinstance(child, dict) or (isinstance(child, list) and not _is_flat(child)):
                nested.append((key, child))
            elif isinstance(child, list):
                # Of many texts, if no figures go with them, only those that are worth it for themselves.
                has_texts = self._is_all or len(child) <= _TEXTS_OF_A_LIST or len(child) in lengths
                for number, leaf in enumerate(child):
                    if has_texts or not isinstance(leaf, str) or self._is_concrete(leaf):
                        self._sort(f"{key}[{number}]", leaf, path, fields, texts)
            else:
                self._sort(key, child, path, fields, texts)
        is_atomic = is_apart or (not path and not labels)
        for line in [[field] for field in fields] if is_atomic else _lines(fields):
            yield Record.of(path, labels, line)
        # A text by itself tells what it is of, unless it is one of many or stands alone.
        yield from (Record.of(path, labels if "[" in path or not fields else [], [text]) for text in texts)
        below = [line for key, child in nested for line in self.of(child, f"{path}.{key}".lstrip("."), labels)]
        yield from below
        if own and not (fields or texts or below):
            yield Record.of(path, [], own)

    def _sort(
        self,
        key: str,
        leaf: Any,
        path: str,
        fields: list[tuple[str, str]],
        texts: list[tuple[str, str]],
    ) -> None:
        """Put a leaf among the figures and short texts of its record, or, where it speaks for itself, the texts."""
        for name, told in self._leaf(path, key, leaf):
            if isinstance(leaf, str) and not self._goes_with_figures(path, key, leaf):
                texts.append((name, told))
            else:
                fields.append((name, told))

    def _goes_with_figures(self, path: str, key: str, leaf: str) -> bool:
        """Whether a text is short enough to say something of the figures beside it."""
        if path.startswith(_APART):
            return False
        is_cell = "[" in path and len(leaf) <= _LABEL_CHARS and "/" not in leaf
        return is_cell or bool(label(key, leaf))

    def _leaf(self, path: str, key: str, leaf: Any) -> Iterator[tuple[str, str]]:
        if leaf is None:
            return
        if not isinstance(leaf, str):
            yield key, wire.dumps(leaf).decode()
            return
        is_short = len(leaf) <= VALUE_CHARS
        is_kept = "error" in key or "error" in path or (is_short and self._is_all)
        is_kept = is_kept or self._goes_with_figures(path, key, leaf)
        for said in [" ".join(leaf.split())] if is_short else self._sentences(leaf):
            if said and (is_kept or self._is_concrete(said)):
                yield key, said


def _chosen_labels(short: Mapping[str, str]) -> list[tuple[str, str]]:
    """Those labels by which a record is known, and its unit."""
    known = [key for key in short if key.lower() in _OF_WHAT]
    units = [key for key in short if key.lower() in _UNIT]
    others = [key for key in short if key not in known and key not in units and key.lower() not in _OF_THE_FORM]
    chosen = {*units, *[*known, *others][: _LABELS_OF_ONE - len(units)]}
    return [(key, told) for key, told in short.items() if key in chosen]


def _within(labels: list[tuple[str, str]], chars: int) -> list[tuple[str, str]]:
    kept = []
    for key, told in labels:
        chars -= len(key) + len(told) + 3
        if chars >= 0:
            kept.append((key, told))
    return kept


def _lines(fields: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    line: list[tuple[str, str]] = []
    chars = 0
    for name, told in fields:
        chars += len(name) + len(told) + 5
        if line and chars > _LINE_CHARS:
            yield line
            line, chars = [], len(name) + len(told) + 5
        line.append((name, told))
    if line:
        yield line


# --- tables -----------------------------------------------------------------------------------------------------------


def _is_flat(value: Sequence[Any]) -> bool:
    return not any(isinstance(child, dict | list) for child in value)


def _has_figure(value: Sequence[Any]) -> bool:
    return any(isinstance(child, int | float) for child in value)


def _is_row(value: Any, width: int) -> bool:
    return isinstance(value, list) and len(value) == width and _is_flat(value)


def _is_heading(value: Any) -> bool:
    return isinstance(value, list) and len(set(map(str, value))) == len(value) > 0 and all(map(_is_text, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= VALUE_CHARS


def _rows_named(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object with the rows of its tables as objects, where the names of their columns stand beside them."""
    named = dict(value)
    for key, rows in value.items():
        if not (isinstance(rows, list) and rows and isinstance(rows[0], list)):
            continue
        width = len(rows[0])
        if not all(_is_row(row, width) for row in rows):
            continue
        for other, heading in value.items():
            if other != key and _is_heading(heading) and len(heading) == width:
                named[key] = [dict(zip(heading, row, strict=True)) for row in rows]
                named.pop(other, None)
                break
    return named


def _with_header(value: Sequence[Any]) -> list[tuple[int, Any]] | None:
    """The numbered rows of a table as objects, where its first row names its columns."""
    if len(value) < 2 or not _is_heading(value[0]) or not all(_is_row(row, len(value[0])) for row in value):
        return None
    if all(isinstance(cell, str) for row in value[1:] for cell in row):
        return None
    return [(number, dict(zip(value[0], row, strict=True))) for number, row in enumerate(value[1:], 1)]
