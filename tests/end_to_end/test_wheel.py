"""The built wheel is whole: what is installed from it runs one dispatch with none of the checkout at hand."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_carries_all_it_needs_and_runs_a_dispatch(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = (tmp_path / "dist").glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(installed)
    for package in ("outcrop", "outcrop_specialists", "outcrop_schemas"):
        assert f"{package}/py.typed" in names
    assert "outcrop_specialists/prompts/analytics.md" in names
    assert "outcrop/lead/prompt.md" in names

    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.csv").write_text("x,y\n1,2\n3,4\n5,7\n")
    # The wheel's files come first, for the command and for the specialists it starts.
    program = (
        "import sys; import outcrop, outcrop_specialists; from outcrop.cli.main import main; "
        f"assert outcrop.__file__.startswith({str(installed)!r}); main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", program, "dispatch", "analytics", "--objective", "summarise y", "--data", "a.csv"]
    command += ["--json", "--env", f"PYTHONPATH={installed}"]
    environment = {"PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "success"
