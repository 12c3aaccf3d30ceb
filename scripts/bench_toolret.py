"""Tool selection: what it finds, costs and saves: `scripts/bench_toolret.py [--every N] [--json]`.

Recall@k (share of the right tools among the first k) on the three public sets in ../shared/toolret, for listing all
tools, lexical ranking alone, and lexical fused with a static (wordllama) and a sentence embedder (MiniLM); CPU of one
warm selection, and of building the index. Then the schema tokens (characters / 3) of our own catalogue beside those of
what is offered for a step, at most 8 tools: for each role and for an agent that has all. Exits 1 where a goal is missed
that could be measured; an embedder that is not installed is named and passed over.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from outcrop_schemas import wire
from outcrop_schemas.errors import MissingExtraError
from outcrop_specialists.context.selection.cards import ToolCard, card_of
from outcrop_specialists.context.selection.embedding import Embedder, find_embedder
from outcrop_specialists.context.selection.index import ToolIndex
from outcrop_specialists.context.selection.selection import ToolSelection
from outcrop_specialists.roles import ROLES
from outcrop_specialists.tools.base import Tool
from outcrop_specialists.tools.registry import all_tools

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = ROOT.parent / "shared" / "toolret"
REQUESTS = ROOT / "tests" / "specialists" / "context" / "dev_requests.jsonl"
SETS = {
    "BFCL": ("bfcl_tools", "bfcl_queries"),
    "MetaTool, single": ("metatool_tools", "metatool_queries"),
    "MetaTool, several": ("metatool_tools", "metatool_multi"),
}
METHODS = {"lexical": "none", "lexical + static": "wordllama", "lexical + MiniLM": "minilm"}
KS = (1, 3, 5, 8)
# Recall@5 by set and method, and CPU milliseconds of a selection by method: a sentence model's time grows
# with the length of a request, and its p95 is shown only.
RECALL_GOALS = {
    "lexical + static": {"BFCL": 0.80, "MetaTool, single": 0.80, "MetaTool, several": 0.68},
    "lexical + MiniLM": {"BFCL": 0.88, "MetaTool, single": 0.82, "MetaTool, several": 0.71},
}
CPU_GOALS = {"lexical + static": ("p95", 5.0), "lexical + MiniLM": ("median", 40.0)}
SAVED_GOAL = 0.90


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--every", type=int, default=1, help="take every N-th request of the public sets")
    options.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    chosen = options.parse_args()
    embedders, missing = installed()
    found: dict[str, Any] = {"every": chosen.every, "not_installed": missing, "public": [], "saved": []}
    if PUBLIC.is_dir():
        found["public"] = [
            measured(name, method, embedder, chosen.every) for name in SETS for method, embedder in embedders.items()
        ]
    else:
        missing["public sets"] = f"there is no {PUBLIC}"
    found["saved"] = [saved(role, tools, embedders) for role, tools in agents().items()]
    found["goals"] = goals(found)
    print(json.dumps(found, indent=1)) if chosen.json else show(found)
    return 0 if all(goal["is_met"] for goal in found["goals"]) else 1


def installed() -> tuple[dict[str, Embedder | None], dict[str, str]]:
    """The methods that can be measured, and why others cannot."""
    embedders: dict[str, Embedder | None] = {}
    missing: dict[str, str] = {}
    for method, name in METHODS.items():
        try:
            embedders[method] = find_embedder(name)
        except MissingExtraError as error:
            missing[method] = str(error)
    return embedders, missing


def measured(name: str, method: str, embedder: Embedder | None, every: int) -> dict[str, Any]:
    """One method on one public set."""
    tools, requests = (read(PUBLIC / f"{file}.jsonl") for file in SETS[name])
    requests = requests[::every]
    started = time.process_time()
    index = ToolIndex([ToolCard(tool["name"], tool["description"]) for tool in tools], embedder)
    index.rank("warm up")
    built = time.process_time() - started
    recalls: list[list[float]] = []
    cpu: list[float] = []
    for request in requests:
        started = time.process_time()
        ranked = index.rank(request["query"], most=max(KS))
        cpu.append((time.process_time() - started) * 1_000)
        recalls.append(recall([tool.name for tool in ranked], request["gold"]))
    return {
        "set": name,
        "method": method,
        "tools": len(tools),
        "requests": len(requests),
        "recall": {k: round(statistics.mean(one[n] for one in recalls), 3) for n, k in enumerate(KS)},
        "cpu_ms_median": round(statistics.median(cpu), 2),
        "cpu_ms_p95": round(sorted(cpu)[int(0.95 * (len(cpu) - 1))], 2),
        "build_cpu_s": round(built, 2),
    }


def recall(ranked: Sequence[str], gold: Sequence[str]) -> list[float]:
    return [len(set(gold) & set(ranked[:k])) / len(set(gold)) for k in KS]


def agents() -> dict[str, list[Tool]]:
    return {"all tools": all_tools(), **{name: role.tools for name, role in ROLES.items()}}


def saved(agent: str, tools: Sequence[Tool], embedders: dict[str, Embedder | None]) -> dict[str, Any]:
    """Schema tokens of what is offered for a step beside those of all the agent's tools, over our labelled requests
    for its tools; the default way of ranking."""
    method = next(reversed([name for name in ("lexical", "lexical + static") if name in embedders]))
    tokens = {tool.name: len(wire.dumps(tool.schema().model_dump())) / 3 for tool in tools}
    index = ToolIndex([card_of(tool) for tool in tools], embedders[method])
    requests = [request for request in read(REQUESTS) if set(request["gold"]) <= set(tokens)]
    offered = [ToolSelection(index, list(tokens)).select(request["query"]) for request in requests]
    each = statistics.mean(sum(tokens[name] for name in names) for names in offered)
    hits = [set(request["gold"]) <= set(names) for names, request in zip(offered, requests, strict=True)]
    return {
        "agent": agent,
        "method": method,
        "tools": len(tools),
        "tokens_of_all": round(sum(tokens.values())),
        "tokens_offered": round(each),
        "saved": round(1 - each / sum(tokens.values()), 3),
        "found": round(statistics.mean(hits), 3),
    }


def goals(found: dict[str, Any]) -> list[dict[str, Any]]:
    listed = []
    for one in found["public"]:
        wanted = RECALL_GOALS.get(one["method"], {}).get(one["set"])
        if wanted is not None:
            listed.append(goal(f"recall@5, {one['set']}, {one['method']}", one["recall"][5], wanted, most=False))
        if (most := CPU_GOALS.get(one["method"])) is not None:
            which, milliseconds = most
            value = one[f"cpu_ms_{which}"]
            listed.append(goal(f"CPU ms ({which}), {one['set']}, {one['method']}", value, milliseconds, most=True))
    everything = found["saved"][0]
    listed.append(goal("schema tokens saved, all tools", everything["saved"], SAVED_GOAL, most=False))
    return listed


def goal(name: str, value: float, wanted: float, *, most: bool) -> dict[str, Any]:
    is_met = value <= wanted if most else value >= wanted
    return {"goal": name, "value": value, "wanted": wanted, "ratio": round(value / wanted, 2), "is_met": is_met}


def show(found: dict[str, Any]) -> None:
    head = "".join(f"{f'@{k}':>7}" for k in KS)
    print(f"{'set':18} {'method':17}{head} {'CPU ms':>8} {'p95':>7} {'build s':>8}  tools offered of all")
    for name in SETS:
        rows = [one for one in found["public"] if one["set"] == name]
        if rows:
            print(f"{name:18} {'list all':17}{'  1.000' * len(KS)} {'-':>8} {'-':>7} {'-':>8}  all {rows[0]['tools']}")
        for one in rows:
            figures = "".join(f"{value:7.3f}" for value in one["recall"].values())
            costs = f"{one['cpu_ms_median']:8.2f} {one['cpu_ms_p95']:7.2f} {one['build_cpu_s']:8.2f}"
            print(f"{name:18} {one['method']:17}{figures} {costs}  k of {one['tools']}, {one['requests']} requests")
    print(
        f"\n{'our catalogue':18} {'tools':>6} {'all':>8} {'offered':>8} {'saved':>7} {'found':>6}  (tokens of schemas)"
    )
    for one in found["saved"]:
        counts = f"{one['tools']:6} {one['tokens_of_all']:8} {one['tokens_offered']:8}"
        print(f"{one['agent']:18} {counts} {one['saved']:7.1%} {one['found']:6.3f}  {one['method']}")
    print(f"\n{'goal':52} {'is':>7} {'wanted':>7} {'ratio':>6}")
    for one in found["goals"]:
        verdict = "" if one["is_met"] else "  MISSED"
        print(f"{one['goal']:52} {one['value']:7.3f} {one['wanted']:7.2f} {one['ratio']:6.2f}{verdict}")
    for method, why in found["not_installed"].items():
        print(f"not measured: {method}: {why}")


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    sys.exit(main())
