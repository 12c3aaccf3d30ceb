"""A reader who is to see no row sees the prose around it, whatever form the rows have."""

from __future__ import annotations

import json

import pytest

from outcrop_specialists.reading.row_lines import without_row_lines

PROSE = [
    "Report on the north trench",
    "12 December 2026",
    "The credit of 412.75 EUR expires on 2027-03-31.",
    "Hole DDH-104 from 12 to 14.5 m has 0.42 % copper, as the laboratory says.",
    "We agreed that batch LB-2291 must be left out, and that 3 samples are repeated.",
    "Detection limits: gold 0.005 ppm, copper 1 ppm.",
    "Call the laboratory, ask for Jane, and be kind.",
    "- GR: granite",
    "- BA: basalt",
]
ROCKS = ("granite", "basalt", "gneiss")
ROWS = [(f"MARK{n}", ROCKS[n % 3], n / 7, n * 3) for n in range(7)]
FORMS = {
    "commas": [",".join(map(str, row)) for row in ROWS],
    "two rows": [",".join(map(str, row)) for row in ROWS[:2]],
    "one row": [f"MARK1,{1 / 7},3"],
    "semicolons and blanks": [" ; ".join(map(str, row)) for row in ROWS],
    "tabs": ["\t".join(map(str, row)) for row in ROWS],
    "a table of markdown": [f"| {row[0]} | {row[1]} | {row[2]:.2f} |" for row in ROWS],
    "columns": [f"{row[0]:<12}{row[1]:<12}{row[2]:8.3f}" for row in ROWS],
    "single blanks": [f"{row[0]} {row[1]} {row[2]:.3f}" for row in ROWS],
    "two rows by single blanks": [f"{row[0]} {row[1]} {row[2]:.3f}" for row in ROWS[:2]],
    "figures": [f"{row[2]} {row[3]} MARK" for row in ROWS],
    "records of JSON": [json.dumps({"sample": row[0], "Au": row[2]}) for row in ROWS],
    "a log": [f"2026-11-03 12:00:{row[3]:02d} INFO sample {row[0]} Au {row[2]:.3f}" for row in ROWS],
    "keys and values": [line for row in ROWS for line in (f"Sample: {row[0]}", f"Rock: {row[1]}")],
    "YAML": [line for row in ROWS for line in (f"- sample: {row[0]}", f"  au: {row[2]}")],
    "tags": [f"<sample>{row[0]}</sample>" for row in ROWS],
    **{
        f"parted by {sign!r}": [sign.join(map(str, (row[0], row[1], "east side"))) for row in ROWS[:3]]
        for sign in (" \u00b7 ", " / ", " -> ", "~", ":", "\u3001", "\u061b ", " \u2013 ", " and ")
    },
    **{
        f"ended by {sign!r}": [sign.join(",".join(map(str, row)) for row in ROWS)]
        for sign in ("\r", "\u2028", "\x0b", "\x1e", "\x85")
    },
    "one column": [row[0] for row in ROWS],
    "one cell a line": [str(cell) for row in ROWS[:3] for cell in (row[0], row[1], "east side")],
    "few pairs": [f"{row[0]};{row[1]}" for row in ROWS[:3]],
    "an identifier and a figure": [f"{row[0]}: {row[3]}" for row in ROWS[:3]],
    "two records": [line for row in ROWS[:2] for line in (f"name = {row[0]}", f"rock = {row[1]}")],
    "elements": ["".join(f'<s name="{row[0]}" rock="{row[1]}"/>' for row in ROWS)],
    "a list of terms": ["".join(f"<dt>{row[0]}</dt><dd>{row[1]}</dd>" for row in ROWS)],
    "code": [f"rows = {ROWS[:2]!r}"],
    "all in one line": [" ".join(f"{row[0]} {row[2]:.3f}" for row in ROWS * 4)],
    "blank lines between": [line for row in ROWS for line in (",".join(map(str, row)), "")],
    "a table of HTML in one line": [
        "<table>" + "".join(f"<tr><td>{row[0]}</td><td>{row[2]}</td></tr>" for row in ROWS)
    ],
    "an identifier and a term": [f"{row[0]} {row[1]}" for row in ROWS],
    "a sentence a row": [f"In {row[0]} the gold was found to be {row[2]:.2f} ppm and copper {row[3]}." for row in ROWS],
    "ragged": [f"MARK{n},{','.join(str(n / 7 + k) for k in range(2 + n % 4))}" for n in range(7)],
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_amid_prose_are_taken_out_and_counted(form: str) -> None:
    shown = without_row_lines("\n".join([*PROSE[:5], *FORMS[form], *PROSE[5:]]))
    assert "MARK" not in shown
    assert "lines that look like rows of data are not shown]" in shown
    assert [line for line in PROSE if line not in shown] == []


def test_a_text_without_rows_stays_as_it_is() -> None:
    text = "\n\n".join(PROSE) + "\n"
    assert without_row_lines(text) == text
    assert without_row_lines("") == ""
