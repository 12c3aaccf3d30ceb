"""What a list of runs says that a run is for, at the command line, for MCP clients and in the live view."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from made_runs import made, outcome
from ui_server import serving

from outcrop.mcp_server.past import listed
from outcrop.workspace import Workspace

OUTCROP = str(Path(sys.executable).parent / "outcrop")


def test_a_lone_dispatch_is_listed_with_its_objective(workspace: Path) -> None:
    lone, several, begun = (f"2026010{day}-000000-000000-aaaa" for day in (1, 2, 3))
    made(workspace, [outcome(1, objective="count the granites")], name=lone, kind="pool", objective=None)
    made(workspace, [outcome(1), outcome(2)], name=several, kind="pool", objective=None)
    made(workspace, name=begun, kind="pool", objective=None)
    command = [OUTCROP, "runs", "--json", "--workspace", str(workspace)]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60).stdout)
    assert [run["objective"] for run in told] == ["count the granites", None, None]
    assert [run.objective for run in listed(Workspace(workspace)).runs] == [None, None, "count the granites"]
    with serving(workspace) as live:
        assert "count the granites" in live.ask("").text
        # Once it was shown it is found by these words too.
        found = live.ask("?q=granites").text
    assert lone in found
    assert several not in found
