"""What `--map` says: which column of a file stands for which of the plan, in all files or in one that it names."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from outcrop_schemas.errors import UsageError
from outcrop_schemas.plan import Plan

_BETWEEN = ":"


@dataclass(frozen=True)
class Mapped:
    """The column `new` of a file stands for `old` of the plan; of every file where none is named."""

    old: str
    new: str
    file: str | None = None

    def __str__(self) -> str:
        return f"{f'{self.file}{_BETWEEN}' if self.file else ''}{self.old}={self.new}"

    def is_for(self, file: str, mappings: Sequence[Mapped]) -> bool:
        """Whether it is what holds for a file."""
        return self.file in (None, file) and of_file(mappings, file)[self.old] == self.new


def read_mappings(plan: Plan, files: Sequence[str], given: Mapping[str, str]) -> list[Mapped]:
    """`OLD=NEW` and `FILE:OLD=NEW`. Raises UsageError for a column that the plan does not need, and for a file that is
    not among those given."""
    return [_read(plan, files, key, new) for key, new in given.items()]


def _read(plan: Plan, files: Sequence[str], key: str, new: str) -> Mapped:
    needed = {column.name for one in plan.inputs for column in one.columns}
    if key in needed:
        return Mapped(key, new)
    # A name may have a colon, of a file or of a column.
    places = [at for at, char in enumerate(key) if char == _BETWEEN]
    for at in places:
        file, old = posixpath.normpath(key[:at]), key[at + 1 :]
        if file in files and old in needed:
            return Mapped(old, new, file)
    named = next((key[at + 1 :] for at in places if posixpath.normpath(key[:at]) in files), None)
    if named is None and any(key[at + 1 :] in needed for at in places):
        raise UsageError(f"map {key}={new}: the files that were given are {', '.join(files)}")
    known = ", ".join(column.name for one in plan.inputs for column in one.columns) or "none by name"
    raise UsageError(f"map: the plan needs no column {named or key!r}; it needs {known}")


def of_file(mappings: Sequence[Mapped], file: str) -> dict[str, str]:
    """The columns that were named for one file; what names it goes before what is for all."""
    everywhere = {one.old: one.new for one in mappings if one.file is None}
    return everywhere | {one.old: one.new for one in mappings if one.file == file}
