"""Who may import whom, and what importing costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = {
    "schemas/outcrop_schemas": {"outcrop_schemas"},
    "specialists/outcrop_specialists": {"outcrop_schemas", "outcrop_specialists"},
    "orchestrator/outcrop": {"outcrop_schemas", "outcrop_specialists", "outcrop"},
}
OURS = {"outcrop_schemas", "outcrop_specialists", "outcrop"}
HEAVY = (
    "polars",
    "sklearn",
    "matplotlib",
    "anthropic",
    "scipy",
    "numpy",
    "pandas",
    "rich",
    "jinja2",
    "starlette",
    "uvicorn",
    "mcp",
    "opentelemetry",
)


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_package_imports_only_what_the_design_allows(folder: str) -> None:
    files = list((ROOT / folder).rglob("*.py"))
    assert files
    wrong = {
        str(path.relative_to(ROOT)): found for path in files if (found := (imported(path) & OURS) - ALLOWED[folder])
    }
    assert wrong == {}


def loaded_by(statement: str) -> set[str]:
    program = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    "statement",
    [
        "import outcrop",
        "import outcrop.cli.main; outcrop.cli.main.build_parser().format_help()",
        "from outcrop import Pool, Run, ScriptedModel",
        "import outcrop_specialists.work",
        "from outcrop_specialists.tools.registry import all_tools; all_tools()",
        "import outcrop.models.offline.model",
        "import outcrop.models.anthropic, outcrop.gateway, outcrop.run",
    ],
)
def test_no_heavy_library_is_loaded_before_it_is_used(statement: str) -> None:
    assert loaded_by(statement).isdisjoint(HEAVY)


def test_the_command_line_loads_nothing_but_argparse_for_help() -> None:
    assert loaded_by("import outcrop.cli.main").isdisjoint({"pydantic", "asyncio", "orjson"})


def test_outcrop_works_inside_an_application_with_a_schemas_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "__init__.py").write_text("MINE = True\n")
    program = "import sys; sys.path.insert(0, ''); import schemas; from outcrop import Pool; print(schemas.MINE, Pool)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("True <class 'outcrop.pool.Pool'>")


def test_one_module_imports_the_server_of_mcp() -> None:
    files = [path for folder in ALLOWED for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in files if "mcp.server" in modules_named(path)] == ["door.py"]


def modules_named(path: Path) -> str:
    """The modules that a file imports, by their whole names."""
    nodes = [
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = [
        [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names] for node in nodes
    ]
    return " ".join(name for each in names for name in each)
