"""What the lead's model is told of the tools costs little, and no request above the window is sent in silence."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop import Pool, Run
from outcrop.again import run_again
from outcrop.lead.roster import gist, roster
from outcrop.lead.toolbox import lead_schemas
from outcrop.logbook import lines
from outcrop.models.scripted import turn
from outcrop.recovery import RunRecord, open_run
from outcrop.replay import verify
from outcrop.runs import RunFolder
from outcrop.settings import Settings
from outcrop_schemas import limits
from outcrop_schemas.messages import ModelRequest, ModelResponse, Usage
from outcrop_specialists.context.tokens import tokens_of_text
from outcrop_specialists.roles import ROLES
from outcrop_specialists.tools.registry import all_tools

SMALL = {"window_tokens": limits.WINDOW_TOKENS_LEAST}


class Worker:
    """The lead has one piece of work done, the specialist does it."""

    name = "worker"

    def __init__(self, *, is_free: bool) -> None:
        self.is_free = is_free
        self.requests: list[ModelRequest] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        self.requests.append(request)
        number = f"t{len(self.requests)}"
        if not is_of_lead(request):
            return spent(turn(("complete", {"status": "success", "summary": "done", "results": {}}), turn_id=number))
        asked = any(message.role == "assistant" for message in request.messages)
        work = ("dispatch", {"specialist": "analytics", "objective": "look"})
        return spent(turn(("complete", {"status": "success", "summary": "done"}) if asked else work, turn_id=number))


def spent(response: ModelResponse) -> ModelResponse:
    return response.model_copy(update={"usage": Usage(input_tokens=100, output_tokens=10)})


def is_of_lead(request: ModelRequest) -> bool:
    return any(tool.name == "dispatch" for tool in request.tools)


async def done(workspace: Path, *, is_free: bool, **roles: Any) -> tuple[Any, Worker, RunRecord]:
    model = Worker(is_free=is_free)
    settings = Settings(roles=roles)
    outcome = await Run("look", workspace=workspace, launcher=warm(), model=model, settings=settings).start()
    return outcome, model, open_run(RunFolder(Path(outcome.run_folder)))


def differences(run: RunRecord) -> list[str | None]:
    return [each.difference for each in verify(run)]


def test_the_short_list_names_every_tool_and_specialist_within_three_thousand_tokens() -> None:
    short = lead_schemas("select")[0].description
    assert tokens_of_text(short) < 3_000 < tokens_of_text(lead_schemas("all")[0].description)
    told = roster(is_short=True).splitlines()
    assert [role.name for role in ROLES.values() if f"{role.name}: {role.purpose}" not in told] == []
    for tool in all_tools():
        assert sum(line == f"- {tool.name}: {gist(tool.description)}" for line in told) == 1
        assert len(gist(tool.description)) <= limits.GIST_CHARS
        for name in tool.specialists:
            begins = next(n for n, line in enumerate(told) if line.startswith(f"{name}: "))
            ends = next((n for n, line in enumerate(told) if n > begins and not line.startswith("- ")), len(told))
            assert tool.name in " ".join(told[begins:ends]).replace(",", " ").replace(":", " ").split()


@pytest.mark.parametrize(
    ("is_free", "roles", "is_short"),
    [
        (False, {}, True),
        (True, {}, False),
        (False, {"lead": {"tools": "all"}}, False),
        (True, {"lead": {"tools": "select"}}, True),
        (False, {"lead": {"fallback": "offline"}}, False),
    ],
)
async def test_a_lead_that_costs_gets_the_short_list_and_the_record_says_which(
    workspace: Path, is_free: bool, roles: Any, is_short: bool
) -> None:
    outcome, model, run = await done(workspace, is_free=is_free, **roles)
    assert outcome.status == "success", outcome.errors
    described = {request.tools[0].description for request in model.requests if is_of_lead(request)}
    assert described == {lead_schemas("select" if is_short else "all")[0].description}
    assert await asyncio.to_thread(differences, run) == [None, None]
    # Done again with the recorded answers, which cost nothing, it is told the same.
    again = await run_again(run, run, Settings())
    assert [each.told for each in again.differences] == []


@pytest.mark.parametrize("role", ["lead", "analytics"])
async def test_a_request_that_cannot_be_made_small_enough_is_not_sent_and_the_outcome_says_what_helps(
    workspace: Path, role: str
) -> None:
    outcome, model, run = await done(workspace, is_free=False, **{role: SMALL})
    sent = [request for request in model.requests if is_of_lead(request) == (role == "lead")]
    assert sent == []
    errors = outcome.errors if role == "lead" else run.outcomes[0].errors
    assert "model: a request was not sent: it has about" in errors[0]
    assert f"the window of worker is set to {limits.WINDOW_TOKENS_LEAST}; most of it is tools (" in errors[0]
    assert f"Set a larger window_tokens in [roles.{role}]" in errors[0]
    assert [each for each in await asyncio.to_thread(differences, run) if each] == []


async def test_a_model_that_costs_nothing_is_asked_all_the_same_and_the_outcome_warns(workspace: Path) -> None:
    outcome, model, run = await done(workspace, is_free=True, lead=SMALL, analytics=SMALL)
    assert outcome.status == "success"
    assert len(model.requests) == 3
    for told in (outcome.warnings, run.outcomes[0].warnings):
        assert [warning for warning in told if f"above the window_tokens = {limits.WINDOW_TOKENS_LEAST}" in warning]


async def test_what_fits_is_sent_without_a_word(workspace: Path) -> None:
    outcome, _, _ = await done(workspace, is_free=False, lead={"window_tokens": 12_000})
    assert (outcome.status, outcome.warnings) == ("success", [])


async def test_a_dispatch_without_a_lead_is_refused_likewise(workspace: Path) -> None:
    model = Worker(is_free=False)
    settings = Settings(roles={"analytics": SMALL})
    async with Pool(workers=1, model=model, workspace=workspace, launcher=warm(), settings=settings) as pool:
        outcome = await pool.dispatch("analytics", "look")
    assert (outcome.status, model.requests) == ("error", [])
    assert "a request was not sent" in outcome.errors[0]


async def test_the_log_tells_calls_under_the_agent_that_made_them(workspace: Path) -> None:
    _, _, run = await done(workspace, is_free=False)
    found: dict[str, list[str]] = {}
    for line in lines(run):
        if line.what in ("reserved", "settled"):
            found.setdefault(line.agent[:5], []).append(line.what)
    assert {agent: sorted(told) for agent, told in found.items()} == {
        "lead": ["reserved", "reserved", "settled", "settled"],
        "d0001": ["reserved", "settled"],
    }
