"""Commands and reads in a dispatch as it really runs: under its specialist's confinement, and no longer than that."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil

from outcrop import Pool

SECONDS = "4711"
PROGRAM = """
import json, sys
from pathlib import Path
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool

request = json.loads(sys.stdin.buffer.readline())
context = ToolContext(Path(request["workspace"]).resolve(), Path(request["results_dir"]), Path.cwd())

def call(name, **arguments):
    try:
        return run_tool(get_tool(name), context, arguments).results
    except Exception as error:
        return {"refused": type(error).__name__}

found = {
    "command": call("run_command", command="grep -c granite notes.txt; cat $PWD/../../../journal*", data=["notes.txt"]),
    "text": call("read_file", path="notes.txt"),
    "journal": call("read_file", path=next((str(p) for p in Path.cwd().parents if p.name == ".outcrop"), "") + "/x"),
    "left": call("run_command", command="sleep SECONDS & echo begun; sleep SECONDS", wait_seconds=1.0),
}
found["output"] = call("read_file", path=found["left"]["output_file"])
print(json.dumps({"type": "completion", "dispatch_id": request["dispatch_id"], "status": "success", "results": found}))
""".replace("SECONDS", SECONDS)


def sleeping() -> list[psutil.Process]:
    """Processes of the command, by what is theirs alone."""
    found = psutil.process_iter(["cmdline"])
    return [process for process in found if process.info["cmdline"] == ["sleep", SECONDS]]


async def test_a_command_that_is_left_running_ends_with_the_dispatch(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "notes.txt").write_text("granite in the west,\nand more granite\n")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    async with Pool(workspace=workspace) as pool:
        outcome = await pool.dispatch("analytics", "look", command=[sys.executable, "-P", str(program)])
    found = outcome.results
    assert found["command"]["output"].splitlines()[0] == "2"
    assert found["command"]["exit_code"] != 0
    assert found["text"]["text"] == "granite in the west,\nand more granite\n"
    assert found["journal"] == {"refused": "PathError"}
    assert found["left"]["state"] == "running"
    assert found["output"]["text"] == found["left"]["output"] == "begun\n"
    _, alive = psutil.wait_procs(sleeping(), timeout=5)
    assert alive == []
