"""What the documentation shows is so: every block is tried, or says why it cannot be, and no page is out of date."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from snippets import PAGES, ROOT, RUN, TRIED, Snippet, run_page, snippets_of

from outcrop.cli.main import build_parser
from outcrop.jobs import Job
from outcrop.settings import Settings
from outcrop_schemas import wire
from outcrop_schemas.outcome import ISOLATION_PROPERTIES, STATUSES, Outcome, RunOutcome
from outcrop_schemas.plan import Plan
from outcrop_schemas.protocol import Completion, Dispatch, StreamMessage

ALL = [snippet for page in PAGES for snippet in snippets_of(page)]
README = ROOT / "README.md"
RUNNABLE = {page: [one for one in snippets_of(page) if one.language in RUN and one.is_tried] for page in PAGES}
TO_RUN = [page for page, snippets in RUNNABLE.items() if page != README and any(not one.file for one in snippets)]
SCHEMAS: dict[str, TypeAdapter[Any]] = {
    "dispatch": TypeAdapter(Dispatch),
    "stream": TypeAdapter(StreamMessage),
    "completion": TypeAdapter(Completion),
    "outcome": TypeAdapter(Outcome),
    "run": TypeAdapter(RunOutcome),
    "plan": TypeAdapter(Plan),
    "job": TypeAdapter(Job),
}


def kind(*languages: str) -> list[Snippet]:
    return [one for one in ALL if one.language in languages and one.is_tried]


def place(value: Snippet | Path) -> str:
    return value.place if isinstance(value, Snippet) else str(value.relative_to(ROOT))


# A page may have a dozen specialists started cold, which on a busy machine take minutes.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", TO_RUN, ids=place)
def test_what_a_page_says_can_be_done_as_it_stands(page: Path, tmp_path: Path) -> None:
    done = run_page(page, tmp_path)
    assert done.returncode == 0, f"{done.stdout[-2_000:]}\n{done.stderr[-4_000:]}"


def test_of_the_readme_there_is_one_block_to_run_which_has_a_test_of_its_own() -> None:
    assert [one.language for one in RUNNABLE[README]] == ["python"]


@pytest.mark.parametrize("snippet", kind("toml"), ids=place)
def test_settings_that_are_shown_are_settings(snippet: Snippet, tmp_path: Path) -> None:
    (tmp_path / "outcrop.toml").write_text(snippet.text, "utf-8")
    assert Settings.load(tmp_path).model_fields_set


@pytest.mark.parametrize("snippet", kind("json", "jsonl"), ids=place)
def test_json_that_is_shown_is_of_its_schema(snippet: Snippet) -> None:
    schema = SCHEMAS[snippet.mark("schema") or "none is named"]
    for text in snippet.text.splitlines() if snippet.language == "jsonl" else [snippet.text]:
        schema.validate_python(wire.loads(text))


@pytest.mark.parametrize("snippet", [one for one in ALL if one.file], ids=place)
def test_a_file_that_is_shown_is_that_file(snippet: Snippet) -> None:
    assert snippet.text == (ROOT / str(snippet.file)).read_text("utf-8")


def test_few_blocks_are_not_tried_and_each_says_why() -> None:
    worth = [one for one in ALL if one.language in TRIED]
    left = [one for one in worth if not one.is_tried]
    assert all(len(str(one.mark("not run")).split()) >= 3 for one in left), [one.place for one in left]
    assert len(left) <= 0.25 * len(worth), [one.place for one in left]


def test_every_mark_stands_before_a_block() -> None:
    for page in PAGES:
        marks = re.findall(r"<!-- (?:not run|schema|first): ", page.read_text("utf-8"))
        assert len(marks) == sum(len(one.marks) for one in snippets_of(page)), page


@pytest.mark.parametrize("script", ["write_limits.py", "write_commands.py", "write_tools.py"])
def test_what_a_script_writes_is_up_to_date(script: str) -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / script, "--check"], check=False, timeout=60)
    assert done.returncode == 0, f"run scripts/{script}"


def test_every_status_has_its_section_and_nothing_else_has_one() -> None:
    text = (ROOT / "docs" / "statuses.md").read_text("utf-8")
    assert sorted(re.findall(r"^### `(\w+)`", text, re.MULTILINE)) == sorted(STATUSES)


def test_every_isolation_property_is_told() -> None:
    text = (ROOT / "docs" / "security.md").read_text("utf-8")
    assert [name for name in ISOLATION_PROPERTIES if f"| `{name}` |" not in text] == []


def test_every_command_that_a_page_names_is_there() -> None:
    parsers = [action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)]
    known = {name for one in parsers for name in one.choices}
    for page in [*PAGES, ROOT / "AGENTS.md", ROOT / "llms.txt"]:
        named = set(re.findall(r"`outcrop ([a-z]+(?:-[a-z]+)*)", page.read_text("utf-8")))
        assert named <= known, page


@pytest.mark.parametrize("name", ["AGENTS.md", "llms.txt", "README.md", "CONTRIBUTING.md"])
def test_what_is_linked_to_is_there(name: str) -> None:
    linked = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / name).read_text("utf-8"))
    assert [path for path in linked if not (ROOT / path).exists()] == []
