"""Corrects the choice of a tool where words alike ask for different things: "map of the clusters", "how many rows"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from outcrop.models.offline.cards import Card
from outcrop.models.offline.polarity import is_removing
from outcrop.models.offline.retrieval import Match
from outcrop.models.offline.vocabulary import GENERIC, NEUTRAL, POLITE, STOP, TASK_VERBS, word_set
from outcrop.models.offline.words import Word, words_of

FILTER, QUERY, INSPECT, MISSING = "filter_rows", "query_data", "inspect_dataset", "check_missing"
ROWS = frozenset(("row", "penguin", "specimen", "case", "rest", "individu"))
LABELS = frozenset(("cluster", "group", "class"))
FIGURES = word_set("mean average median total sum minimum maximum min max percentile quartile deviation")
# A restriction of the rows begins so. "Use", "take" and the like do only where rows or a comparison follow.
SCOPING = word_set("for among amongst within considering")
RESTRICTING = word_set(
    """restrict limit keep retain exclude excluding omit remove removing drop dropping delete discard filter subset
    select leave screen throw reject weed cull narrow focus ignoring ignore considering extract eliminate"""
)
CHOOSING = word_set("take use using pick choose analyse analyze get with in only just of on from consider")
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
ODD = frozenset(("anomali", "outlier"))


def reroute(clause: str, match: Match | None, cards: Sequence[Card]) -> Match | None:
    """The tool that is meant: the one that was found, another, or none."""
    words = words_of(clause)
    stems = {word.stem for word in words}
    known = {card.name: card for card in cards}
    if is_restriction(words, match):
        return _of(known, FILTER)
    if _is_row_search(words) and (match is None or match.card.name in ("plot_map", QUERY)):
        # "Find samples with Zn > 100 and map them" goes on with these rows; "show" and "list" only look at them.
        return _of(known, QUERY if stems & LOOKING else FILTER)
    if _is_counting(words):
        return _counted(words, stems, match, known)
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
    literal = {"reduce_dimensions": ("load", "loading"), MISSING: ("complet", "completeness")}.get(name)
    if literal and all(words[at].stem == literal[0] and literal[1] not in words[at].lower for at in match.words):
        return None
    return match


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
    return first in CHOOSING and (has_rows or compares) and not is_whole


_TRAILING = re.compile(
    r"^(?P<task>.+?)[,\s]+(?P<rows>(?:(?:for|of|in|among|from|on|over|across|using|with)\s+(?:only\s+|just\s+)?"
    r"|(?=excluding|without|except|ignoring|omitting))"
    r"(?:(?:excluding|without|except|ignoring|omitting)\s+(?:for\s+)?)?(?:the\s+|all\s+|those\s+)*"
    r"(?:rows|samples|records|observations|penguins|specimens|those|ones)\s+"
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
