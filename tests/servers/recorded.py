"""The turns of a recorded run as a script: whoever opens the same way is answered as it was then."""

from __future__ import annotations

import json
from pathlib import Path

from outcrop.exchanges import read_exchanges
from servers.turns import Answer, Body, Script, answer


def recorded_script(run_folder: Path) -> Script:
    """Turns by what opened the conversation and how many went before. Raises KeyError for one that was not recorded."""
    turns: dict[tuple[str, int], Answer] = {}
    for path in (run_folder / "exchanges").glob("*.jsonl"):
        for exchange in read_exchanges(path):
            assert exchange.response is not None
            said = exchange.response.model_dump(mode="json")
            turns[_place(json.loads(exchange.request))] = answer(*said["content"], stop=said["stop_reason"])

    def script(body: Body) -> Answer:
        return turns[_place(body)]

    return script


def recorded_turns(run_folder: Path) -> list[Answer]:
    """Every turn of a run in the order in which they were asked for, for servers that only know an order."""
    exchanges = [each for path in (run_folder / "exchanges").glob("*.jsonl") for each in read_exchanges(path)]
    turns = []
    for exchange in sorted(exchanges, key=lambda each: each.about["at"]):
        assert exchange.response is not None
        said = exchange.response.model_dump(mode="json")
        turns.append(answer(*said["content"], stop=said["stop_reason"]))
    return turns


def _place(body: Body) -> tuple[str, int]:
    opening = [block["text"] for block in body["messages"][0]["content"]]
    return "\n".join(opening), sum(message["role"] == "assistant" for message in body["messages"])
