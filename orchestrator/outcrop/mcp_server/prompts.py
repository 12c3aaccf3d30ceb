"""Two prompts that a client may offer to its user: to have a table described, and a question answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError, UnknownNameError


@dataclass(frozen=True)
class Prompt:
    """A prompt with the arguments that it takes, all of them needed, and the text that they are put into."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    text: str

    def filled(self, given: Mapping[str, str]) -> str:
        """Raises ArgumentError for what is missing or not known."""
        for name, value in given.items():
            if name not in self.arguments:
                close = get_close_matches(name, self.arguments, n=1) or list(self.arguments)
                raise ArgumentError(name[:100], f"{self.name} has no such argument; it has {', '.join(close)}")
            if len(value) > limits.OBJECTIVE_CHARS:
                raise ArgumentError(name, f"has {len(value)} characters, {limits.OBJECTIVE_CHARS} are allowed")
        for name in self.arguments:
            if not given.get(name, "").strip():
                raise ArgumentError(name, "is missing")
        # In one go and not by `format`: what is put in may hold braces.
        return re.sub(r"\{(\w+)\}", lambda place: given[place[1]], self.text)


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "describe_table",
            "Describe a table",
            "What a table holds, what is wrong with it, and what could be asked of it.",
            {"path": "The file, as list_files names it."},
            "Describe the table {path} of this workspace. Call inspect_dataset on it, then detect_cleaning_issues. Say "
            "in plain words what a row is, what the columns are (with units), what is missing or doubtful, and which "
            "three questions it could answer. Name figures only as the tools gave them.",
        ),
        Prompt(
            "answer_question",
            "Answer a question from tables",
            "Have a question worked on until it is answered, with verified figures.",
            {"question": "What is to be found out.", "data": "The files, separated by commas."},
            "Find this out: {question}\nThe files are: {data}.\nLook at each with inspect_dataset first. Then call "
            "run_research with one objective, complete in itself, and these files. In your answer take over figures "
            "with their verdicts, name the files that were made, and say what could not be done.",
        ),
    )
}


def get_prompt(name: str) -> Prompt:
    """Raises UnknownNameError."""
    found = PROMPTS.get(name)
    if found is None:
        raise UnknownNameError("prompt", name[:100], known=PROMPTS)
    return found
