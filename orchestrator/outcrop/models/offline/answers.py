"""Keeps an answer within the limits that `complete` enforces, and makes it smaller where one was refused all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outcrop_schemas import limits, wire

DEEPEST = 8
REFUSED_CHARS = 200


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of a text, on which is said that there were more."""
    return text if len(text) <= limit else f"{text[: max(0, limit - 1)]}…"


def sentences(texts: Sequence[str], entries: int = limits.COMPLETE_LIST_RECORDS) -> list[str]:
    """Distinct sentences, each cut to its limit; what is over the number of entries is counted in the last one."""
    kept = [cut(" ".join(text.split()), limits.ENTRY_CHARS) for text in dict.fromkeys(texts) if text.strip()]
    if len(kept) <= entries:
        return kept
    return [*kept[: entries - 1], f"{len(kept) - entries + 1} more are not listed"]


def small_results(results: Mapping[str, Any], limit: int = limits.SPECIALIST_RESULT_CHARS) -> tuple[dict[str, Any], list[str]]:
    """Results with short lists whose JSON stays under `limit`; the largest entries are left out, and named."""
    kept = {key: _short(value, 0) for key, value in results.items()}
    sizes = {key: len(wire.dumps({key: value}).decode()) for key, value in kept.items()}
    left_out: list[str] = []
    while kept and sum(sizes[key] for key in kept) > limit:
        largest = max(kept, key=lambda key: sizes[key])
        left_out.append(largest)
        del kept[largest]
    notes = [f"Left out of the results for their length: {', '.join(map(str, left_out))}"] if left_out else []
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


def _short(value: Any, depth: int) -> Any:
    """Lists cut to what `complete` takes, and no deeper than anyone reads."""
    if depth > DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {key: _short(child, depth + 1) for key, child in value.items()}
    if isinstance(value, list):
        return [_short(child, depth + 1) for child in value[: limits.COMPLETE_LIST_RECORDS]]
    return value
