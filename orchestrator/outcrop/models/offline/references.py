"""What a clause points back to: "plot the groups", "map them", "by cluster" after an earlier step."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from outcrop.models.offline.columns import Bound
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.schema import Property
from outcrop.models.offline.vocabulary import BACK_REFERENCES, PRONOUNS
from outcrop.models.offline.words import Word

_FRONT = re.compile(r"[^\W\d_]+")
GROUPING_CUES = frozenset(("by", "per", "each", "every", "within", "across", "between", "among"))
GROUPS = frozenset(("cluster", "group", "class"))
SAME = frozenset(("columns", "elements", "variables", "features", "column", "element", "ones", "variable"))
CUE_REACH = 3
"""So many words before "group" the cue of a grouping may stand: "for each of the groups"."""


@dataclass(frozen=True)
class Previous:
    """What an earlier step made, as far as a later one needs it."""

    tool: str = ""
    columns: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """Columns that the step added: a group label, flags, scores."""
    best: str = ""
    """The column that followed the target of a correlation most closely."""
    is_about_holes: bool = False
    """Whether the step's table has one row a hole, with its grade."""

    def as_context(self) -> dict[str, Any]:
        found: dict[str, Any] = {"tool": self.tool}
        if self.columns:
            found["columns"] = list(self.columns)
        if self.labels:
            found["label_column"] = self.labels[0]
        if len(self.labels) > 1:
            found["label_columns"] = list(self.labels)
        if self.best:
            found["best"] = self.best
        if self.is_about_holes:
            found["one_row_a_hole"] = True
        return found

    @classmethod
    def of_context(cls, context: Mapping[str, Any]) -> Previous:
        """Read back from a dispatch's context; what is not as expected is left out."""
        found = context.get("previous")
        if not isinstance(found, dict):
            return cls()
        tool, label = found.get("tool"), found.get("label_column")
        labels = _names(found.get("label_columns")) or _names([label])
        best = found.get("best")
        return cls(
            tool if isinstance(tool, str) else "", _names(found.get("columns")), labels,
            best if isinstance(best, str) else "", found.get("one_row_a_hole") is True,
        )  # fmt: skip

    @classmethod
    def of_results(cls, tool: str, results: Mapping[str, Any], columns: Sequence[str] = ()) -> Previous:
        """From a tool's results: `label_column`, else the columns it added or named in other keys of that kind."""
        label = results.get("label_column")
        added = _names([label]) or _names(results.get("added_columns"))
        if not added:
            added = tuple(
                value for key, value in results.items() if key.endswith("_column") and isinstance(value, str) and value
            )
        flags = tuple(name for name in added if name.endswith("_flag"))
        known = results.get("columns")
        used = tuple(known) if isinstance(known, dict) else _names(known)
        ranked = results.get("strongest") if results.get("target") else None
        best = _best(ranked if isinstance(ranked, list) else [], str(results.get("target")))
        names = tuple(name for name in used if isinstance(name, str)) or tuple(columns)
        return cls(tool, names, flags or added, best)


def _best(ranked: Sequence[Any], target: str) -> str:
    """The first column of a ranking that is another element than the target: `Au_2` leads to no `Au`."""
    for pair in ranked:
        names = [pair.get("x"), pair.get("y")] if isinstance(pair, dict) else []
        other = next((name for name in names if isinstance(name, str) and name != target), "")
        if other and _FRONT.match(other) and _FRONT.findall(other)[:1] != _FRONT.findall(target)[:1]:
            return other
    return ""


def speaks_of_hole_grade(words: Sequence[Word]) -> bool:
    """ "Coloured by hole grade": what a step that profiled the holes made."""
    return any(first.stem == "hole" and second.stem == "grade" for first, second in pairwise(words))


def speaks_of_best(words: Sequence[Word]) -> bool:
    """ "The best pathfinder": the first column of a ranking by correlation."""
    return any(word.stem == "pathfind" for word in words)


@dataclass
class References:
    """The places of words that point back: groups, those that say how to group, and pronouns."""

    groups: list[int] = field(default_factory=list)
    grouping: list[int] = field(default_factory=list)
    pronouns: list[int] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    is_same: bool = False
    """Whether "the same columns" are spoken of, for which there is no default."""
    names_groups: bool = False
    """Whether groups are spoken of, in whatever way: a tool that can group must then do it."""

    @property
    def used(self) -> set[int]:
        return {*self.groups, *self.grouping, *self.pronouns}


