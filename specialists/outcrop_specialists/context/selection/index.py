"""Ranks a catalogue of tools for a request: lexical and dense scores, fused.

The two are brought to one scale by their mean and standard deviation over the catalogue (z-scores) and summed with
stated weights. Ranks are not fused (RRF): on a paraphrase, where no word is shared, the lexical order is noise, and
its z-scores then say so while its ranks do not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest, nsmallest
from itertools import count
from operator import add, mul
from pathlib import Path
from typing import TYPE_CHECKING

from outcrop_schemas.errors import UnknownNameError
from outcrop_specialists.context.selection import kept
from outcrop_specialists.context.selection.cards import ToolCard, digest_of
from outcrop_specialists.context.selection.clauses import clauses_of, plain
from outcrop_specialists.context.selection.embedding import one_thread
from outcrop_specialists.context.selection.lexical import LexicalIndex, lexical_data_of, terms_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from outcrop_specialists.context.selection.embedding import Embedder, Vectors

LEXICAL_WEIGHT, LEXICAL_WEIGHT_WITH_PHRASES = 0.2, 0.4
"""Of the lexical part; the dense part has the rest. Phrases hold the words with which people ask, so that shared words
then mean more; names and descriptions alone hold few of them."""
LEARNT_SHARE = 0.5
"""What the learnt part has of the dense weight, where the catalogue has phrases to learn from."""
PHRASES_FROM = 5
"""Texts a tool, on average, from which a catalogue has phrases; of fewer nothing is learnt."""
RIDGE = 3.0
HEAD_TIMES = 3.0
"""In learning, a head counts as so many phrases."""
WHOLE_WEIGHT = 0.5
"""Of a request in several clauses: what the request as a whole counts for beside the clause that fits a tool best."""
RAISE, RAISED = 1.0, 8
"""What the first tool of a clause is raised by, in standard deviations (the second by a half, the third by a third),
and how many are."""
HEAD_WEIGHT = 0.5
"""What the likeness to name and description counts for beside the likeness to the nearest of a tool's phrases."""
_DIGITS = 6
"""Further ones differ between machines: what is equal is then ordered by name everywhere."""


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


_ByPiece = Sequence[Sequence[float]]
"""A measure of each tool for each piece of a request: first the whole, then its clauses."""


@dataclass(frozen=True)
class _Part:
    weight: float
    by_piece: _ByPiece


