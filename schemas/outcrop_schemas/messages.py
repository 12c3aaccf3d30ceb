"""Messages API requests and responses as data: what a `Model` takes and gives.

Only the parts that Outcrop uses have names here; fields and blocks of other names are kept as they came, so that a turn
is sent back just as the server gave it and nothing that a server says is lost.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator

from outcrop_schemas import wire


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Kept(BaseModel):
    """Fields of other names (`citations`, `cache_control`, `strict`, …) stay with the object."""

    model_config = ConfigDict(frozen=True, extra="allow")


class TextBlock(_Kept):
    """Text that is said."""

    type: Literal["text"] = "text"
    text: str


class ThinkingBlock(_Kept):
    """A model's thinking, sent back unchanged: the signature proves to the server that it is.

    Servers that imitate the API give none; such thinking is kept, and not sent back.
    """

    type: Literal["thinking"] = "thinking"
    thinking: str
    signature: str = ""

    @field_validator("signature", mode="before")
    @classmethod
    def _none_is_empty(cls, given: object) -> object:
        return "" if given is None else given


class RedactedThinkingBlock(_Kept):
    """Thinking that only the server can read."""

    type: Literal["redacted_thinking"] = "redacted_thinking"
    data: str


class ToolUseBlock(_Kept):
    """A call of a tool: `input` are its arguments, `id` is named by its result."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(_Kept):
    """What a tool gave, as text, for the call `tool_use_id`."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: str
    is_error: bool = False


class OtherBlock(_Kept):
    """A block of a kind that this version does not know, kept as it came."""

    type: str


def tools_found(block: Block) -> list[str]:
    """The names of the tools that a server's own search gave, where the block is its result."""
    content = (block.model_extra or {}).get("content") if isinstance(block, OtherBlock) else None
    listed = content.get("tool_references") if isinstance(content, dict) else None
    references = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return [str(one["tool_name"]) for one in references if "tool_name" in one]


_KNOWN = {
    "text": TextBlock,
    "thinking": ThinkingBlock,
    "redacted_thinking": RedactedThinkingBlock,
    "tool_use": ToolUseBlock,
    "tool_result": ToolResultBlock,
}


def _kind_of(block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else getattr(block, "type", None)
    return kind if kind in _KNOWN else "other"


Block = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ThinkingBlock, Tag("thinking")]
    | Annotated[RedactedThinkingBlock, Tag("redacted_thinking")]
    | Annotated[ToolUseBlock, Tag("tool_use")]
    | Annotated[ToolResultBlock, Tag("tool_result")]
    | Annotated[OtherBlock, Tag("other")],
    Discriminator(_kind_of),
]


class Message(_Frozen):
    """One turn of a conversation."""

    role: Literal["user", "assistant"]
    content: list[Block]


class ToolSchema(_Kept):
    """A tool as a model sees it; `input_schema` is a JSON schema.

    With `defer_loading` a model that searches tools itself sees it only once it has found it.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    # Not False where it is not said: what was recorded before there was such a field has the same bytes.
    defer_loading: bool | None = None


class ToolChoice(_Kept):
    """Whether and which tool must be called; `name` goes with `tool`."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class ModelRequest(_Frozen):
    """What is asked of a model; the gateway adds the model's name and `max_tokens`.

    `tail_blocks` says how many blocks at the end of the last user message will be others in the next request: a hint
    for caching. `purpose` tells a turn of the work from a summary of it. `whole_results` has the results of the last
    turn that stand cut in the request, by the ids of their calls, as they were given. None of this is part of what is
    said.
    """

    system: str
    messages: list[Message]
    tools: list[ToolSchema] = []
    max_tokens: int | None = Field(default=None, ge=1)
    tool_choice: ToolChoice | None = None
    tail_blocks: int = Field(default=0, exclude=True, ge=0)
    purpose: Literal["turn", "compaction"] = Field(default="turn", exclude=True)
    whole_results: dict[str, str] = Field(default={}, exclude=True)

    def tools_seen(self) -> list[ToolSchema]:
        """The tools that the prompt holds: all but those that were deferred and not found so far."""
        found = {name for message in self.messages for block in message.content for name in tools_found(block)}
        return [tool for tool in self.tools if not tool.defer_loading or tool.name in found]

    def as_json(self) -> dict[str, Any]:
        """The request as JSON values."""
        return self.model_dump(mode="json", exclude_none=True)

    def as_bytes(self) -> bytes:
        """The request as compact JSON: what is recorded, hashed and compared."""
        return wire.dumps(self.as_json())


class Usage(_Frozen):
    """Tokens of one or more turns. A prompt has `input_tokens` and those written to and read from the cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_1h_input_tokens: int = 0
    """Those of `cache_creation_input_tokens` that were written for an hour."""

    @property
    def prompt_tokens(self) -> int:
        """All of the prompt, read from the cache or not."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


class ModelResponse(_Frozen):
    """One turn of a model. `request_id`, `stop_details` and what else a server says stand beside the named fields."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    model: str
    content: list[Block]
    stop_reason: str | None
    usage: Usage = Usage()

    def counted_usage(self) -> Usage | None:
        """What the turn took; None where the server did not count it: no prompt is empty, no content for nothing."""
        is_counted = self.usage.prompt_tokens and (self.usage.output_tokens or not self.content)
        return self.usage if is_counted and min(self.usage.model_dump().values()) >= 0 else None

    def tool_uses(self) -> list[ToolUseBlock]:
        """The calls of this turn, in their order."""
        return [block for block in self.content if isinstance(block, ToolUseBlock)]
