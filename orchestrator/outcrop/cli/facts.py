"""`outcrop tools`, `limits`, `doctor`, `schema`, `completion`: what this installation is and can do."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from outcrop.cli.boundary import BAD, GOOD, run_async
from outcrop.cli.output import say, say_json, say_json_pretty, table

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def tools(options: Namespace) -> int:
    """Every tool with its specialists and arguments."""
    from outcrop_specialists.tools.registry import all_tools

    found = all_tools()
    if options.json:
        say_json(
            [
                {
                    "name": tool.name,
                    "version": tool.version,
                    "specialists": sorted(tool.specialists),
                    "description": tool.card,
                    "input_schema": tool.schema().input_schema,
                }
                for tool in found
            ]
        )
    else:
        rows = [(tool.name, ", ".join(sorted(tool.specialists)), tool.description) for tool in found]
        table(rows, ("tool", "specialists", "what it does"))
    return GOOD


def limits(options: Namespace) -> int:
    """Every limit, and the settings that hold in a workspace."""
    from outcrop.settings import Settings, effective
    from outcrop_schemas.limits import LIMITS

    settings = effective(Settings.load(options.workspace))
    if options.json:
        told = [{"setting": name, "value": value, "origin": origin} for name, value, origin in settings]
        say_json([*(vars(limit) for limit in LIMITS), *told])
    else:
        rows = [
            (
                limit.name,
                f"{limit.value:,g}" if limit.value < 1e6 else f"{limit.value:,.0f}",
                limit.unit,
                limit.enforced_in,
                limit.how,
            )
            for limit in LIMITS
        ]
        table(rows, ("limit", "value", "unit", "enforced in", "how"))
        say()
        table(settings, ("setting", "value", "from"))
    return GOOD


def doctor(options: Namespace) -> int:
    """What works here, what does not, what is confined and what is not yet."""
    from outcrop.doctor import examine

    report = run_async(examine(options.workspace))
    if options.json:
        say_json(report.as_json())
    else:
        for check in report.checks:
            say(f"{'ok     ' if check.is_good else 'PROBLEM'}  {check.name}: {check.text}")
        say("\nConfinement of specialists, as a probe found it just now:")
        for name, isolation in report.isolation.items():
            proof = f" ({isolation.proof})" if isolation.proof else ""
            say(f"  {'yes' if isolation.active else 'no '}  {name}: {isolation.by}{proof}")
        if missing := [name for name, isolation in report.isolation.items() if not isolation.active]:
            say(f"Missing here: {', '.join(missing)}. `outcrop dispatch --require` refuses to start without them.")
    return GOOD if report.is_good else BAD


def schema(options: Namespace) -> int:
    """A JSON Schema, so that a specialist can be written in any language."""
    from pydantic import TypeAdapter

    from outcrop_schemas.journal import JournalRecord
    from outcrop_schemas.outcome import Outcome
    from outcrop_schemas.plan import Plan
    from outcrop_schemas.protocol import Completion, Dispatch, StreamMessage

    adapters: dict[str, TypeAdapter[Any]] = {
        "dispatch": TypeAdapter(Dispatch),
        "stream": TypeAdapter(StreamMessage),
        "completion": TypeAdapter(Completion),
        "outcome": TypeAdapter(Outcome),
        "journal": TypeAdapter(JournalRecord),
        "plan": TypeAdapter(Plan),
    }
    found = adapters[options.name].json_schema()
    say_json_pretty({"$schema": "https://json-schema.org/draft/2020-12/schema", **found})
    return GOOD


def completion(options: Namespace) -> int:
    """A completion script for a shell: `source <(outcrop completion bash)`."""
    import shtab

    from outcrop.cli.main import build_parser

    sys.stdout.write(shtab.complete(build_parser(), options.shell) + "\n")
    return GOOD
