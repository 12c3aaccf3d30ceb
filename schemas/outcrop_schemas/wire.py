"""JSON text as it crosses a boundary: compact, strict, UTF-8, one way to write it and one to read it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import orjson

Json = dict[str, Any]
_MANY_DIGITS = b"0" * 19
_AS_DIGITS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
# Looked through so much at a time: a large text must not be there twice.
_PART_BYTES = 1 << 16


def dumps(value: Any) -> bytes:
    """Serialise `value` as compact UTF-8 JSON; key order is kept.

    orjson refuses integers beyond 64 bits and nesting beyond 254 levels; the standard library takes both.
    Raises ValueError for a value that is not JSON (NaN, a lone surrogate, nesting beyond the interpreter's own limit).
    """
    try:
        return orjson.dumps(value)
    except TypeError as refused:
        try:
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            return text.encode()
        except (TypeError, RecursionError, UnicodeError) as error:
            raise ValueError(f"not JSON: {error}") from refused


def canonical(value: Any) -> bytes:
    """Serialise with sorted keys, for hashing and comparing."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()


def digest(value: Any) -> str:
    """SHA-256 (hex) of the canonical form of `value`."""
    return sha256(canonical(value)).hexdigest()


def loads(data: bytes | str) -> Any:
    """Parse strict JSON; integers keep all their digits. Raises ValueError.

    orjson reads an integer beyond 64 bits as a float, so text with that many digits goes to the standard library.
    """
    value = orjson.loads(data)
    text = data if isinstance(data, bytes) else data.encode()
    if not _has_many_digits(text):
        return value
    del value  # a large one must not be there twice
    return json.loads(text)


def _has_many_digits(text: bytes) -> bool:
    """Whether so many digits stand side by side. A regular expression takes ten times as long, and all that is read
    comes through here."""
    step = _PART_BYTES - len(_MANY_DIGITS) + 1
    return any(_MANY_DIGITS in text[at : at + _PART_BYTES].translate(_AS_DIGITS) for at in range(0, len(text), step))
