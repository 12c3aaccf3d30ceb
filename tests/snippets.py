"""The code blocks of the documentation, and how each kind is tried.

A page is tried as a reader would: its `sh` blocks in one shell, its `python` blocks as programs, from top to bottom, in
a folder of its own that has the examples, the scripts and a few small tables. Marks are HTML comments:
`<!-- not run: REASON -->` before a block that cannot be tried, `<!-- schema: NAME -->` before JSON, and
`<!-- first: COMMANDS -->` anywhere, for what must be so before the next block.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from installed import shim

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = ("sh", "python")
OF_ASSAYS = ("batch.md", "embed.md")
"""Pages that say of `assays.csv` and `assays/` that they stand for what the reader has."""
TRIED = (*RUN, "toml", "json", "jsonl")
_BLOCK = re.compile(
    r"(?P<marks>(?:^[ ]*<!--[^>]*-->\n+)*)"
    r"^[ ]*```(?P<language>\w+)(?P<options>[^\n]*)\n(?P<text>.*?)^[ ]*```$",
    re.DOTALL | re.MULTILINE,
)
_MARK = re.compile(r"<!-- (not run|schema|first): ([^>]*?) -->")


@dataclass(frozen=True)
class Snippet:
    """One block: where it stands, what it is, and the marks before it."""

    page: str
    line: int
    language: str
    options: str
    text: str
    marks: tuple[tuple[str, str], ...]

    def mark(self, name: str) -> str | None:
        """The text of a mark; None where the block has none of this name."""
        return dict(self.marks).get(name)

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str | None:
        """The file of the project that the block shows whole."""
        found = re.search(r'title="((?:examples|tests)/[^"]+)"', self.options)
        return found[1] if found else None

    @property
    def is_tried(self) -> bool:
        return self.language in TRIED and self.mark("not run") is None


def snippets_of(page: Path) -> list[Snippet]:
    """All blocks of a page that name a language."""
    text = page.read_text("utf-8")
    name = str(page.relative_to(ROOT))
    found = []
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("language")) + 1
        marks = tuple((kind, said) for kind, said in _MARK.findall(match["marks"]))
        found.append(Snippet(name, line, match["language"], match["options"], textwrap.dedent(match["text"]), marks))
    return found


def program_of(snippets: list[Snippet], folder: Path) -> str:
    """One shell program that does what the page says; each block is told on stderr before it begins."""
    lines = ["set -eu"]
    for number, snippet in enumerate(snippets):
        if snippet.language not in RUN or not snippet.is_tried or snippet.file:
            continue
        lines.append(f"echo '>>> {snippet.place}' >&2")
        lines += [said for kind, said in snippet.marks if kind == "first"]
        if snippet.language == "sh":
            lines.append(snippet.text)
        else:
            program = folder / f"{number:02}.py"
            program.write_text(snippet.text, "utf-8")
            lines.append(f"python '{program}'")
    return "\n".join(lines) + "\n"


def run_page(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Do what a page says, in a new folder beneath this one."""
    work, programs = folder / "work", folder / "programs"
    programs.mkdir(parents=True)
    program = program_of(snippets_of(page), programs)
    write_tables(work, has_assays=page.name in OF_ASSAYS)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OUTCROP_", "PYTEST"))}
    environment["BROWSER"] = "true"  # what is to be opened in a browser is opened in none
    shim(programs)
    environment["PATH"] = os.pathsep.join((str(programs), str(BIN), environment["PATH"]))
    return subprocess.run(
        ["bash", "-c", program], cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=540,
    )  # fmt: skip


def write_tables(work: Path, *, has_assays: bool) -> None:
    """The folder that a page is tried in: examples, scripts, the table of the first page; others where it says so."""
    work.mkdir()
    for name in ("examples", "scripts"):
        shutil.copytree(ROOT / name, work / name, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, ROOT / "scripts" / "write_wines.py", work / "wines.csv"], check=True)
    (work / "data").mkdir()
    shutil.copy(work / "wines.csv", work / "data")
    if not has_assays:
        return
    rows = [_assay(number) for number in range(60)]
    (work / "assays.csv").write_text("sample,hole,from,to,Au_ppm,Cu_ppm\n" + "".join(rows), "utf-8")
    folder = work / "assays"
    folder.mkdir()
    for part in (1, 2):
        (folder / f"lab{part}.csv").write_text("sample,hole,from,to,Au_ppm,Cu_ppm\n" + "".join(rows[::part]), "utf-8")


def _assay(number: int) -> str:
    gold = "<0.01" if number % 7 == 0 else f"{0.05 + 0.04 * (1 + math.sin(number)):.3f}"
    return f"S{number:03},DH{1 + number // 20},{number % 20},{number % 20 + 1},{gold},{200 + 13 * (number % 11)}\n"
