"""What managing the window saves on a job of twenty steps: `scripts/sim_context.py [--json]`.

The job is done three ways with the real agent loop and a stand-in for the model that counts and prices every request:
without any management, with compaction in the smallest window that holds the job, and split among four specialists that
a lead hands the work to, each with the tools that our selection offers it, the lead with its own real ones. Without
management it holds about 60,000 tokens at step 10 and 110,000 at step 20. $15 per million input tokens; once on a
server without a prompt cache, once with cached reads at a tenth, and the policy knows which. The break-even step of a
compaction is the one from which on it has saved more than reading the shorter prompt cost. Exits 1 where managing costs
more than not managing, or the third way more than half of it uncached.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from outcrop.lead.toolbox import lead_schemas
from outcrop_schemas import limits
from outcrop_schemas.messages import ModelRequest, ModelResponse, TextBlock, ToolSchema, ToolUseBlock, Usage
from outcrop_schemas.protocol import WindowSettings
from outcrop_specialists.agent import Agent
from outcrop_specialists.completion import SpecialistAnswer
from outcrop_specialists.context.segments import pieces
from outcrop_specialists.context.selection.offering import FIND_TOOLS, Offering
from outcrop_specialists.context.store import Store
from outcrop_specialists.context.tokens import tokens_of_text
from outcrop_specialists.context.window import READ_RESULT
from outcrop_specialists.roles import get_role
from outcrop_specialists.toolbox import schemas_of

STEPS, STEP_TOKENS, BASE_TOKENS = 20, 5_000, 10_000
DOLLARS, CACHED = 15 / 1e6, limits.CACHED_PRICE
SPECIALISTS = 4
OUTCOME_TOKENS = 1_000
"""What of a specialist's outcome the lead is given; at most 8,000 characters of results."""
OBJECTIVES = (
    "remove duplicate rows and convert the units of the assays",
    "summarise gold and copper by lithology with percentiles",
    "cluster the samples on log-ratios and say how well the groups are separated",
    "map gold by easting and northing and plot copper against zinc",
)
WINDOW = 127_000 + limits.MODEL_OUTPUT_TOKENS
WAYS = ("no management", "compaction", "selection, compaction, specialists")
UNMANAGED = WindowSettings(tokens=10_000_000)


@dataclass
class Bill:
    """Tokens of every request in its order, and how many of them were read from the cache."""

    requests: list[tuple[int, int]] = field(default_factory=list)
    compacted_at: list[int] = field(default_factory=list)

    def input_tokens(self) -> int:
        return sum(tokens for tokens, _ in self.requests)

    def costs(self, price: float) -> list[float]:
        """Dollars of each request, with a cached token at this share of the full price."""
        return [(tokens - cached + cached * price) * DOLLARS for tokens, cached in self.requests]


class Priced:
    """Works `steps` steps and completes; remembers what a server's prompt cache would have held."""

    def __init__(self, bill: Bill, steps: int) -> None:
        self._bill, self._steps, self._asked = bill, steps, 0
        self._before: list[str] = []

    async def create(self, request: ModelRequest) -> ModelResponse:
        parts = [text for _, text in pieces(request)]
        same = next((n for n, pair in enumerate(zip(self._before, parts, strict=False)) if pair[0] != pair[1]), None)
        same = min(len(self._before), len(parts)) if same is None else same
        sizes = [tokens_of_text(text) for text in parts]
        self._bill.requests.append((sum(sizes), sum(sizes[:same])))
        if same < len(self._before):
            self._bill.compacted_at.append(len(self._bill.requests))
        self._before, self._asked = parts, self._asked + 1
        is_last = self._asked > self._steps
        done = {"status": "success", "summary": "done", "results": {}}
        call = ToolUseBlock(id=f"t{self._asked}", name="complete", input=done)
        if not is_last:
            call = ToolUseBlock(id=f"t{self._asked}", name="look", input={"step": self._asked})
        said = [TextBlock(text=f"Step {self._asked}."), call]
        usage = Usage(input_tokens=sum(sizes[same:]), cache_read_input_tokens=sum(sizes[:same]))
        return ModelResponse(id=f"m{self._asked}", model="x", content=said, stop_reason="tool_use", usage=usage)


class Tools:
    """Tools with these schemas, whose results have about so many tokens and figures in them."""

    def __init__(self, schemas: list[ToolSchema], tokens: int = STEP_TOKENS) -> None:
        self._schemas, self._tokens = schemas, tokens

    def schemas(self) -> list[ToolSchema]:
        return self._schemas

    async def call(self, name: str, arguments: dict[str, Any], call_id: str) -> str:
        step = arguments["step"]
        rows = [f"sample S{step:02d}{n:04d} of the trench, granite with quartz veins, weathered" for n in range(220)]
        figures = {f"mean_{step}_{n}": step + n / 7 for n in range(12)}
        text = json.dumps({"summary": f"step {step} is done", "figures": figures, "rows": rows})
        while tokens_of_text(text) > self._tokens:
            rows.pop()
            text = json.dumps({"summary": f"step {step} is done", "figures": figures, "rows": rows})
        return text


