"""Tools as a specialist calls them, on files of ../shared/data: JSON in, JSON and files out."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outcrop_schemas import wire
from outcrop_specialists.toolbox import run_tool
from outcrop_specialists.tools.base import ToolContext
from outcrop_specialists.tools.registry import get_tool

PATHS = ("path", "right_path", "other_path", "collar_path", "intervals_path")


@dataclass(frozen=True)
class Answer:
    """What a tool gave back, as the specialist's model sees it."""

    summary: str
    results: dict[str, Any]
    notes: list[str]
    files: list[str]

    @property
    def said(self) -> str:
        return " / ".join([self.summary, *self.notes])


class Asked:
    """A workspace into which files of `data` are copied when a tool is called on them."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.workspace, self._data = (folder / "workspace").resolve(), data
        scratch = (folder / "scratch").resolve()
        for each in (self.workspace, scratch):
            each.mkdir(parents=True, exist_ok=True)
        self._context = ToolContext(self.workspace, self.workspace / "results", scratch)

    def call(self, tool: str, path: str | None = None, **arguments: Any) -> Answer:
        given = {**({} if path is None else {"path": path}), **arguments}
        for name in [given[each] for each in PATHS if each in given] + given.get("paths", []):
            self._copy(name.partition("#")[0])
        found = json.loads(wire.dumps(run_tool(get_tool(tool), self._context, given).as_json()))
        files = [artifact["path"] for artifact in found.get("artifacts", [])]
        return Answer(found["summary"], found["results"], found.get("notes", []), files)

    def results(self, tool: str, path: str, **arguments: Any) -> Any:
        return self.call(tool, path, **arguments).results

    def made(self, tool: str, path: str, **arguments: Any) -> str:
        """The path of the first file that the tool writes."""
        return self.call(tool, path, **arguments).files[0]

    def rows(self, path: str) -> list[dict[str, str]]:
        """A file that a tool wrote, as plain Python reads it."""
        with (self.workspace / path).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def figures(self, path: str, column: str, *names: str, **arguments: Any) -> list[Any]:
        """Figures of one column by `summarize`."""
        wanted = [float(name[1:]) for name in names if name[0] == "p" and name[1:].isdigit()]
        options = {"percentiles": wanted} if wanted else {}
        record = self.results("summarize", path, columns=[column], **options, **arguments)["columns"][column]
        return [record[name] for name in names]

    def column(self, path: str, name: str, **arguments: Any) -> Any:
        """What `inspect_columns` says of one column."""
        return self.results("inspect_columns", path, columns=[name], **arguments)["columns"][name]

    def shape(self, path: str) -> list[int]:
        found = self.results("inspect_dataset", path)
        return [found["rows"], len(found["columns"]) + found["more_columns"]]

    def names(self, path: str) -> list[str]:
        return [each["name"] for each in self.results("inspect_dataset", path)["columns"]]

    def missing(self, path: str) -> dict[str, int]:
        """Missing cells by column, for columns that have any."""
        return {each["name"]: each["missing"] for each in self.results("check_missing", path)["columns"]}

    def meeting(self, path: str, expression: str) -> int:
        """How many rows meet a condition."""
        found = self.results("query_data", path, operation="filter_count", expression=expression)
        return int(found["rows_that_meet"])

    def _copy(self, name: str) -> None:
        target = self.workspace / name
        for folder in ("files", "cases"):
            source = self._data / folder / name
            if source.is_file() and not target.exists():
                shutil.copyfile(source, target)


Plan = Callable[[Asked], Any]
PLANS: dict[str, Plan] = {}
"""By question: the calls, and what is taken from them."""


def plan(question: str) -> Callable[[Plan], Plan]:
    def put(found: Plan) -> Plan:
        assert question not in PLANS, question
        PLANS[question] = found
        return found

    return put
