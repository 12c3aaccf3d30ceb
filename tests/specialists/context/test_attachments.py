"""An attachment has its own budget, all of them have a total, and no row of a table is attached."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from outcrop_schemas import limits
from outcrop_schemas.errors import PathError
from outcrop_schemas.messages import Message, ModelRequest, TextBlock
from outcrop_specialists.brief import ATTACHMENT
from outcrop_specialists.context.attachments import AttachArguments, attached, attachment, attachments
from outcrop_specialists.context.segments import estimated
from outcrop_specialists.context.tokens import tokens_of_text
from outcrop_specialists.tools.base import ToolContext

Write = Callable[[str, str | bytes], str]
WORDS = (
    "the",
    "crew",
    "walked",
    "ridges",
    "where",
    "old",
    "gossans",
    "crop",
    "out",
    "beneath",
    "cover",
    "and",
    "notes",
)


def prose(lines: int) -> str:
    """Sentences of different lengths."""
    pick = random.Random(4)
    return "".join(f"{n}: {' '.join(pick.choices(WORDS, k=pick.randint(5, 20)))}.\n" for n in range(1, lines + 1))


def test_a_short_text_is_attached_whole(context: ToolContext, write_file: Write) -> None:
    text = prose(40)
    told = attachment(context, write_file("notes.md", text))
    opens, _, body = told.partition(":\n")
    assert opens.startswith(f"{ATTACHMENT}notes.md (40 lines, ")
    assert body == text


@pytest.mark.parametrize("text", [prose(30_000), "word " * 500_000, "0123456789" * 100_000, "é" * 200_000])
def test_a_long_text_is_cut_at_its_budget_and_says_where_to_read_on(
    context: ToolContext, write_file: Write, text: str
) -> None:
    from outcrop_specialists.toolbox import run_tool
    from outcrop_specialists.tools.registry import get_tool

    path = write_file("long.md", text)
    told = attachment(context, path)
    assert 0.9 * limits.ATTACHMENT_TOKENS < tokens_of_text(told) <= limits.ATTACHMENT_TOKENS
    body, _, after = told.partition(":\n")[2].rpartition("\n[cut here: read_file goes on at ")
    assert text.startswith(body)
    numbers: dict[str, Any] = {}
    for place in after.removesuffix("]").split(", "):
        name, number = place.split()
        numbers[name] = int(number)
    found = run_tool(get_tool("read_file"), context, {"path": path, **numbers}).results
    assert (body + found["text"]) == text[: len(body) + len(found["text"])]


@pytest.mark.parametrize("rows", [8, 3_000])
@pytest.mark.parametrize("name", ["soil.csv", "soil.txt", "soil.json", "soil.jsonl", "README"])
def test_a_data_file_gives_its_profile_and_no_row(
    context: ToolContext, write_file: Write, name: str, rows: int
) -> None:
    if "json" in name:
        records = [f'{{"Sample": "MARK{n}", "Cu ppm": {n * 7}.25}}' for n in range(rows)]
        text = "\n".join(records) if name.endswith("l") else f"[{','.join(records)}]"
    else:
        text = "Sample,Cu ppm\n" + "".join(f"MARK{n},{n * 7}.25\n" for n in range(rows))
    told = attachment(context, write_file(name, text))
    assert told.startswith(f"{ATTACHMENT}{name} (data, ")
    assert f'"rows":{rows}' in told
    assert "Cu ppm" in told
    assert "MARK1," not in told
    assert not (context.workspace / "results").exists()


def test_the_profile_of_a_wide_table_is_within_the_budget(context: ToolContext, write_file: Write) -> None:
    header = ",".join(f"Element number {n} ppm" for n in range(4_000))
    told = attachment(context, write_file("wide.csv", header + "\n" + f"{','.join(['0.5'] * 4_000)}\n" * 60))
    assert tokens_of_text(told) <= limits.ATTACHMENT_TOKENS
    assert '"column_count":4000' in told


def test_a_data_file_that_cannot_be_read_gives_the_reason_and_no_row(context: ToolContext, write_file: Write) -> None:
    text = "a,b\n" + "".join(f"MARK{n},{n},{n},{n}\n" if n % 3 else f"MARK{n}\n" for n in range(90))
    told = attachment(context, write_file("broken.csv", text))
    assert "has no profile: " in told
    assert "MARK5" not in told


def test_settings_in_json_are_text_and_a_binary_file_is_named(context: ToolContext, write_file: Write) -> None:
    text = '{"name": "survey", "steps": ["one", "two"]}\n'
    assert attachment(context, write_file("settings.json", text)).endswith(f":\n{text}")
    told = attachment(context, write_file("a.png", b"\x89PNG\r\n\x1a\n\0\0\0"))
    assert told == f"{ATTACHMENT}a.png: a PNG image, 11 bytes; it is no text, so nothing of it is shown"


def test_all_attachments_have_a_total_and_what_is_beyond_it_is_named(context: ToolContext, write_file: Write) -> None:
    paths = [write_file(f"part{n}.md", prose(30_000)) for n in range(5)] * 20
    told = attachments(context, paths)
    assert sum(map(tokens_of_text, told)) <= limits.ATTACHMENTS_TOKENS + 1_000
    assert all(text.startswith(ATTACHMENT) for text in told)
    assert len(told) in (4, 5)
    assert "nothing is shown of part" in told[-1]
    assert f"and {100 - (len(told) - 1) - 20} more" in told[-1]
    small = [write_file(f"small{n}.md", prose(3)) for n in range(30)]
    assert len(attachments(context, small)) == 30


def test_what_is_outcrops_own_is_not_attached(context: ToolContext, write_file: Write) -> None:
    for path in ("outcrop.toml", ".outcrop/runs/r/journal.jsonl", "../x"):
        if not path.startswith(".."):
            write_file(path, "secret = 1\n")
        with pytest.raises(PathError):
            attachment(context, path)


def of_each(line: str) -> str:
    return "".join(line.replace("{n}", f"{n:03d}").replace("{v}", f"{n / 7:.3f}") for n in range(60))


WITHOUT_HEADER = {
    "dump.sql": of_each("INSERT INTO assays VALUES ('DDH-{n}',{n},1,{v});\n"),
    "bare.sql": of_each("INSERT INTO assays VALUES ('DDH-{n}',{n},1,{v})\n"),
    "named.sql": of_each("INSERT INTO assays (hole, au) VALUES ('DDH-{n}', {v});\n"),
    "tuples.sql": "CREATE TABLE assays (hole TEXT, au REAL);\nINSERT INTO assays VALUES\n"
    + of_each("('DDH-{n}',{v}),\n"),
    "words.sql": of_each("INSERT INTO logs VALUES ('DDH-{n}','granite','fresh');\n"),
    "update.sql": of_each("UPDATE assays SET au = {v} WHERE hole = 'DDH-{n}';\n"),
    "copy.sql": "COPY assays (hole, au) FROM stdin;\n" + of_each("DDH-{n}\t{v}\n"),
    "pairs.log": of_each("hole=DDH-{n};au={v}\n"),
    "pairs.txt": of_each("hole=DDH-{n} au={v}\n"),
    "words.csv": of_each("DDH-{n},granite,fresh\n"),
    "figures.csv": of_each("DDH-{n},granite,{v}\n"),
    "rows.xml": of_each('<row hole="DDH-{n}" au="{v}"/>\n'),
    "table.html": of_each("<tr><td>DDH-{n}</td><td>{v}</td></tr>\n"),
    "records.yml": of_each("- hole: DDH-{n}\n  au: {v}\n"),
    "lists.dat": of_each("(sample DDH-{n} {v})\n"),
    "table.tex": of_each("DDH-{n} & granite & {v} \\\\\n"),
}


@pytest.mark.parametrize("name", WITHOUT_HEADER)
def test_the_lead_sees_no_row_where_the_first_line_is_one(context: ToolContext, write_file: Write, name: str) -> None:
    write_file(name, WITHOUT_HEADER[name])
    [told] = attached(context, AttachArguments(paths=[name], reader="lead"))
    assert "DDH-" not in told
    assert "granite" not in told
    assert "0.000" not in told


@pytest.mark.parametrize("lines", [1, 2])
@pytest.mark.parametrize("name", ["dump.sql", "bare.sql", "words.sql", "update.sql", "figures.csv"])
def test_nor_where_there_are_few(context: ToolContext, write_file: Write, name: str, lines: int) -> None:
    write_file(name, "".join(WITHOUT_HEADER[name].splitlines(keepends=True)[:lines]))
    assert "DDH-" not in attached(context, AttachArguments(paths=[name], reader="lead"))[0]


def test_the_ledger_counts_them_as_attachments(context: ToolContext, write_file: Write) -> None:
    told = attachment(context, write_file("notes.md", prose(40)))
    request = ModelRequest(system="", messages=[Message(role="user", content=[TextBlock(text=told)])], tools=[])
    assert set(estimated(request)) == {"attachments"}
