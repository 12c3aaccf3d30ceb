"""What an index of tools keeps between processes: lexical postings and vectors, each in a file named by what made it.

A file that is damaged or does not fit is passed over and made anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outcrop_schemas import wire
from outcrop_specialists.context.selection import lexical, thesaurus
from outcrop_specialists.context.selection.lexical import LexicalData
from outcrop_specialists.reading.cache_folder import write_whole

if TYPE_CHECKING:
    from outcrop_specialists.context.selection.embedding import Embedder, Vectors

_FORMAT = 1
"""Raised where words are taken from a text in another way."""
_log = logging.getLogger(__name__)


def lexical_data(folder: Path | None, digest: str, build: Callable[[], LexicalData]) -> LexicalData:
    """The postings of the cards with this digest, read or built."""
    if folder is None:
        return build()
    path = folder / f"tools-{wire.digest([_FORMAT, digest, *_lexical_settings()])[:32]}.json"
    found = _read_lexical(path)
    if found is None:
        found = build()
        write_whole(path, _adapter().dump_json(found))
    return found


def vectors(folder: Path | None, digest: str, embedder: Embedder, rows: int, build: Callable[[], Vectors]) -> Vectors:
    """The vectors of the cards with this digest by this embedder, read or built."""
    if folder is None:
        return build()
    path = folder / f"tools-{wire.digest([_FORMAT, digest, embedder.name, embedder.version])[:32]}.npy"
    found = _read_vectors(path, rows)
    if found is None:
        found = build()
        write_whole(path, _as_bytes(found))
    return found


def _read_lexical(path: Path) -> LexicalData | None:
    try:
        found: LexicalData = _adapter().validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        _log.debug("%s is made anew: %s", path, error)
        return None
    places = [place for listed in (*found.postings.values(), found.phrases) for place, _ in listed]
    numbers = [number for listed in found.in_phrases.values() for number in listed]
    is_whole = (
        all(0 <= place < found.size for place in places)
        and all(0 <= number < len(found.phrases) for number in numbers)
        and found.weights.keys() >= found.in_phrases.keys()
    )
    return found if is_whole else None


def _read_vectors(path: Path, rows: int) -> Vectors | None:
    import numpy as np

    try:
        found = np.load(BytesIO(path.read_bytes()), allow_pickle=False)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError) as error:
        _log.debug("%s is made anew: %s", path, error)
        return None
    is_whole = found.dtype == np.float32 and found.ndim == 2 and len(found) == rows and bool(np.isfinite(found).all())
    return found if is_whole else None


def _as_bytes(table: Vectors) -> bytes:
    import numpy as np

    buffer = BytesIO()
    np.save(buffer, table, allow_pickle=False)
    return buffer.getvalue()


def _lexical_settings() -> Sequence[Any]:
    weights = [lexical.NAME_WEIGHT, lexical.DESCRIPTION_WEIGHT, lexical.PHRASES_WEIGHT, lexical.ARGUMENTS_WEIGHT]
    shapes = [[name, pattern.pattern] for name, pattern in thesaurus.SHAPES]
    words = [sorted(lexical.STOP_WORDS), thesaurus.notions(), sorted(thesaurus.elements()), shapes]
    return [lexical.K1, lexical.B, lexical.NOTION_WEIGHT, weights, words]


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(LexicalData)
