"""A run as a tree: what it is for, its dispatches with their calls and files, its answer, what it cost."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from outcrop.cli.output import hypothesis_lines, lists_of, one_line, size, spending_lines, verdicts
from outcrop.cli.tree import Node
from outcrop.gaps.record import gap_lines
from outcrop.hypotheses import hypotheses_of
from outcrop.logbook import ToolCall, tool_calls
from outcrop.records import Entry
from outcrop.recovery import RunRecord
from outcrop.report.jobs import job_facts
from outcrop.report.links import REPORT
from outcrop.text import shorten
from outcrop_schemas import wire
from outcrop_schemas.errors import JournalError
from outcrop_schemas.hypotheses import Hypothesis
from outcrop_schemas.outcome import Outcome, RunOutcome, VerifiedArtifact
from outcrop_specialists.completion import COMPLETE

_DISPATCHES_SHOWN, _JOBS_SHOWN = 200, 200
# Their conversations are read for it, which may be long.
_WITH_CALLS, _CALLS_SHOWN = 50, 30
_ENTRIES_SHOWN, _OBJECTIVE_CHARS, _VALUE_CHARS, _CALL_CHARS = 20, 300, 60, 160
_JOB_START, _JOB_END = "job_start", "job_end"


def tree_of(run: RunRecord, spending: Mapping[str, Any] | None) -> Node:
    """The whole run, bounded whatever its length."""
    about = run.about
    kind = about.get("kind") or "(what it is for is not known: its first record is lost)"
    root = Node("  ".join(part for part in (f"{run.folder.run_id}  {kind}", str(about.get("at", ""))) if part))
    if run.is_under_way:
        root.text += "  under way"
    _about(root, about)
    _jobs(root, run)
    _dispatches(root, run)
    if missing := gap_lines(run):
        root.add("", "Packages that were missing").children = [Node(line) for line in missing]
    if run.answer:
        _answer(root, run.answer)
    else:
        _hypotheses(root, hypotheses_of(run))
    if spending and not run.answer:
        root.add("", "Spent on models").children = [Node(line) for line in spending_lines(spending)]
    root.add(str(run.folder.path), "Record")
    if (report := run.folder.path / REPORT).is_file():
        root.add(str(report), "Report")
    return root


def _about(root: Node, about: Mapping[str, Any]) -> None:
    if about.get("objective"):
        root.add(
            shorten(about["objective"], _OBJECTIVE_CHARS if sys.stdout.isatty() else len(about["objective"])),
            "Objective",
        )
    if about.get("jobs"):
        root.add(str(about["jobs"]), "Jobs")
    for name, title in (("data", "Data"), ("attach", "Attached")):
        if about.get(name):
            root.add(", ".join(one_line(str(entry.get("path", "?"))) for entry in about[name]), title)
    models = about.get("models")
    if isinstance(models, dict) and models:
        told = {role: str(model) for role, model in models.items()}
        root.add(", ".join(name if role == "default" else f"{role} {name}" for role, name in told.items()), "Model")


def _dispatches(root: Node, run: RunRecord) -> None:
    """The last ones, those before them counted by status."""
    starts = [entry for entry in run.records.entries if entry.type == "start"]
    ended = {entry.id: entry for entry in run.records.entries if entry.type == "end"}
    unwritten = {outcome.dispatch_id: outcome for outcome in run.interrupted}
    before, last = starts[:-_DISPATCHES_SHOWN], starts[-_DISPATCHES_SHOWN:]
    if before:
        counts = Counter(str(ended[entry.id].detail) if entry.id in ended else "running" for entry in before)
        root.add(f"{len(before)} earlier dispatches ({_counted(counts)}); `outcrop log {run.folder.run_id}` lists all")
    for number, start in enumerate(last):
        end = ended.get(start.id)
        outcome = Outcome.model_validate(run.records.at(end).body) if end else unwritten.get(start.id)
        _dispatch(root, run, start, outcome, with_calls=number >= len(last) - _WITH_CALLS)
    for entry in run.waiting[:_DISPATCHES_SHOWN]:
        body = run.records.at(entry).body
        root.add(f"{_name(entry.id)} {body['specialist']} waiting for a place", status="waiting").add(
            body["objective"], "objective"
        )
    if len(run.waiting) > _DISPATCHES_SHOWN:
        root.add(f"{len(run.waiting) - _DISPATCHES_SHOWN} more wait")


def _dispatch(root: Node, run: RunRecord, start: Entry, outcome: Outcome | None, *, with_calls: bool) -> None:
    body = run.records.at(start).body
    status = outcome.status if outcome else "running"
    said = [f"{_name(start.id)} {body['specialist']} {status}"]
    if outcome:
        if status != "interrupted":
            said.append(f"{outcome.duration_s:.1f} s")
        if tokens := tokens_of(outcome.usage):
            said.append(f"{tokens:,} tokens")
        if spent := (outcome.usage.get("spending") or {}).get("spent_usd"):
            said.append(f"${spent}")
    node = root.add(", ".join(said), status=status)
    node.add(
        shorten(body["objective"], _OBJECTIVE_CHARS if sys.stdout.isatty() else len(body["objective"])), "objective"
    )
    if with_calls:
        _calls(node, run, start.id)
    if outcome:
        _outcome(node, outcome)


def _outcome(node: Node, outcome: Outcome) -> None:
    if outcome.summary:
        node.add(outcome.summary, "said")
    for title, entries in (("found", outcome.findings), ("blocker", outcome.blockers)):
        _entries(node, title, entries)
    for artifact in outcome.artifacts[:_ENTRIES_SHOWN]:
        node.add(file_line(artifact), "file")
    if outcome.truncated:
        node.add(f"{outcome.truncated.chars} characters, all in {outcome.truncated.spill or 'no file'}", "results")
    for title, entries in (("error", outcome.errors), ("warning", outcome.warnings)):
        _entries(node, title, entries)


def _calls(node: Node, run: RunRecord, agent: str) -> None:
    try:
        calls = [call for call in tool_calls(run, agent) if call.name != COMPLETE]
    except JournalError as error:
        node.add(str(error), "its calls cannot be read")
        return
    for call in calls[:_CALLS_SHOWN]:
        status = "running" if call.lacks_answer else "error" if call.is_error else "success"
        child = node.add(_call(call), status=status)
        if call.is_error and call.content:
            child.add(shorten(call.content, _OBJECTIVE_CHARS), "error")
    if len(calls) > _CALLS_SHOWN:
        node.add(
            f"{len(calls) - _CALLS_SHOWN} more calls; `outcrop log {run.folder.run_id} --dispatch {agent}` lists all"
        )


def _call(call: ToolCall) -> str:
    """`summarize path=assays.csv columns=["Au_ppm"]`."""
    given = [f"{name}={_value(value)}" for name, value in call.arguments.items()]
    text = " ".join([call.name, *given])
    return shorten(text, _CALL_CHARS) if sys.stdout.isatty() else text


def _value(value: Any) -> str:
    text = one_line(value) if isinstance(value, str) else wire.dumps(value).decode()
    return shorten(text, _VALUE_CHARS) if sys.stdout.isatty() else text


def _jobs(root: Node, run: RunRecord) -> None:
    """Of a batch: its jobs, each with the run that it had."""
    if run.about.get("kind") != "batch":
        return
    events = [e for e in run.records.entries if e.type == "event" and e.detail in (_JOB_START, _JOB_END)]
    begun: dict[str, Entry] = {}
    ended: dict[str, Entry] = {}
    # By the order of the record: a job that is run again counts as it ended last.
    for entry in events[-2 * _JOBS_SHOWN :]:
        (begun if entry.detail == _JOB_START else ended)[str(run.records.at(entry).body["job"])] = entry
    jobs = list(dict.fromkeys([*begun, *ended]))[-_JOBS_SHOWN:]
    if facts := job_facts(run):
        counts = Counter(facts.counts)
        root.add(f"{counts.total()} ({_counted(counts)})" if counts else "none", "Begun")
        shown = [ended.get(job) or begun[job] for job in jobs]
        before = counts - Counter(_job_status(run, run.records.at(entry).body) for entry in shown)
        if before:
            earlier = f"{before.total()} earlier job{'' if before.total() == 1 else 's'}"
            root.add(f"{earlier} ({_counted(before)}); results.jsonl in the run folder has all")
    for job in jobs:
        _job(root, run, begun.get(job), ended.get(job))


def _job(root: Node, run: RunRecord, begun: Entry | None, ended: Entry | None) -> None:
    known = ended or begun
    assert known is not None
    body = run.records.at(known).body
    outcome = body.get("outcome") or {}
    status = _job_status(run, body)
    name = f" {body['id']}" if body.get("id") else ""
    seconds = f", {outcome['duration_s']:.1f} s" if "duration_s" in outcome else ""
    node = root.add(f"line {body['line']}{name} {status}{seconds}", status=status)
    for title, text in (("objective", outcome.get("objective")), ("said", outcome.get("summary"))):
        if text:
            node.add(str(text), title)
    _entries(node, "error", [str(error) for error in outcome.get("errors", [])])
    run_id = outcome.get("run_id") or (run.records.at(begun).body.get("run_id") if begun else None)
    if run_id:
        node.add(str(run_id), "run")


def _job_status(run: RunRecord, body: Mapping[str, Any]) -> str:
    outcome = body.get("outcome") or {}
    return str(outcome.get("status", "running" if run.is_under_way else "interrupted"))


def _answer(root: Node, outcome: RunOutcome) -> None:
    node = root.add(
        f"{outcome.status.upper()}: {outcome.summary}" if outcome.summary else outcome.status.upper(),
        status=outcome.status,
    )
    for title, entries in (
        *lists_of(outcome),
        ("Figures", verdicts(outcome) if outcome.figures else []),
        ("Files", [file_line(artifact) for artifact in outcome.artifacts]),
    ):
        if entries:
            node.add(f"{len(entries)}" if title == "Files" else "", title).children = [Node(entry) for entry in entries]
    _hypotheses(node, outcome.hypotheses)
    total = [f"{outcome.duration_s:.1f} s", f"{tokens_of(outcome.usage):,} tokens"]
    node.add(", ".join(total), "Took")
    if spending := outcome.usage.get("spending"):
        node.add("", "Spent on models").children = [Node(line) for line in spending_lines(spending)]


def _hypotheses(node: Node, held: Sequence[Hypothesis]) -> None:
    if held:
        shelf = node.add("", "Hypotheses")
        for each in held:
            claim, *evidence = hypothesis_lines(each).split("\n")
            shelf.add(claim).add_all("", (line.strip() for line in evidence))


def tokens_of(usage: Mapping[str, Any]) -> int:
    """All tokens of an account, read and written."""
    names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(value for name in names if isinstance(value := usage.get(name, 0), int))


def file_line(artifact: VerifiedArtifact) -> str:
    """`results/a.csv (1.2 kB, 20 rows) — its title`."""
    rows = f", {artifact.rows:,} rows" if artifact.rows is not None else ""
    title = f" — {artifact.title}" if artifact.title else ""
    return f"{one_line(artifact.path)} ({size(artifact.bytes)}{rows}){one_line(title)}"


def _entries(node: Node, title: str, entries: list[str]) -> None:
    node.add_all(title, entries[:_ENTRIES_SHOWN])
    if len(entries) > _ENTRIES_SHOWN:
        node.add(f"{len(entries) - _ENTRIES_SHOWN} more", title)


def _name(dispatch_id: str) -> str:
    """The beginning is enough for every command; where it may be searched for it is whole."""
    return dispatch_id.partition("-")[0] if sys.stdout.isatty() else dispatch_id


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
