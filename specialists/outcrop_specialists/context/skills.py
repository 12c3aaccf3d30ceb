"""Skills of a workspace: folders below `skills/` with a `SKILL.md`, by the public convention (agentskills.io).

Name and description stand in every agent's context; the body is read on demand. Of the front matter (YAML, as far as
`front_matter.py` reads it) only what the convention asks for is used: `name` (as the folder, lower-case letters, digits
and hyphens, 64 at most) and `description`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError, DataError
from outcrop_schemas.messages import ToolSchema
from outcrop_specialists.brief import SKILLS
from outcrop_specialists.context.front_matter import FrontMatter, FrontMatterError
from outcrop_specialists.paths import leads_out, resolve_inside

FOLDER, FILE = "skills", "SKILL.md"
SKILLS_KEY = "available_skills"
"""Where name and description of each skill stand in the context of a dispatch."""
_SHOWN_CHARS = 80
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True)
class Skill:
    """What an agent is told of a skill before it reads it."""

    name: str
    description: str


READ_SKILL = ToolSchema(
    name="read_skill",
    description="Read a skill of this workspace (its SKILL.md, or another file of it) before you follow it.",
    input_schema={
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "file": {"type": "string", "default": FILE},
            "start": {"type": "integer", "minimum": 0, "default": 0, "description": "The character to go on from."},
        },
        "required": ["name"],
        "additionalProperties": False,
    },
)


class SkillArguments(BaseModel):
    """The arguments of `read_skill`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    file: str = FILE
    start: int = Field(default=0, ge=0)


def find_skills(workspace: Path) -> tuple[list[Skill], list[str]]:
    """The skills of a workspace by name, and why other folders below `skills/` are none."""
    skills, problems = [], []
    home = workspace / FOLDER
    if leads_out(workspace.resolve(), home):
        where = "out of the workspace" if home.exists() else "that leads nowhere"
        return [], [f"{FOLDER}/ is a link {where}; its skills are not told, and not read"]
    try:
        found = sorted(home.iterdir()) if home.is_dir() else []
    except OSError as error:
        return [], [f"{FOLDER}/ cannot be read: {error.strerror}"]
    for folder in (path for path in found if path.is_dir() or not path.exists()):
        try:
            skills.append(_skill(workspace, folder))
        except DataError as error:
            problems.append(str(error))
    if len(skills) > limits.SKILLS:
        problems.append(f"{FOLDER}/ has {len(skills)} skills; the first {limits.SKILLS} by name are used")
    return skills[: limits.SKILLS], problems


def told_of(skills: Mapping[str, str]) -> str:
    """The block that lists skills by name and description."""
    return SKILLS + "\n".join(f"- {name}: {description}" for name, description in skills.items())


def read_skill(
    workspace: Path, name: str, file: str = FILE, start: int = 0, most: int = limits.PAGE_CHARS
) -> dict[str, object]:
    """A page of a skill's file from the character `start`; without the front matter where it is `SKILL.md`.

    Raises ArgumentError for a skill or a file that is not there, PathError for what is no path or leads out of the
    workspace, DataError for what cannot be read.
    """
    folder = workspace / FOLDER / name
    if len(name) > limits.SKILL_NAME_CHARS or not _NAME.fullmatch(name) or not (folder / FILE).is_file():
        known = ", ".join(skill.name for skill in find_skills(workspace)[0])
        raise ArgumentError("name", f"there is no skill {name[:_SHOWN_CHARS]!r}; there are: {known or 'none'}")
    path = resolve_inside(workspace, folder / file)
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        files = sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())
        given = file[:_SHOWN_CHARS]
        raise ArgumentError("file", f"the skill {name!r} has no file {given!r}; it has: {', '.join(files[:20])}")
    text = _text(path, path.relative_to(workspace.resolve()))
    text = _split(text, path)[1] if file == FILE else text
    end = start + most
    more = {"next_start": end} if end < len(text) else {}
    return {"skill": name, "file": file, "text": text[start:end], "chars": len(text), **more}


def _skill(workspace: Path, folder: Path) -> Skill:
    path = folder / FILE
    shown = path.relative_to(workspace)
    if folder.is_symlink() or path.is_symlink():
        raise DataError(f"{shown}: a skill must lie in the workspace itself, not behind a link")
    if not path.is_file():
        raise DataError(f"{folder.relative_to(workspace)}: a skill needs a {FILE}")
    try:
        front = FrontMatter(_split(_text(path, shown), shown)[0])
        name, description = front.text("name"), front.text("description")
    except FrontMatterError as error:
        raise DataError(f"{shown}: {error}") from error
    if name != folder.name or len(name) > limits.SKILL_NAME_CHARS or not _NAME.fullmatch(name):
        raise DataError(
            f"{shown}: the name must be that of the folder ({folder.name!r}), lower-case letters, digits and hyphens, "
            f"{limits.SKILL_NAME_CHARS} at most; it is {name!r}"
        )
    if not description or len(description) > limits.SKILL_DESCRIPTION_CHARS:
        raise DataError(
            f"{shown}: the description must have 1 to {limits.SKILL_DESCRIPTION_CHARS} characters, "
            f"it has {len(description)}"
        )
    return Skill(name, description)


def _text(path: Path, shown: Path) -> str:
    try:
        if path.stat().st_size > limits.SKILL_BYTES:
            raise DataError(f"{shown}: a file of a skill may have {limits.SKILL_BYTES} bytes")
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{shown}: is not UTF-8 text") from error
    except OSError as error:
        raise DataError(f"{shown}: cannot be read: {error.strerror}") from error


def _split(text: str, shown: Path) -> tuple[str, str]:
    """Front matter and body."""
    lines = text.lstrip("\ufeff").splitlines(keepends=True)
    ends = next((n for n, line in enumerate(lines) if n and line.rstrip() == "---"), None)
    if not lines or lines[0].rstrip() != "---" or ends is None:
        raise DataError(f"{shown}: begins without front matter: a line ---, name: …, description: …, a line ---")
    return "".join(lines[1:ends]), "".join(lines[ends + 1 :]).lstrip("\n")
