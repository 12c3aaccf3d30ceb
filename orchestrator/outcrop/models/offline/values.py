"""Finds the column of a value that is named without it: "keep only females" where one column has FEMALE."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from outcrop.models.offline.conversation import Answer, Call
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.vocabulary import GENERIC, NEUTRAL, POLITE, STOP, TASK_VERBS
from outcrop.models.offline.words import Word, stem, words_of

INSPECT_COLUMNS = "inspect_columns"
COLUMNS, VALUES = 8, 20
SHORTEST = 2
JOINING = frozenset((",", "or", "and", "nor", "/", "&"))


def look_up(profile: Profile) -> Call | None:
    """The call that tells the values of the category columns; None where there are none."""
    names = [column.name for column in profile.with_role("category") if not column.is_numeric][:COLUMNS]
    return Call(INSPECT_COLUMNS, {"path": profile.path, "columns": names, "most_values": VALUES}) if names else None


def with_columns(clause: str, answer: Answer) -> tuple[str, list[str]] | None:
    """The clause with the column before each value, or list of values, that only one column has, and notes.

    None without such a value, and where a list holds something that is no value: the rest of it would be other rows.
    """
    known = _values(answer.results.get("columns"))
    words = words_of(clause)
    told, notes, shift = clause, list[str](), 0
    looked = ", ".join(dict.fromkeys(name for name, _ in known))
    at = 0
    while at < len(words):
        column, values, end = _run(known, words, at)
        if not values:
            at += 1
            continue
        if _is_listed_unknown(known, words, at - 1, -1) or _is_listed_unknown(known, words, end, 1):
            return None
        listed = " or ".join(f'"{value}"' for value in values)
        said = f'rows where "{column}" is {"either " if len(values) > 1 else ""}{listed}'
        meant = clause[words[at].start : words[end - 1].end]
        told = told[: words[at].start + shift] + said + told[words[end - 1].end + shift :]
        shift += len(said) - len(meant)
        plain = meant.strip('"')
        notes.append(f'"{plain}" was taken as {column} = {" or ".join(values)}; looked for in {looked}')
        at = end
    return (told, notes) if notes else None


def _run(known: Sequence[tuple[str, str]], words: Sequence[Word], at: int) -> tuple[str, list[str], int]:
    """The column, the values and the end of a list of values that begins here: "granite, schist or basalt"."""
    column, values, end = "", list[str](), at
    place = at
    while place < len(words):
        holders = _meant(known, words[place])
        if not holders or (column and holders[0][0] != column):
            break
        column = holders[0][0]
        values += [value for _, value in holders if value not in values]
        end = place = place + 1
        while place < len(words) and words[place].lower in JOINING:
            place += 1
    return column, values, end


def _meant(known: Sequence[tuple[str, str]], word: Word) -> list[tuple[str, str]]:
    """The values of one column that a word is, also where they differ in case only; none where several are meant."""
    is_plain = word.kind in ("word", "quoted") and len(word.inner) >= SHORTEST
    if not is_plain or word.lower in STOP | POLITE | TASK_VERBS | NEUTRAL | GENERIC:
        return []
    found = _holders(known, word.inner)
    is_one = len({(column, value.casefold()) for column, value in found}) == 1
    return found if is_one else []


def _is_listed_unknown(known: Sequence[tuple[str, str]], words: Sequence[Word], at: int, step: int) -> bool:
    """Whether a list of values goes on, that way from here, with a word that is none."""
    if not 0 <= at < len(words) or words[at].lower not in JOINING:
        return False
    while 0 <= at < len(words) and words[at].lower in JOINING:
        at += step
    if not 0 <= at < len(words):
        return False
    word = words[at]
    is_name = word.kind in ("word", "quoted") and word.lower not in STOP | POLITE | TASK_VERBS | NEUTRAL | GENERIC
    columns = {name.casefold() for name, _ in known}
    is_bound = step > 0 and any(each.kind == "number" or each.text in "<>=" for each in words[at : at + 5])
    return is_name and not is_bound and word.lower not in columns and not _meant(known, word)


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
