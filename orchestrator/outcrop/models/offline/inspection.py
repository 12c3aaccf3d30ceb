"""What the offline model knows of a table's columns: one look at a small table, several pages of a wide one."""

from __future__ import annotations

from dataclasses import replace

from outcrop.models.offline.conversation import Answer, Call, Conversation
from outcrop.models.offline.profile import Column, Profile, read_profile

INSPECT = "inspect_dataset"
PAGES = 12
"""Pages of names that are asked for; what is on further ones must be named in the objective."""


def next_look(conversation: Conversation, path: str) -> Call | None:
    """The inspection of a table that is still to be made; None where all is known that will be asked for.

    Of a table that is not told whole the columns that the objective names are asked for, and pages of names.
    """
    first = conversation.answer(whole := Call(INSPECT, {"path": path}))
    if first is None:
        return whole
    if first.is_error or not _is_cut(first):
        return None
    if conversation.answer(named := _named(conversation, path)) is None:
        return named
    pages = _pages(conversation, path)
    return pages[-1] if conversation.answer(pages[-1]) is None else None


def profile_of(conversation: Conversation, path: str) -> Profile:
    """The table as the inspections tell it. The first of them was answered."""
    first = conversation.answer(Call(INSPECT, {"path": path}))
    assert first is not None
    profile = read_profile(first.results, path)
    if not _is_cut(first):
        return profile
    columns = {column.name: column for page in _pages(conversation, path) for column in _on(conversation.answer(page))}
    for answer in (first, conversation.answer(_named(conversation, path))):
        if answer is not None:
            columns.update({column.name: column for column in read_profile(answer.results, path).columns})
    count = first.results.get("column_count")
    more = max(0, count - len(columns)) if isinstance(count, int) else profile.more
    return replace(profile, columns=tuple(columns.values()), more=more)


def _is_cut(answer: Answer) -> bool:
    rest = answer.results.get("not_shown")
    return isinstance(rest, dict) and bool(rest.get("columns"))


def _named(conversation: Conversation, path: str) -> Call:
    return Call(INSPECT, {"path": path, "named_in": conversation.objective})


def _pages(conversation: Conversation, path: str) -> list[Call]:
    """The pages of names that were asked for, and the one to ask for next."""
    pages = [Call(INSPECT, {"path": path, "names_only": True})]
    while len(pages) < PAGES and (answer := conversation.answer(pages[-1])) is not None:
        offset = answer.results.get("next_offset")
        if answer.is_error or not isinstance(offset, int):
            break
        pages.append(Call(INSPECT, {"path": path, "names_only": True, "offset": offset}))
    return pages


def _on(answer: Answer | None) -> list[Column]:
    """The columns on a page: names by type and role."""
    found = answer.results.get("columns") if answer is not None and not answer.is_error else None
    columns = []
    for kind, names in found.items() if isinstance(found, dict) else ():
        type_, _, role = kind.partition(" ")
        columns += [Column(name, type_, role) for name in names]
    return columns
