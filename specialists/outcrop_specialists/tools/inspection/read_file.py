"""Tool: reads a text file in pages; of a data file it gives the first lines and the total, and says what reads it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from outcrop_schemas import limits
from outcrop_schemas.counts import many
from outcrop_schemas.errors import DataError
from outcrop_specialists.context.compaction import Window
from outcrop_specialists.reading.kinds import Kind, kind_of_bytes, kind_of_file, member_address, size_of
from outcrop_specialists.reading.long_text import SAMPLE_BYTES, Cursor, Opened, TextForm, opened
from outcrop_specialists.reading.packed import SHOWN
from outcrop_specialists.reading.pages import go_to, page_from
from outcrop_specialists.reading.row_likeness import is_data, is_json_document, looks_like_rows
from outcrop_specialists.tools.base import Tool, ToolArguments, ToolContext, ToolResult, phrases
from outcrop_specialists.tools.inspection.data_lines import Lines, data_lines
from outcrop_specialists.tools.inspection.own_files import readable_file

ADVICE = "inspect_dataset describes it, query_data and the other tools work on all of it"


class Arguments(ToolArguments):
    path: str = Field(description="The file, relative to the workspace; ARCHIVE.zip#NAME is a file in an archive.")
    start_line: int = Field(default=1, ge=1, description="The first line to be given.")
    lines: int | None = Field(default=None, ge=1, description="How many lines; as many as fit if not given.")
    start_char: int = Field(default=0, ge=0, description="Within the first line, go on behind so many characters.")
    count: bool = Field(default=False, description="Count the lines of a very large file, which takes its time.")


@dataclass(frozen=True)
class _Text:
    """A text file that is open: what is known of it before it is read."""

    file: Opened
    form: TextForm
    sample: str
    bytes_sampled: int
    facts: dict[str, Any]

    def cursor(self, context: ToolContext, doing: str) -> Cursor:
        """A cursor at its start."""
        self.file.content.seek(0)
        return Cursor(self.file, self.form, lambda done, total: context.report(doing, done, total))


def run(context: ToolContext, arguments: Arguments) -> ToolResult:
    """Raises PathError for a file that is not the agent's to read, DataError for one that is damaged."""
    path, member = readable_file(context, arguments.path)
    kind = kind_of_file(path, member)
    if kind.is_table:
        return _table(context, arguments.path, path, kind)
    if kind.what:
        return _binary(arguments.path, path, kind)
    with opened(path, kind.unpack) as file:
        sample = file.content.read(SAMPLE_BYTES)
        inside = kind_of_bytes(sample)
        try:
            form = TextForm.of(path.name, sample)
        except DataError as error:
            return _binary(arguments.path, path, inside if inside.what else Kind("binary"), str(error))
        if inside.what:
            return _binary(arguments.path, path, inside)
        if len(sample) <= form.mark_bytes:
            raise DataError(f"{path.name}: holds nothing")
        facts = {"path": arguments.path, "bytes": file.size, "encoding": form.encoding}
        if kind.packed:
            facts["packed"] = kind.packed
        decoded = sample[form.mark_bytes :].decode(form.encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")
        text = _Text(file, form, decoded, len(sample), facts)
        name = member or path.name
        is_small_json = text.bytes_sampled < limits.READ_JSON_BYTES and is_json_document(name, decoded)
        if is_data(name, decoded) and not is_small_json:
            return _data(context, arguments, text)
        return _page(context, arguments, text, is_guarded=not is_small_json)


def read_chars(context: ToolContext) -> int:
    """What one read may give: a share of what the model's window leaves, and never more than the limit."""
    share = limits.READ_SHARE * limits.READ_CHARS_A_TOKEN * Window(context.window_tokens).usable
    return max(1, min(limits.READ_CHARS, int(share)))


def _page(context: ToolContext, arguments: Arguments, text: _Text, *, is_guarded: bool) -> ToolResult:
    cursor = text.cursor(context, f"reading {text.file.name}")
    go_to(cursor, arguments.start_line, arguments.start_char)
    page = page_from(cursor, arguments.lines, read_chars(context))
    notes, facts = [], {**text.facts, "kind": "text"}
    if is_guarded and page.end_line - page.start_line >= limits.DATA_LINES and looks_like_rows(page.text):
        # A table amid a text is guarded too; the pages are still the file.
        cursor = text.cursor(context, f"reading {text.file.name}")
        go_to(cursor, arguments.start_line, arguments.start_char)
        page = page_from(cursor, limits.DATA_LINES_SHOWN, read_chars(context))
        notes.append(f"from line {page.start_line} on these are rows of data, of which {limits.DATA_LINES_SHOWN} lines "
                     "are given at a time")  # fmt: skip
    until = _until(arguments)
    shown = page.as_json()
    if page.next_char and not page.is_last:
        left, is_all = cursor.skip_line(until)
        shown["line_cut"] = {"line": page.next_line, "left_out_chars": left, **({} if is_all else {"at_least": True})}
        notes.append(f"line {page.next_line} is longer than a page: next goes on in it, start_line "
                     f"{page.next_line + 1} leaves the rest of it out")  # fmt: skip
    total = _counted(cursor, until, notes)
    if cursor.mended:
        notes.append(f"{cursor.mended} bytes are not {text.form.encoding.upper()} and were read as Windows-1252")
    of_all = f"{'about ' * ('is_estimate' in total)}{total['total_lines']}"
    summary = f"{text.file.name}: lines {page.start_line} to {page.end_line} of {of_all}"
    if not page.is_last:
        summary += "; next says where to go on"
    return ToolResult(summary, {**facts, **total, **shown}, notes=notes)


def _data(context: ToolContext, arguments: Arguments, text: _Text) -> ToolResult:
    cursor = text.cursor(context, f"counting the lines of {text.file.name}")
    until = _until(arguments)
    wanted = Lines(arguments.start_line, arguments.lines, arguments.start_char)
    found = data_lines(cursor, wanted, read_chars(context), time.monotonic() + limits.READ_COUNT_SECONDS)
    notes = list(found.notes)
    total = _counted(cursor, until, notes)
    results = {**text.facts, "kind": "data", **total, **found.as_json()}
    of_all = f"{'about ' * ('is_estimate' in total)}{total['total_lines']}"
    summary = f"{text.file.name}: a data file of {of_all} lines"
    if found.is_guarded:
        summary += f", of which the first {limits.DATA_LINES_SHOWN} are shown"
    if found.is_guarded or found.has_cut:
        summary += f"; {ADVICE}"
        results["read_with"] = "inspect_dataset"
    return ToolResult(summary, results, notes=notes)


def _table(context: ToolContext, given: str, path: Path, kind: Kind) -> ToolResult:
    """A table that is no text: its first rows, and how many there are."""
    from outcrop_specialists.reading.several import SeveralTablesError
    from outcrop_specialists.reading.tables import read_table
    from outcrop_specialists.tools.inspection.preview import preview

    results: dict[str, Any] = {
        "path": given,
        "bytes": path.stat().st_size,
        "kind": "data",
        "read_with": "inspect_dataset",
    }
    try:
        table = read_table(context, given)
    except SeveralTablesError as error:
        results["tables"] = [each.as_json() for each in error.tables[:SHOWN]]
        return ToolResult(f"{path.name}: {kind.what} with several tables; {ADVICE}", results, notes=[str(error)])
    except DataError as error:
        return ToolResult(f"{path.name}: {kind.what} that is not read as a table", results, notes=[str(error)])
    shown = limits.DATA_LINES_SHOWN if table.height > limits.DATA_LINES else limits.PREVIEW_ROWS
    first = table.slice(0, shown, table.columns[: limits.PREVIEW_COLUMNS])
    results |= {"total_rows": table.height, **preview(first, shown, limits.READ_LINE_CHARS * limits.DATA_LINES_SHOWN)}
    if len(table.columns) > len(results["columns"]):
        results["more_columns"] = len(table.columns) - len(results["columns"])
    summary = (
        f"{path.name}: {kind.what} of {many(table.height, 'row')}, of which the first {len(results['rows'])} are shown"
    )
    return ToolResult(f"{summary}; {ADVICE}", results)


def _binary(given: str, path: Path, kind: Kind, reason: str = "") -> ToolResult:
    size = path.stat().st_size
    results: dict[str, Any] = {"path": given, "bytes": size, "kind": "binary", "what": kind.what}
    notes = [reason] if reason else []
    if kind.members:
        results |= {"members": list(kind.members[: limits.LIST_FILES_ENTRIES]), "member_count": len(kind.members)}
        notes.append(f"a file in it is read as {member_address(given, kind.members[0])!r}")
    if "raster" in kind.what:
        notes.append("inspect_raster describes a raster")
    return ToolResult(f"{path.name}: {kind.what}, {size_of(size)}; it is no text to be read", results, notes=notes)


def _until(arguments: Arguments) -> float:
    return float("inf") if arguments.count else time.monotonic() + limits.READ_COUNT_SECONDS


def _counted(cursor: Cursor, until: float, notes: list[str]) -> dict[str, Any]:
    """How many lines the file has, marked where that is an estimate."""
    total, is_exact = cursor.count_lines(until)
    if is_exact:
        return {"total_lines": total}
    notes.append("total_lines is an estimate from the lines that were counted so far; count=true counts all of them")
    return {"total_lines": total, "is_estimate": True}


TOOL = Tool(
    name="read_file",
    version=1,
    description="Reads a text file (a report, notes, a README, code) in pages, exactly as it is written. Of a data "
    "file it gives only the first lines and the total; inspect_dataset describes that.",
    asked_for=("read the text of", "read the document", "open the text file"),
    specialists=frozenset({"cleaning", "analytics", "plotting"}),
    arguments=Arguments,
    run=run,
    projection=("next",),
    told_whole=True,
    pages=True,
    also_called=phrases(
        """
        readme; notes; report in words; what does the letter say; documentation that came with the data; metadata
        in a text file; lab certificate as text; the licence; the description beside the data; source code of a
        script; settings file; configuration; prose; paragraphs; markdown; how is the survey documented; the log of
        the program as text; raw text; go on reading; next page; lines 100 to 200 of; cat; head; tail; less; view
        the contents of the file as it is written; field notes; explanation of the codes; legend; glossary; memo;
        minutes; method statement; what is written in; quote from; is it text or binary; what kind of file is this;
        encoding of the file; first lines as they stand; look into the raw file; unpack and read; instructions of
        the client; terms of use; the abstract; the chapter on; read me the
        """
    ),
)
