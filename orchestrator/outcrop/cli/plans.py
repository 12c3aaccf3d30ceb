"""`outcrop export-plan`, `outcrop run --plan`, `outcrop replay --on`: what was done once, done again on other files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from outcrop.cli.boundary import GOOD, Cancelled, run_async
from outcrop.cli.output import report_run, say, say_json, warn
from outcrop.cli.records import open_named
from outcrop.cli.work import pairs, status
from outcrop.plans.files import plan_text, read_plan, write_plan
from outcrop.plans.following import Follow, without_model
from outcrop.plans.inspecting import export
from outcrop.recovery import open_run
from outcrop.settings import Settings
from outcrop.shared import LOCAL
from outcrop.view import progress_view
from outcrop.workspace import Workspace
from outcrop_schemas.errors import PlanMismatchError, UsageError
from outcrop_schemas.outcome import RunOutcome
from outcrop_schemas.plan import Plan

GetPlan = Callable[[Any], Awaitable[Plan]]
# Options of `run` that say how a model is asked, or what it is shown.
_OF_MODELS = ("model", "budget_usd", "budget_tokens", "attach")


def export_plan(options: Namespace) -> int:
    """Print a run's plan, or write it to a file."""
    record = open_named(options)
    if options.output and Path(options.output).exists():
        raise UsageError(f"{options.output} is there already; nothing is replaced")

    async def exported() -> Plan:
        # A few processes alone never pay for a nursery.
        async with without_model(Workspace(options.workspace), Settings.load(options.workspace), "cold") as shared:
            return await export(record, shared)

    plan = run_async(exported())
    if options.output:
        write_plan(plan, Path(options.output))
    if options.json:
        say_json(plan.model_dump(mode="json", by_alias=True))
    elif options.output:
        _tell(plan, options.output)
    else:
        say(plan_text(plan).rstrip("\n"))
    for call in plan.calls:
        if call.obstacle:
            warn(f"{call.id}: {call.obstacle}; take it out of the plan to follow the rest")
    return GOOD


def run_plan(options: Namespace) -> int:
    """Follow the plan in a file."""
    if options.objective is not None:
        raise UsageError("--plan stands in place of an OBJECTIVE.")
    if given := [name for name in _OF_MODELS if getattr(options, name)]:
        raise UsageError(f"--{given[0].replace('_', '-')} does not go with --plan: no model is asked.")
    plan = read_plan(Path(options.plan))

    async def known(_: Any) -> Plan:
        return plan

    return _follow(options, known, options.data, pairs(options.pin, "--pin"))


def replay_on(options: Namespace) -> int:
    """Follow the plan of a run."""
    if options.verify:
        raise UsageError("--verify and --on are two things: one starts nothing, the other a run.")
    record = open_named(options)

    async def exported(shared: Any) -> Plan:
        return await export(record, shared)

    return _follow(options, exported, options.on, {})


def _follow(options: Namespace, get_plan: GetPlan, data: list[str], pins: dict[str, str]) -> int:
    given = {"workers": getattr(options, "workers", None)}
    settings = Settings.load(options.workspace, given, getattr(options, "assigned", ()))
    follows: list[Follow] = []

    async def followed() -> RunOutcome:
        backend = getattr(options, "backend", LOCAL)
        async with without_model(Workspace(options.workspace), settings, backend=backend) as shared:
            plan = await get_plan(shared)
            follows.append(Follow(plan, data, pairs(options.map, "--map"), pins, watcher))
            return await follows[0].start(shared)

    with progress_view(quiet=options.json and options.command_name == "replay") as watcher:
        try:
            outcome = run_async(followed())
        except PlanMismatchError as error:
            if options.json:
                say_json({"status": "error", "errors": str(error).splitlines(), "misfits": error.misfits})
            raise
        except Cancelled:
            work = follows[0].run if follows else None
            if options.json and work and work.desk and (answer := open_run(work.desk.folder).answer):
                say_json(answer.model_dump(mode="json"))
            raise
    bound = follows[0].bound
    for told in [*(bound.repairs if bound else []), *(bound.warnings if bound else [])]:
        warn(told)
    if options.json:
        say_json(outcome.model_dump(mode="json"))
    else:
        report_run(outcome)
    return status(outcome)


def _tell(plan: Plan, path: str) -> None:
    say(f"{path}: {len(plan.calls)} calls in {len(plan.steps)} steps on {len(plan.inputs)} files, of run {plan.run}")
    for one in plan.inputs:
        names = ", ".join(column.name for column in one.columns) or "no column by name"
        say(f"  {one.id}: {one.file}; needs {names}")
    for told in plan.left_out:
        say(f"  left out: {told}")
