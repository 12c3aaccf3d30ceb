"""Takes a word for a column where only one can be meant: "gamma ray" for GR, "depth" for MaxDepth; and says so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from outcrop.models.offline.profile import Profile, joined
from outcrop.models.offline.words import squeeze, stem

SHORTEST = 4
# Mnemonics of well logs and analytes under the names that people say; the data give one of them or none.
SPOKEN: dict[str, tuple[str, ...]] = {
    "gammaray": ("GR", "GRC", "SGR", "HSGR", "ECGR"),
    "gamma": ("GR", "GRC", "SGR", "HSGR", "ECGR"),
    "density": ("RHOB", "RHOZ", "DEN", "ZDEN"),
    "bulkdensity": ("RHOB", "RHOZ", "DEN", "ZDEN"),
    "sonic": ("DT", "DTC", "DTCO", "AC"),
    "neutron": ("NPHI", "TNPH", "CNC"),
    "neutronporosity": ("NPHI", "TNPH", "CNC"),
    "caliper": ("CALI", "CAL", "HCAL"),
    "spontaneouspotential": ("SP",),
    "dissolvedsolids": ("TDS", "total dissolved solids"),
    "totaldissolvedsolids": ("TDS",),
    "electricalconductivity": ("EC", "conductivity"),
}
_SPOKEN_FORMS = tuple(
    (said, re.compile(rf"(?<![\w\"])(?:{said.replace(' ', '[ _-]?')})(?:[ -]rays?)?(?![\w\"])", re.IGNORECASE))
    for said in (
        "gamma ray", "bulk density", "neutron porosity", "spontaneous potential", "total dissolved solids",
        "dissolved solids", "electrical conductivity", "gamma", "density", "sonic", "neutron", "caliper",
    )
)  # fmt: skip
_ONE_WORD = re.compile(r"[\w.-]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def meant_by(said: str, profile: Profile) -> str | None:
    """The only column that goes by this name in the field, or the only one with this word in its name."""
    wanted = {squeeze(name) for name in SPOKEN.get(squeeze(said), ())}
    known = [column.name for column in profile.columns if squeeze(column.base) in wanted]
    if len(known) == 1:
        return known[0]
    if known or profile.more or len(said) < SHORTEST or " " in said:
        return None
    having = [
        column.name
        for column in profile.columns
        if stem(said) in {stem(part.lower()) for part in _PARTS.findall(column.name)}
    ]
    return having[0] if len(having) == 1 else None


def with_spoken(clause: str, profile: Profile) -> tuple[str, list[str]]:
    """The clause with what people call a log or an analyte replaced by its only column, and notes."""
    notes = []
    for said, pattern in _SPOKEN_FORMS:
        column = meant_by(said, profile) if pattern.search(clause) and said not in profile.folded_names else None
        if column and '"' not in column and squeeze(column) in {squeeze(name) for name in SPOKEN[squeeze(said)]}:
            clause = pattern.sub(f'"{column}"', clause)
            notes.append(f'"{said}" was taken as {column}, the only column that goes by this name')
    return clause, notes


def with_files(clause: str, profiles: Sequence[Profile]) -> str:
    """The clause with the bare name of a data file ("Au of trench_2") made that file's, where no column has it."""
    columns = joined(profiles)
    for name in (PurePosixPath(profile.path) for profile in profiles):
        if name.stem.casefold() not in columns:
            said = rf"(?<=\b)((?:of|in|from|for|on) (?:the )?){re.escape(name.stem)}(?![\w.])"
            told = name.name if _ONE_WORD.fullmatch(name.name) else "the file"
            clause = re.sub(said, rf"\g<1>{told}", clause, flags=re.IGNORECASE)
    return clause


def with_names(clause: str, unknown: list[str], profile: Profile) -> tuple[str, list[str]] | None:
    """The clause with each unknown name replaced by the column meant, and notes; None where one stays unknown."""
    notes = []
    for said in dict.fromkeys(unknown):
        column = meant_by(said, profile)
        if column is None or '"' in column:
            return None
        clause, count = re.subn(rf"(?<!\w){re.escape(said)}(?!\w)", f'"{column}"', clause, flags=re.IGNORECASE)
        if not count:
            return None
        notes.append(f'"{said}" was taken as {column}, the only column that goes by this name')
    return clause, notes
