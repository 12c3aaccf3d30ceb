"""What a client is given back: bounded objects, whose schemas it knows, and the text that goes with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from outcrop.text import ELLIPSIS, inert, shorten
from outcrop_schemas import limits, wire
from outcrop_schemas.claims import Verdict
from outcrop_schemas.hypotheses import Hypothesis
from outcrop_schemas.outcome import DispatchLine, Outcome, RunOutcome, Status, Truncated
from outcrop_schemas.outcome import VerifiedArtifact as Verified
from outcrop_schemas.protocol import Evidence

_OUT_OF_REACH = "check_script"
"""What a note about it says is of no use here: each call waits until its script has ended."""
_LINE_CHARS = limits.SUMMARY_CHARS
_TOLD = ("results", "findings", "hypotheses", "figures", "recommendations", "blockers", "gap", "left_out")


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class File(Verified):
    """A file that was written and verified; `uri` is the resource by which it is read."""

    uri: str


class ToolAnswer(_Answer):
    """What one tool found."""

    tool: str
    status: Status = Field(description="success, or how the work ended otherwise.")
    summary: str
    results: dict[str, Any] = Field(description="Counts and figures, at most 8,000 characters of JSON.")
    truncated: Truncated | None = Field(description="Where all of the results are, when they were longer.")
    artifacts: list[File] = Field(description="The files written, verified.")
    notes: list[str] = Field(description="What was repaired, dropped or assumed, with counts.")
    errors: list[str]
    warnings: list[str]
    run_id: str
    dispatch_id: str
    duration_s: float


class DispatchAnswer(_Answer):
    """What a specialist found: its own account, and the files that are really there."""

    specialist: str
    status: Status
    summary: str
    results: dict[str, Any] = Field(description="Counts and figures, at most 8,000 characters of JSON.")
    truncated: Truncated | None = Field(description="Where all of the results are, when they were longer.")
    artifacts: list[File]
    findings: list[str]
    evidence: Evidence
    recommendations: list[str]
    blockers: list[str] = Field(description="What could not be done.")
    gap: dict[str, Any] | None = Field(description="What the specialist lacked, of a capability_gap.")
    errors: list[str]
    warnings: list[str]
    usage: dict[str, Any]
    run_id: str
    dispatch_id: str
    duration_s: float


class Figure(_Answer):
    """A number of an answer, and whether it was found again in its table."""

    where: str
    text: str
    verdict: Verdict
    reason: str = ""


class ResearchAnswer(_Answer):
    """The answer of a run: its figures with their verdicts, its files, what could not be done."""

    run_id: str
    objective: str
    status: Status
    summary: str
    findings: list[str]
    recommendations: list[str]
    blockers: list[str] = Field(description="What could not be done, with the words of the objective.")
    errors: list[str]
    warnings: list[str]
    figures: list[Figure] = Field(
        description="Numbers of the answer, each computed again from its table: verified, refuted or unverifiable."
    )
    hypotheses: list[Hypothesis] = Field(
        description="Claims that were tested, each with its verdict and what speaks for and against it."
    )
    artifacts: list[File]
    dispatches: list[DispatchLine]
    data: list[str]
    model: str
    usage: dict[str, Any]
    left_out: dict[str, int] = Field(default={}, description="How many entries of a list are not shown.")
    duration_s: float
    report: str | None = Field(description="The resource with the run's report, where it has one.")


class RunLine(_Answer):
    """One run of the workspace."""

    run_id: str
    kind: str | None
    at: str | None = Field(description="When it began.")
    status: str | None
    dispatches: int
    objective: str | None


class RunList(_Answer):
    """The newest runs of the workspace, newest first."""

    runs: list[RunLine]
    older: int = Field(description="How many further runs there are.")


class ShownDispatch(_Answer):
    """One dispatch of a run; `status` is `under way` until it ends."""

    dispatch_id: str
    specialist: str
    objective: str
    status: str
    duration_s: float
    summary: str = ""


class RunShown(_Answer):
    """What is recorded of one run."""

    run: RunLine
    data: list[str]
    answer: ResearchAnswer | None
    dispatches: list[ShownDispatch]
    earlier_dispatches: int
    notices: list[str]


class FoundTool(_Answer):
    """A tool that fits what was asked for."""

    name: str
    description: str
    input_schema: dict[str, Any] | None = Field(description="Its arguments, where it is to be called by `call_tool`.")


class FoundTools(_Answer):
    """Tools that do what was asked for, the best first."""

    tools: list[FoundTool]


def uri_of(path: str) -> str:
    """The resource of a file of the workspace."""
    return f"workspace:///{quote(path)}"


def of_tool(tool: str, outcome: Outcome, run_id: str) -> ToolAnswer:
    summary, errors = _told_once(outcome.summary, outcome.errors)
    return ToolAnswer(
        tool=tool,
        status=outcome.status,
        summary=summary,
        results=outcome.results,
        truncated=outcome.truncated,
        artifacts=_files(outcome.artifacts),
        notes=[note for note in outcome.findings if _OUT_OF_REACH not in note],
        errors=errors,
        warnings=outcome.warnings,
        run_id=run_id,
        dispatch_id=outcome.dispatch_id,
        duration_s=outcome.duration_s,
    )


def of_dispatch(outcome: Outcome, run_id: str) -> DispatchAnswer:
    names = set(DispatchAnswer.model_fields) - {"artifacts", "run_id"}
    fields = {name: getattr(outcome, name) for name in names}
    fields["summary"], fields["errors"] = _told_once(outcome.summary, outcome.errors)
    return DispatchAnswer(**fields, artifacts=_files(outcome.artifacts), run_id=run_id)


def of_run(outcome: RunOutcome, *, has_report: bool) -> ResearchAnswer:
    """The answer of a run, its lists shortened until the whole is within the limit of an outcome."""
    names = set(ResearchAnswer.model_fields) - {"artifacts", "figures", "left_out", "report", "usage"}
    fields = {name: getattr(outcome, name) for name in names}
    fields["objective"] = shorten(outcome.objective, limits.SUMMARY_CHARS)
    fields["summary"], fields["errors"] = _told_once(outcome.summary, outcome.errors)
    fields["data"] = outcome.data[: limits.LIST_ENTRIES]
    usage = {name: value for name, value in outcome.usage.items() if name != "spending"}
    if spending := outcome.usage.get("spending"):
        usage["spent"] = {key: value for key, value in spending.items() if not isinstance(value, dict | list)}
    return fitted(
        ResearchAnswer(
            **fields,
            artifacts=_files(outcome.artifacts),
            figures=[Figure.model_validate(figure.model_dump()) for figure in outcome.figures],
            usage=usage,
            report=f"run://{outcome.run_id}/report.html" if has_report else None,
        )
    )


def _told_once(summary: str, errors: Sequence[str]) -> tuple[str, list[str]]:
    """Summary and errors, without a summary that is nothing but one of the errors: that one is then there as long as
    the summary was, since entries of a list are cut sooner."""
    for place, error in enumerate(errors):
        kind, _, reason = error.partition(": ")
        told = reason.removesuffix(ELLIPSIS)
        if told and (summary == reason or (told != reason and summary.startswith(told))):
            return "", [*errors[:place], f"{kind}: {summary}", *errors[place + 1 :]]
        if summary == error:
            return "", list(errors)
    return summary, list(errors)


def fitted(answer: ResearchAnswer, most: int = limits.OUTCOME_CHARS) -> ResearchAnswer:
    """The same, with the longest lists shortened, and what is not shown counted, until it is `most` characters."""
    fields = answer.model_dump(mode="json")
    lists = [name for name, value in fields.items() if isinstance(value, list)]
    whole = {name: len(fields[name]) for name in lists}
    while len(wire.dumps(fields)) > most:
        longest = max(lists, key=lambda name: len(wire.dumps(fields[name])))
        if not fields[longest]:
            break
        fields[longest] = fields[longest][: len(fields[longest]) // 2]
        fields["left_out"] = {
            name: whole[name] - len(fields[name]) for name in lists if whole[name] > len(fields[name])
        }
    return ResearchAnswer.model_validate(fields)


def texts_of(answer: BaseModel) -> list[str]:
    """An answer for whoever sees no structured content: a few lines on how it ended, and what was found as JSON."""
    if not isinstance(answer, ToolAnswer | DispatchAnswer | ResearchAnswer):
        return [as_text(answer.model_dump(mode="json"))]
    errors = [entry for entry in answer.errors if entry not in answer.summary]
    head = answer.summary or (errors.pop(0) if errors else "")
    lines = [f"{answer.status}: {head}" if head else answer.status]
    lines += [f"error: {entry}" for entry in errors]
    lines += [f"note: {entry}" for entry in getattr(answer, "notes", [])]
    lines += [f"warning: {entry}" for entry in answer.warnings]
    lines += [f"file: {file.path}" for file in answer.artifacts]
    if truncated := getattr(answer, "truncated", None):
        lines.append(f"all results ({truncated.chars} characters): {truncated.spill or 'could not be written'}")
    account = "\n".join(shorten(inert(line, keep_newlines=False), _LINE_CHARS) for line in lines)
    fields = answer.model_dump(mode="json", include=set(_TOLD))
    if blockers := fields.get("blockers"):
        fields["blockers"] = [entry for entry in blockers if entry not in head]
    found = {name: fields[name] for name in _TOLD if fields.get(name)}
    if isinstance(answer, ToolAnswer):
        found = answer.results
    return [account, as_text(found)] if found else [account]


def as_text(results: Mapping[str, Any]) -> str:
    return wire.dumps(results).decode()


def _files(artifacts: Sequence[Verified]) -> list[File]:
    return [File(**artifact.model_dump(), uri=uri_of(artifact.path)) for artifact in artifacts[: limits.LIST_ENTRIES]]
