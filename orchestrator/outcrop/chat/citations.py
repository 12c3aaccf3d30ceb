"""What an answer cites: its figures, traced to claims that were verified, and its files, by how they came in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from outcrop import figures
from outcrop.chat.answer import ChatAnswer, CitedFile, Known
from outcrop_schemas import limits
from outcrop_schemas.claims import CheckedClaim
from outcrop_schemas.outcome import ReportedFigure, RunOutcome
from outcrop_specialists.citing import cites, figures_in

_PATH = re.compile(
    r"(?<![\w/])[\w.~/\-]*[\w\-]\.(?:csv|tsv|txt|dat|json|jsonl|ndjson|geojson|parquet|xlsx?|xlsm|xlsb|ods|las|png|svg|pdf"
    r"|jpe?g|html|md|tiff?|gz|zip)\b(?![\w/])",
    re.IGNORECASE,
)


class Sources:
    """What a conversation has to cite: files by how they came into it, and claims that were computed again."""

    def __init__(self) -> None:
        self.files: dict[str, Known] = {}
        self.claims: list[CheckedClaim] = []

    def know(self, paths: Iterable[str], how: Known) -> None:
        """Files came into the conversation; what was known of one before stands."""
        for path in paths:
            self.files.setdefault(_plain(path), how)

    def take_run(self, outcome: RunOutcome) -> None:
        self.know((artifact.path for artifact in outcome.artifacts), "made")
        self.know(outcome.data, "given")
        self._claim(outcome.claims)

    def take_look(self, tool: str, results: dict[str, Any]) -> None:
        """The files that a data tool told of, and the counts that it made."""
        self.know((each["path"] for each in results.get("files", ())), "listed")
        self.know((each["path"] for each in results.get("tables", ())), "listed")
        self.know((each["path"] for each in results.get("artifacts", ())), "made")
        self.know((path for each in results.get("artifacts", ()) for path in each.get("inputs", ())), "listed")
        if tool == "check_missing":
            self.know([results["path"]], "listed")
            self._claim(_counts(results))
        self._claim(_listed(results))

    def cited(self, answer: ChatAnswer) -> list[CitedFile]:
        """The files of an answer: those it lists, and those that stand in its text."""
        paths = dict.fromkeys([*map(_plain, answer.files), *map(_plain, _PATH.findall(answer.answer))])
        return [CitedFile(path=path, known=self._known(path)) for path in list(paths)[: 2 * limits.CHAT_FILES]]

    def traced(self, text: str) -> tuple[list[ReportedFigure], list[CheckedClaim]]:
        """The figures of a text with their verdicts, and the claims that are behind them."""
        found = figures_in(text)
        behind = [claim for claim in self.claims if any(cites(figure, claim) for figure in found)]
        return figures.trace({"answer": text}, behind), behind[: limits.CLAIMS_OF_A_RUN]

    def _known(self, path: str) -> Known:
        if path in self.files:
            return self.files[path]
        # A name without its folder is that file where there is one of that name.
        same = [known for each, known in self.files.items() if PurePosixPath(each).name == path]
        return same[0] if len(same) == 1 else "unknown"

    def _claim(self, claims: Iterable[CheckedClaim]) -> None:
        new = [claim for claim in claims if claim not in self.claims]
        self.claims = [*self.claims, *new][-limits.CHAT_CLAIMS :]


def objection(cited: Sequence[CitedFile]) -> str | None:
    """What is wrong with the files that an answer cites."""
    unknown = [each.path for each in cited if each.known == "unknown"]
    if not unknown:
        return None
    return (
        f"{', '.join(unknown)}: neither listed, attached nor made in this conversation; look with list_files or "
        "summarise_artifacts, or leave it out. Given again as it is, the user is told"
    )


def told(cited: Sequence[CitedFile], reported: Sequence[ReportedFigure]) -> list[str]:
    """What the user must be warned of."""
    unknown = [f"{each.path} is cited, but nothing in this conversation told of it" for each in cited
               if each.known == "unknown"]  # fmt: skip
    refuted = [f"{each.text} is refuted: {each.reason}" for each in reported if each.verdict == "refuted"]
    return unknown + refuted


def _plain(path: str) -> str:
    return path.removeprefix("./").partition("#")[0]


def _listed(results: dict[str, Any]) -> Iterator[CheckedClaim]:
    """What a tool counted: files, and of tables rows and columns."""
    for path, files in (("list_files", results.get("files")), ("summarise_artifacts", results.get("artifacts"))):
        if files is None:
            continue
        yield from _counted(path, results.get("count", len(files)), "file", "result", "artifact")
        if len(files) == results.get("count", len(files)):
            for kind in sorted({each["kind"] for each in files}):
                yield from _counted(path, sum(each["kind"] == kind for each in files), kind)
    for each in [*results.get("tables", ()), *results.get("artifacts", ())]:
        if isinstance(each.get("rows"), int):
            yield _rows(each)
        if isinstance(each.get("columns"), list):
            yield from _counted(each["path"], len(each["columns"]) + each.get("more_columns", 0), "column")


def _counted(path: str, count: int, *things: str) -> Iterator[CheckedClaim]:
    """So many of what is called so; beside the figure one of these words must stand."""
    for thing in things:
        for word in (thing, f"{thing}s"):
            yield CheckedClaim(path=path, statistic="value", column=word, value=count, verdict="verified", actual=count)


def _rows(table: dict[str, Any]) -> CheckedClaim:
    return CheckedClaim(
        path=table["path"], statistic="rows", value=table["rows"], verdict="verified", actual=table["rows"]
    )


def _counts(results: dict[str, Any]) -> list[CheckedClaim]:
    missing = [
        CheckedClaim(
            path=results["path"],
            statistic="missing",
            column=each["name"],
            value=each["missing"],
            verdict="verified",
            actual=each["missing"],
        )
        for each in results["columns"]
    ]
    path = results["path"]
    whole = CheckedClaim(
        path=path,
        statistic="missing",
        value=results["missing_cells"],
        verdict="verified",
        actual=results["missing_cells"],
    )
    shares = [
        CheckedClaim(
            path=path,
            statistic="share",
            column=each["name"],
            value=each["missing_percent"] / 100,
            verdict="verified",
            actual=each["missing_percent"] / 100,
        )
        for each in results["columns"]
    ]
    return [_rows(results), whole, *_counted(path, results["complete_columns"], "complete"), *missing, *shares]
