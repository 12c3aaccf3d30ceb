"""Messages API requests and responses as data: what a `Model` takes and gives.

Only the parts that Outcrop uses; fields of other names are kept on responses so that nothing a server says is lost.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from outcrop_schemas import wire


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TextBlock(_Frozen):
    type: Literal["text"] = "text"
    text: str


class ToolUseBlock(_Frozen):
    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(_Frozen):
    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: str
    is_error: bool = False


Block = Annotated[TextBlock | ToolUseBlock | ToolResultBlock, Field(discriminator="type")]


class Message(_Frozen):
    role: Literal["user", "assistant"]
    content: list[Block]


class ToolSchema(_Frozen):
    """A tool as a model sees it; `input_schema` is a JSON schema."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ModelRequest(_Frozen):
    """What is asked of a model; the gateway adds the model's name and `max_tokens`."""

    system: str
    messages: list[Message]
    tools: list[ToolSchema] = []
    max_tokens: int | None = None

    def as_bytes(self) -> bytes:
        """The request as compact JSON: what is recorded, hashed and compared."""
        return wire.dumps(self.model_dump(mode="json", exclude_none=True))


class Usage(_Frozen):
    """Tokens of one or more turns."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def plus(self, other: Usage) -> Usage:
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


class ModelResponse(_Frozen):
    """One turn of a model."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    model: str
    content: list[Block]
    stop_reason: str | None
    usage: Usage = Usage()

    def tool_uses(self) -> list[ToolUseBlock]:
        return [block for block in self.content if isinstance(block, ToolUseBlock)]
