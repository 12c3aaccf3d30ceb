"""What the README shows is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from installed import OUTCROP

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_opens_with_the_two_commands() -> None:
    first = re.search(r"```sh\n(.*?)```", README, re.DOTALL)
    assert first is not None
    assert [line.split()[0] for line in first[1].splitlines()] == ["scripts/demo", "scripts/check"]


def test_the_python_example_runs_as_it_stands(workspace: Path) -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    (workspace / "data").mkdir()
    subprocess.run([sys.executable, ROOT / "scripts" / "write_wines.py", workspace / "data" / "wines.csv"], check=True)
    (workspace / "example.py").write_text(example[1])
    done = subprocess.run([sys.executable, "example.py"], cwd=workspace, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["success"] * 3
    assert "results/wines_summarize_" in lines[0]


def test_every_command_of_the_readme_is_known_to_the_installed_script() -> None:
    named = set(re.findall(r"`outcrop ([a-z]+(?:-[a-z]+)*)", README))
    assert named >= {"run", "dispatch", "batch", "show", "replay", "runs", "schema", "completion", "doctor"}
    for name in named:
        assert subprocess.run([OUTCROP, name, "--help"], capture_output=True).returncode == 0, name


def test_every_exported_name_is_there() -> None:
    import outcrop

    names = "Model Outcome OutcropError Pool PoolBusyError Run RunOutcome ScriptedModel Work"
    assert sorted(outcrop.__all__) == names.split()
    assert all(getattr(outcrop, name) is not None for name in outcrop.__all__)


def test_every_tool_has_a_test_of_its_own() -> None:
    from outcrop_specialists.tools.registry import NAMES

    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "specialists").rglob("test_*.py"))
    assert [name for name in NAMES if f'"{name}"' not in tests and f" {name}" not in tests] == []
