"""Outcomes in a notebook: hostile text stays text, whatever it is, and no outcome floods the page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from outcrop.batch_outcomes import BatchOutcome, JobOutcomes
from outcrop.jobs import BadLine
from outcrop_schemas.hypotheses import Hypothesis
from outcrop_schemas.outcome import STATUSES, DispatchLine, Outcome, ReportedFigure, RunOutcome, VerifiedArtifact

OURS = {"div", "strong", "p", "ul", "li", "details", "summary", "pre"}
STYLES = re.compile(r"[a-z0-9:;.% -]*")
HOSTILE = (
    "</pre></details><script>alert(1)</script><img src=x onerror=alert(1)>\"'&lt;"
    "\x1b[31m\x07\u202eevil\u2066\u061c\u200b\ud800\x00\r" + "W" * 10_000
)
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


class Page(HTMLParser):
    """What a browser would make of it: elements with their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")


def dispatch_outcome(text: str, **fields: Any) -> Outcome:
    some = [text] * 25
    file = VerifiedArtifact.model_construct(path=text, kind="table", title=text, bytes=1, sha256="", rows=None)
    return Outcome.model_construct(
        dispatch_id=text, specialist=text, objective=text, status="partial", summary=text, results={text: [text]},
        artifacts=[file],
        findings=some, blockers=some, errors=some, warnings=some, gap={text: text}, usage={"input_tokens": text},
        started_at=text, duration_s=1.0, **fields,
    )  # fmt: skip


def run_outcome(text: str) -> RunOutcome:
    some = [text] * 25
    return RunOutcome.model_construct(
        run_id=text, objective=text, status="success", summary=text, findings=some, recommendations=some,
        blockers=some, errors=some, warnings=some, artifacts=[], usage={}, model=text, started_at=text, duration_s=2.0,
        run_folder=text, figures=[ReportedFigure(where=text, text=text, verdict="refuted", reason=text)],
        hypotheses=[Hypothesis(id=text, claim=text, status="refuted")],
        dispatches=[DispatchLine(dispatch_id=text, specialist=text, objective=text, status="crashed", duration_s=1)],
    )  # fmt: skip


def checked(html: str) -> Page:
    page = Page(html)
    assert page.open == []
    # `$5 to $10` is no mathematics.
    assert {"mathjax_ignore", "tex2jax_ignore"} <= set((page.elements[0][1]["class"] or "").split())
    for tag, attributes in page.elements:
        assert tag in OURS
        assert set(attributes) <= {"class", "style"}
        assert STYLES.fullmatch(attributes.get("style") or "")
    assert not HIDDEN.search(page.text)
    html.encode()
    return page


@given(st.text(st.characters(exclude_categories=())))
@example(HOSTILE)
def test_no_text_becomes_an_element_or_turns_a_line(text: str) -> None:
    usual = {tag for tag, _ in Page(dispatch_outcome("usual")._repr_html_()).elements}
    assert {tag for tag, _ in checked(dispatch_outcome(text)._repr_html_()).elements} <= usual
    checked(run_outcome(text)._repr_html_())


def test_no_outcome_floods_a_page() -> None:
    assert len(dispatch_outcome(HOSTILE)._repr_html_()) < 60_000
    assert len(run_outcome(HOSTILE)._repr_html_()) < 60_000


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_told_in_words_beside_its_sign(status: Any) -> None:
    outcome = dispatch_outcome("text").model_copy(update={"status": status})
    assert re.match(f"[✓◐✗] {status} ", checked(outcome._repr_html_()).text)


def test_an_answer_shows_verdicts_files_tokens_and_where_the_record_is() -> None:
    file = VerifiedArtifact(path="results/a.csv", kind="table", title="Means", bytes=9, sha256="", rows=3)
    figures = [ReportedFigure(where="summary", text="1.5", verdict="verified")] * 2
    usage = {"input_tokens": 1_000, "cache_read_input_tokens": 234, "output_tokens": 5}
    outcome = run_outcome("text").model_copy(update={"artifacts": [file], "figures": figures, "usage": usage})
    text = checked(outcome._repr_html_()).text
    for told in (
        "2 verified",
        "results/a.csv (3 rows): Means",
        "1,234 tokens in, 5 out",
        "record: text",
        "15 more",
        "refuted: text (0 for",
    ):
        assert told in text


def test_a_batch_shows_its_counts_and_bad_lines(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").touch()
    bad = [BadLine(3, HOSTILE)]
    batch = BatchOutcome(tmp_path, JobOutcomes(tmp_path / "journal.jsonl"), bad, not_begun=2, stopped_because="gone")
    text = checked(batch._repr_html_()).text
    assert "✗ error batch of 0 jobs" in text
    assert "line 3: </pre></details><script>" in text
    assert "2 jobs" in text
    assert str(tmp_path / "summary.html") in text


def test_figures_of_anybody_s_usage_are_no_fault() -> None:
    assert (
        "tokens"
        not in checked(
            dispatch_outcome(
                "text",
            )._repr_html_()
        ).text
    )
