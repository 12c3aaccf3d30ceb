"""The offline model as the chat: files from its tools, all else to a run, and it says that it is no language model."""

from __future__ import annotations

import pytest

from outcrop.chat.toolbox import chat_schemas
from outcrop.models.offline.chat import ABOUT
from outcrop.models.offline.model import OfflineModel
from outcrop_schemas.messages import Message, ModelRequest, TextBlock, ToolUseBlock
from outcrop_specialists.brief import opening


async def called(message: str, *, known: list[str] | None = None, data: list[str] | None = None) -> ToolUseBlock:
    texts = opening(message, data or [], known=known or [])
    request = ModelRequest(
        system="",
        messages=[Message(role="user", content=[TextBlock(text=text) for text in texts])],
        tools=chat_schemas(),
    )
    [block] = (await OfflineModel().create(request)).content
    assert isinstance(block, ToolUseBlock)
    return block


@pytest.mark.parametrize(
    ("message", "tool"),
    [
        ("which files are there?", "list_files"),
        ("list files", "list_files"),
        ("What data do I have?", "list_files"),
        ("what was made so far?", "summarise_artifacts"),
        ("which plots were written?", "summarise_artifacts"),
        ("how many values are missing in a.csv?", "check_missing"),
        ("are there gaps in a.csv", "check_missing"),
        ("fill the missing values of a.csv with the mean", "research"),
        ("correlate Au with As", "research"),
        ("plot a histogram of Au in a.csv", "research"),
        ("clean the data files", "research"),
        ("hello", "complete"),
    ],
)
async def test_a_message_goes_to_the_tool_that_answers_it(message: str, tool: str) -> None:
    assert (await called(message)).name == tool


async def test_an_objective_is_handed_on_word_for_word() -> None:
    assert (await called("correlate Au with As")).input == {"objective": "correlate Au with As"}


async def test_it_says_at_the_beginning_that_it_is_no_language_model() -> None:
    assert (await called("hello")).input["answer"] == ABOUT
    assert "no language model" in ABOUT
