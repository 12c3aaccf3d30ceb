"""`outcrop show`, `outcrop replay`, `outcrop runs`: the commands that read what was recorded and start nothing."""

from __future__ import annotations

import csv
import sys
from argparse import Namespace
from decimal import Decimal
from pathlib import Path
from typing import Any

from outcrop.budget import Amount, Ceiling
from outcrop.cli.boundary import BAD, GOOD
from outcrop.cli.output import bars, report_run, say, say_json, spending_lines, table
from outcrop.journal import read
from outcrop.ledger import Account, accounts_in, report
from outcrop.recovery import RunRecord, open_run
from outcrop.runs import RunFolder, all_runs, find_run
from outcrop.text import inert, shorten
from outcrop.workspace import Workspace
from outcrop_schemas import wire
from outcrop_schemas.errors import UsageError
from outcrop_schemas.messages import ModelRequest, TextBlock, ToolResultBlock, ToolUseBlock
from outcrop_specialists.context.segments import SEGMENTS

_OBJECTIVE_CHARS = 70


def show(options: Namespace) -> int:
    """The dispatches of a run, or the prompt its lead would see now."""
    run = _open(options)
    if options.prompt:
        return _show_prompt(run, as_json=options.json)
    if options.json:
        say_json(_document(run))
        return GOOD
    about = run.about
    state = "under way" if run.is_under_way else ""
    kind = about.get("kind") or "(what it is for is not known: its first record is lost)"
    say(f"{run.folder.run_id}  {kind}  {about.get('at', '')}  {state}".rstrip())
    if about.get("objective"):
        say(f"Objective: {about['objective']}")
    _say_dispatches(run)
    if run.answer:
        report_run(run.answer)
    elif spending := _spending(run):
        say("\n" + "\n".join(spending_lines(spending)))
    return GOOD


def replay(options: Namespace) -> int:
    """The same outcomes as when it ran, from the record alone; with --verify the prompts too."""
    run = _open(options)
    if options.verify:
        return _verify(run, as_json=options.json)
    if options.json:
        answer = run.answer
        say_json(answer.model_dump(mode="json") if answer else _document(run))
        return GOOD
    for outcome in run.outcomes:
        say(f"{outcome.dispatch_id} {outcome.specialist} {outcome.status} ({outcome.duration_s:.1f} s)")
        say(f"  {outcome.summary or '; '.join(outcome.errors)}")
    if run.answer:
        report_run(run.answer)
    return GOOD


def context(options: Namespace) -> int:
    """Tokens by segment for each request of one agent: a table, and bars of the last one."""
    from outcrop.steps import agents_of, find_agent, steps_of, window_of

    run = _open(options)
    agent = find_agent(run, options.dispatch)
    steps, window = steps_of(run, agent), window_of(run, agent)
    rows = [step.as_json() for step in steps]
    if options.csv:
        _write_csv(Path(options.csv), rows)
    if options.json:
        say_json({"run_id": run.folder.run_id, "agent": agent, "window_tokens": window, "steps": rows})
        return GOOD
    others = [name for name in agents_of(run) if name != agent]
    say(f"{run.folder.run_id}  {agent}  {len(steps)} requests, window {window:,} tokens")
    shown = [name for name in SEGMENTS if any(row[name] for row in rows)]
    table(
        [
            [
                row["step"] if row["purpose"] == "turn" else f"{row['step']} ({row['purpose']})",
                f"{row['tokens']:,}" + ("" if row["reported"] else " est."),
                f"{row['read_from_cache']:,}",
                *(f"{row[name]:,}" for name in shown),
                f"{row['tokens'] / window:.1%}",
            ]
            for row in rows
        ],
        ("step", "tokens", "cached", *(name.replace("_", " ") for name in shown), "of window"),
    )
    if steps:
        say(f"\nRequest {steps[-1].number}:")
        say("\n".join(bars({name: steps[-1].segments.get(name, 0) for name in shown}, steps[-1].total)))
    if not all(step.is_reported for step in steps):
        say("\nest.: the model counted nothing, so the tokens are an estimate (3 characters a token, digits 1.6)")
    if others:
        say(f"\nOther agents: {', '.join(others)}")
    return GOOD


