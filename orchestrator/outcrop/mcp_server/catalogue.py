"""What a client is offered: our tools and a few of the server's own, each with schemas and what it does to files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from outcrop.mcp_server import answers
from outcrop_schemas import limits
from outcrop_schemas.errors import ArgumentError, UnknownNameError
from outcrop_specialists.completion import checked
from outcrop_specialists.roles import ROLES
from outcrop_specialists.tools.registry import FAMILIES, NAMES, get_tool

RESEARCH, DISPATCH, RUNS, SHOW, FIND, CALL = (
    "run_research", "dispatch", "list_runs", "show_run", "find_tools", "call_tool",
)  # fmt: skip
NOT_OFFERED = frozenset({"check_script"})
"""It goes on with a script of the same process; here each call has its own, and waits until its script has ended."""
READS_ONLY = frozenset({"list_files", "verify_claims", "read_file", "inspect_raster", RUNS, SHOW, FIND})
"""Tools that never write a file of results: a test looks. Even inspect_dataset does, where its answer on a wide table
is too long to be told."""
NOT_REPEATABLE = frozenset({"run_script", "run_command", RESEARCH, DISPATCH, CALL})
"""Whose second call with the same arguments may do more: those of others are named by inputs and arguments."""


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ResearchArguments(_Arguments):
    """A research objective for a whole run."""

    objective: str = Field(
        min_length=1,
        max_length=limits.OBJECTIVE_CHARS,
        description="What is to be found out or made, in plain words, complete in itself.",
    )
    data: list[str] = Field(default=[], max_length=1_000, description="The files to work on, as list_files names them.")
    pins: dict[str, str] = Field(default={}, description="Facts that every agent of the run is shown word for word.")
    attach: list[str] = Field(default=[], max_length=50, description="Text files whose text is shown at the start.")
    budget_usd: Decimal | None = Field(default=None, gt=0, le=1_000_000, description="Never spend more dollars.")
    budget_tokens: int | None = Field(default=None, ge=1, description="Never use more tokens, read and written.")


class DispatchArguments(_Arguments):
    """One piece of work for one specialist."""

    specialist: str = Field(description="Who does it.", json_schema_extra={"enum": list(ROLES)})
    objective: str = Field(
        min_length=1,
        max_length=limits.OBJECTIVE_CHARS,
        description="What to do, complete in itself: the specialist knows nothing else.",
    )
    data: list[str] = Field(default=[], max_length=1_000, description="The files to work on, as list_files names them.")
    context: dict[str, Any] = Field(default={}, description="Facts that it needs.")
    pins: dict[str, str] = Field(
        default={}, description="Facts that its model is shown word for word in every request."
    )


class NoArguments(_Arguments):
    """None."""


class RunArguments(_Arguments):
    """A run of the workspace."""

    run: str = Field(max_length=100, description="The run's id or its beginning, or `last`.")


class FindArguments(_Arguments):
    """What a tool should do."""

    query: str = Field(
        min_length=1, max_length=limits.OBJECTIVE_CHARS, description="What the tool should do, in words."
    )


class CallArguments(_Arguments):
    """A call of any of the tools that `find_tools` finds."""

    name: str = Field(max_length=100, description="The tool, as find_tools names it.")
    arguments: dict[str, Any] = Field(default={}, description="Its arguments, by the schema that find_tools tells.")


@dataclass(frozen=True)
class Offered:
    """A tool as a client sees it."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    answer: type[BaseModel]

    @property
    def reads_only(self) -> bool:
        return self.name in READS_ONLY

    @property
    def is_repeatable(self) -> bool:
        return self.name not in NOT_REPEATABLE

    @property
    def asks_model(self) -> bool:
        """Whether a language model may be asked for it, which is outside of this machine."""
        return self.name in (RESEARCH, DISPATCH)

    def input_schema(self) -> dict[str, Any]:
        schema = get_tool(self.name).schema().input_schema if self.name in NAMES else _schema(self.arguments)
        found: dict[str, Any] = without_marks(schema)
        if self.name in FAMILIES["scripts"]:
            # How long to wait before it is left running: nobody could come back to it.
            found["properties"].pop("wait_seconds")
        return found

    def output_schema(self) -> dict[str, Any]:
        return self.answer.model_json_schema(mode="serialization")

    def checked(self, arguments: Mapping[str, Any]) -> BaseModel:
        """The arguments of a call. Raises ArgumentError, which names the closest for one that is not known."""
        known = self.arguments.model_fields
        for name in arguments:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known) or 'none'}"
                raise ArgumentError(name[:100], f"{self.name} has no such argument; {hint}")
        return checked(self.arguments, arguments)


