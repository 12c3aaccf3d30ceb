"""What is said to everybody - at the command line, to an MCP client, to a program - names no option of one of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import outcrop
import outcrop_specialists

PACKAGES = [Path(module.__file__ or "").parent for module in (outcrop, outcrop_specialists)]
# What only the command line can come to: its own modules, and what it alone hands over.
OF_THE_COMMAND_LINE = {"cli", "ui/serve.py", "mcp_server/http.py", "doctor.py", "settings_sources.py", "chat/pasted.py"}
# Says by what something was turned off, and not what to do.
TOLD = {"turned off by --unconfined"}
_COMMAND = re.compile(r"`outcrop [^`]*`|pip install .*|--hash=.*")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
_ARGUMENT = re.compile(r"--[a-z-]+")


def said(path: Path) -> Iterator[str]:
    """The texts of a module, each f-string as one; no docstring."""
    tree = ast.parse(path.read_text("utf-8"))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    inside |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value
        elif isinstance(node, ast.JoinedStr) and id(node) not in inside:
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_an_option_is_named_only_together_with_its_command(package: Path) -> None:
    found = []
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if package.name == "outcrop" and any(name.startswith(one) for one in OF_THE_COMMAND_LINE):
            continue
        for text in said(path):
            if _ARGUMENT.fullmatch(text) or text in TOLD:
                continue
            if _OPTION.search(_COMMAND.sub("", text)):
                found.append((name, text))
    assert found == []
