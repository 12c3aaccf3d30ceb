"""`[mcp.NAME]` in `outcrop.toml`: what it may say, and that what it says wrongly is told by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop.doctor import examine
from outcrop.outside.config import McpServer
from outcrop.settings import Settings, effective
from outcrop_schemas.errors import UsageError

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "outside-tools.md"


def load(workspace: Path, text: str) -> Settings:
    (workspace / "outcrop.toml").write_text(text)
    return Settings.load(workspace)


def test_a_server_is_without_network_and_for_everybody_unless_it_says_otherwise(workspace: Path) -> None:
    server = load(workspace, '[mcp.lab]\ncommand = ["lab-server", "--quiet"]').mcp["lab"]
    assert (server.network, server.timeout_seconds, server.reads) == (False, 60.0, [])
    assert server.is_for("analytics")
    assert server.has("anything")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[mcp.lab]\ncomand = ["x"]', "mcp.lab.comand.*Did you mean 'command'"),
        ("[mcp.lab]", "mcp.lab.command"),
        ("[mcp.lab]\ncommand = []", "mcp.lab.command"),
        ('[mcp.lab]\ncommand = [""]', "empty word"),
        ('[mcp.lab]\ncommand = "x"', "mcp.lab.command"),
        ('[mcp."a b"]\ncommand = ["x"]', "cannot be the name of a server"),
        ('[mcp.a__b]\ncommand = ["x"]', "cannot be the name of a server"),
        ('[mcp.lab]\ncommand = ["x"]\nspecialists = ["analytcs"]', "Did you mean 'analytics'"),
        ('[mcp.lab]\ncommand = ["x"]\nspecialists = ["lead"]', "no specialist 'lead'"),
        ('[mcp.lab]\ncommand = ["x"]\ntimeout_seconds = 0', "timeout_seconds"),
        ('[mcp.lab]\ncommand = ["x"]\ntimeout_seconds = true', "switch"),
        ('[mcp.lab]\ncommand = ["x"]\nnetwork = "no"', "network"),
        ('[mcp.lab]\ncommand = ["x"]\nenv = ["1=2"]', "NAME or NAME=VALUE"),
    ],
)
def test_what_cannot_be_is_refused_by_its_key(workspace: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load(workspace, text)


def test_a_setting_of_the_environment_is_one_too(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTCROP_MCP__LAB__COMMAND", '["lab-server"]')
    assert Settings.load(workspace).mcp["lab"].command == ["lab-server"]
    monkeypatch.setenv("OUTCROP_MCP__LAB__COMAND", '["lab-server"]')
    with pytest.raises(UsageError, match="COMMAND"):
        Settings.load(workspace)


def test_limits_shows_the_servers_but_no_value_of_their_environment(workspace: Path) -> None:
    settings = load(workspace, '[mcp.lab]\ncommand = ["x"]\nenv = ["TOKEN=secret", "HOME"]\nnetwork = true')
    [(name, value, origin)] = [row for row in effective(settings) if row[0].startswith("mcp")]
    assert (name, origin) == ("mcp.lab", "set")
    assert "with network" in value
    assert "TOKEN" in value
    assert "secret" not in value


def test_the_tables_of_the_documentation_are_settings(workspace: Path) -> None:
    for block in DOCUMENT.read_text("utf-8").split("```toml\n")[1:]:
        assert load(workspace, block.partition("```")[0]).mcp.keys() == {"lab", "files"}


def test_tools_are_chosen_by_pattern_and_left_out_by_pattern() -> None:
    server = McpServer(command=["x"], tools=["read_*", "list"], without=["*_secret"])
    assert [name for name in ("read_file", "read_secret", "list", "write") if server.has(name)] == ["read_file", "list"]


def test_a_variable_is_passed_on_by_its_name_or_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_TOKEN", "t")
    server = McpServer(command=["x"], env=["LAB_TOKEN", "LAB_NOTHING", "ROOT={workspace}/data"])
    assert server.variables("/w") == {"LAB_TOKEN": "t", "ROOT": "/w/data"}


async def test_doctor_says_which_servers_are_there_and_which_have_the_network(workspace: Path) -> None:
    (workspace / "outcrop.toml").write_text(
        '[mcp.there]\ncommand = ["python3"]\nnetwork = true\n[mcp.gone]\ncommand = ["no-such-program-anywhere"]\n'
    )
    checks = {check.name: check for check in (await examine(workspace)).checks}
    assert "HAS THE NETWORK" in checks["outside server there"].text
    assert not checks["outside server gone"].is_good
    assert "no program 'no-such-program-anywhere'" in checks["outside server gone"].text
