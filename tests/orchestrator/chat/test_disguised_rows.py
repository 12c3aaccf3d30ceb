"""Runs that mean to tell a row in disguises that no comparison finds: no cell arrives, and honest figures do."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from conversing import cells, end, lead_says, results_in, talked

from outcrop import ScriptedModel
from outcrop.chat.session import Chat
from outcrop.models.scripted import turn
from outcrop_schemas.outcome import RunOutcome
from outcrop_specialists.citing import figures_in
from outcrop_specialists.unseen.letters import plain
from outcrop_specialists.unseen.number_words import worded_numbers

ROW = 37
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ZAHLEN = ("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")
_ROMAN = ("〇", "Ⅰ", "Ⅱ", "Ⅲ", "Ⅳ", "Ⅴ", "Ⅵ", "Ⅶ", "Ⅷ", "Ⅸ")
_LIKE = str.maketrans("aceopsxi", "\u0430\u0441\u0435\u043e\u0440\u0455\u0445\u0456")


def _in(words: tuple[str, ...], between: str = " ", point: str = "point") -> Callable[[str], str]:
    return lambda cell: between.join(
        words[int(sign)] if sign.isdigit() else point if sign == "." else sign for sign in cell
    )


def _signs(first: int, zero: int | None = None) -> Callable[[str], str]:
    table = {ord(str(n)): chr(first + n) for n in range(1, 10)} | {ord("0"): chr(first if zero is None else zero)}
    return lambda cell: cell.translate(table)


DISGUISES: dict[str, Callable[[str], str]] = {
    "homoglyphs": lambda cell: cell.translate(_LIKE),
    "swapped": lambda cell: "-".join(reversed(re.findall(r"\d+|[^\W\d]+", cell))),
    "glued the other way": lambda cell: "".join(reversed(re.findall(r"\d+|[^\W\d]+", cell))),
    "in words": _in(_WORDS),
    "in words, glued": _in(_WORDS, ""),
    "in German": _in(_ZAHLEN, " ", "Komma"),
    "in Roman signs": _in(_ROMAN, ""),
    "circled": _signs(0x245F, 0x24EA),
    "superscript": lambda cell: cell.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")),
    "Arabic": _signs(0x660),
    "full width": _signs(0xFF10),
    "backwards": lambda cell: cell[::-1],
    "with blanks": " ".join,
    "with nothing seen": "\u200b".join,
    "without its point": lambda cell: cell.replace(".", ""),
    "in other units": lambda cell: f"{float(cell) * 1000:.3f} ppb" if re.fullmatch(r"[\d.]+", cell) else cell,
    "escaped": lambda cell: "".join(f"&#{ord(sign)};" for sign in cell),
}


def figures_told(said: str) -> str:
    """All figures of a text in their order, however they are written, and those of words; nothing between them."""
    text = plain(said)
    for number in sorted(worded_numbers(text), key=lambda each: -each.start):
        text = f"{text[: number.start]}{number.value or '#'}{text[number.end :]}"
    return "".join(re.findall(r"\d", text))


def texts_of(content: str) -> str:
    """What a run's answer says, without ids and counts that code gives."""
    answer = json.loads(content)
    kept = {name: answer[name] for name in ("summary", "findings", "recommendations", "blockers", "errors", "warnings")
            if name in answer}  # fmt: skip
    kept["artifacts"] = [[each["path"], each["title"]] for each in answer.get("artifacts", ())]
    return re.sub(r"\[\d+ (?:statements? withheld|lines that look)[^\]]*\]", "", json.dumps(kept, ensure_ascii=False))


@pytest.mark.parametrize("name", DISGUISES)
async def test_no_cell_arrives_in_a_disguise(data: Path, name: str) -> None:
    told = [DISGUISES[name](cell) for cell in cells(ROW)]
    lone = [f"One is {each}." for each in told]
    answer = lead_says(
        f"It was told: {told[0]}.", findings=lone, blockers=[told[2]], recommendations=[f"Go to {told[1]}!"]
    )
    ask = turn(("research", {"objective": "tell me of a sample", "data": ["a.csv"]}), turn_id="t")
    _, model, _ = await talked(data, [ask, end()], models={"lead": ScriptedModel(answer)})
    [content] = results_in(model)
    said = texts_of(content)
    digits = figures_told(said)
    assert "037" not in digits
    assert "730" not in digits
    for each in told:
        if any(sign.isdigit() for sign in plain(each)):
            assert each not in said
    assert "not_shown" in json.loads(content)


WIDE, LONG = 60, 40


