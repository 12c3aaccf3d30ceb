"""What an attached file says to an agent: its text as far as its budget goes, of a data file the profile, never rows.

Each text opens like an attachment (`brief.ATTACHMENT`), so that the ledger counts it as one. The lead gets less than a
specialist: of a table the names and types of its columns, of other data nothing, and of a text no line that looks like
a row (`reading/row_lines.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from outcrop_schemas import limits, wire
from outcrop_schemas.errors import DataError, PathError
from outcrop_specialists.brief import ATTACHMENT
from outcrop_specialists.context.compaction import Window
from outcrop_specialists.context.tokens import tokens_of_text
from outcrop_specialists.reading.kinds import size_of
from outcrop_specialists.reading.row_likeness import NUMBER, is_json_data, is_named_data, is_small_table
from outcrop_specialists.reading.row_lines import is_row, without_row_lines
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool

_FRAME_TOKENS = 150
"""For the line above an attachment and the one below it that says where it was cut."""
_NAMES_SHOWN = 20
_NAME_CHARS = 200
_REASON_CHARS = 300
_NAME_WORDS = 8
"""No column has a longer name, a line of a log has."""


class AttachArguments(BaseModel):
    """The arguments of the call that reads attachments, and who they are for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: list[str]
    reader: Literal["lead", "specialist"] = "specialist"
    tables: list[str] = []
    """For the lead's eyes: tables whose rows no text may tell of."""


def attached(context: ToolContext, asked: AttachArguments) -> list[str]:
    """The texts that are asked for. One that cannot be read says so: the work does not end for it."""
    read = attachment if asked.reader == "specialist" else partial(attachment_for_lead, tables=asked.tables)

    def readable(context: ToolContext, path: str, most_tokens: int) -> str:
        try:
            return read(context, path, most_tokens)
        except (DataError, PathError) as error:
            # What is wrong with a file may be told with what stands in it.
            reason = "" if asked.reader == "lead" else f": {str(error)[:_REASON_CHARS]}"
            return f"{ATTACHMENT}{path} could not be read{reason}"

    return attachments(context, asked.paths, readable)


def attachments(
    context: ToolContext, paths: Sequence[str], read: Callable[[ToolContext, str, int], str] | None = None
) -> list[str]:
    """The texts of all attachments within their total; those beyond it are named. Raises PathError, DataError."""
    found: list[str] = []
    left = min(limits.ATTACHMENTS_TOKENS, int(limits.ATTACHMENTS_SHARE * Window(context.window_tokens).usable))
    for number, path in enumerate(paths):
        if left < 2 * _FRAME_TOKENS:
            found.append(_not_attached(paths[number:]))
            break
        found.append((read or attachment)(context, path, min(left, limits.ATTACHMENT_TOKENS)))
        left -= tokens_of_text(found[-1])
    return found


def attachment(context: ToolContext, path: str, most_tokens: int = limits.ATTACHMENT_TOKENS) -> str:
    """What is attached of one file, in at most so many tokens.

    Raises PathError for a file that is not the agent's to read, DataError for one that is damaged.
    """
    # Its own budget holds here, not that of one read.
    whole = replace(context, window_tokens=limits.WINDOW_TOKENS)
    first = _read(whole, path, 1, 0)
    size = size_of(first["bytes"])
    if first["kind"] == "binary":
        return _binary(path, first, size)
    room = most_tokens - _FRAME_TOKENS - tokens_of_text(path)
    is_data = first["kind"] == "data"
    if is_data or is_json_data(path, first["text"]):
        try:
            return _profiled(context, path, size, room)
        except PathError:
            raise
        except DataError as error:
            # What only looks like a table, or is JSON of another form, is text; what is long or called data is not.
            if "read_with" in first or (is_data and is_named_data(path)):
                return f"{ATTACHMENT}{path} (data, {size}) has no profile: {error}"
    return _text(whole, path, first, size, room)


