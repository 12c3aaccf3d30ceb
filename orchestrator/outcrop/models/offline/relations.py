"""Claims about two columns in words: by tool, and of which direction."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from outcrop.models.offline.answers import cut
from outcrop_schemas import limits

CORRELATE, COMPARE, REGRESS = "correlate", "compare_groups", "regression"
CLAIMS = {
    CORRELATE: "{first} and {second} are {way}correlated beyond chance",
    COMPARE: "{first} differs beyond chance between the groups of {second}",
    REGRESS: "{first} {way}s with {second} beyond chance",
}
_WAYS = {CORRELATE: ("", "positively ", "negatively "), REGRESS: ("change", "increase", "decrease"), COMPARE: ("",)}
"""Of no direction, of both signs together, then of each."""
_RISING = {
    REGRESS: re.compile(r"\b(?:increas\w*|ris(?:e|es|ing)|grow(?:s|ing)?)\b", re.IGNORECASE),
    CORRELATE: re.compile(r"\bpositively\b", re.IGNORECASE),
}
_FALLING = {
    REGRESS: re.compile(r"\b(?:decreas\w*|declin\w*|fall(?:s|ing)?)\b", re.IGNORECASE),
    CORRELATE: re.compile(r"\b(?:negatively|inversely)\b", re.IGNORECASE),
}
_DENYING = re.compile(r"\b(?:not|no|never|\w+n't)\b", re.IGNORECASE)


def claim_of(tool: str, first: str, second: str, path: str, is_rising: bool | None = None) -> str:
    if tool == CORRELATE:
        # Whichever was named first.
        first, second = sorted((first, second))
    way = _WAYS[tool][0 if is_rising is None else 1 if is_rising else 2]
    said = CLAIMS[tool].format(first=first, second=second, way=way)
    return cut(f"{said}, in {PurePosixPath(path).name}", limits.HYPOTHESIS_CHARS)


def asked_direction(tool: str, clause: str) -> bool | None:
    """Whether a clause asks after a rise; None where it asks after neither, both, or what is not so."""
    if tool not in _RISING or _DENYING.search(clause):
        return None
    is_rising, is_falling = bool(_RISING[tool].search(clause)), bool(_FALLING[tool].search(clause))
    return is_rising if is_rising is not is_falling else None


def directed_claims(tool: str, first: str, second: str, path: str, estimate: float) -> dict[str, bool]:
    return {claim_of(tool, first, second, path, is_rising): (estimate > 0) is is_rising for is_rising in (True, False)}
