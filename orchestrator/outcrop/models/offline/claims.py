"""Binds a figure that somebody claims: "verify that the mean of Cu is 0.36"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outcrop.models.offline.forms import Forms, plain
from outcrop.models.offline.mentions import Mentions
from outcrop.models.offline.profile import Profile
from outcrop.models.offline.schema import Property
from outcrop.models.offline.words import PERCENTILE, Word

CLAIMS = "claims"
# Longest first: "number of rows" is no count of values.
STATISTICS: tuple[tuple[str, str], ...] = (
    ("standard deviation", "sd"),
    ("number of rows", "rows"),
    ("number of samples", "rows"),
    ("missing values", "missing"),
    ("distinct values", "distinct"),
    ("below detection", "below_limit"),
    ("pearson correlation", "pearson"),
    ("spearman correlation", "spearman"),
    ("average", "mean"),
    ("mean", "mean"),
    ("median", "median"),
    ("percentile", "percentile"),
    ("maximum", "max"),
    ("minimum", "min"),
    ("highest", "max"),
    ("lowest", "min"),
    ("max", "max"),
    ("min", "min"),
    ("sum", "sum"),
    ("total", "sum"),
    ("missing", "missing"),
    ("rows", "rows"),
    ("samples", "rows"),
    ("sd", "sd"),
)
PAIRED = frozenset(("pearson", "spearman"))


def claim_forms(
    words: Sequence[Word], properties: Sequence[Property], mentions: Mentions, profile: Profile
) -> Forms | None:
    """One claim, or why it cannot be read; None where the tool checks none."""
    if not any(prop.name == CLAIMS and prop.is_list and prop.fields for prop in properties):
        return None
    forms = Forms()
    statistic, places = _statistic(words, mentions)
    numbers = [at for at, word in enumerate(words) if word.number is not None and mentions.at(at) is None]
    percent = next((at for at in numbers if statistic == "percentile" and _is_percent(words, at)), None)
    named = next((word for word in words if PERCENTILE.fullmatch(word.text)), None)
    values = [at for at in numbers if at != percent]
    columns = mentions.columns
    wanted = 0 if statistic == "rows" else 2 if statistic in PAIRED else 1
    if named and not statistic:
        statistic, places = "percentile", {words.index(named)}
    if not statistic or len(values) != 1 or len(columns) != wanted:
        forms.refusals.append(
            "a claim is one figure of one column, such as: the mean of A is 1.5; "
            f"read here: {statistic or 'no statistic'}, {', '.join(columns) or 'no column'}, {len(values)} values"
        )
        return forms
    claim: dict[str, Any] = {"path": profile.path, "statistic": statistic}
    if statistic == "percentile":
        if percent is None and named is None:
            forms.refusals.append("which percentile is claimed is not said")
            return forms
        claim["percent"] = plain(words[percent]) if percent is not None else float(named.text[1:]) if named else None
    if columns:
        claim["column"] = columns[0]
    if wanted == 2:
        claim["with_column"] = columns[1]
    claim["value"] = plain(words[values[0]])
    forms.arguments[CLAIMS] = [claim]
    forms.used = {*places, *numbers, *mentions.used}
    return forms


def _statistic(words: Sequence[Word], mentions: Mentions) -> tuple[str, set[int]]:
    for said, statistic in STATISTICS:
        parts = said.split()
        for at in range(len(words) - len(parts) + 1):
            places = range(at, at + len(parts))
            if [words[place].lower for place in places] == parts and all(
                mentions.at(place) is None for place in places
            ):
                return statistic, set(places)
    return "", set()


def _is_percent(words: Sequence[Word], at: int) -> bool:
    return any(word.lower in ("percentile", "percentiles") for word in words[at + 1 : at + 3])
