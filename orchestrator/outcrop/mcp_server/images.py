"""The plots of an answer as images, as many as there is room for. Blocking: for a thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from outcrop.mcp_server import files
from outcrop.mcp_server.answers import File
from outcrop_schemas import limits
from outcrop_schemas.errors import PathError

PNG = "image/png"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Image:
    """A plot and its bytes; None where only the link is given, with the reason."""

    file: File
    data: bytes | None
    reason: str = ""


def images_of(root: Path, artifacts: Sequence[File]) -> list[Image]:
    """Of each plot the PNG that was verified, or why it is not given."""
    found: list[Image] = []
    room = limits.MCP_IMAGE_BYTES
    for file in artifacts:
        if file.kind != "plot" or files.kind_of(file.path) != PNG:
            continue
        if file.bytes > room:
            found.append(Image(file, None, f"of {file.bytes} bytes only the link is given"))
            continue
        try:
            data = files.whole(root, file.path, room)
        except PathError as error:
            found.append(Image(file, None, str(error)))
            continue
        if sha256(data).hexdigest() != file.sha256 or not data.startswith(_SIGNATURE):
            found.append(Image(file, None, "is not as it was verified"))
            continue
        room -= len(data)
        found.append(Image(file, data))
    return found