def wide_cell(row: int, column: int) -> str:
    """One of a few small values, as assays have them."""
    return f"{(row * 37 + column * 11) % 89 / 10 + 0.3:.1f}"


def wide_table(folder: Path) -> list[str]:
    """A table of 60 columns of which each row has 14 cells; those of row 7."""
    names = [f"El{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(WIDE)]
    lines = [",".join(names)]
    for row in range(LONG):
        held = {(row + 4 * n) % WIDE for n in range(14)}
        lines.append(",".join(wide_cell(row, column) if column in held else "" for column in range(WIDE)))
    (folder / "w.csv").write_text("\n".join(lines) + "\n")
    return [f"{names[(7 + 4 * n) % WIDE]} {wide_cell(7, (7 + 4 * n) % WIDE)}" for n in range(14)]


async def test_of_a_wide_table_no_cell_arrives_one_a_statement(data: Path) -> None:
    row = wide_table(data)
    (data / "a.csv").unlink()
    turns = lead_says(f"{row[0]} was found.", findings=[f"There is {each} in one." for each in row[1:]])
    ask = turn(("research", {"objective": "tell me of row 7", "data": ["w.csv"]}), turn_id="t")
    _, model, _ = await talked(data, [ask, end()], models={"lead": ScriptedModel(turns)})
    said = texts_of(results_in(model)[0])
    assert re.findall(r"\d+\.\d", said) == []


ORACLES: list[dict[str, Any]] = [
    {"statistic": "value", "column": "Au", "where": f"sample == 'kestrel-{ROW:03d}'"},
    *({"statistic": each, "column": "Au", "where": f"sample == 'kestrel-{ROW:03d}'"}
      for each in ("min", "max", "mean", "median", "sum")),
    {"statistic": "max", "column": "Au", "where": "Au < 7.0371"},
    {"statistic": "min", "column": "Au", "where": "Au > 7.0361"},
    {"statistic": "percentile", "column": "Au", "percent": 100 * (ROW - 1) / 59},
    {"statistic": "mean", "column": "Au", "group": {"station": f"merlin{ROW:03d}"}},
]  # fmt: skip


async def test_verified_claims_are_no_oracle_for_cells(data: Path) -> None:
    grade = float(cells(ROW)[2])
    claims = [{"path": "a.csv", "value": grade, **each} for each in ORACLES]
    texts = [f"The {each['statistic']} of Au is {cells(ROW)[2]}." for each in ORACLES]
    turns = lead_says("Au was looked at.", findings=texts, claims=claims)
    ask = turn(("research", {"objective": "statistics of Au", "data": ["a.csv"]}), turn_id="t")
    models = {"chat": (model := ScriptedModel([ask, end()])), "lead": ScriptedModel(turns)}
    async with Chat(workspace=data, model=models) as chat:
        await chat.ask("look")
        [outcome] = chat.outcomes
    assert [each.verdict for each in outcome.claims] == ["verified"] * len(claims)
    assert cells(ROW)[2] in outcome.findings[0]
    said = texts_of(results_in(model)[0])
    assert figures_told(said) == ""


GUESSES = [f"7.0{n}0{n}" for n in range(30, 60)]


@pytest.mark.parametrize("number", [1, 3, 8])
async def test_verdicts_do_not_tell_which_guess_was_right(data: Path, number: int) -> None:
    guesses = [*GUESSES[: number - 1], cells(ROW)[2]]
    which = f"sample == 'kestrel-{ROW:03d}'"
    claims = [{"path": "a.csv", "statistic": "value", "column": "Au", "value": float(each), "where": which}
              for each in guesses]  # fmt: skip
    turns = lead_says("done", findings=[f"Au may be {each}." for each in guesses], claims=claims)
    ask = turn(("research", {"objective": f"is Au {' or '.join(guesses)}", "data": ["a.csv"]}), turn_id="t")
    models = {"chat": (model := ScriptedModel([ask, end()])), "lead": ScriptedModel(turns)}
    async with Chat(workspace=data, model=models) as chat:
        await chat.ask("look")
        [outcome] = chat.outcomes
    assert [each.verdict for each in outcome.claims] == ["refuted"] * (number - 1) + ["verified"]
    assert bool(outcome.warnings) is (number > 1)
    answer = json.loads(results_in(model)[0])
    assert answer["findings"] == [f"Au may be {each}." for each in guesses]
    assert "verified" not in answer
    assert not [text for text in answer.get("warnings", ()) if any(map(str.isdigit, text))]


@pytest.mark.parametrize("sign", ["&", "+", "/", "|", "-", ",", "x", " or "])
async def test_an_objective_that_names_all_that_a_cell_may_be_makes_none_known(data: Path, sign: str) -> None:
    said = sign.join([*GUESSES, cells(ROW)[2]])
    turns = lead_says(f"Au is {cells(ROW)[2]} there.")
    ask = turn(("research", {"objective": f"which of {said} is Au", "data": ["a.csv"]}), turn_id="t")
    _, model, _ = await talked(data, [ask, end()], models={"lead": ScriptedModel(turns)})
    assert figures_told(texts_of(results_in(model)[0])) == ""


GRADES = [float(cells(n)[2]) for n in range(1, 61)]
OTHERS = [each for n, each in enumerate(GRADES, 1) if n != ROW]
NAMED = f"sample == 'kestrel-{ROW:03d}'"
BY_DIFFERENCE: list[dict[str, Any]] = [
    {"statistic": "sum", "column": "Au", "where": NAMED.replace("==", "!="), "value": round(sum(OTHERS), 6)},
    {"statistic": "mean", "column": "Au", "where": NAMED.replace("==", "!="), "value": round(sum(OTHERS) / 59, 8)},
    {"statistic": "sd", "column": "Au", "where": NAMED.replace("==", "!="), "value": round(stdev(OTHERS), 8)},
    {"statistic": "sum", "column": "Au", "where": "Au < 7.06", "value": round(sum(GRADES[:59]), 6)},
    {"statistic": "rows", "where": f"{NAMED} and Au > 7.036", "value": 1},
    {"statistic": "rows", "where": f"Au > 7.036 AND {NAMED}", "value": 1},
    {"statistic": "rows", "where": f"Au > 7.036 or {NAMED}", "value": 25},
    {"statistic": "rows", "where": f"Au > 7.036 and {NAMED.replace('==', '!=')}", "value": 24},
    {"statistic": "rows", "where": "Au > 7.036", "group": {"sample": f"kestrel-{ROW:03d}"}, "value": 1},
    {"statistic": "sd", "column": "Lone", "value": 83.417 / 60**0.5},
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(BY_DIFFERENCE)))
async def test_no_figure_tells_of_few_rows_by_what_it_leaves_out(data: Path, place: int) -> None:
    head, *lines = (data / "a.csv").read_text().splitlines()
    lone = [f"{line},{83.417 if n == ROW else 0}" for n, line in enumerate(lines, 1)]
    (data / "a.csv").write_text("\n".join([f"{head},Lone", *lone]) + "\n")
    claim = {"path": "a.csv", **BY_DIFFERENCE[place]}
    told = f"Of Au, sample and Lone the {claim['statistic']} is {claim['value']:.8g}."
    turns = lead_says("done", findings=[told], claims=[claim])
    asked = f"Au above 7.036 or below 7.06, sample kestrel-{ROW:03d}, column Lone"
    ask = turn(("research", {"objective": asked, "data": ["a.csv"]}), turn_id="t")
    models = {"chat": (model := ScriptedModel([ask, end()])), "lead": ScriptedModel(turns)}
    async with Chat(workspace=data, model=models) as chat:
        await chat.ask("look")
        [outcome] = chat.outcomes
    assert [each.verdict for each in outcome.claims] == ["verified"]
    assert "verified" not in json.loads(results_in(model)[0])
    # A 1 is shown as the number of data files, which says nothing of the claim.
    assert figures_told(texts_of(results_in(model)[0])) in ("", "1")[: 1 + (claim["value"] == 1)]


