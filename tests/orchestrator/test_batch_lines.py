"""Lines that are no jobs are told before any job runs, each with its reason; so are patterns and templates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from warm import warm

from outcrop.batch import BadLine, Batch, Line, Standing, read_jobs
from outcrop.jobs import over_files, write_jobs
from outcrop.models.scripted import turn
from outcrop.workspace import Workspace
from outcrop_schemas import limits
from outcrop_schemas.errors import UsageError
from outcrop_schemas.messages import ModelRequest, ModelResponse
from outcrop_schemas.outcome import RunOutcome


class Simple:
    """A model whose lead completes at once."""

    name = "simple"
    is_free = True

    async def create(self, request: ModelRequest) -> ModelResponse:
        return turn(("complete", {"status": "success", "summary": "done"}))


GOOD = {"objective": "count", "data": ["t.csv"]}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({**GOOD, "data": "missing.csv"}, "data: missing.csv: does not exist"),
    ({**GOOD, "data": ["t.csv", "../up.csv"]}, "data: ../up.csv: is outside the workspace"),
    ({**GOOD, "data": "/etc/passwd"}, "data: /etc/passwd: is outside the workspace"),
    ({**GOOD, "data": "sub"}, "data: sub: is a folder"),
    ({**GOOD, "data": " "}, "data: a path is blank"),
    ({**GOOD, "data": "a\0b.csv"}, "data: 'a\\x00b.csv': is not a path"),
    ({**GOOD, "data": "x" * 5_000}, "is not a path"),
    ({**GOOD, "data": ["t.csv"] * (limits.JOB_FILES + 1)}, "data: List should have at most"),
    ({**GOOD, "objective": "  "}, "objective: The objective is empty"),
    ({**GOOD, "pins": {"": "x"}}, "pins: a pin needs a key"),
    ({**GOOD, "id": "i" * (limits.JOB_ID_CHARS + 1)}, "id: String should have at most"),
    ({"plan": "none.json", "data": "t.csv"}, "plan: none.json: the plan cannot be read"),
    ({"plan": "a\0.json", "data": "t.csv"}, "plan: 'a\\x00.json' is not a path"),
    ({"plan": "p" * 5_000, "data": "t.csv"}, "is not a path"),
    ({"plan": "", "data": "t.csv"}, "plan: String should have at least 1"),
    ({**GOOD, "plan": "p.json"}, "plan: stands in place of an objective"),
    ({**GOOD, "map": {"a": "b"}}, "map: goes with a plan"),
]


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


async def test_bad_lines_are_told_with_their_reasons_before_any_job_runs(workspace: Path) -> None:
    (workspace / "t.csv").write_text("a\n1\n")
    (workspace / "sub").mkdir()
    jobs = write(workspace / "jobs.jsonl", GOOD, *(line for line, _ in WRONG), {**GOOD, "objective": "more"})
    told: list[BadLine | int] = []

    def on_job(line: Line, outcome: RunOutcome, standing: Standing) -> None:
        told.append(line.number)

    batch = Batch(
        jobs, workspace=workspace, launcher=warm(), workers=1, model=Simple(), on_job=on_job, on_bad=told.append
    )
    found = await batch.start()
    last = len(WRONG) + 2
    assert told == [*found.bad_lines, 1, last]
    assert [bad.number for bad in found.bad_lines] == list(range(2, last))
    for bad, (_, reason) in zip(found.bad_lines, WRONG, strict=True):
        assert reason in bad.reason
    assert list(found.outcomes) == [1, last]


async def test_a_job_that_has_ended_stays_though_its_file_is_gone(workspace: Path) -> None:
    for name in ("t.csv", "u.csv"):
        (workspace / name).write_text("a\n1\n")
    jobs = write(workspace / "jobs.jsonl", GOOD, {**GOOD, "data": "u.csv"})
    await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=Simple()).start()
    (workspace / "t.csv").unlink()
    found = await Batch(jobs, workspace=workspace, launcher=warm(), workers=1, model=Simple(), resume=True).start()
    assert (found.resumed, found.bad_lines, found.is_good) == (2, [], True)


def test_an_id_that_stands_twice_is_a_bad_line_that_names_the_first(tmp_path: Path) -> None:
    lines, [bad] = read_jobs(write(tmp_path / "j.jsonl", {**GOOD, "id": "a"}, GOOD, {"objective": "x", "id": "a"}))
    assert [line.number for line in lines] == [1, 2]
    assert bad == BadLine(3, "id: 'a' is that of line 1 already")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("objective,objective,data\na,b,t.csv\n", "line 1: the header has 2 columns 'objective'"),
        ('objective,data\na,t.csv\n"b,t.csv\nc,t.csv\n', "line 3: .* a quote is opened and not closed"),
        (f"objective,data\na,t.csv\n{'x' * 200_000},t.csv\n", "line 3: .* larger than field limit"),
    ],
)
def test_a_csv_file_is_refused_by_the_line_at_fault(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=reason):
        read_jobs(path)


@pytest.fixture
def assays(workspace: Path) -> Path:
    for name in ("a/one.csv", "a/results/made.csv", "results/made.csv", "b [1].csv"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("x\n1\n")
    return workspace


def files(patterns: str | list[str], workspace: Path, template: str = "count") -> list[str]:
    return [
        job.data[0] for job in over_files(template, [patterns] if isinstance(patterns, str) else patterns, workspace)
    ]


def test_patterns_may_be_absolute_and_leave_out_results(assays: Path, tmp_path: Path) -> None:
    assert files("**/*.csv", assays) == ["a/one.csv", "b [1].csv"]
    assert files(f"{assays}/*/*.csv", assays) == ["a/one.csv"]
    assert files(f"{assays}/b [1].csv", assays) == files("b [1].csv", assays) == ["b [1].csv"]
    assert files("results/*.csv", assays) == files("results/made.csv", assays) == ["results/made.csv"]
    (tmp_path / "link").symlink_to(assays)
    assert files(str(tmp_path / "link" / "a" / "*.csv"), assays) == ["a/one.csv"]


@pytest.mark.parametrize("pattern", ["", " ", ".", "/", "/etc/*", "../*.csv", "a/../*.csv", "a/**b/*.csv", "none*"])
def test_patterns_that_find_nothing_here_are_refused(assays: Path, pattern: str) -> None:
    with pytest.raises(UsageError, match=r"workspace|no pattern"):
        files(pattern, assays)


@pytest.mark.parametrize("template", ["{stem!r}", "{stem:>9}", "{}", "{path.name}", "", " ", "x" * 19_995 + "{path}"])
def test_templates_that_are_none_are_refused(assays: Path, template: str) -> None:
    with pytest.raises(UsageError, match=r"template|objective"):
        files("a/*.csv", assays, template)


@pytest.mark.parametrize("template", ["summarise Cu of {path}", 'summarise Cu of "{name}"', "summarise Cu of {path}."])
async def test_offline_a_name_with_blanks_means_the_file(workspace: Path, template: str) -> None:
    (workspace / "my assays").mkdir()
    (workspace / "my assays" / "Au core.csv").write_text("sample,Au,Cu\na,1,4\nb,2,5\nc,6,9\n")
    found = await Batch(
        write_jobs(Workspace(workspace), template, ["**/*.csv"]), workspace=workspace, launcher=warm()
    ).start()
    assert [outcome.status for outcome in found.outcomes.values()] == ["success"]
    assert "1 column of 3 rows summarised. Cu: mean 6" in found.outcomes[1].summary
