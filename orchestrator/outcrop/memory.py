"""Facts kept across runs, in `.outcrop/memory/facts.jsonl`, each with its source; found by relevance.

Only the orchestrator reads and writes them; no specialist can.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from outcrop.journal import now
from outcrop.spill import append_private, write_private
from outcrop.text import is_text
from outcrop_schemas import limits, wire
from outcrop_schemas.errors import UnknownNameError, UsageError, WorkspaceError
from outcrop_schemas.regular import read_file
from outcrop_specialists.brief import MEMORY
from outcrop_specialists.context.selection.cards import ToolCard
from outcrop_specialists.context.selection.index import ToolIndex


class Remembered(BaseModel):
    """One fact: what was found, where it comes from (a run and what it says of itself), and when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    fact: str = Field(min_length=1, max_length=limits.MEMORY_FACT_CHARS)
    source: str
    at: str

    def line(self) -> str:
        return f"- {self.fact} (source: {self.source}, {self.at[:10]})"


class Memory:
    """The facts of one workspace."""

    def __init__(self, home: Path) -> None:
        self.path = home / "memory" / "facts.jsonl"

    def check_place(self) -> None:
        """Facts are kept in the workspace itself: a link could lead anywhere. Raises WorkspaceError."""
        for place in (self.path.parents[1], self.path.parent, self.path):
            if place.is_symlink():
                raise WorkspaceError(f"{place} is a link; remove it, Outcrop keeps its records in the workspace")

    def all(self) -> list[Remembered]:
        """Every fact, oldest first. Raises WorkspaceError, naming the line that is damaged, or what is a link."""
        self.check_place()
        try:
            lines = read_file(self.path).splitlines()
        except (FileNotFoundError, NotADirectoryError):
            # Where the workspace cannot be taken at all, holding it says so.
            return []
        except OSError as error:
            raise WorkspaceError(f"{self.path} cannot be read: {error.strerror}") from error
        facts = []
        for number, line in enumerate(lines, 1):
            try:
                facts.append(Remembered.model_validate(wire.loads(line)))
            except (ValueError, ValidationError) as error:
                raise WorkspaceError(
                    f"{self.path}: line {number} is no fact; mend or remove that line ({str(error).splitlines()[0]})"
                ) from error
        return facts

    def remember(self, fact: str, source: str) -> Remembered:
        """Keep a fact; one that is there already in the same words is not kept twice. Raises UsageError."""
        facts, plain = self.all(), checked_fact(fact)
        same = next((each for each in facts if each.fact == plain), None)
        if same:
            return same
        if len(facts) >= limits.MEMORY_FACTS:
            raise UsageError(f"{limits.MEMORY_FACTS} facts are remembered already; forget one (outcrop memory)")
        made = Remembered(id=wire.digest([plain, source])[:8], fact=plain, source=source, at=now())
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            append_private(self.path, wire.dumps(made.model_dump()) + b"\n")
        except OSError as error:
            raise WorkspaceError(f"{self.path} cannot be written: {error.strerror}") from error
        return made

    def forget(self, identifier: str) -> Remembered:
        """Remove a fact by its id. Raises UnknownNameError."""
        facts = self.all()
        gone = next((each for each in facts if each.id == identifier), None)
        if gone is None:
            raise UnknownNameError("remembered fact", identifier, known=[each.id for each in facts])
        aside = self.path.with_name(".facts.jsonl")
        try:
            kept = (wire.dumps(each.model_dump()) + b"\n" for each in facts if each is not gone)
            write_private(aside, b"".join(kept))
            aside.replace(self.path)
        except OSError as error:
            raise WorkspaceError(f"{self.path} cannot be written: {error.strerror}") from error
        return gone

    def relevant(self, question: str) -> list[Remembered]:
        """The facts that fit a question best, at most `limits.MEMORY_SHOWN`; none that shares nothing with it."""
        facts = {each.id: each for each in self.all()}
        if not facts:
            return []
        index = ToolIndex([ToolCard(each.id, each.fact) for each in facts.values()])
        ranked = [found for found in index.rank(question) if found.is_found]
        return [facts[found.name] for found in ranked[: limits.MEMORY_SHOWN]]


def checked_fact(fact: str) -> str:
    """A fact on one line. Raises UsageError for one that is none, too long or not UTF-8."""
    plain = " ".join(fact.split())
    if not is_text(plain):
        raise UsageError(f"the fact {fact[:60]!r} is not valid text: it holds bytes that are not UTF-8")
    if not plain or len(plain) > limits.MEMORY_FACT_CHARS:
        raise UsageError(f"a fact has 1 to {limits.MEMORY_FACT_CHARS} characters, not {len(plain)}")
    return plain


def told_of(facts: Sequence[Remembered]) -> str:
    """The block that facts stand in."""
    return MEMORY + "\n".join(fact.line() for fact in facts)