_OWN = (
    Offered(
        RESEARCH,
        "Run research",
        "Have a research objective about tables worked on until it is answered: it is split, done by cleaning, "
        "analytics and plotting specialists in confined processes, and recorded. Gives the answer with each figure "
        "verified or refuted, the files made, and what could not be done. It may take minutes; progress is told.",
        ResearchArguments,
        answers.ResearchAnswer,
    ),
    Offered(
        DISPATCH,
        "Dispatch",
        "Have one piece of work done by one specialist (cleaning, analytics or plotting) in a confined process. Gives "
        "its account and the files it made. For a question of several steps take run_research.",
        DispatchArguments,
        answers.DispatchAnswer,
    ),
    Offered(RUNS, "List runs", "The newest runs of this workspace and how they ended.", NoArguments, answers.RunList),
    Offered(
        SHOW, "Show run", "What is recorded of one run: its answer and its dispatches.", RunArguments, answers.RunShown
    ),
    Offered(
        FIND,
        "Find tools",
        "Find the tools for what is to be done, among all there are, by plain words. Read only.",
        FindArguments,
        answers.FoundTools,
    ),
)
_CALL = Offered(
    CALL,
    "Call tool",
    "Run one of the tools that find_tools finds, with arguments by the schema that it tells.",
    CallArguments,
    answers.ToolAnswer,
)


class Catalogue:
    """The tools that one server offers. `wanted` are names of tools and families; all but `call_tool` without it.

    Raises UnknownNameError for a name that is neither.
    """

    def __init__(self, wanted: Sequence[str] = ()) -> None:
        everything = {**{name: _of_registry(name) for name in callable_names()}, **{one.name: one for one in _OWN}}
        if not wanted:
            self.offered = everything
            return
        everything[CALL] = _CALL
        chosen = dict.fromkeys(name for given in wanted for name in _names(given, everything))
        self.offered = {name: everything[name] for name in chosen}

    def get(self, name: str) -> Offered:
        """Raises UnknownNameError with the closest names."""
        found = self.offered.get(name)
        if found is None:
            raise UnknownNameError("tool", name[:100], get_close_matches(name[:100], self.offered), self.offered)
        return found


def callable_names() -> list[str]:
    """The names of our tools that can be called here."""
    return [name for name in NAMES if name not in NOT_OFFERED]


def without_marks(schema: Any) -> Any:
    """A schema without the marks that only our own models read: some clients refuse what is not of JSON Schema."""
    if isinstance(schema, dict):
        return {key: without_marks(value) for key, value in schema.items() if not key.startswith("x-")}
    return [without_marks(each) for each in schema] if isinstance(schema, list) else schema


def of_registry(name: str) -> Offered:
    """One of our tools, whether it is offered by its own name or not. Raises UnknownNameError."""
    if name not in callable_names():
        raise UnknownNameError("tool", name[:100], get_close_matches(name[:100], callable_names()), callable_names())
    return _of_registry(name)


def _of_registry(name: str) -> Offered:
    tool = get_tool(name)
    title = name.replace("_", " ").capitalize().replace("qaqc", "QA/QC").replace("Qaqc", "QA/QC")
    return Offered(name, title, tool.card, tool.arguments, answers.ToolAnswer)


def _names(given: str, everything: Mapping[str, Offered]) -> list[str]:
    if given in FAMILIES:
        return [name for name in FAMILIES[given] if name in everything]
    if given not in everything:
        known = [*everything, *FAMILIES]
        raise UnknownNameError("tool or family of tools", given, get_close_matches(given, known), known)
    return [given]


def _schema(arguments: type[BaseModel]) -> dict[str, Any]:
    return arguments.model_json_schema()
