"""Protocol 1: the request on a specialist's stdin, the stream on its stdout, the completion that ends it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from outcrop_schemas import limits

CompletionStatus = Literal["success", "partial", "error", "capability_gap"]
ArtifactKind = Literal["table", "plot", "report", "other"]
ToldTools = Literal["no", "times", "content"]


def _require_type(schema: dict[str, Any]) -> None:
    """A message is known by its type: in the printed schema it is required, though Python fills it in."""
    if "type" in schema.get("properties", {}):
        schema["required"] = ["type", *(name for name in schema.get("required", []) if name != "type")]


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra=_require_type)


class ModelChannel(_Wire):
    """Where a specialist asks for model turns: an inherited AF_UNIX stream socket."""

    fd: int
    tools_told: ToldTools = "no"
    """Whether tool calls are told over it, `{"span": …}` a line (`ToolTold`), which nothing answers."""


# How such a line begins: it is known without being read.
TOLD = b'{"span":'


class ToolTold(_Wire):
    """A tool call as it ended: when, in nanoseconds since 1970, and for `content` what was given and returned."""

    name: str
    call_id: str
    start_ns: int = Field(ge=0, lt=1 << 63)
    end_ns: int = Field(ge=0, lt=1 << 63)
    error: str | None = None
    arguments: str | None = None
    result: str | None = None


Summaries = Literal["model", "extract"]
Offering = Literal["all", "select", "api"]


class WindowSettings(_Wire):
    """What an agent should know of its model's window: its size in tokens, what a cached token costs as a share of an
    uncached one, who writes summaries (`extract` is by rule, without a model), and which tools are offered: all, those
    that the work needs (`select`), or a few and the search of the model's own server for the others (`api`)."""

    tokens: int = limits.WINDOW_TOKENS
    cached_price: float = limits.CACHED_PRICE
    summaries: Summaries = "extract"
    tools: Offering = "all"


class DispatchLimits(_Wire):
    """The limits a specialist should know to stay within them."""

    timeout_seconds: float
    grace_seconds: float
    result_chars: int
    preview_rows: int
    turns: int = limits.AGENT_TURNS
    window: WindowSettings = WindowSettings()


class ToolCall(_Wire):
    """A tool to be called at once, without an agent: how the lead's own two data tools are run outside its process, how
    attachments are read (`attach`), and what a client of the MCP server asks for."""

    tool: str
    arguments: dict[str, Any] = {}


class OutsideTool(_Wire):
    """A tool of an MCP server that is not ours, called over the model channel: `{"id":3,"outside":{"server":…,"tool":…,
    "arguments":{…}}}`. `name` is what a model calls it by, `tool` what its server does."""

    name: str
    server: str
    tool: str
    description: str = ""
    input_schema: dict[str, Any] = {"type": "object"}


class OutsideCall(_Wire):
    """A call of such a tool, as it goes up the channel."""

    server: str
    tool: str
    arguments: dict[str, Any] = {}


class OutsideFile(_Wire):
    """What a server gave that is no text: an image, a sound, the bytes of a resource; in base64."""

    kind: str
    data: str


class OutsideAnswer(_Wire):
    """What comes down for it: `structured` is what the server gave as data, `texts` what it said, part by part."""

    texts: list[str] = []
    structured: Any = None
    files: list[OutsideFile] = []
    is_error: bool = False


class Dispatch(_Wire):
    """The request: one line on the child's stdin, then end of file.

    `attachments` are texts, each headed by its file; `outside` are tools of servers that are not ours.
    """

    type: Literal["dispatch"] = "dispatch"
    protocol: Literal[1] = 1
    dispatch_id: str
    specialist: str
    objective: str
    context: dict[str, Any] = {}
    attachments: list[str] = []
    workspace: str
    results_dir: str
    limits: DispatchLimits
    model_channel: ModelChannel | None = None
    call: ToolCall | None = None
    outside: list[OutsideTool] = []


def _as_kind(value: Any) -> Any:
    return value if value in get_args(ArtifactKind) else "other"


class Artifact(_Wire):
    """A file that a specialist wrote; a bare path is accepted for it. Numbers and hash are claims, checked if given."""

    path: str
    kind: Annotated[ArtifactKind, BeforeValidator(_as_kind)] = "other"
    title: str = ""
    bytes: int | None = None
    sha256: str | None = None
    rows: int | None = None
    columns: int | None = None


def _as_artifact(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


def _as_text(value: Any) -> Any:
    """Findings and the like are sentences, but a specialist in another language may well send an object."""
    from outcrop_schemas import wire

    return value if isinstance(value, str) else wire.dumps(value).decode()


def _as_summary(value: Any) -> Any:
    return "" if value is None else _as_text(value)


def _or_empty(value: Any) -> Any:
    return {} if value is None else value


def _as_list(value: Any) -> Any:
    return [] if value is None else [value] if isinstance(value, str | dict) else value


Sentence = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=str | dict[str, Any])]
_SentencesGiven = list[str | dict[str, Any]] | str | dict[str, Any] | None
Sentences = Annotated[list[Sentence], BeforeValidator(_as_list, json_schema_input_type=_SentencesGiven)]


class Evidence(_Wire):
    """What speaks for and against what was supposed, in sentences, and what is to be supposed anew."""

    supports: Sentences = []
    contradicts: Sentences = []
    new_hypotheses: Sentences = []


class Completion(_Wire):
    """The last message of a specialist. Only dispatch_id, status and results are required.

    `claims` are figures that can be computed again (`outcrop_schemas.claims.Claim`); one that is not of that form is
    passed over with a warning.
    """

    type: Literal["completion"] = "completion"
    dispatch_id: str
    status: CompletionStatus
    summary: Annotated[str, BeforeValidator(_as_summary, json_schema_input_type=str | None)] = ""
    results: dict[str, Any]
    artifacts: Annotated[
        list[Annotated[Artifact, BeforeValidator(_as_artifact)]],
        BeforeValidator(_as_list, json_schema_input_type=list[Artifact | str] | Artifact | str | None),
    ] = []
    findings: Sentences = []
    evidence: Annotated[Evidence, BeforeValidator(_or_empty, json_schema_input_type=Evidence | None)] = Evidence()
    recommendations: Sentences = []
    blockers: Sentences = []
    gap: dict[str, Any] | None = None
    errors: Sentences = []
    claims: Annotated[list[Any], BeforeValidator(_as_list)] = []
    usage: Annotated[dict[str, Any], BeforeValidator(_or_empty, json_schema_input_type=dict[str, Any] | None)] = {}


class Started(_Wire):
    """The first message: the process is there."""

    type: Literal["started"] = "started"
    dispatch_id: str
    pid: int


class Progress(_Wire):
    """What is being done, how far, and optionally what was found so far (at most 64 KiB)."""

    type: Literal["progress"] = "progress"
    text: str = ""
    tool: str | None = None
    done: int | None = None
    total: int | None = None
    partial: dict[str, Any] | None = None


class UsageMessage(_Wire):
    """What was used so far, for the transcript; the `usage` of the completion is what the outcome has."""

    type: Literal["usage"] = "usage"
    usage: dict[str, Any]


class Log(_Wire):
    """A line for people; it is in the transcript and decides nothing."""

    type: Literal["log"] = "log"
    level: Literal["debug", "info", "warning", "error"] = "info"
    text: str


StreamMessage = Annotated[Started | Progress | UsageMessage | Log | Completion, Field(discriminator="type")]
