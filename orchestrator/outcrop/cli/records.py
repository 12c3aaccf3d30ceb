"""`outcrop show`, `outcrop replay`, `outcrop context`: the commands that read one run's record and start nothing."""

from __future__ import annotations

import csv
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from outcrop.cli.boundary import BAD, GOOD
from outcrop.cli.output import bars, report_run, say, say_json, table
from outcrop.hypotheses import hypotheses_of
from outcrop.records import Entry
from outcrop.recovery import RunRecord, as_this_version_writes, open_run
from outcrop.runs import find_run
from outcrop.settings import CHAT
from outcrop.spending import spending_of
from outcrop.text import inert
from outcrop.workspace import Workspace
from outcrop_schemas import wire
from outcrop_schemas.errors import UsageError
from outcrop_schemas.messages import ModelRequest, TextBlock, ToolResultBlock, ToolUseBlock
from outcrop_specialists.context.segments import SEGMENTS


def show(options: Namespace) -> int:
    """A run as a tree, or the prompt its lead would see now."""
    run = open_named(options)
    with as_this_version_writes(run.folder):
        return _show(run, options)


def _show(run: RunRecord, options: Namespace) -> int:
    if options.prompt:
        return _show_prompt(run, as_json=options.json)
    if options.json:
        say_json(_document(run))
        return GOOD
    from outcrop.cli.showing import tree_of
    from outcrop.cli.tree import say_tree

    say_tree(tree_of(run, spending_of(run)))
    if _is_chat(run):
        from outcrop.cli.chat_output import say_conversation

        say_conversation(run)
    return GOOD


def replay(options: Namespace) -> int:
    """The same outcomes as when it ran, from the record alone; step by step, with --verify the prompts too, or anew."""
    if options.step or options.to is not None:
        from outcrop.cli.stepping import walk

        if options.on or options.map or options.with_model or options.verify:
            raise UsageError("--step and --to walk through the record; they go with no other option but --json.")
        return walk(options)
    if options.on:
        from outcrop.cli.plans import replay_on

        return replay_on(options)
    if options.map:
        raise UsageError("--map goes with --on.")
    if options.with_model:
        from outcrop.cli.again import replay_again

        return replay_again(options)
    run = open_named(options)
    if options.verify:
        return _verify(run, as_json=options.json)
    if options.json:
        answer = run.answer
        say_json(answer.model_dump(mode="json") if answer else _document(run))
        return GOOD
    if _is_chat(run):
        from outcrop.cli.chat_output import say_conversation

        say_conversation(run)
    for outcome in run.each_outcome():
        say(f"{outcome.dispatch_id} {outcome.specialist} {outcome.status} ({outcome.duration_s:.1f} s)")
        say(f"  {outcome.summary or '; '.join(outcome.errors)}")
    if run.answer:
        report_run(run.answer)
    return GOOD


def context(options: Namespace) -> int:
    """Tokens by segment for each request of one agent: a table, and bars of the last one."""
    from outcrop.steps import agents_of, find_agent, steps_of, window_of

    run = open_named(options)
    agent = find_agent(run, options.dispatch)
    if options.checkpoints:
        return _show_checkpoints(run, agent, as_json=options.json)
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


def _show_checkpoints(run: RunRecord, agent: str, *, as_json: bool) -> int:
    from outcrop.steps import checkpoints_of

    found = checkpoints_of(run, agent)
    if as_json:
        say_json({"run_id": run.folder.run_id, "agent": agent, "checkpoints": found})
        return GOOD
    for checkpoint in found:
        before = f", before request {checkpoint['step']}" if checkpoint.get("step") else ""
        say(f"=== checkpoint {checkpoint['number']}{before}\n{checkpoint['text']}")
    if not found:
        say(f"{agent} went on in the context that it began with; there is no checkpoint.")
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


def open_named(options: Namespace) -> RunRecord:
    """The run that a command names; what is odd about its record is said on stderr."""
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
        **({"waiting": [_waits(run, entry) for entry in run.waiting]} if run.waiting else {}),
        "answer": run.answer.model_dump(mode="json") if run.answer else None,
        "gaps": run.events("gap"),
        "hypotheses": [one.model_dump(mode="json") for one in hypotheses_of(run)],
        **({"turns": [body["answered"] for body in run.events("chat_answer")]} if _is_chat(run) else {}),
        "spending": spending_of(run),
    }


def _waits(run: RunRecord, entry: Entry) -> wire.Json:
    body = run.records.at(entry).body
    return {"dispatch_id": entry.id, "specialist": body["specialist"], "objective": body["objective"]}


def _is_chat(run: RunRecord) -> bool:
    return run.about.get("kind") == CHAT


def _show_prompt(run: RunRecord, *, as_json: bool) -> int:
    from outcrop.replay import lead_request

    request = lead_request(run)
    if as_json:
        say_json(request.model_dump(mode="json"))
    else:
        say_request(request)
    return GOOD


def say_request(request: ModelRequest) -> None:
    """A whole prompt for reading."""
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
        say_json([one.as_json() for one in checked])
    else:
        for one in checked:
            said = f"differs: {one.difference}" if one.difference else "the same, byte for byte"
            rebuilt = f"{one.prompts} prompts rebuilt, " if one.prompts or not one.difference else ""
            say(f"{one.agent}: {rebuilt}{said}")
        if not checked:
            say("No prompts were sent in this run.")
    return BAD if differing else GOOD
