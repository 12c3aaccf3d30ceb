"""docs/tools.md: every test it names is there, every tool it names too, and its list is the tools' own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from outcrop_specialists.tools.registry import NAMES

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "tools.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| theirs"))
]


def test_each_of_the_45_tools_has_its_row_and_ours_are_tools() -> None:
    assert len(ROWS) == len({row[0] for row in ROWS}) == 45
    named = {name for row in ROWS for name in re.findall(r"`(\w+)`", row[1])}
    assert named <= set(NAMES)


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", TEXT)
    assert len(named) >= 44
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not re.search(rf"def {name}\(", (ROOT / "tests" / path).read_text("utf-8"))
    ]
    assert missing == []


def test_the_list_is_as_the_tools_say() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "write_tools.py", "--check"], timeout=60, check=False)
    assert done.returncode == 0, "run scripts/write_tools.py"
