"""A line of a list or a table is kept with the title and the column names it stands under."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop_specialists.context.fact_choice import chosen, listed
from outcrop_specialists.context.facts import lost, sentences_with_facts

WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=9)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Mean values (ppm):\n- granite 1.25\n- schist 7.75",
            ["Mean values (ppm):\n- granite 1.25", "Mean values (ppm):\n- schist 7.75"],
        ),
        ("**Means (ppm):**\n\n1. granite 1.25", ["**Means (ppm):**\n1. granite 1.25"]),
        ("## Grades of Au\n\n* granite 1.25", ["## Grades of Au\n* granite 1.25"]),
        ("Amount of the voucher:\n318.40", ["Amount of the voucher:\n318.40"]),
        ("Voucher\n318.40 EUR", ["Voucher\n318.40 EUR"]),
        ("Voucher\n\n318.40\n14 March 2027", ["Voucher\n318.40", "Voucher\n14 March 2027"]),
        ("| rock | ppm |\n|---|---|\n| granite | 1.25 |", ["| rock | ppm |\n| granite | 1.25 |"]),
        ("Grades:\n\n| rock | ppm |\n|:--|--:|\n| granite | 1.25 |", ["Grades:\n| rock | ppm |\n| granite | 1.25 |"]),
        (
            "+----+---+\n| rock | ppm |\n+----+---+\n| granite | 1.25 |\n+----+---+",
            ["| rock | ppm |\n| granite | 1.25 |"],
        ),
        ("rock     ppm\ngranite  1.25\nschist   7.75", ["rock ppm\ngranite 1.25", "rock ppm\nschist 7.75"]),
        ("         ppm   n\ngranite  1.25  40", ["ppm n\ngranite 1.25 40"]),
        ("rock,ppm\ngranite,1.25\nDone with it.", ["rock,ppm\ngranite,1.25"]),
        ("rock\tppm\ngranite\t1.25", ["rock ppm\ngranite 1.25"]),
        ("It is 5 ppm, mostly.\nIt was 7 ppm, once.", ["It is 5 ppm, mostly.", "It was 7 ppm, once."]),
        (
            "Grades:\n- granite 1.25\nThe next one is at 7 ppm. That is all.",
            ["Grades:\n- granite 1.25", "The next one is at 7 ppm."],
        ),
        ("What I must not forget:", ["What I must not forget:"]),
        (
            "a line\nTotal moisture 7.3 %, ash 12.1 %.\nend of it",
            ["Total moisture 7.3 %, ash 12.1 %."],
        ),
    ],
)
def test_what_depends_on_a_heading_has_it(text: str, found: list[str]) -> None:
    assert sentences_with_facts(text) == found


def test_a_heading_is_told_once_and_costs_once() -> None:
    text = "Mean values of the north block (ppm):\n" + "\n".join(f"- hole {n} {n / 7:.3f}" for n in range(50))
    found = sentences_with_facts(text)
    assert "\n".join(listed(found)) == "- " + text.replace("\n", "\n  ")
    kept, others = chosen(found, dict.fromkeys(found, 0), len(text) + 2, lambda line: len(line) + 1)
    assert len(kept) == 50
    assert others == []


@given(
    title=WORD,
    heading=st.lists(WORD, min_size=2, max_size=5, unique=True),
    rows=st.integers(1, 12),
    mark=st.sampled_from("|,;\t"),
)
def test_every_row_of_a_table_stands_below_the_names_of_its_columns(
    title: str, heading: list[str], rows: int, mark: str
) -> None:
    header = mark.join(heading)
    cells = [mark.join([f"r{n}", *(f"{n}.{c}5" for c in range(len(heading) - 1))]) for n in range(rows)]
    found = sentences_with_facts("\n".join([f"The x{title} of today:", header, *cells, "That is all."]))
    names = " ".join(header.split())
    assert found == [f"The x{title} of today:\n{names}\n{' '.join(cell.split())}" for cell in cells]
    shown = "\n".join(listed(found))
    assert shown.count(names) == shown.count("of today:") == 1
    assert all(" ".join(cell.split()) in shown for cell in cells)


@given(label=WORD, figure=st.decimals(0, 10**5, places=2), other=WORD)
def test_a_bare_figure_is_kept_only_where_its_label_is(label: str, figure: object, other: str) -> None:
    [fact] = sentences_with_facts(f"Amount of {label}:\n{figure}")
    assert lost([fact], f"Amount of {label}: {figure}") == []
    assert lost([fact], f"All went well. Amount of {label}:\n- {figure}\nDone.") == []
    assert lost([fact], f"{other} has {figure} and more, and of the amount nothing is known") == [fact]
    assert lost([fact], f"Amount of {label}: 77{figure}") == [fact]


def test_what_a_user_listed_is_kept_line_by_line_below_its_title() -> None:
    text = "Leave these out:\n- the old map\n- colours of Anna"
    assert listed(sentences_with_facts(text, is_all=True)) == [
        "- Leave these out:",
        "  - the old map",
        "  - colours of Anna",
    ]
