"""Keeps an answer within the limits that `complete` enforces, and makes one smaller that was refused all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outcrop_schemas import limits, wire

DEEPEST = 8
REFUSED_CHARS = 200


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of a text, on which is said that there were more."""
    return text if len(text) <= limit else f"{text[: max(0, limit - 1)]}…"


def sentence(text: str) -> str:
    """A text as one sentence: a capital where it begins with a word, one full stop."""
    bare = text.strip().rstrip(". ")
    first = bare.split(" ", 1)[0]
    return f"{bare[:1].upper()}{bare[1:]}." if first.isalpha() else f"{bare}."


def sentences(texts: Sequence[str], entries: int = limits.COMPLETE_LIST_RECORDS) -> list[str]:
    """Distinct sentences, each cut to its limit; what is over the number of entries is counted in the last one."""
    kept = [cut(" ".join(text.split()), limits.ENTRY_CHARS) for text in dict.fromkeys(texts) if text.strip()]
    if len(kept) <= entries:
        return kept
    return [*kept[: entries - 1], f"{len(kept) - entries + 1} more are not listed"]


def small_results(
    results: Mapping[str, Any], limit: int = limits.SPECIALIST_RESULT_CHARS
) -> tuple[dict[str, Any], list[str]]:
    """Results with short lists whose JSON stays under `limit`; the largest entries are shortened, and that is noted."""
    notes: list[str] = []
    kept = {key: _short(value, 0, key, notes) for key, value in results.items()}
    sizes = {key: _size({key: value}) for key, value in kept.items()}
    while (over := sum(sizes.values()) - limit) > 0:
        largest = max(sizes, key=lambda key: sizes[key])
        value = _part(kept[largest], sizes[largest] - over - len(largest) - len('{"":}'))
        if value:
            notes.append(
                f"{largest}: {len(value)} of {len(kept[largest])} entries are kept here, the others are left out"
            )
            kept[largest], sizes[largest] = value, _size({largest: value})
        else:
            notes.append(f"{largest} is left out here for its length")
            del kept[largest], sizes[largest]
    return kept, notes


def smaller(answer: Mapping[str, Any], refusals: int) -> dict[str, Any]:
    """An answer that was refused, made smaller: first without results, then with status and summary only."""
    if not refusals:
        return dict(answer)
    summary = cut(str(answer.get("summary") or "No account could be given."), REFUSED_CHARS)
    least = {"status": answer["status"], "summary": summary}
    if refusals > 1:
        return least
    blockers = [cut(text, REFUSED_CHARS) for text in answer.get("blockers", [])][:5]
    artifacts = {"artifacts": answer["artifacts"]} if "artifacts" in answer else {}
    return {**least, **artifacts, "blockers": blockers}


def _short(value: Any, depth: int, where: str, notes: list[str]) -> Any:
    """Lists cut to what `complete` takes, and no deeper than anyone reads."""
    if depth > DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {key: _short(child, depth + 1, f"{where}.{key}", notes) for key, child in value.items()}
    if isinstance(value, list):
        if len(value) > limits.COMPLETE_LIST_RECORDS:
            notes.append(f"{where}: the first {limits.COMPLETE_LIST_RECORDS} of {len(value)} are kept here")
        return [_short(child, depth + 1, where, notes) for child in value[: limits.COMPLETE_LIST_RECORDS]]
    return value


def _part(value: Any, room: int) -> Any:
    """As many of the first entries of an object or a list as fit into `room` characters; None for anything else."""
    if not isinstance(value, dict | list):
        return None
    pairs = list(value.items()) if isinstance(value, dict) else [(None, child) for child in value]
    used, count = 2, 0
    for key, child in pairs:
        used += _size(child) + (len(key) + 4 if key is not None else 1)
        if used > room:
            break
        count += 1
    return dict(pairs[:count]) if isinstance(value, dict) else [child for _, child in pairs[:count]]


def _size(value: Any) -> int:
    return len(wire.dumps(value).decode())
