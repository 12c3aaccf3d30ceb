"""Skills of a workspace: found by the convention, read in pages, and only from the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError, PathError
from outcrop_specialists.context.skills import Skill, find_skills, read_skill


def write(workspace: Path, name: str, front: str, body: str = "Do it.\n") -> Path:
    path = workspace / "skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{front}---\n\n{body}", "utf-8")
    return path


def test_a_skill_is_known_by_name_and_description_and_read_without_front_matter(workspace: Path) -> None:
    front = 'name: assay-checks\ndescription: >\n  How we check assays,\n  before anything else.\nlicense: "MIT"\n'
    write(workspace, "assay-checks", front, "# Check\n\n1. Look.\n")
    write(workspace, "units", "name: units\ndescription: 'Which unit: ppm'\n")
    assert find_skills(workspace) == (
        [Skill("assay-checks", "How we check assays, before anything else."), Skill("units", "Which unit: ppm")],
        [],
    )
    assert read_skill(workspace, "assay-checks")["text"] == "# Check\n\n1. Look.\n"


@pytest.mark.parametrize(
    ("front", "words"),
    [
        ("name: other\ndescription: d\n", "the name must be that of the folder ('bad')"),
        ("name: bad\n", "the description must have 1 to 1024 characters, it has 0"),
        (f"name: bad\ndescription: {'x' * 1_025}\n", "it has 1025"),
        ("", "the name must be that of the folder"),
    ],
)
def test_what_is_no_skill_is_told_with_the_reason_and_the_others_stay(workspace: Path, front: str, words: str) -> None:
    write(workspace, "bad", front)
    write(workspace, "good", "name: good\ndescription: d\n")
    skills, problems = find_skills(workspace)
    assert [skill.name for skill in skills] == ["good"]
    assert len(problems) == 1
    assert words in problems[0]


@pytest.mark.parametrize("is_inside", [True, False])
def test_a_folder_of_skills_that_leads_out_of_the_workspace_is_not_told_and_named(
    workspace: Path, tmp_path: Path, is_inside: bool
) -> None:
    place = workspace / "kept" if is_inside else tmp_path / "elsewhere"
    write(place, "linked", "name: linked\ndescription: d\n")
    (workspace / "skills").symlink_to(place / "skills")
    skills, problems = find_skills(workspace)
    assert [skill.name for skill in skills] == (["linked"] if is_inside else [])
    assert problems == (
        [] if is_inside else ["skills/ is a link out of the workspace; its skills are not told, and not read"]
    )
    if not is_inside:
        with pytest.raises(PathError):
            read_skill(workspace, "linked")


def test_a_folder_without_a_file_text_that_is_none_and_a_link_are_no_skills(workspace: Path, tmp_path: Path) -> None:
    (workspace / "skills" / "empty").mkdir(parents=True)
    write(workspace, "binary", "").write_bytes(b"\xff\xfe\x00")
    outside = write(tmp_path / "elsewhere", "linked", "name: linked\ndescription: d\n").parent
    (workspace / "skills" / "linked").symlink_to(outside)
    skills, problems = find_skills(workspace)
    assert skills == []
    assert len(problems) == 3
    assert problems[0] == "skills/binary/SKILL.md: is not UTF-8 text"
    assert "behind a link" in problems[2]


def test_links_that_go_round_in_a_circle_are_told(workspace: Path) -> None:
    write(workspace, "good", "name: good\ndescription: d\n")
    for place in ("skills/circle", "skills/good/more.md"):
        (workspace / place).symlink_to((workspace / place).name)
    skills, problems = find_skills(workspace)
    assert [skill.name for skill in skills] == ["good"]
    assert problems == ["skills/circle/SKILL.md: a skill must lie in the workspace itself, not behind a link"]
    with pytest.raises(PathError, match="is not a path"):
        read_skill(workspace, "good", "more.md")
    elsewhere = workspace / "other"
    elsewhere.mkdir()
    (elsewhere / "skills").symlink_to("skills")
    assert find_skills(elsewhere) == (
        [],
        ["skills/ is a link that leads nowhere; its skills are not told, and not read"],
    )
    with pytest.raises(ArgumentError, match="there is no skill"):
        read_skill(elsewhere, "good")


def test_files_of_a_skill_are_read_in_pages_and_nothing_outside_it(workspace: Path) -> None:
    write(workspace, "long", "name: long\ndescription: d\n")
    text = "é" * (limits.PAGE_CHARS + 10)
    (workspace / "skills" / "long" / "more.md").write_text(text, "utf-8")
    first = read_skill(workspace, "long", "more.md")
    second = read_skill(workspace, "long", "more.md", int(str(first["next_start"])))
    assert f"{first['text']}{second['text']}" == text
    assert "next_start" not in second
    (workspace / "secret.csv").write_text("a\n1\n")
    for file in ("../../secret.csv", "nothing.md"):
        with pytest.raises(ArgumentError, match="has no file"):
            read_skill(workspace, "long", file)
    with pytest.raises(PathError):
        read_skill(workspace, "long", "../../../x")
    for name in ("../long", "nobody", "", "Long"):
        with pytest.raises(ArgumentError, match="there is no skill"):
            read_skill(workspace, name)
