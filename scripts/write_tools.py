"""Writes the list of our tools in docs/tools.md from the tools themselves: `scripts/write_tools.py [--check]`."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "tools.md"
BEGIN, END = "<!-- written by scripts/write_tools.py -->", "<!-- end -->"
LETTERS = {"cleaning": "c", "analytics": "a", "plotting": "p"}


def catalogue() -> str:
    """A line for each tool, by family: name, the specialists that have it, what it does."""
    from outcrop_specialists.tools.registry import FAMILIES, get_tool

    lines = []
    for family, names in FAMILIES.items():
        lines += [f"**{family}** ({len(names)})", ""]
        for name in names:
            tool = get_tool(name)
            who = "".join(letter for role, letter in LETTERS.items() if role in tool.specialists)
            lines.append(f"- `{name}` ({who}): {tool.description}")
        lines.append("")
    return "\n".join(lines)


def rewritten(text: str) -> str:
    """The document with the list as it is now between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{catalogue()}{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip())
    parser.add_argument("--check", action="store_true", help="only say whether the list is up to date")
    wanted = parser.parse_args()
    text = DOCUMENT.read_text("utf-8")
    new = rewritten(text)
    if wanted.check:
        return int(new != text)
    DOCUMENT.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
