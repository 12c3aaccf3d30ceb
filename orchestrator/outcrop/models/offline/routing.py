"""Corrects the choice of a tool where words alike ask for different things: "map of the clusters", "how many rows"."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from outcrop.models.offline.cards import Card
from outcrop.models.offline.forms import unit_at
from outcrop.models.offline.polarity import is_removing
from outcrop.models.offline.ranking import RANK, is_ranking
from outcrop.models.offline.retrieval import Match
from outcrop.models.offline.vocabulary import (
    DETERMINERS,
    GENERIC,
    MODIFIERS,
    NEUTRAL,
    POLITE,
    STOP,
    TASK_VERBS,
    word_set,
)
from outcrop.models.offline.words import Word, words_of

FILTER, QUERY, INSPECT, MISSING = "filter_rows", "query_data", "inspect_dataset", "check_missing"
ROWS = frozenset(("row", "plant", "specimen", "case", "rest", "individu"))
LABELS = frozenset(("cluster", "group", "class"))
FIGURES = word_set("mean average median total sum minimum maximum min max percentile quartile deviation")
# A restriction of the rows begins so. "Use", "take" and the like do only where rows or a comparison follow.
SCOPING = word_set("for among amongst within considering")
RESTRICTING = word_set(
    """restrict limit keep retain exclude excluding omit remove removing drop dropping delete discard filter subset
    select leave screen throw reject weed cull narrow focus ignoring ignore considering extract eliminate"""
)
CHOOSING = word_set("take use using pick choose analyse analyze get with in only just of on from consider")
TAKING = word_set("take use pick choose get")
COMPARING = word_set(
    """= == != > < >= <= ≥ ≤ ≠ above below over under between exceeding equals equal contains contain more less greater
    least most missing is are where whose"""
)
TABLE_WORDS = word_set("count number total data table dataset file")
LOADING = word_set("load open read import loaded opened use using with from")
COUNTED = frozenset((("how", "many"), ("number", "of"), ("count", "the"), ("count", "of"), ("counts", "of")))
SEARCHING = word_set("find show list display print get search see")
LOOKING = frozenset(("show", "list", "plot", "print", "see"))
PREPOSITIONS = word_set(
    "on in with from of at within only by to where when per across over under above below using for"
)
HARMLESS_ASIDES = word_set("addition summary short particular general order begin start step part fact case this")
SORTED_OUT = frozenset(("miss", "null", "empti", "blank", "gap", "na", "nan"))
COUNTING_TOOLS = frozenset(("choose_clusters", "censored_summary", "flag_qaqc", "qaqc_duplicates", "verify_claims"))
"""What these count is no row of the table."""
RANKED_INSTEAD = frozenset((QUERY, FILTER, INSPECT, RANK))
"""What words such as "show" and "rows" ask for where the rows with the most of something are meant."""
ODD = frozenset(("anomali", "outlier"))


def reroute(clause: str, match: Match | None, cards: Sequence[Card]) -> Match | None:
    """The tool that is meant: the one that was found, another, or none."""
    words = words_of(clause)
    stems = {word.stem for word in words}
    known = {card.name: card for card in cards}
    if is_restriction(words, match):
        return _of(known, FILTER)
    if RANK in known and (match is None or match.card.name in RANKED_INSTEAD) and is_ranking(words):
        return _of(known, RANK, match)
    if _is_row_search(words) and (match is None or match.card.name in ("plot_map", QUERY)):
        # "Find samples with Zn > 100 and map them" goes on with these rows; "show" and "list" only look at them.
        return _of(known, QUERY if stems & LOOKING else FILTER)
    if _is_counting(words):
        return _counted(words, stems, match, known)
    if other := _by_form(clause, words, match, known):
        return other
    if match is None:
        return None
    name = match.card.name
    if name == "list_files" and stems & SORTED_OUT:
        return _of(known, MISSING)
    lower = {word.lower for word in words}
    if name == "summarize" and stems & ODD and stems & {"find", "flag"}:
        return _of(known, "compute_anomaly", match)
    if name == "plot_clusters" and "map" in stems:
        return _of(known, "plot_map", match)
    if name == "cluster" and FIGURES & lower and not lower & {"cluster", "group", "k-means"} - _after_by(words):
        return _of(known, "summarize", match)
    if name == RANK and next(word.lower for word in words if word.lower not in POLITE | DETERMINERS) in FIGURES:
        # "The total of the ten greatest" is a figure, not the ten rows.
        return _of(known, "summarize", match)
    literal = {"reduce_dimensions": ("load", "loading"), MISSING: ("complet", "completeness")}.get(name)
    if literal and all(words[at].stem == literal[0] and literal[1] not in words[at].lower for at in match.words):
        return None
    return match


_FORMULA = re.compile(r"(?<![<>=!])=(?!=)\s*(?=.*(?:[-+*/(]|\*\*))[\w`(.-]")
_CONVERT = frozenset(("convert", "express", "change", "transform", "recalculate", "bring", "harmonise", "harmonize"))
_COMPARING_VERBS = frozenset(("compare", "test", "differ", "differs"))
_BETWEEN = frozenset(("between", "across", "among", "by", "per"))


def _by_form(clause: str, words: Sequence[Word], match: Match | None, known: dict[str, Card]) -> Match | None:
    """What a form tells better than words: a formula after "=", a unit after "to", groups after "between"."""
    lower = [word.lower for word in words]
    first = next((word for word in lower if word not in POLITE), "")
    name = match.card.name if match else ""
    if _FORMULA.search(clause) and (match is None or first in NEUTRAL | {"derive", "add", "create", "calculate"}):
        return _of(known, "derive_column") if "derive_column" in known else None
    if "raster" in {word.stem for word in words} or any(
        PurePosixPath(word.text).suffix in RASTER_ENDINGS for word in words
    ):
        raster = RASTER_TOOLS.get(name)
        return _of(known, raster, match) if raster in known else None
    if first in _CONVERT and name in ("", "convert_types", "reproject") and "convert_units" in known:
        units = [unit_at(words, at + 1) for at in range(len(words) - 1) if lower[at] in ("to", "into", "in")]
        if any(found and found[0].lower() not in ("in", "a") for found in units):
            return _of(known, "convert_units", match)
    if first in ("convert", "change", "cast") and name == "" and "convert_types" in known and _TYPES & set(lower):
        return _of(known, "convert_types")
    labels = LABELS & {word.stem for word in words}
    is_compared = bool(_COMPARING_VERBS & set(lower)) and bool(_BETWEEN & set(lower))
    if is_compared and name in ("", "summarize") and not labels and "compare_groups" in known:
        return _of(known, "compare_groups", match)
    return None


_TYPES = word_set("number numbers numeric text string strings date dates integer integers boolean whole")
RASTER_ENDINGS = frozenset((".tif", ".tiff", ".vrt"))
RASTER_TOOLS = {"summarize": "inspect_raster", "inspect_dataset": "inspect_raster", "reproject": "reproject_raster"}


_APART = re.compile(
    r"\b(?:set|tell|keep|drive|make|separate|distinguish|split)s?\b.*\b(?:groups?|clusters?|apart|different)\b",
    re.IGNORECASE,
)


def is_way(words: Sequence[Word], match: Match | None, columns: Collection[str]) -> bool:
    """Whether a clause says how the task before it is to be done: "Use centred log-ratios", "standardise"."""
    said = [word for word in words if word.kind == "word" and word.lower not in POLITE]
    if match is None or match.card.name not in WAYS or not said:
        return False
    is_bare = all(word.lower in STOP | GENERIC | NEUTRAL for word in said[1:])
    has_columns = any(word.lower in columns for word in said)
    return not has_columns and (said[0].lower in MODIFIERS or is_bare)


def is_about_groups(clause: str, match: Match | None) -> bool:
    """Whether a clause after a clustering is about that: how many groups are tried, and what tells them apart."""
    if match is None:
        return bool(_APART.search(clause))
    return match.card.name == "choose_clusters"


def asks_for_number(clause: str) -> bool:
    """Whether the best number of groups is to be found first."""
    return bool(_BEST_NUMBER.search(clause))


def without_asides(clause: str) -> str:
    """A task with what was added to it, without the question what tells the groups apart: that is answered anyway."""
    return ". ".join(part for part in clause.split(". ") if not _APART.search(part))


_BEST_NUMBER = re.compile(r"\b(?:silhouette|elbow|gap statistic|best number|optimal number)\b", re.IGNORECASE)
WAYS = frozenset(("standardize", "normalize", "log_transform", "logratio_transform"))


def is_restriction(words: Sequence[Word], match: Match | None) -> bool:
    """Whether a clause says which rows to work on, so that what follows must not be done on all."""
    said = [word for word in words if word.lower not in POLITE - {"only"}]
    if not said:
        return False
    first = said[0].lower
    has_rows = any(word.stem in ROWS for word in said[1:])
    # "For anomalous samples, ..." says which rows, whatever else "anomalous samples" asks for.
    is_scoping = first in SCOPING | CHOOSING and has_rows and not any(word.lower in TASK_VERBS for word in said[1:])
    if match and match.card.name == "plot_map" and is_removing(said):
        # "Samples where Zn is above 100 are to be dropped" does not ask where the samples are.
        return True
    if match and match.card.name != FILTER and not is_scoping:
        return False
    compares = any(word.lower in COMPARING for word in said[1:])
    is_whole = all(word.lower in STOP | GENERIC | SCOPING | CHOOSING for word in said) and not compares
    if first in RESTRICTING or is_removing(said):
        return True
    if first in SCOPING:
        return not is_whole
    return first in CHOOSING and (has_rows or compares or _takes_some(said)) and not is_whole


def _takes_some(said: Sequence[Word]) -> bool:
    """ "Take the Dorset limestones": some of the things that the rows stand for, in whatever words."""
    rest = [word for word in said[1:] if word.lower not in STOP]
    is_named = len(rest) > 1 and any(word.text[:1].isupper() for word in rest[:-1])
    return said[0].lower in TAKING and is_named and rest[-1].kind == "word" and rest[-1].lower.endswith("s")


_TRAILING = re.compile(
    r"^(?P<task>.+?)[,\s]+(?P<rows>(?:(?:for|of|in|among|from|on|over|across|using|with)\s+(?:only\s+|just\s+)?"
    r"|(?=excluding|without|except|ignoring|omitting))"
    r"(?:(?:excluding|without|except|ignoring|omitting)\s+(?:for\s+)?)?(?:the\s+|all\s+|those\s+)*"
    r"(?:rows|samples|records|observations|plants|specimens|those|ones)\s+"
    r"(?:with|where|having|that|which|whose|in which|for which)\s.+|where\s.+)$",
    re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:by|per|into|using|against|colou?red|each|then|versus|vs)\b", re.IGNORECASE)


def parted(clause: str) -> tuple[str, str] | None:
    """A task and the rows it is about: "mean Zn" and "of samples with Pb above 50"; None where it is not so plain."""
    found = _TRAILING.match(clause)
    if not found or _MORE.search(found["rows"]) or '"' in clause.replace(found["rows"], ""):
        return None
    words = words_of(found["rows"])
    compares = any(word.lower in COMPARING - {"where", "whose"} or word.kind == "number" for word in words)
    return (found["task"], found["rows"]) if compares or any(word.stem == "miss" for word in words) else None


def is_loading(words: Sequence[Word]) -> bool:
    """ "Load the data": what every run does anyway."""
    said = [word for word in words if word.kind not in ("mark", "file") and word.lower not in STOP]
    is_file = any(word.kind == "file" for word in words)
    return bool(said) and said[0].lower in LOADING - {"use", "using", "with", "from"} and all(
        word.lower in LOADING | GENERIC | STOP for word in said
    ) and (is_file or len(said) > 1)  # fmt: skip


def is_scope(clause: str) -> bool:
    """Whether a restriction holds for its own sentence only: "For samples with ..., summarise Zn." """
    first = next((word.lower for word in words_of(clause)), "")
    return first in SCOPING | {"in", "with", "of", "using"}


def _is_row_search(words: Sequence[Word]) -> bool:
    said = [word for word in words if word.lower not in POLITE]
    is_search = bool(said) and said[0].lower in SEARCHING
    compares = any(word.lower in COMPARING for word in said)
    return is_search and compares and any(word.stem in ROWS for word in said) and not _is_counting(words)


def is_aside(words: Sequence[Word]) -> bool:
    """Whether a clause is but a phrase that says about what, or how, the next one is: "On Dream island, ..."."""
    said = [word for word in words if word.kind != "mark"]
    if any(word.stem in ROWS for word in said) and any(word.lower in COMPARING for word in words):
        # "Hide samples with Zn > 100": whatever it means, what follows is not about all rows.
        return True
    if not said or (said[0].lower not in PREPOSITIONS and words[0].lower not in PREPOSITIONS):
        return False
    return not all(word.lower in STOP | GENERIC | POLITE | HARMLESS_ASIDES for word in said)


def _is_counting(words: Sequence[Word]) -> bool:
    said = [word.lower for word in words if word.kind == "word"]
    pairs = list(pairwise(said))
    return any(pair in COUNTED for pair in pairs) or said[:1] in (["count"], ["distinct"]) or "distinct" in said


def _counted(words: Sequence[Word], stems: set[str], match: Match | None, known: dict[str, Card]) -> Match | None:
    """ "How many": rows of the table, rows that meet a condition, values of a column; nothing else is counted."""
    name = match.card.name if match else ""
    if match and name in COUNTING_TOOLS:
        return match
    if "many" not in {word.lower for word in words} and name not in ("", QUERY, "summarize", MISSING, "plot_map"):
        return match
    if stems & SORTED_OUT and "row" not in stems:
        return _of(known, MISSING)
    if stems & ODD:
        return match if name == "compute_anomaly" else None
    if "duplic" in stems:
        return _of(known, "detect_cleaning_issues")
    left = [word for word in words if word.lower not in STOP | NEUTRAL and word.kind != "mark"]
    is_size = all(word.stem in ("row", "column") or word.lower in TABLE_WORDS or word.kind == "file" for word in left)
    if left and is_size and stems & {"row", "column"}:
        return _of(known, INSPECT)
    return _of(known, QUERY) if QUERY in known else None


def _after_by(words: Sequence[Word]) -> set[str]:
    """Words that follow "per", "by", "each" and the like: they say how to group, not what to do."""
    cues = ("per", "by", "each", "every", "between", "the", "of", "across", "within")
    return {word.lower for before, word in pairwise(words) if before.lower in cues}


def _of(known: dict[str, Card], name: str, match: Match | None = None) -> Match | None:
    card = known.get(name)
    return Match(card, 0.0, match.words if match else frozenset()) if card else match
