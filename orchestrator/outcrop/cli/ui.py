"""`outcrop ui` and `outcrop cancel`: looking on while runs go on, and ending one dispatch of them."""

from __future__ import annotations

from argparse import Namespace

from outcrop.cli.boundary import GOOD
from outcrop.cli.output import say, say_json
from outcrop.cli.records import open_named


def cancel(options: Namespace) -> int:
    """Ask the orchestrator of a run to cancel one dispatch."""
    from outcrop.cancelling import ask_to_cancel

    run = open_named(options)
    dispatch_id = ask_to_cancel(run, options.dispatch)
    if options.json:
        say_json({"run_id": run.folder.run_id, "dispatch_id": dispatch_id, "requested": True})
    else:
        say(f"{dispatch_id}: its orchestrator was asked to cancel it; the run goes on.")
    return GOOD
