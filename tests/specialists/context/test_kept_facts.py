"""What a compaction keeps of results and talk: figures with their labels, decisions, names, nothing withdrawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from turns_of_work import called, said, says_nothing, shown_in

from outcrop_schemas import limits, wire
from outcrop_schemas.messages import ToolResultBlock
from outcrop_specialists.context.compaction import Compactor, Window
from outcrop_specialists.context.store import Store

BINDING = "Never use the laboratory batch LB-2291 again."
FACTS = [
    BINDING,
    "The credit of 412.75 EUR expires on 2027-03-31.",
    "The detection limit of gold is 0.005 ppm.",
    "The report goes to results/final_report.csv.",
    "Do not contact the client before Monday.",
]


async def ten_times(facts: Sequence[str], filler: int, summarise: Any, tmp_path: Any) -> str:
    """What is shown after ten compactions of turns full of figures, with these facts at their beginning."""
    compactor = Compactor(Store(tmp_path / "s"), summarise)
    messages = [said("user", "Objective:\nlook")]
    for number, text in enumerate(facts):
        messages += called(number, text, "ok")
    for number in range(100, 200):
        chatter = (f"Column c{number}_{n} has a mean of {number * 1.7 + n:.3f} ppm." for n in range(filler))
        messages += called(number, " ".join(chatter), "ok")
        if number % 10 == 3:
            messages = await compactor.compacted(messages, keep=2) or messages
    return shown_in(messages)


GROUPS = [("granite", 1.25, 40), ("schist", 7.75, 12), ("quartz vein", 31.5, 7)]
LABELLED = [
    wire.dumps(
        {"results": {"groups": [{"group": g, "unit": "ppm", "mean": m, "n": n} for g, m, n in GROUPS]}}
    ).decode(),
    wire.dumps({"results": {"columns": ["rock", "mean (ppm)", "n"], "rows": [list(each) for each in GROUPS]}}).decode(),
    "rock,mean_ppm,n\n" + "\n".join(f"{g},{m},{n}" for g, m, n in GROUPS),
    "| rock | mean (ppm) | n |\n|---|---|---|\n" + "\n".join(f"| {g} | {m} | {n} |" for g, m, n in GROUPS),
    "Mean values (ppm) and n:\n" + "\n".join(f"- {g}: {m}, {n}" for g, m, n in GROUPS),
]


@pytest.mark.parametrize("result", LABELLED)
async def test_a_figure_stands_with_its_label_and_unit_after_ten_compactions(tmp_path: Any, result: str) -> None:
    compactor = Compactor(Store(tmp_path / "s"), says_nothing)
    messages = [said("user", "Objective:\nlook"), *called(0, "Going on.", result)]
    for number in range(1, 61):
        other = {"results": {"columns": [{"name": f"el{n}", "mean": number * n / 7} for n in range(20)]}}
        messages += called(number, "Going on.", wire.dumps(other).decode())
        if number % 6 == 0:
            messages = await compactor.compacted(messages, keep=2) or messages
    shown = shown_in(messages[:1])
    assert "ppm" in shown
    for group, mean, n in GROUPS:
        assert [line for line in shown.splitlines() if group in line and str(mean) in line and str(n) in line]


@pytest.mark.parametrize("result", LABELLED)
async def test_a_stale_result_keeps_labels_and_units_too(tmp_path: Any, result: str) -> None:
    value = {**wire.loads(result), "text": "word " * 1_000} if result[0] == "{" else None
    long = wire.dumps(value).decode() if value else f"{result}\n\n{'word ' * 1_000}"
    messages = [said("user", "go"), *called(0, "", long)]
    for number in range(1, 9):
        messages += called(number, "", f"result {number}")
    [block] = Compactor(Store(tmp_path / "s")).without_stale_results(messages)[2].content
    assert isinstance(block, ToolResultBlock)
    assert len(block.content) < limits.STALE_FACTS_CHARS + 200
    assert "ppm" in block.content
    for group, mean, n in GROUPS:
        assert [x for x in block.content.splitlines() if group in x and str(mean) in x and str(n) in x]


async def test_what_a_model_decided_and_named_outlives_chatter(tmp_path: Any) -> None:
    facts = [
        "We settled on kriging over inverse distance.",
        "Let us go with the robust estimator.",
        "Gebruik nooit het oude laboratorium.",
        "The sampler is called Okonkwo.",
        "The southern claim belongs to Maria Lindqvist.",
    ]
    shown = await ten_times(facts, 20, says_nothing, tmp_path)
    assert [fact for fact in facts if fact not in shown] == []


async def test_chatter_in_german_does_not_shut_out_what_was_measured_or_binds(tmp_path: Any) -> None:
    chatter = "Die Auswertung der Proben im Labor ergibt in Schritt {n} eine Tabelle mit Spalten und Zeilen."
    compactor = Compactor(Store(tmp_path / "s"), says_nothing)
    compactor.within(Window(20_000))
    messages = [said("user", "Objective:\nlook")]
    for number, fact in enumerate(FACTS):
        messages += called(number, fact, "ok")
    for number in range(100, 300):
        messages += called(number, " ".join(chatter.format(n=f"{number}.{n}") for n in range(5)), "ok")
    made = await compactor.compacted(messages)
    assert made
    assert [fact for fact in FACTS if fact not in shown_in(made)] == []


@pytest.mark.parametrize("said_so", ["The user withdrew it: {}", "{} That no longer holds.", "It is wrong that: {}"])
async def test_a_fact_that_a_summary_quotes_as_withdrawn_is_told_again(tmp_path: Any, said_so: str) -> None:
    async def summary(*_: object) -> str:
        return said_so.format(BINDING)

    shown = await ten_times([BINDING], 1, summary, tmp_path)
    assert f"- {BINDING}\n" in shown