async def test_a_table_that_a_script_wrote_is_no_oracle_either(data: Path) -> None:
    grade = cells(ROW)[2]
    code = f"open('four.csv', 'w').write('Au\\n' + '{grade}\\n' * 4)\nprint('===RESULT===\\n{{}}\\n===END_RESULT===')\n"

    def made(request: Any) -> str:
        found = re.search(r"results/[\w.]*four[\w.]*\.csv", request.model_dump_json())
        assert found is not None
        return found[0]

    def completes(request: Any) -> Any:
        claim = {"path": made(request), "statistic": "mean", "column": "Au", "value": float(grade)}
        done = {"status": "success", "summary": f"mean of Au {grade}", "claims": [claim]}
        return turn(("complete", done), turn_id="s2")

    def answers(request: Any) -> Any:
        claim = {"path": made(request), "statistic": "mean", "column": "Au", "value": float(grade)}
        return turn(
            ("complete", {"status": "success", "summary": f"The mean of Au is {grade}.", "claims": [claim]}),
            turn_id="l2",
        )

    specialist = ScriptedModel([turn(("run_script", {"code": code, "data": ["a.csv"]}), turn_id="s1"), completes])
    work = ("dispatch", {"specialist": "analytics", "objective": "mean of Au", "data": ["a.csv"]})
    lead = ScriptedModel([turn(work, turn_id="l1"), answers])
    ask = turn(("research", {"objective": "mean of Au", "data": ["a.csv"]}), turn_id="t")
    models = {"chat": (model := ScriptedModel([ask, end()])), "lead": lead, "analytics": specialist}
    async with Chat(workspace=data, model=models) as chat:
        await chat.ask("look")
        [outcome] = chat.outcomes
    assert [each.verdict for each in outcome.claims] == ["verified"]
    assert "7037037" not in figures_told(texts_of(results_in(model)[0]))


