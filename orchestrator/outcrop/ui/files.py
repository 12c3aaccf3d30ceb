"""Artifacts for a browser: only those that a run names, read through no link, never as something that runs.

An address carries a code that only this server can make, and it makes one for the artifacts of outcomes that it has
read and nothing else.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from starlette.responses import StreamingResponse

from outcrop.artifacts import open_beneath
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import PathError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_CHUNK_BYTES = 256 << 10
_SNIFFED_BYTES = 4096
# By how a file begins: its name is the specialist's word only. An SVG is one by its name, and nothing in it may run.
_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_TABLES = (".csv", ".tsv")
_TEXT = "text/plain; charset=utf-8"
_BINARY = "application/octet-stream"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; sandbox"


class Codes:
    """Makes and checks the codes of files; of another server they are worth nothing."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def address(self, run_id: str, path: str) -> str:
        """The end of an address for a file that a run names."""
        # Twice, so that whatever a name holds comes back as it was: line ends, bytes that are no UTF-8.
        return f"{self._code(run_id, path)}/{quote(quote(os.fsencode(path)))}"

    @staticmethod
    def path_of(given: str) -> str:
        """The path that the end of an address means, which a server has decoded once."""
        return os.fsdecode(unquote_to_bytes(given))

    def is_good(self, run_id: str, path: str, code: str) -> bool:
        return hmac.compare_digest(self._code(run_id, path).encode(), code.encode("utf-8", "replace"))

    def _code(self, run_id: str, path: str) -> str:
        return hmac.new(self._key, f"{run_id}\n{path}".encode("utf-8", "surrogateescape"), sha256).hexdigest()[:32]


@dataclass(frozen=True)
class Opened:
    """A file that is open for reading, and how it may be shown. `length` bytes of it are sent."""

    descriptor: int
    name: str
    length: int
    type: str
    is_shown: bool

    @property
    def headers(self) -> dict[str, str]:
        how = "inline" if self.is_shown else "attachment"
        return {
            "content-length": str(self.length),
            "content-disposition": f"{how}; filename*=UTF-8''{quote(os.fsencode(self.name), safe='')}",
            "content-security-policy": POLICY,
        }

    def parts(self) -> Iterator[bytes]:
        """The bytes."""
        at = 0
        while at < self.length:
            part = os.pread(self.descriptor, min(_CHUNK_BYTES, self.length - at), at)
            # One that was cut meanwhile ends the connection, since its length was told.
            if not part:
                return
            yield part
            at += len(part)

    def close(self) -> None:
        os.close(self.descriptor)


class FileAnswer(StreamingResponse):
    """Sends a file and closes it, also where whoever asked is gone before its first byte."""

    def __init__(self, file: Opened) -> None:
        super().__init__(file.parts(), media_type=file.type, headers=file.headers)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()


def opened(workspace: Workspace, path: str, *, is_download: bool) -> Opened:
    """Open an artifact. Raises PathError, OSError."""
    if Path(path).is_absolute() or ".." in Path(path).parts or "\0" in path:
        raise PathError(repr(path), "is no file beneath the workspace")
    root = os.open(workspace.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptor = open_beneath(root, Path(path))
    finally:
        os.close(root)
    try:
        return _shown(descriptor, path, is_download=is_download)
    except BaseException:
        os.close(descriptor)
        raise


def _shown(descriptor: int, path: str, *, is_download: bool) -> Opened:
    size, start = os.fstat(descriptor).st_size, os.pread(descriptor, _SNIFFED_BYTES, 0)
    place = Path(path)
    kind = next((kind for opening, kind in _PICTURES if start.startswith(opening)), None)
    if kind is None and place.suffix.lower() == ".svg" and b"<svg" in start:
        kind = "image/svg+xml"
    if kind is None:
        kind = _TEXT if _is_text(start) else _BINARY
    if is_download or kind == _BINARY:
        return Opened(descriptor, place.name, size, kind if kind.startswith("image/p") else _BINARY, is_shown=False)
    length = _first_rows(descriptor, size) if place.suffix.lower() in _TABLES else size
    return Opened(descriptor, place.name, length, kind, is_shown=True)


def _is_text(start: bytes) -> bool:
    try:
        start.decode()
    except UnicodeDecodeError as error:
        # A character may be cut at the end of what was read, unless that is the end of the file.
        return len(start) == _SNIFFED_BYTES and error.start >= len(start) - 3 and b"\0" not in start
    return b"\0" not in start


def _first_rows(descriptor: int, size: int) -> int:
    """How many bytes the first rows of a table take: whole lines."""
    if size <= limits.UI_TABLE_BYTES:
        return size
    start = os.pread(descriptor, limits.UI_TABLE_BYTES, 0)
    return start.rfind(b"\n") + 1 or len(start)
