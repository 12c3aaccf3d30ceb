"""The pieces that a run's requests and answers are made of, each stored once under its hash.

A system prompt, a list of tools and every block of a message are pieces. Conversations share them: all dispatches of a
specialist have one system prompt and one list of tools, and a long result stands in every request that follows it.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from outcrop.spill import append_private
from outcrop_schemas import wire
from outcrop_schemas.errors import JournalError
from outcrop_schemas.regular import open_file

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
        # Where one of them is no JSON, none is stored.
        for text in [wire.dumps(piece) for piece in pieces]:
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
    """The pieces of a run. Their file is read as far as the piece that is asked for, and only places are kept: the
    first turns of a long run are there at once, and all of it takes little memory."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def get(self, name: str) -> Any:
        """A piece. Raises ValueError where there is none of this hash, or it was changed."""
        piece = wire.loads(self._line(name))["piece"]
        if hash_of(wire.dumps(piece)) != name:
            raise ValueError(f"the piece {name} was changed")
        return piece

    def _line(self, name: str) -> bytes:
        try:
            with open_file(self._path) as file:
                if name not in self._places:
                    self._look_for(name, file)
                if name in self._places:
                    at, length = self._places[name]
                    file.seek(at)
                    return file.read(length)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise JournalError(f"{self._path}: the exchanges cannot be read: {error.strerror}") from error
        raise ValueError(f"the piece {name} is not recorded")

    def _look_for(self, name: str, file: BinaryIO) -> None:
        """Note the places of the lines up to that of a piece. What stands after the last newline was being written by
        an orchestrator that died, or is."""
        start = len(b'{"hash":"')
        file.seek(self._end)
        for line in file:
            if not line.endswith(b"\n"):
                return
            found = line[start : start + _HASH_DIGITS].decode("ascii", "replace")
            self._places[found] = (self._end, len(line) - 1)
            self._end += len(line)
            if found == name:
                return


def hash_of(text: bytes) -> str:
    """128 bits of the SHA-256 of a piece as JSON, in hex."""
    return sha256(text).hexdigest()[:_HASH_DIGITS]
