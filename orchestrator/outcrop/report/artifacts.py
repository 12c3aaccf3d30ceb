"""The files of a run as a page shows them: what was recorded of each, a picture or the head of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from outcrop.report.dispatches import DispatchFact
from outcrop.report.previews import Files, Head, data_uri, head, is_same, picture, separator
from outcrop_schemas import limits
from outcrop_schemas.errors import PathError
from outcrop_schemas.outcome import VerifiedArtifact

_GONE = "the file is not there any more"
_CHANGED = "the file has changed since the run"


@dataclass(frozen=True)
class ArtifactFact:
    """One file. `picture` is a data URI; `note` says why there is nothing to be seen, or what is odd."""

    number: int
    path: str
    kind: str
    title: str
    bytes: int
    sha256: str
    rows: int | None
    columns: int | None
    dispatch_id: str
    alt: str
    picture: str | None = None
    head: Head | None = None
    note: str = ""

    @property
    def anchor(self) -> str:
        return f"file-{self.number}"

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def artifact_facts(
    dispatches: Sequence[DispatchFact], answered: Sequence[VerifiedArtifact], files: Files
) -> tuple[list[ArtifactFact], int]:
    """Plots first, then as they came; and how many more there are."""
    makers = {artifact.path: fact for fact in dispatches for artifact in fact.outcome_artifacts}
    found = {artifact.path: artifact for fact in dispatches for artifact in fact.outcome_artifacts}
    found |= {artifact.path: artifact for artifact in answered}
    ordered = sorted(found.values(), key=lambda artifact: artifact.kind != "plot")
    shown = ordered[: limits.REPORT_ARTIFACTS]
    viewer = _Viewer(files)
    facts = [viewer.fact(number, artifact, makers.get(artifact.path)) for number, artifact in enumerate(shown, 1)]
    return facts, len(ordered) - len(shown)


class _Viewer:
    """Looks at one file after the other, within what all together may take."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._bytes_left, self._tables_left = limits.REPORT_IMAGES_BYTES, limits.REPORT_TABLES
        self._hashed_left = limits.REPORT_HASHED_BYTES

    def fact(self, number: int, artifact: VerifiedArtifact, maker: DispatchFact | None) -> ArtifactFact:
        shown, rows, note = self._seen(artifact)
        return ArtifactFact(
            number,
            artifact.path,
            artifact.kind,
            artifact.title,
            artifact.bytes,
            artifact.sha256,
            artifact.rows,
            artifact.columns,
            maker.id if maker else "",
            _alt(artifact, maker),
            shown,
            rows,
            note,
        )

    def _seen(self, artifact: VerifiedArtifact) -> tuple[str | None, Head | None, str]:
        try:
            if separator(artifact.path):
                return None, *self._table(artifact)
            if artifact.kind == "plot":
                shown, note = self._picture(artifact)
                return shown, None, note
            return None, None, self._compared(artifact)
        except (PathError, OSError, ValueError):
            return None, None, _GONE

    def _table(self, artifact: VerifiedArtifact) -> tuple[Head | None, str]:
        note = self._compared(artifact)
        if self._tables_left <= 0:
            return None, note
        self._tables_left -= 1
        return head(self._files, artifact.path), note

    def _picture(self, artifact: VerifiedArtifact) -> tuple[str | None, str]:
        if artifact.bytes > min(limits.REPORT_IMAGE_BYTES, self._bytes_left):
            return None, self._compared(artifact) or "too large to be shown here"
        data, size = self._files.read(artifact.path, artifact.bytes + 1)
        note = "" if size == artifact.bytes and is_same(data, artifact.sha256) else _CHANGED
        kind = picture(artifact.path, data) if size <= artifact.bytes else None
        if kind is None:
            return None, note or "no picture that a browser shows"
        self._bytes_left -= len(data)
        return data_uri(kind, data), note

    def _compared(self, artifact: VerifiedArtifact) -> str:
        """Whether it is what was recorded: by its bytes, and by its size alone where too many were read already."""
        if self._files.size(artifact.path) != artifact.bytes:
            return _CHANGED
        if artifact.bytes > self._hashed_left:
            return ""
        self._hashed_left -= artifact.bytes
        return "" if self._files.sha256(artifact.path, artifact.bytes) == artifact.sha256 else _CHANGED


def _alt(artifact: VerifiedArtifact, maker: DispatchFact | None) -> str:
    """What a plot shows, in words: those of its tool where it has any."""
    told = maker.results.get("alt") if maker and _plots(maker.outcome_artifacts) == 1 else None
    return told if isinstance(told, str) and told else artifact.title or artifact.path


def _plots(artifacts: Iterable[VerifiedArtifact]) -> int:
    return sum(artifact.kind == "plot" for artifact in artifacts)
