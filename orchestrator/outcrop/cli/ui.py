"""`outcrop ui` and `outcrop cancel`: looking on while runs go on, and ending one dispatch of them."""

from __future__ import annotations

from argparse import Namespace

from outcrop.cli.boundary import GOOD, run_async
from outcrop.cli.output import say, say_json
from outcrop.cli.records import open_named
from outcrop.workspace import Workspace


def ui(options: Namespace) -> int:
    """Serve the live view of a workspace until a signal ends it."""
    from outcrop.ui.serve import Address, serve

    def on_ready(address: Address) -> None:
        if options.json:
            say_json({"url": address.url, "port": address.port})
        else:
            say(f"Runs of {workspace.folder}:\n{address.url}")
            say("Only this machine is served, and only who has the address. Ctrl-C ends it; runs go on.")
        if options.open:
            _open(address.url)

    workspace = Workspace(options.workspace)
    run_async(serve(workspace, options.port, on_ready))
    return GOOD


def _open(url: str) -> None:
    """Open it in the default browser, some of which keep whoever calls them waiting."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


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
