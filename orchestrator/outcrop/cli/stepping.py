"""`outcrop replay RUN --step` and `--to`: the walk through a run's record, on a terminal one step at a time."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from outcrop.cli.boundary import GOOD
from outcrop.cli.output import say, say_json_with
from outcrop.cli.records import open_named, say_request
from outcrop.recovery import RunRecord
from outcrop.stepping import Step, steps
from outcrop_schemas import wire
from outcrop_schemas.errors import UnknownNameError, UsageError
from outcrop_schemas.messages import ModelRequest

_ASKED = "[Enter] next   p the whole prompt   a all that follow   q quit: "
_SHOWN_IDS = 20


def walk(options: Namespace) -> int:
    """Show the steps of a run, up to a dispatch or a number where one is given."""
    run = open_named(options)
    until = _until(run, options.to)
    walked = _counted(steps(run, until), until)
    if options.json:
        say_json_with({"run_id": run.folder.run_id}, "steps", (step.as_json() for step in walked))
        return GOOD
    asks = options.step and sys.stdin.isatty() and sys.stdout.isatty()
    for step in walked:
        say("\n".join(lines_of(step)))
        if asks:
            said = _answer(step)
            if said == "q":
                break
            asks = said != "a"
    return GOOD


def _until(run: RunRecord, to: str | None) -> str | int | None:
    """What `--to` means: a number of a step, or a dispatch. Raises UnknownNameError."""
    if to is None:
        return None
    if to.isdecimal() and int(to):
        return int(to)
    ids = [entry.id for entry in run.records.entries if entry.type == "start"]
    matching = [each for each in ids if each.startswith(to)]
    if len(matching) != 1:
        raise UnknownNameError("dispatch", to, matching[:_SHOWN_IDS], ids[-_SHOWN_IDS:])
    return matching[0]


def _counted(walked: Iterator[Step], until: str | int | None) -> Iterator[Step]:
    """The same steps. Raises UsageError where there are fewer than were asked for."""
    number = 0
    for step in walked:
        number = step.number
        yield step
    if isinstance(until, int) and number < until:
        raise UsageError(f"--to {until}: the run has {number} steps")


def _answer(step: Step) -> str:
    """What the reader wants next; the whole prompt is shown as often as it is asked for."""
    while True:
        sys.stdout.write(_ASKED if step.request else _ASKED.replace("p the whole prompt   ", ""))
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            say()
            return "q"
        said = line.strip().lower()[:1]
        if said == "p" and step.request:
            say_request(ModelRequest.model_validate(wire.loads(step.request)))
            continue
        return said


def lines_of(step: Step) -> list[str]:
    """A step as it is shown: a head, and what it is about beneath it."""
    fields, agent = step.fields, step.agent.partition("-")[0]
    head = f"{step.number:4}  {step.at[11:19] or '-':8}  {agent:6}  {_head(step)}"
    return [head, *(f"      {line}" for line in _body(step.what, fields))]


def _head(step: Step) -> str:
    fields = step.fields
    if step.what == "run":
        return f"begins a {fields.get('kind') or 'run'}"
    if step.what == "turn":
        unused = f", not used: {fields['unused']}" if fields.get("unused") else ""
        return f"turn {fields['turn']}{unused}"
    if step.what == "summary":
        return "sums up what its window cannot hold"
    if step.what == "result":
        return f"result of {fields['tool']} [{fields['status']}]"
    if step.what == "dispatch":
        return f"begins: {fields['specialist']}"
    if step.what == "event":
        return str(fields["kind"]).replace("_", " ")
    return f"{'answers' if step.what == 'answer' else 'ends'} [{fields['status']}] after {fields['duration_s']:.1f} s"


def _body(what: str, fields: Mapping[str, Any]) -> Iterator[str]:
    if what in ("turn", "summary"):
        yield from _turn(fields)
        return
    for name in ("objective", "text", "summary", "results", "context"):
        if fields.get(name):
            yield f"{'' if name in ('text', 'summary') else f'{name}: '}{fields[name]}"
    for name, value in (fields.get("pins") or {}).items():
        yield f"pin: {name} = {value}"
    if fields.get("command"):
        yield f"command: {' '.join(fields['command'])}"
    for name in ("data", "findings", "blockers", "errors", "warnings", "artifacts"):
        yield from _entries(name, fields)


def _turn(fields: Mapping[str, Any]) -> Iterator[str]:
    sent = fields["sent"]
    yield f"sent: {sent['tokens']:,} tokens{'' if sent['is_counted'] else ' (estimated)'}; new in it:"
    results = [piece for piece in sent["new"] if piece["segment"] == "tool_results"]
    for piece in sent["new"]:
        if piece not in results:
            yield f"  {piece['segment'].replace('_', ' ')}: {piece['text']}"
    if results:
        yield f"  tool results: {len(results)}, as they were given back"
    if more := sent.get("more_new"):
        yield f"  and {more} more"
    if fields.get("text"):
        yield f"says: {fields['text']}"
    for call in fields.get("calls", ()):
        yield f"calls {call['tool']} {call['arguments']}"
        if "status" in call:
            yield f"  [{call['status']}] {call['result']}"
    if fields.get("stop_reason"):
        yield f"stopped: {fields['stop_reason']}"
    if fields.get("error"):
        yield f"no answer: {fields['error']}"


def _entries(name: str, fields: Mapping[str, Any]) -> Iterator[str]:
    entries: Sequence[str] = fields.get(name) or ()
    for entry in entries:
        yield f"{name.removesuffix('s')}: {entry}"
    if more := fields.get(f"more_{name}"):
        yield f"and {more} more {name}"
