"""What the record of a run says of packages that specialists lacked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outcrop.recovery import RunRecord
from outcrop.text import inert


def gap_lines(run: RunRecord) -> list[str]:
    """A line for each decision: `lasio (pip), d0002: installed lasio 0.31 (allow-list)`."""
    return [_line(body) for body in run.events("gap")]


def _line(gap: Mapping[str, Any]) -> str:
    installed = ", ".join(f"{one['name']} {one['version']}" for one in gap["installed"])
    became = f"installed {installed}" if installed else gap["told"] or gap["decision"]
    return inert(f"{gap['package']} ({gap['manager']}), {gap['agent']}: {became} ({gap['by']})", keep_newlines=False)
