"""The user's own words: rows pasted into a message pass as far as a preview goes; a pasted table does not."""

from __future__ import annotations

from outcrop.objective import checked_objective
from outcrop_schemas import limits
from outcrop_specialists.reading.row_lines import with_plain_breaks, without_row_lines

NOTICE = (
    "rows of data were pasted and are not shown to the chat; save them as a file in the workspace and name it with "
    "--data or /attach"
)


def checked_message(text: str) -> tuple[str, str | None]:
    """The message as the chat sees it, and what the user is told of it. Raises ObjectiveError for one that is empty,
    too long or no text."""
    message = with_plain_breaks(checked_objective(text))
    without = without_row_lines(message)
    taken = message.count("\n") - without.count("\n") + without.count("lines that look like rows of data")
    if taken <= limits.CHAT_PASTED_ROWS:
        return message, None
    return without, f"{taken} {NOTICE}"
