"""How a page refers to what lies outside it: files of the workspace, pages of other runs. Each face has its own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

REPORT = "report.html"


class Links(Protocol):
    """What a page asks for whenever it names something; None where it cannot be reached, and is text only."""

    def file(self, path: str) -> str | None:
        """The address of a file, named relative to the workspace."""

    def run(self, run_id: str) -> str | None:
        """The address of another run's page."""

    def jobs(self) -> str | None:
        """The address of all jobs of a batch by pages."""

    def cancel(self, dispatch_id: str) -> str | None:
        """The address that ends a dispatch under way; None where nothing can be ended from here."""


@dataclass(frozen=True)
class FileLinks:
    """Of a report on disk: relative paths, so that the workspace may be moved with all that is in it."""

    page: Path
    workspace: Path
    runs: Path
    all_jobs: Path | None = None
    """The first of the pages that list all jobs of a batch, where its own lists some of them."""

    def file(self, path: str) -> str | None:
        return self._to(self.workspace / path)

    def run(self, run_id: str) -> str | None:
        page = self.runs / run_id / REPORT
        return self._to(page) if page.parent.is_dir() else None

    def jobs(self) -> str | None:
        return self._to(self.all_jobs) if self.all_jobs else None

    def cancel(self, dispatch_id: str) -> str | None:
        return None

    def _to(self, path: Path) -> str:
        return relative_url(os.path.relpath(path, self.page.parent))


def relative_url(path: str) -> str:
    """A relative path as an address: it can name no scheme and no host, whatever characters it has."""
    return "./" + quote(os.fsencode(path)) if not path.startswith("../") else quote(os.fsencode(path))