class ToolIndex:
    """A fixed catalogue, indexed once.

    `cache` is a folder in which postings and vectors of the catalogue are kept for the next process; the embedder is
    loaded at the first ranking.
    """

    def __init__(self, cards: Sequence[ToolCard], embedder: Embedder | None = None, cache: Path | None = None) -> None:
        self._cards = {card.name: card for card in sorted(cards, key=lambda card: card.name)}
        if len(self._cards) != len(cards):
            raise ValueError("two tools of one name")
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

    def rank(self, request: str, among: Collection[str] | None = None, most: int | None = None) -> list[RankedTool]:
        """The `most` best tools (or all) of all tools (or those `among`), best first; equal ones by name."""
        said = plain(request)
        clauses = clauses_of(said)
        pieces = [said, *clauses] if len(clauses) > 1 else [said]
        parts = self._parts(pieces)
        fused = _fused(parts)
        lexical = _best(parts[0].by_piece)
        dense = _best(parts[1].by_piece) if len(parts) > 1 else None
        wanted = None if among is None else frozenset(among)
        # Cards are ordered by name, so that places order tools of equal score by their names.
        order = [
            (-round(score, _DIGITS), place)
            for place, (name, score) in enumerate(zip(self._names, fused, strict=True))
            if wanted is None or name in wanted
        ]
        return [
            RankedTool(
                self._names[place],
                -score,
                round(lexical[place], _DIGITS),
                None if dense is None else round(dense[place], _DIGITS),
            )
            for score, place in (sorted(order) if most is None else nsmallest(most, order))
        ]

    def _parts(self, pieces: Sequence[str]) -> list[_Part]:
        """What is measured: the lexical part, and with an embedder the likeness and, where something was learnt, it."""
        lexical = [self._lexical.scores(terms_of(piece)) for piece in pieces]
        if self._embedder is None:
            return [_Part(1.0, lexical)]
        likeness, learnt = self._likeness(pieces, self._embedder)
        if learnt is None:
            return [_Part(LEXICAL_WEIGHT, lexical), _Part(1 - LEXICAL_WEIGHT, likeness)]
        dense = 1 - LEXICAL_WEIGHT_WITH_PHRASES
        return [
            _Part(LEXICAL_WEIGHT_WITH_PHRASES, lexical),
            _Part(dense * (1 - LEARNT_SHARE), likeness),
            _Part(dense * LEARNT_SHARE, learnt),
        ]

    def _likeness(self, pieces: Sequence[str], embedder: Embedder) -> tuple[_ByPiece, _ByPiece | None]:
        """Of each piece with each tool: cosines (half to its head, half to whatever of it is nearest), and how far the
        piece lies along what was learnt to tell the tools apart by."""
        import numpy as np

        table, starts = self._vectors
        directions = self._directions
        vectors = _unit(embedder.embed(pieces))
        with one_thread():
            near = vectors @ table.T
            along = None if directions is None else vectors @ directions
        nearest = np.maximum.reduceat(near, starts, axis=1)
        likeness = HEAD_WEIGHT * near[:, starts] + (1 - HEAD_WEIGHT) * nearest
        return likeness.tolist(), None if along is None else along.tolist()

    @cached_property
    def _directions(self) -> Vectors | None:
        """One direction a tool, along which its own texts lie and those of others do not: ridge regression of
        membership on the vectors (Hoerl & Kennard 1970), in closed form."""
        import numpy as np

        table, starts = self._vectors
        if len(table) < PHRASES_FROM * len(starts):
            return None
        owner = np.repeat(np.arange(len(starts)), np.diff([*starts, len(table)]))
        membership = (owner[:, None] == np.arange(len(starts))).astype(np.float64)
        times = np.ones(len(table))
        times[starts] = HEAD_TIMES
        weighted = (table * times[:, None]).T.astype(np.float64)
        square = weighted @ table + RIDGE * np.eye(table.shape[1])
        return np.linalg.solve(square, weighted @ (membership - membership.mean(axis=0))).astype(np.float32)

    @cached_property
    def _vectors(self) -> tuple[Vectors, NDArray[np.int64]]:
        """One row for the head of each card and each of its phrases, and where each card begins."""
        import numpy as np

        texts: list[str] = []
        starts: list[int] = []
        for card in self._cards.values():
            starts.append(len(texts))
            texts += [card.head, *card.phrases]
        embedder = self._embedder
        assert embedder is not None
        table = kept.vectors(self._cache, self._digest, embedder, len(texts), lambda: _unit(embedder.embed(texts)))
        return table, np.asarray(starts)


def _fused(parts: Sequence[_Part]) -> list[float]:
    """One score a tool: the weighted sum of z-scores. Of a request in clauses, the first tools of each clause are
    raised, so that a clause that is like no other does not go under."""
    found = _summed([(part.weight, _best(part.by_piece)) for part in parts])
    raised: dict[int, float] = {}
    for clause in range(1, len(parts[0].by_piece)):
        scores = _summed([(part.weight, part.by_piece[clause]) for part in parts])
        for rank, (_, place) in enumerate(nlargest(RAISED, zip(scores, count(0, -1), strict=False))):
            raised[-place] = max(raised.get(-place, 0.0), RAISE / (1 + rank))
    for place, raise_ in raised.items():
        found[place] += raise_
    return found


def _best(by_piece: _ByPiece) -> Sequence[float]:
    """One measure a tool: of the whole request, and where it has clauses also of the one that fits the tool best."""
    whole, *clauses = by_piece
    if not clauses:
        return whole
    best = map(max, *clauses) if len(clauses) > 1 else clauses[0]
    return [WHOLE_WEIGHT * of_whole + (1 - WHOLE_WEIGHT) * most for of_whole, most in zip(whole, best, strict=True)]


def _summed(parts: Sequence[tuple[float, Sequence[float]]]) -> list[float]:
    """The weighted sum of the z-scores of several measures."""
    found: list[float] = []
    for weight, values in parts:
        mean, spread = _mean_and_spread(values)
        scale = weight / spread if spread > 0 else 0.0
        scaled = [(value - mean) * scale for value in values]
        found = list(map(add, found, scaled)) if found else scaled
    return found


def _mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation; a spread of rounding errors only is none."""
    if not values:
        return 0.0, 0.0
    mean = sum(values) / len(values)
    variance = sum(map(mul, values, values)) / len(values) - mean * mean
    return mean, variance**0.5 if variance > 1e-12 * mean * mean else 0.0


def _unit(vectors: Vectors) -> Vectors:
    """Rows of length one; a row of zeros (an empty text) stays."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