def some_tools(tokens: int) -> list[ToolSchema]:
    """Tools of our own catalogue, as many as come to about so many tokens."""
    taken: list[ToolSchema] = []
    for schema in schemas_of(get_role("analytics").tools):
        if sum(tokens_of_text(str(each.model_dump())) for each in taken) > tokens:
            break
        taken.append(schema)
    return taken


def selected_tools(objective: str) -> list[ToolSchema]:
    """What a specialist of a model that costs is offered for this objective."""
    role = get_role("plotting" if objective.startswith("map") else "analytics")
    offering = Offering(role.tools, lambda told: None)
    offering.begin(objective)
    known = {schema.name: schema for schema in schemas_of(role.tools)}
    return [FIND_TOOLS, READ_RESULT, *(known[name] for name in offering.offered)]


async def work(bill: Bill, steps: int, tools: Tools, window: WindowSettings, folder: Path) -> None:
    agent = Agent(
        Priced(bill, steps),
        tools,
        system="You work on tables.",
        opening=["Objective:\nsum up what the trench tells"],
        answer=SpecialistAnswer,
        max_turns=steps + 2,
        window=window,
        store=Store(folder),
    )
    end = await agent.run()
    if end.stop != "completed":
        raise SystemExit(f"the job did not end well: {end.stop} {end.reason}")


async def simulate(price: float) -> dict[str, Bill]:
    """The three ways on a server whose cached tokens cost this share of the others."""
    bills = {name: Bill() for name in WAYS}
    none, compaction, ours = bills.values()
    managed = WindowSettings(tokens=WINDOW, cached_price=price)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        all_tools = Tools(some_tools(BASE_TOKENS))
        await work(none, STEPS, all_tools, UNMANAGED, folder / "a")
        await work(compaction, STEPS, all_tools, managed, folder / "b")
        # The lead hands out four pieces of work, and is given their outcomes.
        await work(ours, SPECIALISTS, Tools(lead_schemas(), OUTCOME_TOKENS), managed, folder / "c")
        for number, objective in enumerate(OBJECTIVES):
            tools = Tools(selected_tools(objective))
            await work(ours, STEPS // SPECIALISTS, tools, managed, folder / f"d{number}")
    return bills


def break_even(bill: Bill, other: Bill, price: float) -> list[str]:
    """For each compaction, the request from which on it has paid for itself against not managing."""
    spent, plain, told = bill.costs(price), other.costs(price), []
    for at in bill.compacted_at:
        extra, pays_at = 0.0, None
        for number in range(at - 1, len(plain)):
            extra += spent[number] - plain[number]
            if extra <= 0:
                pays_at = number + 1
                break
        told.append(f"at request {at}, " + (f"paid by request {pays_at}" if pays_at else "not paid within this job"))
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    options = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    is_kept = True
    for kind, price in (("uncached", 1.0), ("cached", CACHED)):
        bills = asyncio.run(simulate(price))
        none = bills[WAYS[0]]
        for name, bill in bills.items():
            dollars, share = sum(bill.costs(price)), sum(bill.costs(price)) / sum(none.costs(price))
            is_kept = is_kept and share <= (0.5 if (kind, name) == ("uncached", WAYS[2]) else 1.0)
            found.setdefault(kind, {})[name] = {
                "requests": len(bill.requests),
                "input_tokens": bill.input_tokens(),
                "largest_request": max(tokens for tokens, _ in bill.requests),
                "usd": dollars,
                "share": share,
                "compactions": break_even(bill, none, price) if name == WAYS[1] else [],
            }
        found[kind]["steps"] = {"10": none.requests[9][0], "20": none.requests[19][0]}
    if options.json:
        print(json.dumps(found, indent=1))
        return 0 if is_kept else 1
    for kind, ways in found.items():
        steps = ways.pop("steps")
        print(f"{kind}; without management {steps['10']:,} tokens at step 10, {steps['20']:,} at step 20")
        print("| way | input tokens | largest request | dollars | share |\n|---|---|---|---|---|")
        for name, row in ways.items():
            numbers = f"{row['input_tokens']:,} | {row['largest_request']:,} | {row['usd']:.2f} | {row['share']:.2f}"
            print(f"| {name} | {numbers} |")
        told = [line for row in ways.values() for line in row["compactions"]]
        print(f"compactions: {'; '.join(told) or 'none'}\n")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
