"""A tree on stdout: wrapped and coloured for a terminal, a line for each node for anything else."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from outcrop.terminal import colour, has_colours, shown, sign, takes_unicode

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

# Beyond any text of ours: where nobody looks at a screen a node is one line.
_PIPE_COLUMNS = 1_000_000
_LEAST_COLUMNS = 20


@dataclass
class Node:
    """One line with what stands beneath it. `status` gives it a sign and a colour; `title` is what it is of."""

    text: str
    title: str = ""
    status: str | None = None
    children: list[Node] = field(default_factory=list)

    def add(self, text: str, title: str = "", status: str | None = None) -> Node:
        child = Node(text, title, status)
        self.children.append(child)
        return child

    def add_all(self, title: str, texts: Iterable[str]) -> None:
        for text in texts:
            self.add(text, title)


def say_tree(root: Node) -> None:
    """Print it."""
    from rich.console import Console

    out = sys.stdout
    is_terminal = out.isatty()
    width = max(shutil.get_terminal_size().columns, _LEAST_COLUMNS) if is_terminal else _PIPE_COLUMNS
    page = _Page(out.encoding or "utf-8")
    console = Console(
        file=page,
        width=width,
        force_terminal=has_colours(out),
        color_system="standard" if has_colours(out) else None,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    console.print(_tree(root), soft_wrap=False)
    lines = [line.rstrip() for line in page.getvalue().splitlines()]
    # Guides that the encoding lacks are gone already; this is for whatever is left.
    out.write("\n".join(lines).encode(page.encoding, "replace").decode(page.encoding) + "\n")


class _Page(io.StringIO):
    """A file with the encoding of the real one, by which rich chooses its guides."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def _tree(node: Node) -> Tree:
    from rich.tree import Tree

    tree = Tree(_label(node), guide_style="dim")
    for child in node.children:
        tree.children.append(_tree(child))
    return tree


def _label(node: Node) -> Text:
    from rich.text import Text

    out = sys.stdout
    label = Text(overflow="fold")
    if node.status:
        label.append(sign(node.status, unicode=takes_unicode(out)) + " ", style=colour(node.status))
    if node.title:
        label.append(f"{shown(node.title, out)}: ", style="bold")
    label.append(shown(node.text, out), style=colour(node.status) if node.status and not node.children else "")
    return label