def _write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    try:
        with path.open("x", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]) if rows else ["step"])
            writer.writeheader()
            writer.writerows(rows)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already; nothing is replaced") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def runs(options: Namespace) -> int:
    """All runs of a workspace, oldest first."""
    found = [open_run(folder) for folder in all_runs(Workspace(options.workspace)) if folder.journal.is_file()]
    listed = [
        {
            "run_id": run.folder.run_id,
            "kind": run.about.get("kind"),
            "at": run.about.get("at"),
            "status": run.answer.status if run.answer else "under way" if run.is_under_way else None,
            "dispatches": sum(record.type == "start" for record in run.records),
            "objective": run.about.get("objective") or run.about.get("jobs"),
        }
        for run in found
    ]
    if options.json:
        say_json(listed)
    elif listed:
        rows = [
            [*list(entry.values())[:5], shorten(str(entry["objective"] or ""), _OBJECTIVE_CHARS)] for entry in listed
        ]
        table(
            [[cell if cell is not None else "-" for cell in row] for row in rows],
            ("run", "kind", "begun", "status", "dispatches", "objective"),
        )
    else:
        say("No runs in this workspace yet.")
    return GOOD


def _open(options: Namespace) -> RunRecord:
    run = open_run(find_run(options.run, Workspace(options.workspace)))
    for notice in run.notices:
        sys.stderr.write(inert(f"outcrop: {run.folder.run_id}: {notice}", keep_newlines=False) + "\n")
    return run


def _document(run: RunRecord) -> wire.Json:
    return {
        "run_id": run.folder.run_id,
        "about": run.about,
        "notices": list(run.notices),
        "dispatches": [outcome.model_dump(mode="json") for outcome in run.outcomes],
        "answer": run.answer.model_dump(mode="json") if run.answer else None,
        "spending": _spending(run),
    }


def _spending(run: RunRecord) -> dict[str, Any] | None:
    """What the run spent, by its journal alone: calls that were never settled count as their most."""
    bounds = run.about.get("ceiling") or {}
    ceiling = Ceiling(Decimal(bounds["usd"]) if bounds.get("usd") else None, bounds.get("tokens"))
    accounts = accounts_in(run.records)
    if run.about.get("kind") == "batch":
        accounts = _accounts_of_jobs(run)
    if not accounts and ceiling == Ceiling():
        return None
    spent = sum((account.spent for _, account in accounts.values()), Amount())
    return report(accounts, ceiling, spent, Amount())


def _accounts_of_jobs(run: RunRecord) -> dict[str, tuple[str, Account]]:
    """What the jobs of a batch spent, by role; those of its earlier starts too."""
    found: dict[str, tuple[str, Account]] = {}
    for body in run.events("job_start"):
        journal = RunFolder(run.folder.path.parent / body["run_id"]).journal
        for role, account in accounts_in(read(journal)[0]).values() if journal.is_file() else ():
            found[role] = (role, found.get(role, (role, Account()))[1].plus(account))
    return found


def _say_dispatches(run: RunRecord) -> None:
    outcomes = {outcome.dispatch_id: outcome for outcome in run.outcomes}
    rows = []
    for record in run.records:
        if record.type != "start":
            continue
        outcome = outcomes.get(record.id)
        status = outcome.status if outcome else "running"
        seconds = f"{outcome.duration_s:.1f} s" if outcome else ""
        rows.append(
            (record.id, record.body["specialist"], status, seconds, shorten(record.body["objective"], _OBJECTIVE_CHARS))
        )
    if rows:
        table(rows, ("dispatch", "specialist", "status", "time", "objective"))


def _show_prompt(run: RunRecord, *, as_json: bool) -> int:
    from outcrop.replay import lead_request

    request = lead_request(run)
    if as_json:
        say_json(request.model_dump(mode="json"))
    else:
        _say_request(request)
    return GOOD


def _say_request(request: ModelRequest) -> None:
    say(f"=== system\n{request.system}")
    for tool in request.tools:
        say(f"=== tool {tool.name}\n{tool.description}\n{wire.dumps(tool.input_schema).decode()}")
    for message in request.messages:
        for block in message.content:
            if isinstance(block, TextBlock):
                say(f"=== {message.role}\n{block.text}")
            elif isinstance(block, ToolUseBlock):
                say(f"=== {message.role} calls {block.name}\n{wire.dumps(block.input).decode()}")
            elif isinstance(block, ToolResultBlock):
                say(f"=== result{' (error)' if block.is_error else ''}\n{block.content}")


def _verify(run: RunRecord, *, as_json: bool) -> int:
    from outcrop.replay import verify

    checked = verify(run)
    differing = [one for one in checked if one.difference]
    if as_json:
        say_json([{"agent": one.agent, "prompts": one.prompts, "difference": one.difference} for one in checked])
    else:
        for one in checked:
            said = f"differs: {one.difference}" if one.difference else "the same, byte for byte"
            rebuilt = f"{one.prompts} prompts rebuilt, " if one.prompts or not one.difference else ""
            say(f"{one.agent}: {rebuilt}{said}")
        if not checked:
            say("No prompts were sent in this run.")
    return BAD if differing else GOOD
