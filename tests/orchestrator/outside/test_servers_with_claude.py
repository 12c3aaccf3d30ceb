"""Outside tools in requests of the Messages API, as a strict server of it takes them, however they are offered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers.messages_api import MessagesApi
from servers.turns import answer, call
from warm import warm

from outcrop import Pool

from .conftest import BAD

DONE = answer(call("complete", status="success", summary="done", results={}))


@pytest.mark.parametrize("offering", ["all", "select", "api"])
@pytest.mark.parametrize(("mode", "tool"), [("names", "bad__with_spaces"), ("schemas", "bad__either")])
async def test_a_strict_server_takes_the_tools_of_a_hostile_one(
    workspace: Path,
    settings_file: Callable[..., None],
    serving: Callable[..., MessagesApi],
    offering: str,
    mode: str,
    tool: str,
) -> None:
    settings_file(BAD, mode, name="bad", more=f'[roles.default]\ntools = "{offering}"')
    api = serving(answer(call(tool)), DONE)
    async with Pool(workspace=workspace, model="anthropic", launcher=warm()) as pool:
        outcome = await pool.dispatch("analytics", "do the thing with spaces")
    assert outcome.status == "success", outcome.errors
    results: list[Any] = api.seen[-1].body["messages"][-1]["content"]
    assert "fine" in str([block for block in results if block["type"] == "tool_result"])
