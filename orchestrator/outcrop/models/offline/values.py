"""Finds the column of a value that is named without it: "keep only females" where one column has FEMALE."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from outcrop.models.offline.conversation import Answer, Call
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.vocabulary import GENERIC, NEUTRAL, POLITE, STOP, TASK_VERBS
from outcrop.models.offline.words import stem, words_of

INSPECT_COLUMNS = "inspect_columns"
COLUMNS, VALUES = 8, 20
SHORTEST = 2


def look_up(profile: Profile) -> Call | None:
    """The call that tells the values of the category columns; None where there are none."""
    names = [column.name for column in profile.with_role("category") if not column.is_numeric][:COLUMNS]
    return Call(INSPECT_COLUMNS, {"path": profile.path, "columns": names, "most_values": VALUES}) if names else None


def with_columns(clause: str, answer: Answer) -> tuple[str, list[str]] | None:
    """The clause with the column before each value that only one column has, and notes; None without such a value."""
    known = _values(answer.results.get("columns"))
    told, notes, shift = clause, list[str](), 0
    for word in words_of(clause):
        is_plain = word.kind in ("word", "quoted") and len(word.inner) >= SHORTEST
        is_common = word.lower in STOP | POLITE | TASK_VERBS | NEUTRAL | GENERIC
        found = [] if not is_plain or is_common else _holders(known, word.inner)
        if len(found) != 1:
            continue
        (column, value), *_ = found
        said = f'rows where "{column}" is "{value}"'
        told = told[: word.start + shift] + said + told[word.end + shift :]
        shift += len(said) - (word.end - word.start)
        looked = ", ".join(dict.fromkeys(name for name, _ in known))
        notes.append(f'"{word.inner}" was taken as {column} = {value}; looked for in {looked}')
    return (told, notes) if notes else None


def _values(columns: Any) -> list[tuple[str, str]]:
    """Column and value of each value that is listed."""
    given = columns if isinstance(columns, dict) else {}
    return [
        (name, value)
        for name, found in given.items()
        if isinstance(found, dict) and isinstance(found.get("values"), dict)
        for value in found["values"]
        if '"' not in value and '"' not in name
    ]


def _holders(known: Sequence[tuple[str, str]], said: str) -> list[tuple[str, str]]:
    """The values that are this word, whatever its case and ending; else those of which it is a word."""
    same = [(name, value) for name, value in known if value.casefold() == said.casefold()]
    same = same or [(name, value) for name, value in known if stem(value) == stem(said)]
    pattern = re.compile(rf"(?<!\w){re.escape(said)}(?!\w)", re.IGNORECASE)
    return same or [(name, value) for name, value in known if pattern.search(value)]
