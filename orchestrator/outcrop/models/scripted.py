"""A model that gives the turns it was given, in order: for tests, demonstrations and teaching."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from outcrop_schemas.errors import ScriptExhaustedError
from outcrop_schemas.messages import Block, ModelRequest, ModelResponse, TextBlock, ToolUseBlock

Turn = ModelResponse | Callable[[ModelRequest], ModelResponse]


class ScriptedModel:
    """Answers the n-th request with the n-th turn; a turn may be a function of the request.

    `requests` keeps what was asked. A call whose id an earlier turn had gets one of its own, as the Messages API asks
    of a conversation. Raises ScriptExhaustedError when there is no turn left.
    """

    is_free = True

    def __init__(self, turns: Iterable[Turn], *, name: str = "scripted") -> None:
        self._turns, self._name = iter(turns), name
        self.requests: list[ModelRequest] = []
        self._ids: set[str] = set()

    @property
    def name(self) -> str:
        return self._name

    async def create(self, request: ModelRequest) -> ModelResponse:
        """The next turn. Raises ScriptExhaustedError."""
        self.requests.append(request)
        for turn in self._turns:
            return self._with_own_ids(turn if isinstance(turn, ModelResponse) else turn(request))
        raise ScriptExhaustedError(f"the script has no turn {len(self.requests)}", error_type="script_exhausted")

    def _with_own_ids(self, response: ModelResponse) -> ModelResponse:
        if not isinstance(response, ModelResponse):
            return response  # a turn of one's own that is none: the gateway says so
        if not self._ids.isdisjoint(call.id for call in response.tool_uses()):
            content = [self._renamed(block) if isinstance(block, ToolUseBlock) else block for block in response.content]
            response = response.model_copy(update={"content": content})
        self._ids.update(call.id for call in response.tool_uses())
        return response

    def _renamed(self, call: ToolUseBlock) -> ToolUseBlock:
        return call.model_copy(update={"id": f"{call.id}_{len(self.requests)}"})


def turn(*calls: tuple[str, dict[str, Any]], text: str = "", turn_id: str = "msg") -> ModelResponse:
    """One turn: text, then tool calls as `(name, input)`."""
    blocks: list[Block] = [TextBlock(text=text)] if text else []
    blocks += [ToolUseBlock(id=f"toolu_{turn_id}_{n}", name=name, input=value) for n, (name, value) in enumerate(calls)]
    return ModelResponse(id=turn_id, model="scripted", content=blocks, stop_reason="tool_use" if calls else "end_turn")
