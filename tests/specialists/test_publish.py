"""Publishing never follows a link, and never leaves the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop_schemas.errors import PathError
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.publish import Published, publish
from outcrop_specialists.tools.statistics import summarize


def write_one(path: Path) -> None:
    path.write_text("a\n1\n")


def make(context: ToolContext) -> Published:
    source = context.workspace / "a.csv"
    source.write_text("a\n1\n")
    return publish(context, summarize.TOOL, [source], {}, extension="csv", kind="table", title="t", write=write_one)


@pytest.fixture
def outside(context: ToolContext) -> Path:
    folder = context.workspace.parent / "outside"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("part", ["results", "results/.lineage"])
@pytest.mark.parametrize("is_dangling", [True, False])
def test_a_linked_folder_is_refused_and_nothing_is_written_there(
    context: ToolContext, outside: Path, part: str, is_dangling: bool
) -> None:
    link = context.workspace / part
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / "gone" if is_dangling else outside)
    with pytest.raises(PathError):
        make(context)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("is_dangling", [True, False])
@pytest.mark.parametrize("what", ["file", "record"])
def test_a_link_in_the_place_of_a_result_or_its_record_is_refused(
    context: ToolContext, outside: Path, what: str, is_dangling: bool
) -> None:
    made = make(context).path
    place = made if what == "file" else made.parent / ".lineage" / f"{made.name}.json"
    aim = outside / place.name
    if not is_dangling:
        aim.write_bytes(place.read_bytes())
    before = aim.read_bytes() if aim.exists() else None
    place.unlink()
    place.symlink_to(aim)
    with pytest.raises(PathError, match="a link stands"):
        make(context)
    assert (aim.read_bytes() if aim.exists() else None) == before


@pytest.mark.parametrize("part", ["results", "results/.lineage"])
def test_a_file_in_the_place_of_a_folder_is_refused(context: ToolContext, part: str) -> None:
    place = context.workspace / part
    place.parent.mkdir(exist_ok=True)
    place.write_text("x")
    with pytest.raises(PathError):
        make(context)


def test_the_same_work_uses_its_file_again(context: ToolContext) -> None:
    first, second = make(context), make(context)
    assert (first.path, first.reused, second.reused) == (second.path, False, True)
