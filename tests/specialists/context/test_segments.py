"""What fills a request: of tools that come again the same is told as of those that come for the first time."""

from __future__ import annotations

import gc

from outcrop_schemas import wire
from outcrop_schemas.messages import Message, ModelRequest, TextBlock, ToolSchema
from outcrop_specialists.context import segments
from outcrop_specialists.context.segments import estimated, pieces


def tool(description: str = "Does it.") -> ToolSchema:
    return ToolSchema.model_validate(
        {"name": "do", "description": description, "input_schema": {"type": "object"}, "strict": True}
    )


def request(*tools: ToolSchema) -> ModelRequest:
    said = Message(role="user", content=[TextBlock(text="# Objective\ndo it")])
    return ModelRequest(system="You do things.", messages=[said], tools=list(tools))


def test_a_tool_that_comes_again_is_told_as_it_was() -> None:
    one = tool()
    first, second = request(one), request(one, one)
    told = wire.dumps(one.model_dump(mode="json", exclude_none=True)).decode()
    assert [text for segment, text in pieces(first) if segment == "tools"] == [told]
    assert [text for segment, text in pieces(second) if segment == "tools"] == [told, told]
    assert estimated(second)["tools"] == 2 * estimated(first)["tools"] == 2 * estimated(request(tool()))["tools"]


def test_a_changed_copy_of_a_tool_is_another() -> None:
    one = tool()
    estimated(request(one))
    changed = one.model_copy(update={"defer_loading": True, "description": "Does much more of it than before."})
    assert '"defer_loading":true' in segments._told(changed)[1]
    assert segments._told(one)[1] != segments._told(changed)[1]


def test_tools_that_are_gone_are_forgotten() -> None:
    gc.collect()
    before = len(segments._TOLD)
    kept = [tool(str(number)) for number in range(20)]
    estimated(request(*kept))
    assert len(segments._TOLD) == before + 20
    kept.clear()
    gc.collect()
    assert len(segments._TOLD) <= before


def test_a_request_without_tools_has_none() -> None:
    assert "tools" not in estimated(request())
