"""The pieces that a run's requests and answers are made of, each stored once under its hash.

A system prompt, a list of tools and every block of a message are pieces. Conversations share them: all dispatches of a
specialist have one system prompt and one list of tools, and a long result stands in every request that follows it.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from outcrop.spill import append_private
from outcrop_schemas import wire
from outcrop_schemas.errors import JournalError

_HASH_DIGITS = 32
# No exchanges of an agent have such a name.
FILE_NAME = "blocks.ndjson"


class BlockWriter:
    """Appends the pieces of one run that are not stored yet."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._stored: set[str] = set()

    def put(self, *pieces: Any) -> list[str]:
        """Store pieces of JSON; their hashes. Raises JournalError."""
        lines, hashes = [], []
        for piece in pieces:
            text = wire.dumps(piece)
            name = hash_of(text)
            hashes.append(name)
            if name not in self._stored:
                self._stored.add(name)
                lines.append(b'{"hash":"%s","piece":%s}\n' % (name.encode(), text))
        if lines:
            try:
                append_private(self._path, b"".join(lines))
            except OSError as error:
                self._stored.difference_update(hashes)
                raise JournalError(f"{self._path}: an exchange could not be recorded: {error.strerror}") from error
        return hashes


class Blocks:
    """The pieces of a run, read when one is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._lines: dict[str, bytes] | None = None

    def get(self, name: str) -> Any:
        """A piece. Raises ValueError where there is none of this hash, or it was changed."""
        if self._lines is None:
            self._lines = self._read()
        line = self._lines.get(name)
        if line is None:
            raise ValueError(f"the piece {name} is not recorded")
        piece = wire.loads(line)["piece"]
        if hash_of(wire.dumps(piece)) != name:
            raise ValueError(f"the piece {name} was changed")
        return piece

    def _read(self) -> dict[str, bytes]:
        """Each line by its hash; what stands after the last newline was being written by an orchestrator that died."""
        try:
            lines = self._path.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise JournalError(f"{self._path}: the exchanges cannot be read: {error.strerror}") from error
        start = len(b'{"hash":"')
        return {line[start : start + _HASH_DIGITS].decode("ascii", "replace"): line for line in lines}


def hash_of(text: bytes) -> str:
    """128 bits of the SHA-256 of a piece as JSON, in hex."""
    return sha256(text).hexdigest()[:_HASH_DIGITS]
