"""An outside server is confined as a COMMAND is: it reads the workspace, writes its own folder, and reaches nobody."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from .conftest import BAD, LAB, Open


async def test_it_reads_the_workspace_writes_its_own_folder_and_reaches_nothing_else(
    opened: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "assays.csv").write_text("a\n1\n")
    (workspace / "outcrop.toml").write_text("")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("LAB_TOKEN", "t")
    found = (await opened(LAB, env=["LAB_TOKEN"]).told("reach", workspace=str(workspace)))["data"]
    assert found["reads"] == "yes: a\n1\n"
    assert found["writes_home"].startswith("yes")
    for refused in ("reads_settings", "writes_workspace", "connects", "reads_elsewhere", "sees_processes"):
        assert found[refused].startswith("no: PermissionError"), refused
    assert not (workspace / "planted.txt").exists()
    assert "ANTHROPIC_API_KEY" not in found["environment"]
    assert "LAB_TOKEN" in found["environment"]


async def test_one_that_may_use_the_network_can_connect_and_nothing_more(opened: Open, workspace: Path) -> None:
    (workspace / "assays.csv").write_text("a\n1\n")
    serving = opened(LAB, network=True)
    found = (await serving.told("reach", workspace=str(workspace)))["data"]
    # Nobody listens there; the kernel of the machine says so, and not the confinement.
    assert found["connects"].startswith("no: ConnectionRefusedError")
    for refused in ("writes_workspace", "reads_elsewhere", "sees_processes"):
        assert found[refused].startswith("no: PermissionError"), refused
    assert serving.notes[-1]["network"] is True


async def test_the_network_has_no_sockets_that_lead_to_programs_of_this_machine(
    opened: Open, workspace: Path, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        program = tmp_path / "unix.py"
        program.write_text(
            "import socket, sys\n"
            "try:\n"
            f"    socket.socket(socket.AF_UNIX).connect({str(tmp_path / 's')!r})\n"
            "except OSError as error:\n"
            "    sys.exit(f'refused: {error}')\n"
            "sys.exit('connected')\n"
        )
        serving = opened(str(program), network=True)
        with pytest.raises(Exception, match=r"refused: .*Operation not permitted"):
            await serving.server.listing()


async def test_folders_beyond_the_workspace_are_read_only_where_that_is_said(
    opened: Open, workspace: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "assays.csv").write_text("b\n2\n")
    refused = (await opened(LAB, name="one").told("reach", workspace=str(elsewhere)))["data"]
    assert refused["reads"].startswith("no: PermissionError")
    allowed = (await opened(LAB, name="two", reads=[str(elsewhere)]).told("reach", workspace=str(elsewhere)))["data"]
    assert allowed["reads"] == "yes: b\n2\n"
    assert allowed["writes_workspace"].startswith("no: PermissionError")


async def test_a_program_of_the_workspace_is_found_by_its_relative_path(opened: Open, workspace: Path) -> None:
    (workspace / "tools").mkdir()
    (workspace / "tools" / "server.py").write_text(Path(BAD).read_text())
    assert (await opened("tools/server.py").told("fine"))["text"] == "fine"
