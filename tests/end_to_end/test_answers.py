"""Every question of ../shared/data on real files, and every failure case: our tools give the answer that is right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from answers.asking import PLANS
from answers.cases import CASES
from answers.checking import agrees, check_answers, check_cases, questions

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted({question.rpartition("#")[0] for question in PLANS})


@pytest.mark.parametrize("file", FILES)
def test_every_question_on_a_file_has_its_answer(shared: Path, tmp_path: Path, file: str) -> None:
    found = list(check_answers(shared / "data", tmp_path, file))
    assert found
    assert [f"{each.id}: {each.got} instead of {each.expected}" for each in found if not each.ok] == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_failure_case_has_its_right_answer_or_a_clear_error(shared: Path, tmp_path: Path, name: str) -> None:
    (found,) = check_cases(shared / "data", tmp_path, name)
    assert found.ok, f"{found.got} instead of {found.expected}"


def test_there_is_a_plan_for_each_question_and_each_case(shared: Path) -> None:
    assert {each["id"] for each in questions(shared / "data")} == PLANS.keys()
    assert len(PLANS) == 110
    assert len(CASES) == 42


@pytest.mark.parametrize(
    ("got", "expected", "same"),
    [
        (1.0000005, 1, True),
        (1.000002, 1, False),
        ([1, "a"], [1, "b"], False),
        ([1], [1, 2], False),
        ({"a": 1}, {"b": 1}, False),
        (True, 1, False),
        ("1", 1, False),
        (None, [], False),
    ],
)
def test_a_wrong_answer_is_found_to_be_wrong(got: object, expected: object, same: bool) -> None:
    assert agrees(got, expected) is same


def test_no_file_or_answer_of_the_shared_data_stands_in_the_product(shared: Path) -> None:
    names = {path.name for folder in ("files", "cases") for path in (shared / "data" / folder).glob("*.*")}
    names -= {"README.md", "SHA256SUMS", "cases_dev.json"}
    source = [path for folder in ("schemas", "specialists", "orchestrator") for path in (ROOT / folder).rglob("*.py")]
    told = {path.name: name for path in source for name in names if name in path.read_text("utf-8")}
    assert told == {}


def test_the_script_says_where_there_is_nothing_to_ask(tmp_path: Path) -> None:
    script = [sys.executable, ROOT / "scripts" / "check_answers.py", "--data", tmp_path]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "holds no answers.json" in done.stderr