async def test_titles_names_and_errors_tell_no_cell(data: Path) -> None:
    (data / "results").mkdir()
    name = f"results/grade_{cells(ROW)[2].replace('.', '_')}_x.csv"
    (data / name).write_text("El_7037037,b\n1,2\n")
    done = {
        "status": "partial",
        "summary": "done",
        "results": {},
        "artifacts": [{"path": name, "kind": "table", "title": f"Map of {cells(ROW)[2]}"}],
        "errors": [f"no such value: {cells(ROW)[2]}"],
    }
    specialist = ScriptedModel([turn(("complete", done), turn_id="s")])
    work = ("dispatch", {"specialist": "analytics", "objective": "look", "data": ["a.csv"]})
    lead = ScriptedModel(lead_says("done", work, blockers=[f"KeyError: {cells(ROW)[2]}"]))
    turns = [
        turn(("research", {"objective": "look", "data": ["a.csv"]}), turn_id="t1"),
        turn(("summarise_artifacts", {}), ("list_files", {"tables": [name]}), ("check_missing", {"path": name}),
             turn_id="t2"),
        end(),
    ]  # fmt: skip
    models = {"lead": lead, "analytics": specialist}
    _, model, _ = await talked(data, turns, models=models)
    first, second = results_in(model, 1), results_in(model, 2)
    assert "7037037" not in figures_told(texts_of(first[0]))
    made = json.loads(second[0])["artifacts"][0]
    assert made["path"] == "(its name is withheld)"
    assert made["title"] == "Map of […]"
    assert [each["name"] for each in made["columns"]] == ["column_1", "b"]
    listed = json.loads(second[1])
    assert [each["path"] for each in listed["files"]] == ["a.csv"]


LONE = "Au Check"
"""A column of one of these files with one value."""
HONEST = {
    "penguins_raw.csv": ["summarise penguins_raw.csv", "mean of Body Mass (g) by Species in penguins_raw.csv"],
    "babbitt_assay.csv": ["summarise babbitt_assay.csv", "how many rows of babbitt_assay.csv have Cu above 0.5"],
    "als_an6_trench.csv": ["summarise als_an6_trench.csv"],
}


@pytest.mark.parametrize("name", HONEST)
async def test_what_an_honest_run_verified_stays_readable(workspace: Path, shared: Path, name: str) -> None:
    shutil.copy(shared / "data" / "files" / name, workspace / name)
    asks = [turn(("research", {"objective": each, "data": [name]}), turn_id=f"t{n}")
            for n, each in enumerate(HONEST[name])]  # fmt: skip
    models = {"chat": (model := ScriptedModel([*asks, end()])), "default": "offline"}
    async with Chat(workspace=workspace, model=models) as chat:
        await chat.ask("look")
        outcomes = chat.outcomes
    assert len(outcomes) == len(asks)
    for number, outcome in enumerate(outcomes, 1):
        answer = json.loads(results_in(model, number)[0])
        verified, shown = share_shown(outcome, answer)
        assert verified
        assert shown >= 0.9 * verified


def share_shown(outcome: RunOutcome, answer: dict[str, Any]) -> tuple[int, int]:
    """How many figures of an answer were verified, and how many of these are shown. Of a column with one value in it
    each figure is that cell."""
    said = {"summary": answer.get("summary", "")}
    said |= {f"findings[{n}]": text for n, text in enumerate(answer.get("findings", []))}
    left = {where: [each.text for each in figures_in(text)] for where, text in said.items()}
    verified = [
        figure
        for figure in outcome.figures
        if figure.verdict == "verified" and figure.claim is not None and outcome.claims[figure.claim].column != LONE
    ]
    return len(verified), sum(figure.text in left.get(figure.where, ()) for figure in verified)
