"""A workspace with rows that can be told anywhere, and a chat whose model is scripted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warm import warm

from outcrop import ScriptedModel
from outcrop.chat.answer import Answered
from outcrop.chat.session import Chat
from outcrop.exchanges import read_exchanges
from outcrop.models.scripted import turn
from outcrop.runs import RunFolder
from outcrop_schemas import wire

ROWS = 60
COLUMNS = ("sample", "station", "Au", "remark")


def cells(row: int) -> tuple[str, str, str, str]:
    """The cells of a row, each of which stands in that row alone and names it."""
    return (
        f"kestrel-{row:03d}",
        f"merlin{row:03d}",
        f"7.{row:03d}{row:03d}",
        f"seen osprey over ridge {row:03d} at dawn",
    )


def csv(rows: Sequence[int] = range(1, ROWS + 1)) -> str:
    return "\n".join([",".join(COLUMNS), *(",".join(cells(row)) for row in rows)]) + "\n"


def rows_in(text: str) -> set[int]:
    """The rows of which two cells or more stand in a text: the rule that nothing the chat is sent may break.

    It is looked for over all of the request, in whatever place and order, small or large.
    """
    text = text.lower()
    return {
        row
        for row in range(1, ROWS + 1)
        if sum(
            bool(re.search(pattern, text))
            for pattern in (
                rf"kestrel[\W_]*{row:03d}(?!\d)",
                rf"merlin[\W_]*{row:03d}(?!\d)",
                rf"(?<![\d.])7\.{row:03d}{row:03d}",
                rf"osprey over ridge[\W_]*{row:03d}(?!\d)",
            )
        )
        > 1
    }


def end(answer: str = "done", files: Sequence[str] = (), turn_id: str = "end") -> Any:
    return turn(("complete", {"answer": answer, "files": list(files)}), turn_id=turn_id)


def lead_says(summary: str = "done", *calls: tuple[str, dict[str, Any]], **more: Any) -> list[Any]:
    """The turns of a lead that makes these calls and ends with such an answer."""
    done = ("complete", {"status": "success", "summary": summary, **more})
    return [*([turn(*calls, turn_id="lead1")] if calls else []), turn(done, turn_id="lead2")]


async def talked(
    workspace: Path, turns: Sequence[Any], messages: Sequence[str] = ("look",), **options: Any
) -> tuple[list[Answered], ScriptedModel, RunFolder]:
    """A conversation with a scripted chat; the roles of `models` are scripted too."""
    model = ScriptedModel(turns, name="chat")
    roles = {"chat": model, **options.pop("models", {})}
    async with Chat(workspace=workspace, model=roles, launcher=options.pop("launcher", warm()), **options) as chat:
        answers = [await chat.ask(message) for message in messages]
        return answers, model, chat.folder


def sent(folder: RunFolder) -> list[str]:
    """Every request that the chat's model was sent, from the record."""
    return [wire.dumps(wire.loads(each.request)).decode() for each in read_exchanges(folder.exchanges / "chat.jsonl")]


def results_in(model: ScriptedModel, request: int = -1) -> list[str]:
    """What the calls before a request gave."""
    blocks = model.requests[request].messages[-1].content
    return [block.content for block in blocks if hasattr(block, "tool_use_id")]
