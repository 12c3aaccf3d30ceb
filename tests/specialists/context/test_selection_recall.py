"""What selection finds: on the public sets, and of our own catalogue."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from outcrop_schemas.errors import MissingExtraError
from outcrop_specialists.context.selection.cards import ToolCard, card_of
from outcrop_specialists.context.selection.embedding import Embedder, find_embedder
from outcrop_specialists.context.selection.index import ToolIndex
from outcrop_specialists.context.selection.lexical import terms_of
from outcrop_specialists.tools.registry import all_tools

HERE = Path(__file__).parent
PUBLIC = HERE.parents[3] / "shared" / "toolret"
SETS = {
    "bfcl": ("bfcl_tools", "bfcl_queries"),
    "single": ("metatool_tools", "metatool_queries"),
    "several": ("metatool_tools", "metatool_multi"),
}
# Recall@5. With an embedder what is promised; lexical alone what it had when this was written, less 0.02.
FLOORS = {
    ("none", "bfcl"): 0.78, ("none", "single"): 0.69, ("none", "several"): 0.67,
    ("wordllama", "bfcl"): 0.80, ("wordllama", "single"): 0.80, ("wordllama", "several"): 0.68,
    ("minilm", "bfcl"): 0.88, ("minilm", "single"): 0.82, ("minilm", "several"): 0.71,
}  # fmt: skip
CATALOGUE_FLOOR = 0.90


def read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        pytest.skip(f"there is no {path}")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def embedder_or_skip(name: str) -> Embedder | None:
    try:
        return find_embedder(name)
    except MissingExtraError as error:
        pytest.skip(str(error))


@cache
def own_index(name: str) -> ToolIndex:
    return ToolIndex([card_of(tool) for tool in all_tools()], embedder_or_skip(name))


def recall(index: ToolIndex, requests: Sequence[dict[str, Any]], k: int = 5) -> float:
    """The share of the right tools that are among the first k."""
    found = []
    for request in requests:
        gold = {request["gold"]} if isinstance(request["gold"], str) else set(request["gold"])
        found.append(len(gold & {tool.name for tool in index.rank(request["query"], most=k)}) / len(gold))
    return statistics.mean(found)


@pytest.mark.parametrize(("embedder", "name"), FLOORS)
def test_recall_on_a_public_set_is_what_is_promised(embedder: str, name: str) -> None:
    tools, requests = (read(PUBLIC / f"{file}.jsonl") for file in SETS[name])
    chosen = embedder_or_skip(embedder)
    index = ToolIndex([ToolCard(tool["name"], tool["description"]) for tool in tools], chosen)
    assert recall(index, requests) >= FLOORS[embedder, name]


# "none" is what an installation without extras has, "auto" what this one has.
@pytest.mark.parametrize("embedder", ["none", "auto"])
@pytest.mark.parametrize("file", ["dev_requests.jsonl", "tool_requests.jsonl"])
def test_requests_for_our_own_tools_find_them(embedder: str, file: str) -> None:
    requests = read(HERE / file)
    # A figure and no list of misses: phrases must not be written to requests that they are measured by.
    found = round(recall(own_index(embedder), requests), 3)
    assert found >= CATALOGUE_FLOOR


@pytest.mark.parametrize("embedder", ["none", "auto"])
def test_paraphrases_that_share_no_word_with_a_card_find_its_tool(embedder: str) -> None:
    seen = {tool.name: set(words_of(f"{tool.name} {tool.description}")) for tool in all_tools()}
    requests = [
        request
        for request in read(HERE / "dev_requests.jsonl")
        if not set(words_of(request["query"])) & seen[request["gold"][0]]
    ]
    assert len(requests) > 70
    assert recall(own_index(embedder), requests) >= 0.85


def words_of(text: str) -> list[str]:
    return [term for term in terms_of(text) if not term.startswith("=")]


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: tool.name)
def test_a_tool_has_many_other_names_and_a_model_sees_none_of_them(tool: Any) -> None:
    assert len(tool.also_called) >= 15
    assert len(set(tool.also_called)) == len(tool.also_called)
    shown = tool.schema().model_dump_json()
    asked = {phrase.lower() for phrase in tool.asked_for}
    told = [phrase for phrase in tool.also_called if len(phrase.split()) > 3 and phrase in shown]
    assert [phrase for phrase in told if phrase.lower() not in asked] == []


def test_a_phrase_finds_the_tool_that_it_stands_for() -> None:
    index = own_index("none")
    missed = Counter(
        tool.name
        for tool in all_tools()
        for phrase in tool.also_called[::5]
        if terms_of(phrase) and tool.name not in {found.name for found in index.rank(phrase, most=8)}
    )
    assert sum(missed.values()) <= 10, missed