def back_references(words: Sequence[Word], used: Collection[int] = ()) -> References:
    """The words of a clause that point back. Words in `used` asked for the tool or name columns."""
    references = References()
    for at, word in enumerate(words):
        if word.lower in PRONOUNS and word.kind == "word":
            references.pronouns.append(at)
        elif word.lower == "same" and any(near.lower in SAME for near in words[at + 1 : at + 3]):
            references.pronouns.append(at)
            references.is_same = True
        elif word.stem in BACK_REFERENCES:
            references.names_groups = references.names_groups or word.stem in GROUPS
            near = words[max(0, at - CUE_REACH) : at]
            is_grouping = any(before.lower in GROUPING_CUES for before in near)
            if is_grouping and at not in used:
                references.grouping.append(at)
            else:
                references.groups.append(at)
    return references


def bind_references(
    bound: Bound, references: References, properties: Sequence[Property], profile: Profile, previous: Previous
) -> None:
    """Bind the label column of an earlier step, or of the table, and the earlier columns for "them"."""
    is_plot = any(prop.role == "x-column" for prop in properties)
    labels = [name for name in previous.labels if name in profile.names]
    wanted = next((prop for prop in properties if prop.role in ("label-column", "by-column")), None)
    if wanted and wanted.name not in bound.names:
        is_asked = bool(references.grouping) or wanted.role == "label-column" or (is_plot and bool(labels))
        # "Compare Zn between the clusters", "map the clusters": never about all rows at once.
        is_needed = wanted.role == "by-column" and (references.names_groups or (is_plot and bool(references.groups)))
        is_asked = is_asked or is_needed
        if not labels and (references.grouping or is_needed):
            labels = [column.name for column in profile.with_role("cluster")]
        if is_asked and labels:
            bound.arguments[wanted.name] = labels[0]
            if len(labels) > 1:
                bound.notes.append(f"{wanted.name} is {labels[0]}; the others are {', '.join(labels[1:])}")
        elif references.grouping or is_needed:
            references.refusals.append("no column of groups is known; name the column")
    elif wanted and is_plot and (references.groups or references.grouping):
        color = bound.arguments.get(wanted.name)
        if color not in _labels(profile, labels):
            references.refusals.append(f"groups and {color} cannot colour the same points")
    elif references.grouping and not wanted:
        references.refusals.append("groups are spoken of, and there is no argument for them")
    if references.pronouns and previous.columns and not bound.names - {wanted.name if wanted else ""}:
        columns = [name for name in previous.columns if name in profile.names]
        _bind_them(bound, properties, columns, is_same=references.is_same)
    if references.is_same and not bound.names - {wanted.name if wanted else ""}:
        references.refusals.append("the same columns are spoken of, and no earlier step tells which; name them")


def _labels(profile: Profile, labels: Sequence[str]) -> set[str]:
    return {*labels, *(column.name for column in profile.with_role("cluster"))}


def _bind_them(bound: Bound, properties: Sequence[Property], columns: list[str], *, is_same: bool) -> None:
    """The columns of the step before: as two axes, "plot them against each other", as a list, or one at a time."""
    x = next((prop for prop in properties if prop.role == "x-column" and prop.is_required), None)
    y = next((prop for prop in properties if prop.role == "y-column" and prop.is_required), None)
    many = next((prop for prop in properties if prop.role == "columns"), None)
    one = next((prop for prop in properties if prop.role == "column"), None)
    by = next((prop for prop in properties if prop.role == "by-column"), None)
    if x and y and len(columns) == 2:
        bound.arguments |= {x.name: columns[0], y.name: columns[1]}
    elif many and (many.is_required or is_same) and columns:
        bound.arguments[many.name] = columns
    elif one and len(columns) == 1:
        bound.arguments[one.name] = columns[0]
    elif not x and by and columns and any(prop.role == "x-column" for prop in properties):
        # "Summarise Zn and map it": a map coloured by Zn.
        bound.each = (by.name, columns[:8])
    elif one and columns:
        bound.each = (one.name, columns[:8])
    else:
        return
    bound.notes.append(f"taken from the step before: {', '.join(columns)}")


def _names(value: Any) -> tuple[str, ...]:
    return tuple(name for name in value if isinstance(name, str) and name) if isinstance(value, list) else ()
