"""A workspace in tmp_path, and ways to put files into it."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape
from zipfile import ZipFile

import polars as pl
import pytest

from outcrop_specialists.reading.tables import Table, read_table
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext, ToolResult
from outcrop_specialists.tools.registry import get_tool

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    """A tool's context whose workspace is the folder `w` of tmp_path."""
    workspace, scratch = tmp_path / "w", tmp_path / "scratch"
    for folder in (workspace, scratch):
        folder.mkdir()
    return ToolContext(workspace.resolve(), workspace.resolve() / "results", scratch.resolve())


@pytest.fixture
def write_file(context: ToolContext) -> Callable[[str, str | bytes], str]:
    """Write text (UTF-8, line ends as given) or bytes into the workspace; gives the relative path."""

    def write(name: str, content: str | bytes) -> str:
        path = context.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return write


@pytest.fixture
def write_rows(context: ToolContext) -> Callable[[str, Sequence[str], Iterable[Sequence[Any]]], str]:
    """Write a header and rows as CSV (None is empty, floats in full); gives the relative path."""

    def write(name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
        with (context.workspace / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
        return name

    return write


@pytest.fixture
def shared_file(context: ToolContext) -> Callable[[str], str]:
    """Copy a file of ../shared/data into the workspace; the test is skipped where that folder is absent."""

    def copy(name: str) -> str:
        if not (SHARED / name).is_file():
            pytest.skip(f"../shared/data/{name} is not here")
        shutil.copy(SHARED / name, context.workspace)
        return Path(name).name

    return copy


@pytest.fixture
def write_workbook(context: ToolContext) -> Callable[..., str]:
    """Write an .xlsx by hand. Cells are text, numbers, bools, None, `=formula` without a result or `#N/A`."""

    def write(name: str, sheets: dict[str, list[list[Any]]], hidden: Sequence[str] = ()) -> str:
        with ZipFile(context.workspace / name, "w") as archive:
            for member, text in _workbook(sheets, hidden).items():
                archive.writestr(member, text)
        return name

    return write


@pytest.fixture
def call_tool(context: ToolContext) -> Callable[..., ToolResult]:
    """Run a tool by its name in the workspace."""

    def call(name: str, **arguments: Any) -> ToolResult:
        tool = get_tool(name)
        return tool.run(context, tool.arguments.model_validate(arguments))

    return call


@pytest.fixture
def read_rows(context: ToolContext) -> Callable[[str], list[list[str]]]:
    """The rows of a CSV of the workspace as plain Python reads them."""

    def read(name: str) -> list[list[str]]:
        with (context.workspace / name).open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))

    return read


@pytest.fixture
def run(context: ToolContext) -> Callable[..., ToolResult]:
    """Run a tool by name with its arguments."""

    def run(tool: str, **arguments: Any) -> ToolResult:
        return run_tool(get_tool(tool), context, arguments)

    return run


@pytest.fixture
def made(context: ToolContext, run: Callable[..., ToolResult]) -> Callable[..., tuple[pl.DataFrame, ToolResult]]:
    """Run a tool and read the table that it wrote."""

    def made(tool: str, **arguments: Any) -> tuple[pl.DataFrame, ToolResult]:
        found = run(tool, **arguments)
        return read_table(context, found.results["path"]).frame, found

    return made


@pytest.fixture
def table_of(context: ToolContext) -> Callable[[str], Table]:
    return lambda path: read_table(context, path)


@pytest.fixture
def write_frame(context: ToolContext) -> Callable[[str, pl.DataFrame], str]:
    """Write a frame as parquet, so that its types are kept."""

    def write(name: str, frame: pl.DataFrame) -> str:
        frame.write_parquet(context.workspace / name)
        return name

    return write


def _workbook(sheets: dict[str, list[list[Any]]], hidden: Sequence[str]) -> dict[str, str]:
    names = "http://schemas.openxmlformats.org"
    types = f"{names}/package/2006/content-types"
    relations = f"{names}/package/2006/relationships"
    office = f"{names}/officeDocument/2006/relationships"
    main = f"{names}/spreadsheetml/2006/main"
    numbered = list(enumerate(sheets, start=1))
    state = {sheet: ' state="hidden"' for sheet in hidden}
    book = "".join(
        f'<sheet name="{escape(sheet)}" sheetId="{i}" r:id="r{i}"{state.get(sheet, "")}/>' for i, sheet in numbered
    )
    links = "".join(
        f'<Relationship Id="r{i}" Type="{office}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i, _ in numbered
    )
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{kind}.worksheet+xml"/>' for i, _ in numbered
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{types}"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>{parts}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{book}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{relations}">{links}</Relationships>',
    }
    for i, sheet in numbered:
        rows = "".join(
            f'<row r="{r}">{"".join(_cell(r, c, cell) for c, cell in enumerate(row))}</row>'
            for r, row in enumerate(sheets[sheet], start=1)
        )
        files[f"xl/worksheets/sheet{i}.xml"] = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
    return files


def _cell(row: int, column: int, value: Any) -> str:
    at = f"{chr(ord('A') + column)}{row}"
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{at}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{at}"><v>{value!r}</v></c>'
    if value in ("#N/A", "#DIV/0!"):
        return f'<c r="{at}" t="e"><v>{value}</v></c>'
    if value.startswith("="):
        return f'<c r="{at}"><f>{escape(value[1:])}</f></c>'
    return f'<c r="{at}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
