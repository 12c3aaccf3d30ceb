"""The commands that show a run on a screen other than this one."""

from __future__ import annotations

from outcrop.cli.parsing.shared import Commands, command, named_run, workspace


def add(commands: Commands) -> None:
    report = command(commands, "report", "report:report", "write a run's report, one HTML file that opens offline")
    named_run(report)
    report.add_argument("--output", metavar="FILE", help="where to write it (default: report.html in the run folder)")
    report.add_argument("--open", action="store_true", help="open it in a browser")
    workspace(report)
