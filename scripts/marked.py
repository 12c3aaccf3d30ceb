"""Pages of which a part is written by a script: what stands between two marks is made anew, the rest is left alone."""

import argparse
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
END = "<!-- end -->"


def rewritten(text: str, script: str, part: str) -> str:
    """The page with this part between its marks."""
    begin = f"<!-- written by scripts/{script} -->"
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(END)
    if not (found and ended):
        raise SystemExit(f"the page has no part between {begin} and {END}")
    return f"{before}{begin}\n\n{part}\n{END}{after}"


def cell(text: str) -> str:
    """Text for a cell of a table: what would end the cell, or be read as markup, is escaped, but not in code spans."""
    parts = text.replace("\n", " ").split("`")
    if len(parts) % 2 == 0:
        parts = ["\\`".join(parts)]
    return "`".join(part if number % 2 else _escaped(part) for number, part in enumerate(parts))


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def write(page: str, script: str, what: str, make: Callable[[], str]) -> int:
    """Write the part, or with `--check` only say whether it is up to date."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    document = DOCS / page
    text = document.read_text("utf-8")
    new = rewritten(text, script, make())
    if parser.parse_args().check:
        return int(new != text)
    document.write_text(new, "utf-8")
    return 0
