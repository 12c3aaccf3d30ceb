"""Ranks a catalogue of tools for a request: lexical and dense scores, fused.

The two are brought to one scale by their mean and standard deviation over the catalogue (z-scores) and summed with
stated weights. Ranks are not fused (RRF): on a paraphrase, where no word is shared, the lexical order is noise, and
its z-scores then say so while its ranks do not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest, nsmallest
from itertools import count
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING

from outcrop_schemas.errors import UnknownNameError
from outcrop_specialists.context.selection import kept
from outcrop_specialists.context.selection.cards import ToolCard, digest_of
from outcrop_specialists.context.selection.clauses import clauses_of, plain
from outcrop_specialists.context.selection.lexical import LexicalIndex, lexical_data_of, terms_of

if TYPE_CHECKING:
    from outcrop_specialists.context.selection.dense import DenseIndex
    from outcrop_specialists.context.selection.embedding import Embedder

WHOLE_WEIGHT = 0.5
"""Of a request in several clauses: what the request as a whole counts for beside the clause that fits a tool best."""
RAISES = tuple(1 / rank for rank in range(1, 9))
"""What the first tools of a clause are raised by, in standard deviations."""
_DIGITS = 6
"""Further ones differ between machines: what is equal is then ordered by name everywhere."""

WORDS_LEAST, KNOWN_SHARE = 3, 0.35
"""Of 489 requests in English 0.4 of the words at least are known, of ones in other European languages 0.3 at most."""


@dataclass(frozen=True)
class RankedTool:
    """A tool and how well it fits: the fused score and its parts as they were measured; `dense` is None without an
    embedder."""

    name: str
    score: float
    lexical: float
    dense: float | None = None

    @property
    def is_found(self) -> bool:
        """Whether anything speaks for it."""
        return self.lexical > 0 or self.dense is not None


class ToolIndex:
    """A fixed catalogue, indexed once.

    `cache` is a folder in which postings and vectors of the catalogue are kept for the next process; the embedder is
    loaded at the first ranking.
    """

    def __init__(self, cards: Sequence[ToolCard], embedder: Embedder | None = None, cache: Path | None = None) -> None:
        self._cards = {card.name: card for card in sorted(cards, key=lambda card: card.name)}
        if len(self._cards) != len(cards):
            raise ValueError("two tools of one name")
        # Ordered by name, so that places order tools of equal score by their names.
        self._names = tuple(self._cards)
        self._embedder, self._cache = embedder, cache
        self._digest = digest_of(self._cards.values())
        self._lexical = LexicalIndex(
            kept.lexical_data(cache, self._digest, lambda: lexical_data_of(list(self._cards.values())))
        )

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def embedder(self) -> Embedder | None:
        return self._embedder

    def card(self, name: str) -> ToolCard:
        """The card of this name. Raises UnknownNameError."""
        if name not in self._cards:
            from difflib import get_close_matches

            raise UnknownNameError("tool", name, get_close_matches(name, self._cards), self._cards)
        return self._cards[name]

    def knows(self, request: str) -> bool:
        """Whether it is in words of the catalogue: one in another language has few of them, and cannot be ranked."""
        known, words = self._lexical.known_words(plain(request))
        return not words or (known > 0 and (words < WORDS_LEAST or known >= KNOWN_SHARE * words))

    def rank(self, request: str, among: Collection[str] | None = None, most: int | None = None) -> list[RankedTool]:
        """The `most` best tools (or all) of all tools (or those `among`), best first; equal ones by name."""
        said = plain(request)
        clauses = clauses_of(said)
        pieces = [said, *clauses] if len(clauses) > 1 else [said]
        lexical = [self._lexical.found(terms_of(piece)) for piece in pieces]
        wanted = None if among is None else frozenset(among)
        places = [place for place, name in enumerate(self._names) if wanted is None or name in wanted]
        most = len(places) if most is None else most
        if self._dense is None:
            return self._by_words(lexical, places, most)
        return self._by_all(self._dense, pieces, lexical, places, most)

    def _by_words(self, lexical: Sequence[Mapping[int, float]], places: Sequence[int], most: int) -> list[RankedTool]:
        """The ranking without an embedder, and without any library that is dear to load."""
        by_piece = [[found.get(place, 0.0) for place in range(len(self._names))] for found in lexical]
        best = _best(by_piece)
        scores = _z_scores(best)
        for place, raised in _raised(by_piece[1:]).items():
            scores[place] += raised
        order = nsmallest(most, ((-round(scores[place], _DIGITS), place) for place in places))
        return [RankedTool(self._names[place], -score, round(best[place], _DIGITS)) for score, place in order]

    def _by_all(
        self,
        index: DenseIndex,
        pieces: Sequence[str],
        lexical: Sequence[Mapping[int, float]],
        places: Sequence[int],
        most: int,
    ) -> list[RankedTool]:
        """The ranking with what the embedder says."""
        from outcrop_specialists.context.selection import dense

        if not places:
            return []
        parts = index.measures(pieces, lexical)
        scores = dense.fused(parts, WHOLE_WEIGHT, RAISES).round(_DIGITS)[places]
        by_words, likeness = (dense.best(by_piece, WHOLE_WEIGHT) for _, by_piece in parts[:2])
        return [
            RankedTool(
                self._names[places[at]],
                float(scores[at]),
                round(float(by_words[places[at]]), _DIGITS),
                round(float(likeness[places[at]]), _DIGITS),
            )
            for at in dense.first(scores, most)
        ]

    @cached_property
    def _dense(self) -> DenseIndex | None:
        if self._embedder is None:
            return None
        from outcrop_specialists.context.selection.dense import DenseIndex

        return DenseIndex(list(self._cards.values()), self._digest, self._embedder, self._cache)


def _best(by_piece: Sequence[Sequence[float]]) -> Sequence[float]:
    """One measure a tool: of the whole request, and where it has clauses also of the one that fits the tool best."""
    whole, *clauses = by_piece
    if not clauses:
        return whole
    best = map(max, *clauses) if len(clauses) > 1 else clauses[0]
    return [WHOLE_WEIGHT * of_whole + (1 - WHOLE_WEIGHT) * most for of_whole, most in zip(whole, best, strict=True)]


def _raised(clauses: Sequence[Sequence[float]]) -> dict[int, float]:
    """What tools are raised by, so that a clause that is like no other does not go under."""
    raised: dict[int, float] = {}
    for scores in clauses:
        first = nlargest(len(RAISES), zip(scores, count(0, -1), strict=False))
        for raise_, (_, place) in zip(RAISES, first, strict=False):
            raised[-place] = max(raised.get(-place, 0.0), raise_)
    return raised


def _z_scores(values: Sequence[float]) -> list[float]:
    """Values in standard deviations from their mean; a spread of rounding errors only is none."""
    mean = sum(values) / max(len(values), 1)
    variance = sum(map(mul, values, values)) / max(len(values), 1) - mean * mean
    scale = variance**-0.5 if variance > 1e-12 * mean * mean else 0.0
    return [(value - mean) * scale for value in values]
