"""What a server answered to a call, as it goes down the channel: text, data and files, whatever it mixed them with."""

from __future__ import annotations

from typing import Any

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import OutsideError
from outcrop_schemas.protocol import OutsideAnswer, OutsideFile

_NAMED_CHARS = 500


def read_answer(server: str, raw: dict[str, Any]) -> OutsideAnswer:
    """The answer of `tools/call`. Raises OutsideError for what is none."""
    content = raw.get("content", [])
    if not isinstance(content, list) or not ("content" in raw or "structuredContent" in raw):
        raise OutsideError(server, "it answered with what is no result of a tool")
    texts: list[str] = []
    files: list[OutsideFile] = []
    for found in map(_part, content):
        if isinstance(found, OutsideFile):
            files.append(found)
        else:
            texts.append(found)
    structured = _sendable(server, raw.get("structuredContent"))
    if structured is not None and texts:
        texts, structured = _once(texts, structured)
    if len(files) > limits.OUTSIDE_FILES:
        texts.append(f"[{len(files) - limits.OUTSIDE_FILES} further files are left out]")
        files = files[: limits.OUTSIDE_FILES]
    return OutsideAnswer(texts=texts, structured=structured, files=files, is_error=raw.get("isError") is True)


def _once(texts: list[str], structured: Any) -> tuple[list[str], Any]:
    """What is said twice only once: servers say their data as text too, for clients that know no other, and the other
    way round wrap texts as data, a list in as many parts as it has entries."""
    wrapped = structured.get("result") if isinstance(structured, dict) and len(structured) == 1 else None
    if wrapped == texts[0] and len(texts) == 1:
        return texts, None
    read = [_read(text) for text in texts]
    if [structured] == read or [wrapped] == read or wrapped in (read, texts):
        return [], structured
    return texts, structured


def _sendable(server: str, structured: Any) -> Any:
    """Data that can be written down again. Raises OutsideError for what is nested too deeply."""
    try:
        wire.dumps(structured)
    except (TypeError, ValueError, RecursionError) as error:
        raise OutsideError(server, "its answer is nested too deeply to be passed on") from error
    return structured


def _part(part: Any) -> str | OutsideFile:
    if not isinstance(part, dict):
        return "[a part that is none]"
    kind = part.get("type")
    if kind == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    if kind in ("image", "audio") and isinstance(part.get("data"), str):
        return OutsideFile(kind=str(part.get("mimeType") or kind)[:_NAMED_CHARS], data=part["data"])
    if kind == "resource_link":
        return f"[resource {_named(part.get('name'))} at {_named(part.get('uri'))}]"
    resource = part.get("resource")
    if kind == "resource" and isinstance(resource, dict):
        if isinstance(resource.get("text"), str):
            return f"[resource {_named(resource.get('uri'))}]\n{resource['text']}"
        if isinstance(resource.get("blob"), str):
            return OutsideFile(kind=str(resource.get("mimeType") or "resource")[:_NAMED_CHARS], data=resource["blob"])
    return f"[a part of the kind {_named(kind)}, which is not known]"


def _named(value: Any) -> str:
    return str(value)[:_NAMED_CHARS]


def _read(text: str) -> Any:
    try:
        return wire.loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return text
