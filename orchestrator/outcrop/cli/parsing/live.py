"""The commands for what is under way: looking on, and cancelling one dispatch."""

from __future__ import annotations

from outcrop.cli.parsing.shared import Commands, command, named_run, port, workspace


def add(commands: Commands) -> None:
    ui = command(commands, "ui", "ui:ui", "show the runs of a workspace in a browser, as they happen")
    ui.add_argument("--port", type=port, default=0, metavar="N", help="of 127.0.0.1 (default: a free one)")
    ui.add_argument("--open", action="store_true", help="open the page in the default browser")
    workspace(ui)

    cancel = command(commands, "cancel", "ui:cancel", "cancel one dispatch of a run that is under way; the run goes on")
    named_run(cancel)
    cancel.add_argument("dispatch", metavar="DISPATCH", help="a dispatch id or its beginning")
    workspace(cancel)
