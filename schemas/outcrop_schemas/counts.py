"""How a count is said to a person, in all that is shown: titles, summaries, pages."""

from __future__ import annotations


def many(count: int, one: str, more: str | None = None) -> str:
    """`1 file`, `2 files`, `12000 files`."""
    return f"{count} {named(count, one, more)}"


def named(count: int, one: str, more: str | None = None) -> str:
    """The word alone: `file` of one, `files` of any other number."""
    return one if count == 1 else more or one + "s"
