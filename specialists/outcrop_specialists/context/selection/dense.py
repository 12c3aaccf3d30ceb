"""The dense half of a ranking: likeness of vectors, what was learnt of them, and the fusion with the lexical half.

In arrays, and loaded only where an embedder is: a request of many clauses and a large catalogue make tens of thousands
of numbers, on which lists spend more than all else that a selection takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from outcrop_schemas import wire
from outcrop_specialists.context.selection import kept
from outcrop_specialists.context.selection.cards import ToolCard
from outcrop_specialists.context.selection.embedding import one_thread

if TYPE_CHECKING:
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
HEAD_WEIGHT = 0.5
"""What the likeness to name and description counts for beside the likeness to the nearest of a tool's phrases."""

Measures = NDArray[np.float64]
"""A row a piece of a request (first the whole, then its clauses), a column a tool; or one row of them."""


class DenseIndex:
    """The vectors of a fixed list of cards, which are made or read at the first request."""

    def __init__(self, cards: Sequence[ToolCard], digest: str, embedder: Embedder, cache: Path | None) -> None:
        self._cards, self._digest, self._embedder, self._cache = cards, digest, embedder, cache

    def measures(self, pieces: Sequence[str], lexical: Sequence[Mapping[int, float]]) -> list[tuple[float, Measures]]:
        """What is measured of each piece with each tool, with its weight: the lexical part, cosines (half to a tool's
        head, half to whatever of it is nearest), and where something was learnt how far the piece lies along that."""
        table, starts = self._vectors
        vectors = _unit(self._embedder.embed(pieces))
        directions = self._directions
        with one_thread():
            near = vectors @ table.T
            along = None if directions is None else vectors @ directions
        likeness = HEAD_WEIGHT * near[:, starts] + (1 - HEAD_WEIGHT) * np.maximum.reduceat(near, starts, axis=1)
        by_words = np.zeros((len(pieces), len(starts)))
        for row, found in enumerate(lexical):
            by_words[row, list(found)] = list(found.values())
        if along is None:
            return [(LEXICAL_WEIGHT, by_words), (1 - LEXICAL_WEIGHT, likeness.astype(np.float64))]
        dense = 1 - LEXICAL_WEIGHT_WITH_PHRASES
        return [
            (LEXICAL_WEIGHT_WITH_PHRASES, by_words),
            (dense * (1 - LEARNT_SHARE), likeness.astype(np.float64)),
            (dense * LEARNT_SHARE, along.astype(np.float64)),
        ]

    @cached_property
    def _directions(self) -> Vectors | None:
        """One direction a tool, of a catalogue of which something can be learnt. Kept too: it costs more than the rest
        of a first ranking."""
        table, starts = self._vectors
        if len(table) < PHRASES_FROM * len(starts):
            return None
        digest = wire.digest([self._digest, RIDGE, HEAD_TIMES])
        return kept.vectors(self._cache, digest, self._embedder, table.shape[1], lambda: _learnt(table, starts))

    @cached_property
    def _vectors(self) -> tuple[Vectors, NDArray[np.int64]]:
        """One row for the head of each card and each of its phrases, and where each card begins."""
        texts: list[str] = []
        starts: list[int] = []
        for card in self._cards:
            starts.append(len(texts))
            texts += [card.head, *card.phrases]
        embedder = self._embedder
        table = kept.vectors(self._cache, self._digest, embedder, len(texts), lambda: _unit(embedder.embed(texts)))
        return table, np.asarray(starts)


def fused(parts: Sequence[tuple[float, Measures]], whole_weight: float, raises: Sequence[float]) -> Measures:
    """One score a tool: the weighted sum of z-scores. The first tools of each clause are raised by `raises`."""
    found = _summed([(weight, best(by_piece, whole_weight)) for weight, by_piece in parts])
    raised = np.zeros_like(found)
    for scores in _summed([(weight, by_piece[1:]) for weight, by_piece in parts]):
        places = first(scores, len(raises))
        raised[places] = np.maximum(raised[places], raises[: len(places)])
    return np.asarray(found + raised)


def best(by_piece: Measures, whole_weight: float) -> Measures:
    """One measure a tool: of the whole request, and where it has clauses also of the one that fits the tool best."""
    if len(by_piece) == 1:
        return np.asarray(by_piece[0])
    return np.asarray(whole_weight * by_piece[0] + (1 - whole_weight) * by_piece[1:].max(axis=0))


def first(scores: Measures, most: int) -> NDArray[np.intp]:
    """The places of the highest scores, highest first; of equal ones the first places, where a mere partition would
    take any."""
    if most < len(scores):
        candidates = np.flatnonzero(scores >= np.partition(scores, -most)[-most])
    else:
        candidates = np.arange(len(scores))
    order = np.argsort(-scores[candidates], kind="stable")
    return np.asarray(candidates[order][:most], np.intp)


def _learnt(table: Vectors, starts: NDArray[np.int64]) -> Vectors:
    """Directions along which a tool's own texts lie and those of others do not, a column a tool: ridge regression of
    membership on the vectors (Hoerl & Kennard 1970), in closed form."""
    owner = np.repeat(np.arange(len(starts)), np.diff([*starts, len(table)]))
    membership = (owner[:, None] == np.arange(len(starts))).astype(np.float64)
    times = np.ones(len(table))
    times[starts] = HEAD_TIMES
    weighted = (table * times[:, None]).T.astype(np.float64)
    with one_thread():
        square = weighted @ table + RIDGE * np.eye(table.shape[1])
        return np.linalg.solve(square, weighted @ (membership - membership.mean(axis=0))).astype(np.float32)


def _summed(parts: Sequence[tuple[float, Measures]]) -> Measures:
    """The weighted sum of the z-scores of several measures; a spread of rounding errors only is none."""
    found = np.zeros(parts[0][1].shape)
    for weight, values in parts:
        mean = values.mean(axis=-1, keepdims=True)
        variance = (values * values).mean(axis=-1, keepdims=True) - mean * mean
        is_spread = variance > 1e-12 * mean * mean
        found += np.where(is_spread, weight / np.sqrt(np.where(is_spread, variance, 1.0)), 0.0) * (values - mean)
    return found


def _unit(vectors: Vectors) -> Vectors:
    """Rows of length one; a row of zeros (an empty text) stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
