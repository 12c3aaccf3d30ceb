"""The chat's model tries every way to rows that it has; none arrives: no request holds two cells of one row.

A cell of its own tells nothing (a name that the user asks for, a maximum); two of one row are that row, in whatever
words, places and order. The user's own words are the user's: these tests do not say any cell.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conversing import ROWS, cells, csv, end, lead_says, results_in, rows_in, sent, talked

from outcrop import ScriptedModel
from outcrop.chat.session import Chat
from outcrop.chat.sight import Screened, Sight
from outcrop.memory import Memory
from outcrop.models.scripted import turn
from outcrop_schemas import limits
from outcrop_specialists.unseen.allowed import MARK

ONE = ", ".join(cells(7))
SPREAD = [f"The first is {cells(9)[0]}.", f"Its grade came to {cells(9)[2]}.", f"({cells(9)[3]})"]


def silent(folder: Any) -> None:
    """Nothing that was sent tells of a row."""
    requests = sent(folder)
    assert requests
    assert [rows_in(request) for request in requests] == [set()] * len(requests)


async def test_calls_that_are_not_offered_are_refused(data: Path) -> None:
    refused = ("read_file", "query_data", "run_script", "run_command", "dispatch", "inspect_dataset", "read_skill",
               "pin", "remember", "verify_claims", "mcp__files__read", "web_search")  # fmt: skip
    calls = turn(*((name, {"path": "a.csv"}) for name in refused), turn_id="t")
    _, model, folder = await talked(data, [calls, end()])
    results = results_in(model)
    assert len(results) == len(refused)
    assert all("There is no tool" in result for result in results)
    names = {tool.name for request in model.requests for tool in request.tools}
    assert names == {"list_files", "check_missing", "summarise_artifacts", "research", "read_result", "complete"}
    silent(folder)


async def test_its_data_tools_tell_of_no_row_whatever_the_file_is(data: Path) -> None:
    lines = csv().splitlines()
    files = {
        "headless.csv": "\n".join(lines[1:]) + "\n",
        "dates.csv": "2024-05-01,merlin001\n" * 30,
        "notes.txt": csv(),
        "b.log": csv(),
        "rows.jsonl": "".join(json.dumps(dict(zip("abcd", cells(n), strict=True))) + "\n" for n in range(1, ROWS)),
        "rows.json": json.dumps([dict(zip("abcd", cells(n), strict=True)) for n in range(1, ROWS)]),
        "broken.csv": f'a,"{ONE}\n{ONE}\x00\n',
        "two.csv": f"{csv(range(1, 9))}\n\n{ONE}\n\nother,thing\n1,2\n3,4\n",
    }
    for name, text in files.items():
        (data / name).write_text(text)
    (data / "results").mkdir()
    (data / "results" / f"{cells(5)[0]}_{cells(5)[1]}.csv").write_text("a,b\n1,2\n")
    every = ["a.csv", *files]
    looks = [("list_files", {"tables": every}), *(("check_missing", {"path": name}) for name in every)]
    odd = [("list_files", {"folder": "results"}), ("list_files", {"folder": "../.."}),
           ("list_files", {"folder": "a.csv"}), ("check_missing", {"path": "a.csv#" + cells(3)[0]}),
           ("check_missing", {"path": ".outcrop"}),
           ("summarise_artifacts", {"of": "workspace", "paths": ["a.csv"]})]  # fmt: skip
    _, model, folder = await talked(data, [turn(*looks, *odd, turn_id="t"), end()])
    silent(folder)
    listed = json.loads(results_in(model)[0])
    assert len(listed["tables"]) == len(every)
    [headless] = [each for each in listed["tables"] if each["path"] == "headless.csv"]
    assert [each["name"] for each in headless["columns"]] == [f"column_{n}" for n in range(1, 5)]
    assert [each["name"] for each in listed["tables"][0]["columns"]] == ["sample", "station", "Au", "remark"]
    assert "merlin" not in sent(folder)[-1]


FIELDS = ("summary", "findings", "recommendations", "blockers", "claims")
FORMS: tuple[Callable[[int], list[str]], ...] = (
    lambda n: [", ".join(cells(n))],
    lambda n: [f"At {cells(n)[1].upper()} the crew took Kestrel {n:03d}, and it was fine."],
    lambda n: [f"The first is {cells(n)[0]}.", f"Its grade came to {cells(n)[2]}.", f"({cells(n)[3]})"],
    lambda n: [json.dumps(dict(zip("abcd", cells(n), strict=True)))],
    lambda n: ["\n".join("\t".join(cells(row)) for row in range(n, n + 5))],
)
"""A row as a line, in prose, one cell after the other, as JSON, and rows as a table."""


def every_form(first: int) -> list[str]:
    return [text for place, form in enumerate(FORMS) for text in form(first + place)]


async def test_no_field_of_a_runs_answer_carries_a_row_in_any_form(data: Path) -> None:
    turns: list[Any] = []
    for place, field in enumerate(FIELDS):
        first = 1 + 10 * place
        told: dict[str, Any] = {"summary": "done", field: every_form(first)}
        if field == "summary":
            told = {"summary": " ".join(every_form(first))}
        elif field == "claims":
            grade, where = cells(first)[2], f"sample == '{cells(first)[0]}'"
            claim = {"path": "a.csv", "statistic": "value", "column": "Au", "value": float(grade), "where": where}
            told = {"claims": [{**claim, "statement": every_form(first)[0]}], "summary": f"It is {grade}."}
        turns += lead_says(**told)
    asks = [
        turn(("research", {"objective": f"print all rows in your {field}", "data": ["a.csv"]}), turn_id=field)
        for field in FIELDS
    ]
    _, _, folder = await talked(data, [*asks, end()], models={"lead": ScriptedModel(turns)})
    silent(folder)
    last = sent(folder)[-1]
    assert last.count(MARK) + last.count("withheld: it tells of rows") + last.count("are not shown]") >= 15


async def test_these_tests_see_a_row_that_arrives(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unscreened(sight: Any, texts: list[str], tables: Any, allowance: Any) -> Screened:
        return Screened(texts)

    monkeypatch.setattr(Sight, "allowed", unscreened)
    turns = lead_says(" ".join(every_form(1)))
    ask = turn(("research", {"objective": "print all rows", "data": ["a.csv"]}), turn_id="t")
    _, _, folder = await talked(data, [ask, end()], models={"lead": ScriptedModel(turns)})
    assert rows_in(sent(folder)[-1]) == set(range(1, 10))


async def test_a_specialist_that_puts_rows_everywhere_tells_the_chat_of_none(data: Path) -> None:
    (data / "results").mkdir()
    loud = data / "results" / f"{cells(4)[0]}_{cells(4)[1]}.csv"
    loud.write_text(csv())
    done = {
        "status": "partial",
        "summary": f"All rows: {ONE}",
        "results": {"rows": [list(cells(n)) for n in range(1, 15)], cells(3)[0]: cells(3)[1]},
        "artifacts": [{"path": "results/" + loud.name, "kind": "table", "title": f"{cells(6)[0]} at {cells(6)[1]}"}],
        "findings": SPREAD,
        "recommendations": [f"Go to {cells(12)[1]} for {cells(12)[0]}"],
        "blockers": [" | ".join(cells(13))],
        "errors": ["\t".join(cells(14))],
        "evidence": {"supports": [ONE], "contradicts": [ONE], "new_hypotheses": [ONE]},
    }
    specialist = ScriptedModel([turn(("complete", done), turn_id="s")])
    work = ("dispatch", {"specialist": "analytics", "objective": "print all rows", "data": ["a.csv"]})
    lead = ScriptedModel(lead_says(f"Here is {ONE}", work, findings=SPREAD, blockers=done["blockers"]))
    turns = [
        turn(("research", {"objective": "give me every row, as artifact titles too"}), turn_id="t1"),
        turn(("summarise_artifacts", {}), ("list_files", {"folder": "results"}), turn_id="t2"),
        end(),
    ]
    [answered], model, folder = await talked(
        data, turns, models={"lead": lead, "analytics": specialist}, data=["a.csv"]
    )
    silent(folder)
    made = json.loads(results_in(model)[0])["artifacts"]
    assert [each["rows"] for each in made] == [ROWS]
    assert answered.runs


async def test_cells_of_one_row_that_come_one_run_after_the_other_do_not_meet(data: Path) -> None:
    lead = ScriptedModel([turns for n in (0, 2, 3) for turns in lead_says(f"It is {cells(21)[n]}.")])
    asks = [turn(("research", {"objective": f"cell {n}", "data": ["a.csv"]}), turn_id=f"t{n}") for n in range(3)]
    _, _, folder = await talked(data, [*asks, end()], models={"lead": lead})
    silent(folder)
    assert not any(cell in sent(folder)[-1] for cell in cells(21))


async def test_attachments_of_every_kind_show_no_row(data: Path) -> None:
    (data / "x.md").write_text(
        f"# Report\n\nThe crew walked in.\n\n| a | b |\n|---|---|\n| {cells(1)[0]} | {cells(1)[1]} |\n"
        f"| {cells(2)[0]} | {cells(2)[1]} |\n\nNear {cells(30)[1]} they found {cells(30)[0]}. All went home.\n"
    )
    for name in ("renamed.png", "README", "rows.txt", "r.log", "r.dat", "r.las", "r.md", "r.html"):
        (data / name).write_text(csv())
    (data / "r.jsonl").write_text("".join(json.dumps(list(cells(n))) + "\n" for n in range(1, ROWS)))
    (data / "few.yaml").write_text("".join(f"- s: {cells(n)[0]}\n  t: {cells(n)[1]}\n" for n in range(1, 5)))
    (data / "plot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + ONE.encode() * 20)
    attach = [path.name for path in sorted(data.iterdir()) if path.is_file()]
    lead = ScriptedModel(lead_says())
    asks = turn(("research", {"objective": "look", "attachments": ["x.md", "rows.txt"]}), turn_id="t")
    _, _, folder = await talked(data, [asks, end()], models={"lead": lead}, attach=attach, data=["a.csv"])
    silent(folder)
    assert "The crew walked in." in sent(folder)[0]
    assert "All went home." in sent(folder)[0]


RECORDS = [{"tree": cells(n)[0], "place": cells(n)[1]} for n in range(1, 13)]
IN_ONE_LINE = {
    "xml": "<d>" + "".join(f"<r><tree>{r['tree']}</tree><place>{r['place']}</place></r>" for r in RECORDS) + "</d>",
    "attributes": "<d>" + "".join(f'<r tree="{r["tree"]}">{r["place"]}</r>' for r in RECORDS) + "</d>",
    "script": f"var x = {json.dumps(RECORDS)};",
    "keys without quotes": ", ".join(f"{{tree: '{r['tree']}', place: '{r['place']}'}}" for r in RECORDS),
    "encoded": base64.b64encode(csv().encode()).decode(),
}


@pytest.mark.parametrize("form", IN_ONE_LINE)
@pytest.mark.parametrize("has_figures", [True, False])
async def test_a_file_in_one_line_shows_no_row(data: Path, form: str, has_figures: bool) -> None:
    (data / "a.csv").unlink()
    text = IN_ONE_LINE[form]
    if not has_figures and form != "encoded":
        text = re.sub(r"-?(\d{3})", lambda found: "abcdefghij"[int(found[1]) % 10] * 2, text)
    (data / "x.txt").write_text(f"As it came.\n{text}\nThat is <b>all</b> of <i>it</i>.\n")
    _, _, folder = await talked(data, [end()], attach=["x.txt"])
    first = sent(folder)[0]
    assert "kestrel" not in first
    assert text[:40] not in first
    assert "all" in first
    assert "As it came." in first


NESTED: dict[str, Any] = {
    "records": {"meta": {"crew": 1}, "found": {"rows": [{"s": cells(n)[0], "at": cells(n)[1]} for n in range(1, 9)]}},
    "deeper": {"all": [{"day": "a", "rows": [{"x": {"s": cells(n)[0]}, "at": cells(n)[1]} for n in range(1, 9)]}]},
    "lists": {"head": ["s", "at"], "rows": [list(cells(n)[:2]) for n in range(1, 9)]},
}


@pytest.mark.parametrize("form", NESTED)
async def test_rows_deep_in_a_json_file_are_compared_too(data: Path, form: str) -> None:
    (data / "a.csv").unlink()
    # Letters only: a word with figures is not shown anyhow.
    text = re.sub(r"-?(\d{3})", lambda found: "abcdefghij"[int(found[1]) % 10] * 2, json.dumps(NESTED[form]))
    (data / "deep.json").write_text(text)
    lead = ScriptedModel(lead_says("It is kestrelcc at merlincc. All is well."))
    ask = turn(("research", {"objective": "look", "data": ["deep.json"]}), turn_id="t")
    _, model, _ = await talked(data, [ask, end()], models={"lead": lead})
    said = json.loads(results_in(model)[0])["summary"]
    assert "kestrelcc" not in said
    assert "All is well." in said or "could not be read" in said


async def test_cells_do_not_meet_however_much_was_told_between(data: Path) -> None:
    (data / "a.csv").write_text("tree,place\n" + "".join(f"alder{c},basin{c}\n" for c in "bcdfghjklm"))
    (data / "one.md").write_text("We walked to alderd in the morning.\n")
    for name in ("two", "three"):
        said = "".join(
            f"Of {name} {chr(97 + n % 26)}{chr(97 + n // 26 % 26)} nothing was told.\n\n" for n in range(2200)
        )
        (data / f"{name}.md").write_text(said)
    lead = ScriptedModel(lead_says("It is basind there."))
    ask = turn(("research", {"objective": "look", "data": ["a.csv"]}), turn_id="t")
    attach = ["one.md", "two.md", "three.md"]
    _, model, folder = await talked(data, [ask, end()], models={"lead": lead}, attach=attach)
    assert "alderd" in sent(folder)[0]
    assert len(sent(folder)[0]) > 100_000
    assert "basind" not in results_in(model)[0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
async def test_a_text_of_a_header_and_one_row_is_data(data: Path, delimiter: str) -> None:
    (data / "two").write_text(f"name{delimiter}grade\nOST-921{delimiter}4.2\n")
    (data / "letter.txt").write_text("Dear Sam,\nOrder 12, please.\n")
    (data / "list.txt").write_text("Monday, early\nTuesday, late\n")
    _, _, folder = await talked(data, [end()], attach=["two", "letter.txt", "list.txt"])
    first = sent(folder)[0]
    assert "921" not in first
    assert "4.2" not in first
    assert "Order 12, please." in first
    assert "Tuesday, late" in first


async def test_pins_memory_and_earlier_conversations_bring_none(data: Path) -> None:
    Memory(data / ".outcrop").remember(f"{cells(16)[0]} lies at {cells(16)[1]}", "run x")
    pins = {"place": f"{cells(17)[0]} is {cells(17)[1]}", "unit": "Au is in ppm"}
    said = [end(f"I was told of {cells(18)[0]} at {cells(18)[1]}. Nothing else.", turn_id="e")]
    _, _, before = await talked(data, said, pins=pins, data=["a.csv"])
    silent(before)
    assert "Au is in ppm" in sent(before)[0]
    _, _, folder = await talked(data, [end()], messages=["and now?"], earlier=before)
    silent(folder)
    assert "Nothing else." in sent(folder)[0]


def wrote(folder: Path, name: str, text: str) -> None:
    (folder / "results").mkdir(exist_ok=True)
    (folder / "results" / name).write_text(text)


async def test_names_that_a_run_gave_tell_of_no_row(data: Path) -> None:
    first, second = cells(5)[:2]
    wrote(data, "odd.csv", f"{first},{second},x\nfoo,,1\n,qux,2\nfoo,bar,3\n")
    name = f"{first}_{second}_summarize_01234567.csv"
    wrote(data, name, "a,b\n1,2\n")
    (data / "results" / ".lineage").mkdir()
    (data / "results" / ".lineage" / f"{name}.json").write_text('{"tool":"summarize","inputs":[],"parameters":{}}')
    asks = turn(
        ("list_files", {"tables": ["results/odd.csv"]}), ("check_missing", {"path": "results/odd.csv"}), turn_id="t"
    )
    _, model, folder = await talked(data, [asks, end()], attach=["results/odd.csv"])
    silent(folder)
    assert "column_1" in results_in(model)[0]


async def test_cells_do_not_meet_whichever_ways_they_come(data: Path) -> None:
    at, grade, seen = cells(8)[1:]
    (data / "walk.md").write_text(f"We walked to {cells(8)[0]} in the morning.\nThen home.\n")
    (data / "home.md").write_text(f"We came to {at} at noon. It rained.\n")
    wrote(data, f"{at}.csv", "a,b\n1,2\n")
    lead = ScriptedModel([*lead_says(f"It holds {grade}."), *lead_says(f"Someone has {seen}.")])
    ask = [turn(("research", {"objective": f"look {n}"}), turn_id=f"r{n}") for n in range(2)]
    turns = [ask[0], turn(("list_files", {}), turn_id="l"), ask[1], end()]
    _, _, folder = await talked(data, turns, attach=["walk.md", "home.md"], models={"lead": lead})
    silent(folder)
    assert "It rained." in sent(folder)[0]


async def test_a_text_is_not_held_for_rows_of_itself(data: Path) -> None:
    (data / "notes.txt").write_text("Au is in ppm, Cu in percent\nall of it, from one laboratory\n")
    _, _, folder = await talked(data, [end()], attach=["notes.txt"])
    assert "Cu in percent" in sent(folder)[0]


async def test_a_pasted_table_is_kept_out_and_said(data: Path) -> None:
    pasted = "What is this?\n" + csv()
    [answered], _, folder = await talked(data, [end()], messages=[pasted])
    assert f"{ROWS + 1} rows of data were pasted" in answered.warnings[0]
    silent(folder)
    few = "Is this right?\n" + "\n".join(csv().splitlines()[1 : limits.CHAT_PASTED_ROWS])
    [answered], _, folder = await talked(data, [end()], messages=[few])
    assert answered.warnings == []
    assert cells(3)[0] in sent(folder)[0]


async def test_what_was_put_aside_was_screened_before(data: Path) -> None:
    from outcrop.settings import Settings

    def reads(request: Any) -> Any:
        content = request.messages[-1].content[0].content
        handle = json.loads(content)["too_long"].split("read_result ")[1]
        return turn(
            ("read_result", {"handle": handle}), ("read_result", {"handle": handle, "find": "kestrel"}), turn_id="r"
        )

    asks = [turn(("list_files", {"tables": ["a.csv"] * 20}), turn_id="t1"), reads]
    settings = Settings(roles={"chat": {"window_tokens": 20_000}})
    _, model, folder = await talked(data, [*asks, end()], settings=settings)
    silent(folder)
    assert "sample" in results_in(model)[0]


async def test_a_file_that_breaks_a_reader_says_nothing_of_what_stands_in_it(data: Path) -> None:
    (data / "bad.parquet").write_bytes(b"PAR1" + ONE.encode() * 9 + b"PAR1")
    (data / "bad.xlsx").write_bytes(b"PK\x03\x04" + ONE.encode() * 9)
    (data / "bad.csv").write_text(f'{cells(1)[0]}\n{ONE}\n"{ONE}\n')
    calls = [(tool, given) for name in ("bad.parquet", "bad.xlsx", "bad.csv")
             for tool, given in (("check_missing", {"path": name}), ("list_files", {"tables": [name]}))]  # fmt: skip
    _, _, folder = await talked(data, [turn(*calls, turn_id="t"), end()], attach=["bad.parquet", "bad.xlsx", "bad.csv"])
    silent(folder)


def test_the_set_of_its_tools_is_closed_in_code(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from outcrop.chat import toolbox
    from outcrop_schemas.errors import UnknownNameError
    from outcrop_schemas.messages import ToolSchema

    extra = ToolSchema(name="query_data", description="", input_schema={})
    more = [*toolbox.chat_schemas(), extra]
    monkeypatch.setattr(toolbox, "chat_schemas", lambda: more)
    nothing: Any = None
    with pytest.raises(UnknownNameError, match="query_data"):
        toolbox.ChatToolbox(nothing, nothing, nothing, nothing, nothing, nothing, 1, [], nothing)
    assert Chat.__doc__
