"""`outcrop run`, `outcrop dispatch`, `outcrop batch`: the commands that have work done."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from outcrop.cli.boundary import BAD, GOOD, Cancelled, run_async
from outcrop.cli.options import settings_of
from outcrop.cli.output import report_run, say, say_json, say_json_with, say_report, spending_line, warn
from outcrop_schemas.errors import UsageError
from outcrop_schemas.outcome import Outcome, RunOutcome

if TYPE_CHECKING:
    from outcrop.batch import JobWatcher, Line, Standing
    from outcrop.live_batch import LiveBatch

_COMMAND = "command"


def run(options: Namespace) -> int:
    """Answer one objective, or follow a plan."""
    if options.plan is not None:
        from outcrop.cli.plans import run_plan

        return run_plan(options)
    if options.objective is None:
        raise UsageError("Give an OBJECTIVE, in plain words what is to be found out, or a --plan.")
    if options.map:
        raise UsageError("--map goes with --plan.")
    from outcrop.cli.gaps import asker
    from outcrop.recovery import open_run
    from outcrop.run import Run
    from outcrop.view import progress_view

    with progress_view(quiet=False) as watcher:
        work = Run(
            _text(options.objective),
            options.data,
            workspace=options.workspace,
            settings=settings_of(options),
            pins=pairs(options.pin, "--pin"),
            attach=options.attach,
            watcher=watcher,
            backend=options.backend,
            on_gap=asker(),
        )
        try:
            outcome = run_async(work.start())
        except Cancelled:
            if options.json and work.desk and (answer := open_run(work.desk.folder).answer):
                say_json(answer.model_dump(mode="json"))
            raise
    if options.json:
        say_json(outcome.model_dump(mode="json"))
    else:
        report_run(outcome)
    code = status(outcome)
    if code != GOOD and not (options.data or outcome.data):
        warn("no data file was given; --data FILE names one")
    return code


def pins(options: Namespace) -> int:
    """List, add and remove the pins of a workspace."""
    from outcrop.pins import Pins, read_pins, write_pins
    from outcrop.workspace import Workspace

    home = Workspace(options.workspace).home
    found = read_pins(home)
    unknown = [key for key in options.remove if key not in found]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is not pinned; pinned are {', '.join(found) or 'none'}")
    kept = {key: value for key, value in found.items() if key not in options.remove}
    changed = Pins({**kept, **pairs(options.pin, "a pin")}).as_dict()
    if changed != found:
        write_pins(home, changed)
    if options.json:
        say_json(changed)
    else:
        say("\n".join(f"{key} = {value}" for key, value in changed.items()) or "Nothing is pinned in this workspace.")
    return GOOD


def memory(options: Namespace) -> int:
    """List, add and forget facts that are kept across runs."""
    from outcrop.memory import Memory, checked_fact
    from outcrop.workspace import Workspace

    for fact in options.fact:
        checked_fact(fact)  # all of them, before one is kept or forgotten
    kept = Memory(Workspace(options.workspace).home)
    for identifier in options.forget:
        kept.forget(identifier)
    for fact in options.fact:
        kept.remember(fact, "the user")
    facts = kept.all()
    if options.json:
        say_json([fact.model_dump() for fact in facts])
    else:
        say("\n".join(f"{fact.id}  {fact.line()[2:]}" for fact in facts) or "Nothing is remembered in this workspace.")
    return GOOD


def dispatch(options: Namespace) -> int:
    """Have one piece of work done by one process."""
    if options.command is None and options.specialist is None:
        raise UsageError("Name a SPECIALIST (cleaning, analytics, plotting) or give a COMMAND after --.")
    if options.command is None and options.objective is None:
        raise UsageError("Say with --objective what the specialist is to do.")
    outcome = run_async(_dispatch(options))
    if options.json:
        say_json(outcome.model_dump(mode="json"))
    else:
        _report_dispatch(outcome)
    return status(outcome)


def status(outcome: Outcome | RunOutcome) -> int:
    """The exit status; what went wrong is said on stderr too, where errors are looked for."""
    if outcome.is_good:
        return GOOD
    for reason in [*outcome.errors, *outcome.blockers] or [f"the status is {outcome.status}"]:
        warn(reason)
    return BAD


async def _dispatch(options: Namespace) -> Outcome:
    from outcrop.cli.gaps import asker
    from outcrop.pool import Pool
    from outcrop.view import progress_view

    with progress_view(quiet=options.json) as watcher:
        # One dispatch alone never pays for a nursery.
        launcher = "cold" if options.launch == "auto" else options.launch
        workspace = options.workspace
        async with Pool(
            workers=1,
            settings=settings_of(options),
            workspace=workspace,
            watcher=watcher,
            launcher=launcher,
            unconfined=options.unconfined,
            backend=options.backend,
            on_gap=asker(),
        ) as pool:
            return await pool.dispatch(
                options.specialist or _COMMAND,
                _text(options.objective) if options.objective is not None else None,
                options.data,
                timeout=options.timeout,
                grace=options.grace,
                environment=_environment(options.env),
                require=[name for given in options.require for name in given.split(",") if name],
                command=options.command,
                attach=options.attach,
            )


def batch(options: Namespace) -> int:
    """Run a file of jobs, or one objective over many files."""

    from outcrop.batch import BadLine, Batch
    from outcrop.view import batch_view

    def on_bad(bad: BadLine) -> None:
        warn(f"{jobs}, line {bad.number}: {bad.reason}")

    jobs = _jobs_file(options)
    settings = settings_of(options)
    with batch_view() as live:
        work = Batch(
            jobs,
            workspace=options.workspace,
            settings=settings,
            resume=options.resume,
            retry=[status for given in options.retry for status in given.split(",") if status],
            max_failures=options.max_failures,
            api_batch=options.api_batch,
            backend=options.backend,
            on_job=_on_job(live),
            on_bad=on_bad,
        )
        result = run_async(work.start())
    counts = result.outcomes.statuses
    if options.json:
        say_json_with(
            {
                "run_folder": str(result.run_folder),
                "results": str(result.results),
                "page": str(result.page),
                "not_begun": result.not_begun,
                "stopped_because": result.stopped_because,
                "jobs": len(result.outcomes),
                "resumed": result.resumed,
                "statuses": counts,
                "spending": result.spending,
                "bad_lines": [{"line": bad.number, "reason": bad.reason} for bad in result.bad_lines],
            },
            "outcomes",
            ({"line": number, **result.outcomes.recorded(number)} for number in result.outcomes),
        )
    else:
        said = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no job was run"
        say(
            f"{len(result.outcomes)} jobs: {said}; {result.resumed} were finished before; "
            f"{len(result.bad_lines)} bad lines"
        )
        if result.stopped_because:
            say(f"Stopped: {result.stopped_because}; {result.not_begun} jobs were not begun: --resume goes on")
        elif result.not_begun:
            again = "".join(f" --retry {given}" for given in options.retry)
            say(f"Stopped, since too many jobs failed; {result.not_begun} were not begun: --resume{again} goes on")
        if interrupted := counts.get("interrupted"):
            say(f"{interrupted} interrupted: what they did is not known; --resume --retry interrupted runs them again")
        if result.spending:
            say(spending_line(result.spending))
        say(f"Results: {result.results}\nPage:    {result.page}")
        say_report(result.run_folder, "Report:  ")
    return GOOD if result.is_good else BAD


def _on_job(live: LiveBatch | None) -> JobWatcher:
    """Who tells of each job that ended: the live table, or a line each."""

    def show(line: Line, outcome: RunOutcome, standing: Standing) -> None:
        from outcrop.live_batch import JobRow

        assert live is not None
        row = JobRow(line.job.id or f"line {line.number}", outcome.status, outcome.duration_s, _told(outcome))
        live.take(row, _standing(standing))

    def write(line: Line, outcome: RunOutcome, standing: Standing) -> None:
        name = f" {line.job.id}" if line.job.id else ""
        ended = f"line {line.number}{name}: {outcome.status} ({outcome.duration_s:.1f} s)"
        warn(f"[{_standing(standing)}] {ended} {_told(outcome)}")

    return write if live is None else show


def _told(outcome: RunOutcome) -> str:
    return outcome.summary or "; ".join(outcome.errors)


def _standing(standing: Standing) -> str:
    """`12/500, 3.4/s, $0.12, 2 m to go`."""
    from outcrop.prices import dollars
    from outcrop.text import age

    left = standing.seconds_left
    spent = [f"${dollars(standing.spent.usd)}"] if standing.spent.usd else []
    to_go = [f"{age(left)} to go"] if left and standing.left else []
    rate = f"{standing.per_second:.2g}/s"
    return ", ".join([f"{standing.ended}/{standing.ended + standing.left}", rate, *spent, *to_go])


def _jobs_file(options: Namespace) -> Path:
    """The file of jobs; those of a template are written to one, so that they are found again by --resume."""
    from outcrop.jobs import write_jobs
    from outcrop.workspace import Workspace

    if (options.jobs is None) is (options.objective_template is None):
        raise UsageError("Give a file of jobs, or --objective-template with --data.")
    if options.jobs is not None:
        if options.data:
            raise UsageError("--data goes with --objective-template; the jobs of a file name theirs.")
        return Path(options.jobs)
    if not options.data:
        raise UsageError("--objective-template needs --data with the files that it is for, such as 'assays/*.csv'.")
    workspace = Workspace(options.workspace)
    return write_jobs(workspace, options.objective_template, options.data)


def _report_dispatch(outcome: Outcome) -> None:
    from outcrop.cli.output import one_line, say_json_pretty, size

    say(f"{outcome.status.upper()} {outcome.specialist} ({outcome.duration_s:.1f} s): {outcome.summary}")
    for title in ("findings", "blockers", "errors", "warnings"):
        for entry in getattr(outcome, title):
            say(f"  {title[:-1]}: " + entry.replace("\n", "\n    "))
    for artifact in outcome.artifacts:
        say(f"  file: {one_line(artifact.path)} ({size(artifact.bytes)})")
    if spending := outcome.usage.get("spending"):
        say(f"  {spending_line(spending)}")
    if outcome.truncated:
        say(
            f"  results: {outcome.truncated.chars} characters, "
            f"all in {outcome.truncated.spill or 'no file: see the warnings'}"
        )
    if outcome.results:
        sys.stdout.flush()
        say_json_pretty(outcome.results)


def _text(objective: str) -> str:
    """An objective as given, or from stdin for `-`: a command line takes no more than 128 KiB."""
    return sys.stdin.read().strip() if objective == "-" else objective


def _environment(given: list[str]) -> dict[str, str]:
    """NAME takes our own value, NAME=VALUE the given one. A NAME that is not set here is passed over."""
    found = {}
    for item in given:
        name, given_value, value = item.partition("=")
        if given_value:
            found[name] = value
        elif name in os.environ:
            found[name] = os.environ[name]
    return found


def pairs(given: list[str], option: str) -> dict[str, str]:
    """Options of the form KEY=VALUE. Raises UsageError for another form."""
    found = {}
    for item in given:
        key, equals, value = item.partition("=")
        if not equals or not key:
            raise UsageError(f"{option} takes KEY=VALUE, not {item!r}")
        found[key] = value
    return found
