"""What the `complete` tool takes, for a specialist and for the lead: the schema that ends an agent's work."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from outcrop_schemas import limits, wire
from outcrop_schemas.claims import Claim
from outcrop_schemas.errors import ArgumentError
from outcrop_schemas.messages import ToolSchema
from outcrop_schemas.protocol import Artifact, Evidence
from outcrop_specialists.telling import Gap

COMPLETE = "complete"

T = TypeVar("T", bound=BaseModel)


def _no_long_list(value: Any, where: str = "results") -> Any:
    """Refuse rows: what is longer than the limit belongs in a file."""
    if isinstance(value, list) and len(value) > limits.COMPLETE_LIST_RECORDS:
        raise ValueError(
            f"{where} has {len(value)} records, {limits.COMPLETE_LIST_RECORDS} are allowed; "
            "write them to a file and give its path in artifacts"
        )
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        _no_long_list(child, f"{where}.{key}")
    return value


Sentences = Annotated[list[str], Field(max_length=limits.COMPLETE_LIST_RECORDS)]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SpecialistAnswer(_Answer):
    """A specialist's own account of its work."""

    status: Literal["success", "partial", "error", "capability_gap"]
    summary: str = Field(min_length=1, max_length=limits.SUMMARY_CHARS)
    results: Annotated[dict[str, Any], AfterValidator(_no_long_list)] = Field(
        default={}, description="Counts and figures that matter; rows belong in a file."
    )
    artifacts: list[Artifact] = Field(default=[], description="Every file written, by its path.")
    findings: Sentences = []
    evidence: Evidence = Evidence()
    recommendations: Sentences = []
    blockers: Sentences = Field(default=[], description="What could not be done, with the words of the objective.")
    claims: list[Claim] = Field(
        default=[],
        max_length=limits.CLAIMS_CHECKED,
        description="Figures of the summary and findings, each so that it can be computed again from its table. "
        "Figures of tools are known already; give those that you combined or took from elsewhere.",
    )
    gap: Gap | None = Field(default=None, description="What is missing, of a capability_gap.")
    errors: Sentences = []


class LeadAnswer(_Answer):
    """The lead's answer to the research objective."""

    status: Literal["success", "partial", "error"]
    summary: str = Field(min_length=1, max_length=limits.SUMMARY_CHARS)
    findings: Sentences = []
    recommendations: Sentences = []
    claims: list[Claim] = Field(
        default=[],
        max_length=limits.CLAIMS_CHECKED,
        description="Figures of the summary and findings, each so that it can be computed again from its table. "
        "Figures of tools are known already; give those that you combined or took from elsewhere.",
    )
    blockers: Sentences = Field(default=[], description="What could not be done, with the words of the objective.")


@cache
def complete_tool(answer: type[_Answer]) -> ToolSchema:
    """The `complete` tool as a model sees it."""
    return ToolSchema(
        name=COMPLETE,
        description="End the work with your account of it. Call it exactly once, when everything else is done.",
        input_schema=answer.model_json_schema(),
    )


def checked(schema: type[T], arguments: Mapping[str, Any]) -> T:
    """Arguments of a call as their schema has them. Raises ArgumentError with the first field that does not pass."""
    for name, value in arguments.items():
        try:
            wire.dumps([name, value])
        except ValueError as error:
            field = name.encode("utf-8", "backslashreplace").decode()
            raise ArgumentError(field, "holds what is no UTF-8 text or no number") from error
    try:
        return schema.model_validate(dict(arguments))
    except ValidationError as error:
        raise ArgumentError(*first_fault(error)) from error


def first_fault(error: ValidationError) -> tuple[str, str]:
    """The first field that does not pass, and the reason."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return ".".join(map(str, fault["loc"])) or "completion", fault["msg"]


def error_text(kind: str, message: str, *, field: str | None = None) -> str:
    """A typed error as a model sees it. It may quote what is not UTF-8."""
    message = message.encode("utf-8", "backslashreplace").decode()
    error = {"type": kind, "message": message, **({"field": field} if field else {})}
    return wire.dumps({"error": error}).decode()
