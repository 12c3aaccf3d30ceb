"""Which data files the lead works on, and what it knows of them: from `list_files` alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from outcrop.models.offline.cards import Card
from outcrop.models.offline.conversation import Answer, Call, Conversation, string_of
from outcrop.models.offline.mentions import finder_of
from outcrop.models.offline.names import with_spoken
from outcrop.models.offline.profile import Profile, read_profile
from outcrop.models.offline.vocabulary import STOP
from outcrop.models.offline.words import stems_of, words_of

LIST_FILES = "list_files"
TABLES_AT_ONCE = 20
FILES_NAMED = 10
RASTERS = frozenset((".tif", ".tiff", ".vrt", ".asc", ".img"))
"""Files without columns: only the raster tools read them."""
SHORTEST_STEM = 4
"""A file is known by its name without ending only from so many letters: `a.csv` is not meant by "a"."""


_SEVERAL = re.compile(
    r"\b(?:two tables|several files|collar|drill tables|another one|reference raster|at the coordinates of)",
    re.IGNORECASE,
)
_NEEDED = (
    (re.compile(r"\bsurvey stations\b", re.IGNORECASE), re.compile(r"az|dip|inc", re.IGNORECASE), ()),
    (re.compile(r"\b(?:drill|from-to) (?:intervals|holes|tables)\b", re.IGNORECASE), None, ("depth_from",)),
    (re.compile(r"\b(?:coordinates|locations|grid|places?)\b", re.IGNORECASE), None, ("longitude", "x")),
)
"""What a card says that its tool works on, and the columns that such a table has, by name or by role."""


@dataclass
class Tables:
    """The tables to work on; or the calls that must be made first; or the reason why there is nothing to work on."""

    profiles: list[Profile] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def find_tables(conversation: Conversation) -> Tables:
    """Look at the data files given, else at the only table there is, else at those the objective names."""
    paths = list(dict.fromkeys(conversation.data))
    tables = Tables()
    if not paths:
        listing = Call(LIST_FILES, {})
        answer = conversation.answer(listing)
        if answer is None:
            return Tables(calls=[listing])
        paths = _choose(answer, conversation.objective, tables)
    for start in range(0, len(paths), TABLES_AT_ONCE):
        _describe(conversation, paths[start : start + TABLES_AT_ONCE], tables)
    return tables


def targets_of(clause: str, profiles: Sequence[Profile], card: Card | None = None) -> list[str]:
    """The tables that a clause is about: those it names, else those with most of the columns it names, else all.

    A tool that takes several files at once has one table to begin with: of those the first that is what it works on.
    """
    if len(profiles) < 2:
        return [profile.path for profile in profiles]
    fits = _fits(card, profiles)
    named = [profile.path for profile in profiles if is_named(profile.path, clause)]
    if named and card and takes_several(card):
        first = sorted(named, key=lambda path: place_in(path, clause))
        return ([path for path in first if path in fits] or first)[:1]
    if named:
        return named
    profiles = [profile for profile in profiles if profile.path in fits] or list(profiles)
    words = words_of(clause)
    stems = {word.stem for word in words if word.kind == "word" and word.lower not in STOP}
    # Columns first; where they do not decide, "a map of the collars" is about the file named collar.csv.
    scores = {
        profile.path: (
            _named_columns(clause, profile),
            len(stems & set(stems_of(PurePosixPath(profile.path).stem.replace("_", " ")))),
        )
        for profile in profiles
    }
    best = max(scores.values())
    found = [path for path, score in scores.items() if score == best]
    return found[:1] if card and takes_several(card) else found


def _named_columns(clause: str, profile: Profile) -> int:
    told, _ = with_spoken(clause, profile)
    return len(finder_of(profile).find(told, words_of(told)).columns)


def takes_several(card: Card) -> bool:
    """Whether a tool works on several files at once, going by what its card says."""
    return bool(_SEVERAL.search(card.description))


def _fits(card: Card | None, profiles: Sequence[Profile]) -> list[str]:
    """The tables that are what a tool works on: rasters or not, intervals, stations, coordinates."""
    if card is None:
        return [profile.path for profile in profiles]
    is_raster = ("raster" in card.name and not card.name.startswith("sample")) or card.name.endswith(
        ("bands", "band_math")
    )
    kind = [profile for profile in profiles if is_raster_file(profile.path) is is_raster]
    for said, name, roles in _NEEDED:
        if said.search(card.description) and not is_raster:
            having = [profile for profile in kind if profile.with_role(*roles) or (name and _has_name(profile, name))]
            kind = having or kind
            break
    return [profile.path for profile in kind]


def _has_name(profile: Profile, pattern: re.Pattern[str]) -> bool:
    return any(pattern.match(column.name) for column in profile.columns)


def is_raster_file(path: str) -> bool:
    """Whether a file is a raster, by its ending."""
    return PurePosixPath(path).suffix.lower() in RASTERS


def place_in(path: str, text: str) -> int:
    """Where a text names a file first; behind its end where it does not."""
    name = PurePosixPath(path)
    places = [text.casefold().find(said.casefold()) for said in (path, name.name, name.stem)]
    return min((place for place in places if place >= 0), default=len(text))


def is_named(path: str, text: str) -> bool:
    """Whether a text names a file by its path, its name or its name without the ending."""
    name = PurePosixPath(path)
    said = [path, name.name] + ([name.stem] if len(name.stem) >= SHORTEST_STEM else [])
    return any(re.search(rf"(?<![\w.]){re.escape(each)}(?!\w)", text, re.IGNORECASE) for each in said)


def unusable(path: str, reason: str) -> str:
    """A sentence on a file that cannot be used; the reason may begin with its name already."""
    bare = reason.removeprefix(f"{path}: ").removeprefix(f"{PurePosixPath(path).name}: ")
    return f"{path} cannot be used: {bare}"


def _choose(listing: Answer, objective: str, tables: Tables) -> list[str]:
    """The data file when none was given."""
    if listing.is_error:
        tables.blockers.append(f"The files could not be listed: {listing.error}")
        return []
    found = listing.results.get("files")
    files = [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    paths = [string_of(entry, "path") for entry in files if entry.get("kind") == "table"]
    data = [path for path in paths if path and "results" not in PurePosixPath(path).parts[:-1]]
    named = [path for path in paths if path and is_named(path, objective)]
    if named or len(data) == 1:
        chosen = named or data
        tables.notes.append(f"No data file was given; taken: {', '.join(chosen)}")
        return chosen
    if not data:
        tables.blockers.append("There is no table in the workspace; put a data file there and name it")
        return []
    shown = ", ".join(data[:FILES_NAMED]) + (f" and {len(data) - FILES_NAMED} more" if len(data) > FILES_NAMED else "")
    tables.blockers.append(f"No data file was given and there are {len(data)}: {shown}. Name one")
    return []


def _describe(conversation: Conversation, paths: list[str], tables: Tables) -> None:
    tables.profiles += [Profile(path, (), None) for path in paths if is_raster_file(path)]
    paths = [path for path in paths if not is_raster_file(path)]
    if not paths:
        return
    call = Call(LIST_FILES, {"tables": paths})
    answer = conversation.answer(call)
    if answer is None:
        tables.calls.append(call)
        return
    if answer.is_error:
        tables.blockers.append(unusable(", ".join(paths), answer.error))
        return
    described = {string_of(entry, "path"): entry for entry in _entries(answer)}
    lacking = [path for path in paths if path not in described]
    if len(paths) > 1:
        # Many wide tables do not fit into one capped answer; one at a time they do.
        for path in lacking:
            _describe(conversation, [path], tables)
    for path in paths:
        entry = described.get(path, {})
        if string_of(entry, "error"):
            tables.blockers.append(unusable(path, string_of(entry, "error")))
        elif path in described or len(paths) == 1:
            tables.profiles.append(read_profile(entry, path))


def _entries(answer: Answer) -> list[dict[str, object]]:
    found = answer.results.get("tables")
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
