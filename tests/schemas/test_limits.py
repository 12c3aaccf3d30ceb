"""The limits that the design promises."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from outcrop_schemas import limits

# From section 5 of the design: changing one of these changes a promise.
PROMISED = {
    "RESULT_CHARS": 8_000,
    "SUMMARY_CHARS": 2_000,
    "LIST_ENTRIES": 20,
    "ENTRY_CHARS": 500,
    "OUTCOME_CHARS": 16_000,
    "SPECIALIST_RESULT_CHARS": 2_000,
    "COMPLETE_LIST_RECORDS": 20,
    "HISTORY_DISPATCHES": 20,
    "OBJECTIVE_CHARS": 20_000,
    "PREVIEW_ROWS": 20,
    "LIST_FILES_ENTRIES": 500,
    "DATA_LINES": 50,
    "DATA_LINES_SHOWN": 5,
    "READ_JSON_BYTES": 50 << 10,
    "READ_CHARS": 72_000,
    "READ_SHARE": 0.15,
    "ATTACHMENT_TOKENS": 20_000,
    "COMMAND_SECONDS": 30,
    "COMMAND_LINES": 500,
    "COMMAND_LOG_LINES": 1_000,
    "COMMAND_LOG_BYTES": 512 << 10,
    "COMMAND_LOG_LINES_SHOWN": 100,
    "STREAM_LINE_BYTES": 16 << 20,
    "STDOUT_BYTES": 512 << 20,
    "STDERR_KEPT_BYTES": 64 << 10,
    "PARTIAL_BYTES": 64 << 10,
    "MODEL_LINE_BYTES": 64 << 20,
    "DISPATCH_SECONDS": 600,
    "GRACE_SECONDS": 2,
    "ARTIFACTS_CHECKED": 1_000,
}


@pytest.mark.parametrize(("name", "value"), PROMISED.items())
def test_a_limit_has_the_value_that_the_design_promises(name: str, value: float) -> None:
    assert getattr(limits, name) == value


@pytest.mark.parametrize("limit", limits.LIMITS, ids=lambda limit: limit.name)
def test_the_module_that_is_said_to_enforce_a_limit_reads_it(limit: limits.Limit) -> None:
    spec = find_spec(limit.enforced_in)
    assert spec is not None
    assert spec.origin is not None
    names = [name for name, value in vars(limits).items() if name.isupper() and value == limit.value]
    source = Path(spec.origin).read_text("utf-8")
    assert any(f"limits.{name}" in source for name in names)


def test_every_number_of_the_module_is_listed() -> None:
    numbers = {value for name, value in vars(limits).items() if name.isupper() and isinstance(value, int | float)}
    listed = {limit.value for limit in limits.LIMITS}
    unlisted = numbers - listed
    assert unlisted == set()
