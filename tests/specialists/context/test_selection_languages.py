"""Objectives in other languages than English cannot be ranked by words: they are told from English ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from outcrop_specialists.context.selection.cards import card_of
from outcrop_specialists.context.selection.index import ToolIndex
from outcrop_specialists.tools.registry import all_tools

INDEX = ToolIndex([card_of(tool) for tool in all_tools()])


@pytest.mark.parametrize(
    "objective",
    [
        "Berechne Mittelwert und Median von Gold je Gestein",
        "Zeichne eine Karte der Kupfergehalte",
        "Calcule la moyenne et la médiane du cuivre par lithologie",
        "Haz un histograma de oro y una tabla de percentiles",
        "Calcola la media di Au per ogni foro",
        "Bereken het gemiddelde en de mediaan per gesteente",
        "Удали дубликаты и сгруппируй пробы по меди",
        "计算每个钻孔的平均品位",
    ],
)
def test_another_language_is_told(objective: str) -> None:
    assert not INDEX.knows(objective)


def test_english_requests_are_known() -> None:
    lines = (Path(__file__).parent / "tool_requests.jsonl").read_text("utf-8").splitlines()
    requests = [json.loads(line)["query"] for line in lines]
    unknown = [request for request in requests if not INDEX.knows(request)]
    assert len(requests) >= 150
    assert len(unknown) <= 1, unknown