def attachment_for_lead(
    context: ToolContext, path: str, most_tokens: int = limits.ATTACHMENT_TOKENS, tables: Sequence[str] = ()
) -> str:
    """What is attached of one file where no row may be shown, of `tables` in whatever words. Raises as `attachment`."""
    from outcrop_specialists.reading.tables import read_table
    from outcrop_specialists.tools.inspection.list_files import described
    from outcrop_specialists.unseen.names import hides_names

    whole = replace(context, window_tokens=limits.WINDOW_TOKENS)
    first = _read(whole, path, 1, 0)
    size = size_of(first["bytes"])
    if first["kind"] == "binary":
        return _binary(path, first, size)
    room = most_tokens - _FRAME_TOKENS - tokens_of_text(path)
    is_text = first["kind"] == "text" and not is_json_data(path, first["text"])
    if is_text and not is_small_table(first["text"]):
        return _text(whole, path, first, size, room, partial(_without_rows, context, tables))
    table = described(context, path, limits.PROFILE_COLUMNS)
    if "error" in table and "tables" not in table:
        return f"{ATTACHMENT}{path} (data, {size}) is not read as a table, so nothing of it is shown"
    table.pop("error", None)  # it quotes cells
    told = "its columns by name, type and role"
    if "columns" in table and hides_names(context, path, read_table(context, path)):
        # What stands for names are cells of a row.
        table["columns"] = [{key: column[key] for key in ("type", "role")} for column in table["columns"]]
        told = "its columns by type and role; what stands for names seems to be data"
    return f"{ATTACHMENT}{path} (data, {size}; {told}):\n{_beginning(wire.dumps(table).decode(), room)}"


def _without_rows(context: ToolContext, tables: Sequence[str], text: str) -> str:
    from outcrop_specialists.unseen.screen import Tables, screened

    shown = without_row_lines(text)
    return screened([shown], Tables.of(context, tables))[0] if tables else shown


def is_cell(name: str) -> bool:
    is_markup = name.lstrip().startswith(("- ", "<", "{", "["))
    return NUMBER.fullmatch(name) is not None or is_row(name) or is_markup or len(name.split()) > _NAME_WORDS


def _binary(path: str, first: dict[str, Any], size: str) -> str:
    return f"{ATTACHMENT}{path}: {first['what']}, {size}; it is no text, so nothing of it is shown"


def _profiled(context: ToolContext, path: str, size: str, room: int) -> str:
    tool = get_tool("inspect_dataset")
    found = tool.run(context, tool.arguments.model_validate({"path": path}))
    profile = wire.dumps(found.as_json()).decode()
    shown = _beginning(profile, room)
    told = f"{ATTACHMENT}{path} (data, {size}; its profile, as inspect_dataset gives it):\n{shown}"
    return told if shown == profile else f"{told}\n[cut here: inspect_dataset with an offset tells of further columns]"


def _text(
    context: ToolContext,
    path: str,
    page: dict[str, Any],
    size: str,
    room: int,
    shown_as: Callable[[str], str] = str,
) -> str:
    """The pages of a text as far as there is room; `shown_as` has the last word on what is shown of them."""
    about = "about " * ("is_estimate" in page)
    opens = f"{ATTACHMENT}{path} ({about}{page['total_lines']} lines, {size}):\n"
    pieces: list[str] = []
    while True:
        text, line, char = page["text"], page["start_line"], page.get("start_char", 0)
        shown = _beginning(text, room)
        pieces.append(shown)
        room -= tokens_of_text(shown)
        if shown != text:
            ends = shown.count("\n")
            char = char + len(shown) if not ends else len(shown) - shown.rindex("\n") - 1
            going_on = {"start_line": line + ends, "start_char": char}
            break
        if "next" not in page:
            return opens + shown_as("".join(pieces))
        going_on = page["next"]
        if room <= 0:
            break
        page = _read(context, path, going_on["start_line"], going_on.get("start_char", 0))
    where = ", ".join(f"{name} {number}" for name, number in going_on.items() if number)
    return f"{opens}{shown_as(''.join(pieces))}\n[cut here: read_file goes on at {where}]"


def _read(context: ToolContext, path: str, start_line: int, start_char: int) -> dict[str, Any]:
    tool = get_tool("read_file")
    asked = {"path": path, "start_line": start_line, "start_char": start_char}
    return tool.run(context, tool.arguments.model_validate(asked)).results


def _beginning(text: str, room: int) -> str:
    """As much of a text as takes so many tokens, to the end of a line where one is near."""
    if tokens_of_text(text) <= room:
        return text
    least, most = 0, len(text)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if tokens_of_text(text[:middle]) <= room else (least, middle - 1)
    end = text.rfind("\n", least // 2, least)
    return text[: end + 1] if end >= 0 else text[:least]


def _not_attached(paths: Sequence[str]) -> str:
    named = ", ".join(path[:_NAME_CHARS] for path in paths[:_NAMES_SHOWN])
    more = f" and {len(paths) - _NAMES_SHOWN} more" if len(paths) > _NAMES_SHOWN else ""
    return (
        f"{ATTACHMENT}limit of {limits.ATTACHMENTS_TOKENS} tokens reached: nothing is shown of {named}{more}; "
        "read_file and inspect_dataset read them"
    )
