"""How work goes on for which a package was installed: as a dispatch of its own that is told what was done so far."""

from __future__ import annotations

from dataclasses import replace

from outcrop.cap import cap_results
from outcrop.gaps.installing import Installed
from outcrop.order import Order
from outcrop_schemas import limits
from outcrop_schemas.outcome import Outcome

CONTINUES = "continues"
_HOW = "It is installed now: a script imports it (run_script). Go on from what was done; files that are there stay."


def resumed(order: Order, outcome: Outcome, installed: Installed) -> Order:
    """The same work once more. Its conversation is not: what it had found and which files it had made stands in its
    context, and a tool that is called again with the same inputs finds its file."""
    account = {
        "dispatch_id": outcome.dispatch_id,
        "installed": str(installed),
        "how": _HOW,
        "summary": outcome.summary,
        "findings": outcome.findings,
        "results": cap_results(outcome.results, limits.SPECIALIST_RESULT_CHARS).results,
        "files": [artifact.path for artifact in outcome.artifacts],
    }
    context = {**order.context, CONTINUES: {name: value for name, value in account.items() if value}}
    return replace(order, context=context, resumes=(*order.resumes, outcome.dispatch_id))
