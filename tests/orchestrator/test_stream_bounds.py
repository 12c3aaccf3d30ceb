"""What one line costs, in time and in memory, is bounded by its length, whatever a hostile one holds."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from outcrop.stream import StreamScanner

ID = "d0001-0123456789abcdef"
OURS = ID.encode()
HEAD = b'{"type":"completion","dispatch_id":"' + OURS + b'","status":"success","results":'
MB = 1 << 20
# Measured: 0.3 s on a busy machine.
SECONDS_A_LINE = 1.5


def completion(answer: Any = 1, dispatch_id: str = ID, **fields: Any) -> bytes:
    message = {"type": "completion", "dispatch_id": dispatch_id, "status": "success", "results": {"answer": answer}}
    return json.dumps({**message, **fields}).encode()


def scan(*lines: bytes) -> StreamScanner:
    scanner = StreamScanner(ID)
    for line in lines:
        for start in range(0, len(line), 1 << 18):
            scanner.feed(line[start : start + (1 << 18)])
        scanner.feed(b"\n")
    scanner.finish()
    return scanner


def answer_of(scanner: StreamScanner) -> Any:
    assert scanner.valid is not None
    return scanner.valid.completion.results["answer"]


HOSTILE = {
    "openings and ids": b'{"type":"completion" ' + (b"{x" * 16 + OURS) * 300_000,
    "openings of objects and ids": b'{"type":"completion" ' + (b'{"x' * 16 + b'"dispatch_id":"' + OURS) * 180_000,
    "few of them": b'{"type":"completion" ' + (b'{"x":"' + b"y" * 9_000 + b'"dispatch_id":"' + OURS) * 1_700,
    "strings without an end": b'{"completion":' * 63 + b'"' + b"x" * 15 * MB + OURS,
    "nested without an end": HEAD + b'{"a":"x",' * 9_000 + b'"' + b"x" * 15 * MB,
    "ids and nothing else": b'"completion"' + OURS * 700_000,
    "empty lists": HEAD + b'{"a":[' + b"[]," * 5 * MB,
    "empty strings": HEAD + b'{"a":[' + b'"",' * 5 * MB,
    "numbers and a fault": HEAD + b'{"a":[' + b"0.123456789012345," * 600_000 + b"NaN]",
    "one number": HEAD + b'{"a":' + b"9" * 15 * MB + b"}",
    "backslashes": HEAD + b'{"a":"' + b"\\\\" * 7 * MB + b'"',
    "artifacts that are none": HEAD + b'{},"artifacts":[' + b"5," * 600_000 + b"5]}",
    "partial": b'{"x":"progress","completion":[' + b'"partial",' * 1_500_000 + b"0]}",
    "partial and progress": b'{"x":["progress"],"completion":[' + b'"partial","progress",' * 700_000 + b"0]}",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_is_read_in_bounded_time_and_costs_no_other(name: str) -> None:
    started = time.thread_time()
    scanner = scan(HOSTILE[name], completion("kept"))
    assert answer_of(scanner) == "kept"
    assert time.thread_time() - started < SECONDS_A_LINE


@pytest.mark.parametrize("length", [1_000, MB - 100, MB + 100, 3 * MB, 15 * MB, 17 * MB, 40 * MB])
@pytest.mark.parametrize("opening", [b'{"type":"progress","text":"', b'{"type": "log", "text":"', b"epoch "])
def test_a_completion_glued_behind_a_line_of_any_length_is_found(opening: bytes, length: int) -> None:
    scanner = scan(opening + b"a" * length + b'"}' + completion("glued"))
    assert answer_of(scanner) == "glued"
    assert scanner.valid is not None
    assert str(length)[:2] in scanner.valid.repairs[0]
    assert bool(scanner.long_lines) == (length > 16 * MB)


def test_a_completion_behind_more_values_than_can_be_searched_is_found_at_the_end() -> None:
    assert answer_of(scan(b"progress " + b"[1,2]," * 100_000 + completion("glued"))) == "glued"


@pytest.mark.parametrize("behind", [b"}", b"]}", b' ,"more":1}'])
@pytest.mark.parametrize("length", [10, 17 * MB])
def test_a_decoy_inside_another_object_is_none_also_in_a_long_line_or_behind_text(behind: bytes, length: int) -> None:
    decoy = b'{"type":"progress","text":"' + b"x" * length + b'","inner":[' + completion("decoy") + b"]}"
    if length > MB:
        decoy = decoy[:-2] + behind
    assert scan(b"noise " + decoy).valid is None


def test_of_the_ids_of_others_little_is_kept() -> None:
    scanner = scan(*[completion(dispatch_id="y" * 100_000)] * 5, *[completion(dispatch_id="z" * 2 * MB)] * 3)
    assert len(scanner.foreign) >= 5
    assert max(map(len, scanner.foreign)) <= 80
    odd = b'{"type":"completion","dispatch_id":' + b"[1,2,3]" + b',"results":{}}'
    assert scan(odd).foreign == ["list"]


@pytest.mark.parametrize(
    "values",
    [
        b"[" + b"[]," * 400_000 + b"[]]",
        b"[" + b'{"a":1},' * 250_000 + b"1]",
        b"[" + b"1," * 900_000 + b"1]",
        b"{" + b",".join(b'"k%d":1' % number for number in range(400_000)) + b"}",
    ],
    ids=["lists", "objects", "numbers", "keys"],
)
def test_a_completion_of_too_many_values_is_refused_before_it_is_read(values: bytes) -> None:
    scanner = scan(HEAD + b'{"answer":' + values + b"}}")
    assert scanner.valid is None
    assert "too many values" in str(scanner.fault)


@pytest.mark.parametrize(
    "answer",
    ["1,2,{3},[4]\n" * 1_000_000, 'a "quoted" \\ word, and \\" more, ' * 400_000, [1.5] * 300_000],
    ids=["a table as text", "quotes", "numbers"],
)
def test_a_large_completion_is_not_refused_for_what_its_strings_hold(answer: Any) -> None:
    assert answer_of(scan(completion(answer))) == answer


def test_records_with_the_same_keys_are_not_counted_as_if_each_had_its_own() -> None:
    rows = [{"sample": f"S{number}", "au": number / 7, "cu": number, "zn": 5.5} for number in range(60_000)]
    assert answer_of(scan(completion(rows))) == rows


@pytest.mark.parametrize("name", ["artifacts", "findings", "recommendations", "blockers", "errors", "claims"])
def test_of_a_list_without_end_the_first_entries_are_kept_and_all_are_counted(name: str) -> None:
    scanner = scan(completion("kept", ID, **{name: ["x"] * 50_000}))
    assert answer_of(scanner) == "kept"
    assert scanner.valid is not None
    assert len(getattr(scanner.valid.completion, name)) == 5_000
    assert scanner.valid.repairs == (f"of 50000 {name} the first 5000 were read",)
    evidence = scan(completion("kept", evidence={"supports": ["x"] * 50_000}))
    assert evidence.valid is not None
    assert len(evidence.valid.completion.evidence.supports) == 5_000


def test_the_last_findings_are_kept_before_a_line_that_only_looks_like_them() -> None:
    found = json.dumps({"type": "progress", "partial": {"found": 7}}).encode()
    assert scan(found + b"\n" + b'{"x":"progress","y":[' + b'"partial",' * 3_000 + b"0]}").partial() == {"found": 7}
