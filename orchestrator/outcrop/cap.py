"""The cap: whatever a specialist completes with, what goes up is bounded, valid JSON, in order, and says what it lacks.

Lengths are code points of compact JSON text, keys, notes and notice included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from outcrop.completion import is_deeper
from outcrop.text import cut, shorten
from outcrop_schemas import limits, wire
from outcrop_schemas.outcome import Outcome

OMITTED = "_omitted"
_PREVIEW_CHARS = 1_000
# The shortest entry: an empty key, a value of one digit, and what parts them.
_LEAST_ENTRY_CHARS = 5
_CONTINUATION = bytes(range(0x80, 0xC0))
_OBJECTIVE_CHARS = 2_000
_GAP_CHARS = 2_000
_USAGE_CHARS = 1_000
# Room that is kept for the `_omitted` entry: its key, its sentence, two counts of up to 12 digits.
_OMITTED_ROOM = 120
# Deeper values are legal JSON, but readers of an outcome choke on them; the spill file has them as they came.
_NESTING = 100


@dataclass(frozen=True)
class Capped:
    """Results within the limit. `full` is the whole text when something was left out, else None."""

    results: dict[str, Any]
    chars: int
    full: bytes | None


def cap_results(results: Mapping[str, Any], limit: int = limits.RESULT_CHARS) -> Capped:
    """Fit `results` into `limit` code points of JSON.

    Entries keep their order. One that does not fit is replaced by a note of its length, later ones may still fit; when
    notes no longer fit, one `_omitted` entry counts the rest. Room that is left shows how the omitted entries begin.
    """
    full = wire.dumps(results if isinstance(results, dict) else dict(results))
    chars = _chars(full)
    if chars <= limit and not _is_deep(results):
        return Capped(dict(results), chars, None)
    kept, noted, used = _fit_entries(results, limit)
    _preview(kept, noted, limit - used)
    return Capped(kept, chars, full)


def _fit_entries(results: Mapping[str, Any], limit: int) -> tuple[dict[str, Any], dict[str, str], int]:
    """Keep what fits in order; returns the kept entries, the texts behind the notes, and the length used."""
    kept: dict[str, Any] = {}
    noted: dict[str, str] = {}
    omitted_count = omitted_chars = 0
    room = limit - 2 - _OMITTED_ROOM
    for key, value in results.items():
        # Large results are in memory as values and as bytes already; as text they would be there a third time.
        data = wire.dumps(value)
        chars = _chars(data)
        if room < _LEAST_ENTRY_CHARS:
            omitted_count, omitted_chars = omitted_count + 1, omitted_chars + chars
            continue
        key_chars = _chars(wire.dumps(key)) + 2
        note = _note(chars)
        if key_chars + chars <= room and not _is_deep(value):
            kept[key] = value
            room -= key_chars + chars
        elif key_chars + len(note) + 2 <= room:
            kept[key] = note
            begins = value if isinstance(value, str) else data[: 4 * _PREVIEW_CHARS].decode("utf-8", "ignore")
            noted[key] = begins[: 2 * _PREVIEW_CHARS]
            room -= key_chars + len(note) + 2
        else:
            omitted_count, omitted_chars = omitted_count + 1, omitted_chars + chars
    if omitted_count:
        name = OMITTED
        while name in kept:
            name += "_"
        kept[name] = f"{omitted_count} more entries of {omitted_chars} characters are left out"
    return kept, noted, limit - room


def _is_deep(value: Any) -> bool:
    return is_deeper(value, _NESTING)


def _chars(text: bytes) -> int:
    """The code points of UTF-8, without making them into text."""
    return len(text) if text.isascii() else len(text.translate(None, _CONTINUATION))


def _note(chars: int) -> str:
    return f"({chars} characters left out)"


def _preview(kept: dict[str, Any], noted: Mapping[str, str], room: int) -> None:
    """Use what room is left to show how left-out entries begin."""
    for key, text in noted.items():
        if room < 40:
            return
        length = min(room, _PREVIEW_CHARS)
        while length >= 20:
            shown = f"{kept[key]} {cut(text, length)}…"
            grown = len(wire.dumps(shown).decode()) - len(wire.dumps(kept[key]).decode())
            if grown <= room:
                kept[key] = shown
                room -= grown
                break
            length //= 2


def cap_outcome(outcome: Outcome, limit: int = limits.OUTCOME_CHARS) -> Outcome:
    """Bound every other text of an outcome, and the whole of it; `results` must have been capped before.

    What was shortened is named in a last warning. Nothing is lost by it: the transcript has the completion.
    """
    bounded = _Bounded(outcome.model_dump(mode="json"))
    bounded.bound_texts()
    bounded.fit(limit)
    return Outcome.model_validate(bounded.fields)


class _Bounded:
    """The fields of an outcome while they are being shortened."""

    LISTS = ("findings", "recommendations", "blockers", "errors", "warnings")
    EVIDENCE = ("supports", "contradicts", "new_hypotheses")

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields
        self._cut: dict[str, None] = {}

    def bound_texts(self) -> None:
        self._text("objective", _OBJECTIVE_CHARS)
        self._text("specialist", limits.ENTRY_CHARS)
        self._text("summary", limits.SUMMARY_CHARS)
        for name, holder in self._lists():
            self._list(holder, name)
        for artifact in self.fields["artifacts"]:
            artifact["title"] = shorten(artifact["title"], limits.ENTRY_CHARS)
        if len(self.fields["artifacts"]) > limits.LIST_ENTRIES:
            self._cut[f"artifacts ({len(self.fields['artifacts'])} in all)"] = None
            self.fields["artifacts"] = self.fields["artifacts"][: limits.LIST_ENTRIES]
        if len(self.fields["claims"]) > limits.LIST_ENTRIES:
            self._cut[f"claims ({len(self.fields['claims'])} in all)"] = None
            self.fields["claims"] = self.fields["claims"][: limits.LIST_ENTRIES]
        for name, chars in (("gap", _GAP_CHARS), ("usage", _USAGE_CHARS)):
            if self.fields[name]:
                capped = cap_results(self.fields[name], chars)
                self.fields[name] = capped.results
                if capped.full:
                    self._cut[name] = None

    def fit(self, limit: int) -> None:
        """Shorten the longest part again and again until the whole fits."""
        self._say_what_was_cut()
        while len(wire.dumps(self.fields).decode()) > limit:
            name, shrink = max(self._shrinkable(), key=lambda part: self._length(part[0]))
            shrink()
            self._cut.setdefault(name.split(".")[0])
            self._say_what_was_cut()

    def _lists(self) -> list[tuple[str, dict[str, Any]]]:
        evidence = [(name, self.fields["evidence"]) for name in self.EVIDENCE]
        return [(name, self.fields) for name in self.LISTS] + evidence

    def _text(self, name: str, limit: int) -> None:
        if len(self.fields[name]) > limit:
            self._cut[name] = None
            self.fields[name] = shorten(self.fields[name], limit)

    def _list(self, holder: dict[str, Any], name: str) -> None:
        entries: list[str] = holder[name]
        if len(entries) > limits.LIST_ENTRIES:
            more = len(entries) - (limits.LIST_ENTRIES - 1)
            entries = [*entries[: limits.LIST_ENTRIES - 1], f"({more} more)"]
            self._cut[name] = None
        if any(len(entry) > limits.ENTRY_CHARS for entry in entries):
            self._cut[name] = None
        holder[name] = [shorten(entry, limits.ENTRY_CHARS) for entry in entries]

    def _length(self, name: str) -> int:
        holder: Any = self.fields
        for part in name.split("."):
            holder = holder[part]
        return len(wire.dumps(holder).decode())

    def _shrinkable(self) -> list[tuple[str, Callable[[], None]]]:
        def halve_text(name: str) -> Callable[[], None]:
            return lambda: self.fields.update({name: shorten(self.fields[name], max(1, len(self.fields[name]) // 2))})

        def drop_last(holder: dict[str, Any], name: str) -> Callable[[], None]:
            return lambda: holder[name].pop()

        parts: list[tuple[str, Callable[[], None]]] = [
            (name, halve_text(name)) for name in ("summary", "objective") if len(self.fields[name]) > 1
        ]
        for name, holder in self._lists():
            # The last warning says what was cut; it stays.
            if len(holder[name]) > (1 if name == "warnings" and self._cut else 0):
                path = name if holder is self.fields else f"evidence.{name}"
                parts.append((path, drop_last(holder, name) if name != "warnings" else self._drop_warning))
        parts += [(name, drop_last(self.fields, name)) for name in ("artifacts", "claims") if self.fields[name]]
        return parts

    def _drop_warning(self) -> None:
        del self.fields["warnings"][-2 if self._cut else -1]

    _SAID = "shortened, the transcript has all of it: "

    def _say_what_was_cut(self) -> None:
        if not self._cut:
            return
        warnings = [w for w in self.fields["warnings"] if not w.startswith(self._SAID)][: limits.LIST_ENTRIES - 1]
        self.fields["warnings"] = [*warnings, self._SAID + ", ".join(self._cut)]
