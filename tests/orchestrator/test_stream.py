"""The scanner finds the completion in whatever is printed, in whatever pieces it comes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop.stream import StreamScanner
from outcrop_schemas import limits

ID = "d0001-0123456789abcdef"


def completion(answer: Any = 1, dispatch_id: str = ID, **fields: Any) -> bytes:
    message = {"type": "completion", "dispatch_id": dispatch_id, "status": "success", "results": {"answer": answer}}
    return json.dumps({**message, **fields}).encode()


def scan(data: bytes, size: int = 65536) -> StreamScanner:
    scanner = StreamScanner(ID)
    for start in range(0, len(data), size):
        scanner.feed(data[start : start + size])
    scanner.finish()
    return scanner


def answer_of(scanner: StreamScanner) -> Any:
    assert scanner.valid is not None
    return scanner.valid.completion.results["answer"]


noise = st.binary(max_size=80) | st.sampled_from(
    [b'{"type":"progress"}', b"completion", b'{"type":"completion"', b"\xff\xfe\x00", b"\r", b"{" * 30]
)


@given(before=st.lists(noise, max_size=6), after=st.lists(noise, max_size=6), size=st.integers(1, 200))
def test_a_completion_is_found_among_any_lines_in_pieces_of_any_size(
    before: list[bytes], after: list[bytes], size: int
) -> None:
    lines = [line.replace(b"\n", b"") for line in (*before, completion("found"), *after)]
    assert answer_of(scan(b"\n".join(lines), size)) == "found"


@given(st.lists(st.sampled_from([completion(n) for n in range(4)]), min_size=1, max_size=6), st.integers(1, 300))
def test_the_last_completion_wins_and_all_are_counted(lines: list[bytes], size: int) -> None:
    scanner = scan(b"\n".join(lines) + b"\n", size)
    assert answer_of(scanner) == json.loads(lines[-1])["results"]["answer"]
    assert scanner.valid_count == len(lines)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c"])
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    text = f"a{separator}b"
    line = json.dumps({"type": "completion", "dispatch_id": ID, "status": "success", "results": {"answer": text}})
    raw = line.replace(json.dumps(text)[1:-1], text) if ord(separator) > 0x1F else line
    assert answer_of(scan(raw.encode() + b"\n")) == text


def test_a_line_of_seventy_thousand_bytes_is_nothing_special() -> None:
    assert answer_of(scan(b'{"type":"progress","text":"' + b"x" * 70_000 + b'"}\n' + completion(2))) == 2


def test_a_completion_of_five_megabytes_is_kept_whole() -> None:
    assert answer_of(scan(completion("y" * 5_000_000))) == "y" * 5_000_000


def test_a_line_over_the_limit_is_skipped_counted_and_not_held() -> None:
    scanner = StreamScanner(ID)
    piece = b"A" * (1 << 20)
    for _ in range(40):
        scanner.feed(piece)
        assert len(scanner._carry) <= limits.STREAM_LINE_BYTES
    scanner.feed(b"\n" + completion("after") + b"\n")
    scanner.finish()
    assert answer_of(scanner) == "after"
    assert scanner.long_lines == [40 << 20]


def test_a_nested_decoy_is_no_completion() -> None:
    decoy = json.dumps({"type": "progress", "text": "x", "inner": json.loads(completion("decoy"))}).encode()
    scanner = scan(decoy + b"\n")
    assert scanner.valid is None
    assert scanner.fault is None


def test_the_completion_of_another_dispatch_is_ignored_and_counted() -> None:
    scanner = scan(completion("stolen", "someone-else") + b"\n")
    assert scanner.valid is None
    assert scanner.foreign == ["someone-else"]


def test_a_completion_glued_behind_text_is_salvaged_and_said() -> None:
    scanner = scan(b'epoch {1} of {2} {"type":"progress"}' + completion("glued") + b" tail\n")
    assert answer_of(scanner) == "glued"
    assert scanner.valid is not None
    assert "stood before" in scanner.valid.repairs[0]


def test_invalid_utf8_is_replaced_with_its_count() -> None:
    scanner = scan(completion("caf@ @").replace(b"@", b"\xe9") + b"\n")
    assert answer_of(scanner) == "caf\ufffd \ufffd"
    assert scanner.valid is not None
    assert scanner.valid.repairs == ("invalid UTF-8 was replaced in 2 places",)


def test_numbers_that_json_cannot_carry_become_null_with_their_count() -> None:
    line = completion("@").replace(b'"@"', b"[NaN, Infinity, -Infinity, 1e999, " + b"9" * 10_000 + b", 5]")
    scanner = scan(line)
    assert answer_of(scanner) == [None, None, None, None, None, 5]
    assert scanner.valid is not None
    assert scanner.valid.repairs == ("5 numbers that are not finite or too large became null",)


def test_lone_surrogates_are_replaced() -> None:
    assert answer_of(scan(completion("@").replace(b"@", b"a\\ud800b"))) == "a\ufffdb"


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_named(codec: str) -> None:
    scanner = scan((completion().decode() + "\n").encode(codec))
    assert scanner.valid is None
    assert "UTF-16" in str(scanner.fault)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (completion().replace(b'{"answer": 1}', b"null"), "results"),
        (completion().replace(b'{"answer": 1}', b'"text"'), "results"),
        (completion().replace(b'"success"', b'"banana"'), "status"),
        (completion(artifacts=[5]), "artifacts"),
        (completion(artifacts=7), "artifacts"),
        (completion()[:-1], "not valid JSON"),
        (completion("@").replace(b'"@"', b"[" * 100_000 + b"]" * 100_000), "nested too deep"),
    ],
)
def test_an_invalid_completion_names_its_first_fault(line: bytes, said: str) -> None:
    scanner = scan(line + b"\n")
    assert scanner.valid is None
    assert said in str(scanner.fault)


def test_an_invalid_completion_does_not_cost_a_valid_one() -> None:
    scanner = scan(completion("kept") + b"\n" + completion().replace(b'"success"', b'"banana"') + b"\n")
    assert answer_of(scanner) == "kept"
    assert scanner.fault_count == 1


def test_the_last_partial_findings_are_kept() -> None:
    lines = b"".join(json.dumps({"type": "progress", "partial": {"n": n}}).encode() + b"\n" for n in range(50))
    assert scan(lines, 97).partial() == {"n": 49}


def test_partial_findings_over_their_limit_are_not_kept() -> None:
    small, big = ({"type": "progress", "partial": {"n": n}} for n in ("ok", "x" * limits.PARTIAL_BYTES))
    assert scan(json.dumps(small).encode() + b"\n" + json.dumps(big).encode() + b"\n").partial() == {"n": "ok"}


def test_of_a_flood_of_progress_lines_few_are_decoded() -> None:
    seen: list[dict[str, Any]] = []
    scanner = StreamScanner(ID, seen.append)
    for _ in range(1_000):
        scanner.feed(b'{"type":"progress","done":1}\n' * 10)
    assert 1 <= len(seen) < 100


@pytest.mark.parametrize("line", [f"INFO writing the completion of {ID}", f"completion {ID} [1, 2", ID + " completion"])
def test_a_log_line_that_names_the_dispatch_is_no_completion(line: str) -> None:
    scanner = scan(line.encode() + b"\n" + completion("kept") + b"\n")
    assert answer_of(scanner) == "kept"
    assert scanner.fault is None


def test_a_hostile_line_is_read_in_bounded_work() -> None:
    # 63 objects that open at the start and end nowhere, 8 MiB of text, the id at the end: tries must not multiply.
    line = b'{"completion":' * 63 + b'"' + b"x" * (8 << 20) + b'","' + ID.encode()
    scanner = scan(line + b"\n" + completion("kept") + b"\n")
    assert answer_of(scanner) == "kept"


@pytest.mark.parametrize("other", [{"partial": None}, {"text": '"partial"'}, {"partial": "none"}])
def test_later_progress_without_findings_does_not_cost_the_earlier_ones(other: dict[str, Any]) -> None:
    lines = [{"type": "progress", "partial": {"found": 7}}, {"type": "progress", **other}]
    assert scan(b"".join(json.dumps(line).encode() + b"\n" for line in lines)).partial() == {"found": 7}


def test_integers_keep_all_their_digits() -> None:
    number = 2**64 + 1
    assert answer_of(scan(completion(number) + b"\n")) == number


@pytest.mark.parametrize("field", ["gap", "usage", "findings", "evidence", "artifacts", "results", "unknown"])
@pytest.mark.parametrize("depth", [90, 150, 300, 700, 950, 1_500, 50_000])
def test_nesting_is_bounded_in_every_field(field: str, depth: int) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    value = f"[{nested}]" if field in ("findings", "artifacts") else nested
    line = completion().decode()
    line = line.replace('{"answer": 1}', nested) if field == "results" else f'{line[:-1]},"{field}":{value}}}'
    scanner = scan(line.encode() + b"\n")
    if scanner.valid is None:
        assert scanner.fault is not None
    else:
        assert depth < 100 or field == "results"


def test_of_two_completions_on_one_line_the_last_wins() -> None:
    assert answer_of(scan(completion("first") + completion("second") + b"\n")) == "second"


@pytest.mark.parametrize(
    ("before", "behind"), [(b"epoch {1} of {2} ", b""), (b"", b'{"type":"progress"}'), (b"\\", b"}")]
)
def test_a_glued_completion_with_its_id_at_the_end_is_found(before: bytes, behind: bytes) -> None:
    rows = [{"name": {"n": n}} for n in range(1_000)]
    message = {"results": {"rows": rows, "answer": "kept"}, "type": "completion", "status": "success"}
    line = json.dumps({**message, "dispatch_id": ID}).encode()
    assert answer_of(scan(before + line + behind + b"\n")) == "kept"
