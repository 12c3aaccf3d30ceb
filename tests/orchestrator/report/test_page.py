"""The page itself: whatever a specialist, a model or a file says is text in it, and nothing else."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_runs import answer, outcome, record

from outcrop.report.facts import RunFacts, facts_of
from outcrop.report.links import FileLinks
from outcrop.report.page import SECTIONS, Dress, asset, render_page, render_section
from outcrop.text import inert
from outcrop_schemas import limits
from outcrop_specialists.context.segments import SEGMENTS

LINKS = FileLinks(Path("/w/.outcrop/runs/r/report.html"), Path("/w"), Path("/w/.outcrop/runs"))


class Parsed(HTMLParser):
    """The elements of a page with the names of their attributes, the text of those that are marked, all addresses."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, ...]] = []
        self.found: list[str] = []
        self.addresses: list[str] = []
        self.text = ""
        self._marked = 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.append((tag, *given))
        self.addresses += [value for name in ("href", "src") if (value := given.get(name))]
        if tag == "li" and given.get("data-find") == "finding":
            self._marked = 1
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "li":
            self._marked = 0

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._marked:
            self.found[-1] += data


def everywhere(workspace: Path, text: str) -> RunFacts:
    """A run with this text wherever somebody else has a say."""
    claim = {"path": text, "statistic": "mean", "column": text, "where": text[:500], "value": text}
    file = {"path": text, "kind": "plot", "title": text, "bytes": 3, "sha256": text}
    evidence = {name: [text] for name in ("supports", "contradicts", "new_hypotheses")}
    gap = {name: text for name in ("capability", "reason", "package", "manager", "fallback")}
    said: dict[str, Any] = {name: [text] for name in ("findings", "recommendations", "blockers", "errors", "warnings")}
    about = {name: text for name in ("objective", "version", "backend", "prices_as_of")}
    one = outcome(
        1,
        "error",
        objective=text,
        specialist=text,
        summary=text,
        results={text: [text], "rule": text, "alt": text},
        artifacts=[file],
        evidence=evidence,
        gap=gap,
        data=[text],
        truncated={"chars": 9, "spill": text, "sha256": text},
        usage={"cpu_seconds": text, "max_rss_bytes": text, "turns": 1, "input_tokens": 2},
        exit={"code": 1, "signal": text},
        isolation={"x": {"active": True, "by": text, "proof": text}},
        **said,
    )
    hypothesis = {
        "id": text,
        "claim": text,
        "parent": text,
        "proposed_by": text,
        "evidence_for": [{"dispatch_id": text, "text": text}],
    }
    told = answer(
        text,
        summary=text,
        claims=[{**claim, "statement": text[:500], "verdict": "refuted", "actual": text, "reason": text}],
        hypotheses=[hypothesis],
        **said,
    )
    return facts_of(
        record(
            workspace,
            [one],
            events=[told],
            models={"default": text},
            roles={text: {text: text}},
            pins={text: text},
            data=[{"path": text, "bytes": 1, "sha256": text}],
            limits={text: 1},
            ceiling={"usd": "5"},
            **about,
        )
    )


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "</style></title></textarea></pre><svg onload=alert(1)>",
    "\" onmouseover=alert(1) x='",
    "{{ 7*7 }}{% raw %}",
    "javascript:alert(1)",
    "&lt;b&gt; &amp; &#60;",
    "<!--",
    "\x1b[31mred\x1b]8;;http://x\x07",
    "\u202eevil\u2066\u200b",
    "\r\n\n\t\x00\x07",
    "a" * 10_000,
]


def with_examples(test: Any) -> Any:
    for text in HOSTILE:
        test = example(text)(test)
    return test


@with_examples
@settings(max_examples=60)
@given(st.text(min_size=1))
def test_any_text_in_any_field_is_that_text_and_no_new_element(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plain").mkdir()
        (Path(folder) / "given").mkdir()
        plain = Parsed(
            render_page(
                everywhere(Path(folder) / "plain", "x" * len(text) if len(text) > limits.REPORT_TITLE_CHARS else "x"),
                LINKS,
            )
        )
        found = Parsed(render_page(everywhere(Path(folder) / "given", text), LINKS))
    assert found.elements == plain.elements
    assert found.found == [inert(text)]
    assert all(address.startswith(("#", "./", "../", "data:image/")) for address in found.addresses)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", found.text)


def test_what_cannot_be_written_at_all_is_made_visible(workspace: Path) -> None:
    facts = replace(everywhere(workspace, "x"), objective="a\ud800b")
    page = render_page(facts, LINKS)
    assert "a\\ud800b" in page
    page.encode()


def test_every_section_can_be_put_in_the_place_of_the_one_that_is_there(workspace: Path) -> None:
    facts = everywhere(workspace, "x")
    page = re.sub(r"\s+", " ", render_page(facts, LINKS))
    for section in SECTIONS:
        alone = re.sub(r"\s+", " ", render_section(section.name, facts, LINKS)).strip()
        assert alone.startswith(f'<section id="{section.name}"')
        assert alone in page
    for name, opening in (("head", '<header id="head"'), ("contents", '<nav id="contents"')):
        assert render_section(name, facts, LINKS).lstrip().startswith(opening)
    with pytest.raises(KeyError):
        render_section("none", facts, LINKS)


def test_a_section_with_nothing_in_it_is_there_and_hidden(workspace: Path) -> None:
    facts = facts_of(record(workspace))
    assert re.search(r'<section id="artifacts" [^>]* hidden>', render_section("artifacts", facts, LINKS))
    assert "Nothing was dispatched" in render_section("answer", replace(facts, kind="pool"), LINKS)


def test_only_the_pages_own_script_and_style_may_run(workspace: Path) -> None:
    facts = facts_of(record(workspace))
    page = render_page(facts, LINKS)
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy
    assert asset("page.js") in page
    dressed = render_page(facts, LINKS, Dress("let live = 1;", {"connect-src": "'self'"}, "/"))
    assert "connect-src 'self'" in dressed
    assert dressed.count("'sha256-") == 3
    assert '<a href="/">All runs</a>' in dressed


def test_a_cancel_button_stands_only_where_something_can_be_cancelled(workspace: Path) -> None:
    class Live(FileLinks):
        def cancel(self, dispatch_id: str) -> str | None:
            return f"/cancel/{dispatch_id}"

    facts = everywhere(workspace, "x")
    [ended] = facts.dispatches.shown
    running = replace(
        facts, dispatches=replace(facts.dispatches, shown=[replace(ended, seconds=None, status="running")])
    )
    live = Live(LINKS.page, LINKS.workspace, LINKS.runs)
    assert f'data-cancel="/cancel/{ended.id}"' in render_section("dispatches", running, live)
    assert "data-cancel" not in render_section("dispatches", facts, live)
    assert "data-cancel" not in render_section("dispatches", running, LINKS)


def test_every_segment_of_the_token_chart_has_a_colour() -> None:
    style = asset("page.css")
    assert [name for name in SEGMENTS if f"rect.{name} {{" not in style or f"i.{name} {{" not in style] == []


def test_a_long_objective_is_cut_at_the_top_and_whole_below(workspace: Path) -> None:
    objective = "word " * 1_000 + "end"
    page = render_page(facts_of(record(workspace, objective=objective)), LINKS)
    [heading] = re.findall(r"<h1>(.*?)</h1>", page, re.S)
    assert len(heading) <= limits.REPORT_TITLE_CHARS
    assert f"<details><summary>The whole objective</summary>{objective}</details>" in page
    assert "The whole objective" not in render_page(facts_of(record(workspace, name="short", objective="o")), LINKS)


def test_the_limits_of_each_run_are_its_own(workspace: Path) -> None:
    for number, name in enumerate(("<b>", "other")):
        page = render_page(facts_of(record(workspace, name=str(number), limits={name: 12_345 + number})), LINKS)
        assert f'<tr><td>{"&lt;b&gt;" if number == 0 else name}</td><td class="number">12,34{5 + number}</td>' in page


def test_a_refuted_figure_in_evidence_is_marked_where_it_stands_and_counted_there(workspace: Path) -> None:
    claim = {"path": "a.csv", "statistic": "median", "column": "As", "value": 99, "verdict": "refuted", "actual": 12.5}
    evidence = [{"dispatch_id": "d0001-0", "text": "median As 99"}, {"dispatch_id": "d0999-0", "text": "n 633"}]
    against = [{"dispatch_id": "d0002-0", "text": "it is 0.12 in TR9"}]
    figures = [
        {"where": "summary", "text": "0.47", "verdict": "unverifiable"},
        {"where": "hypotheses[h1].evidence_for[0]", "text": "99", "verdict": "refuted", "claim": 0},
        {"where": "hypotheses[h1].evidence_for[1]", "text": "633", "verdict": "unverifiable"},
        {"where": "hypotheses[h1].evidence_against[0]", "text": "0.12", "verdict": "unverifiable"},
    ]
    held = {"id": "h1", "claim": "gold follows arsenic", "evidence_for": evidence, "evidence_against": against}
    told = answer("r", summary="r 0.47", claims=[claim], figures=figures, hypotheses=[held])
    facts = facts_of(record(workspace, [outcome(1), outcome(2)], events=[told]))
    section = render_section("hypotheses", facts, LINKS)
    assert re.search(r'<a class="figure bad" href="#claim-1"[^>]*>99<', section)
    assert len(re.findall(r'<span class="figure calm" title="unverifiable">(?:633|0\.12)<', section)) == 2
    assert facts.hypotheses is not None
    assert facts.hypotheses.verdicts == {"refuted": 1, "unverifiable": 2}
    assert facts.answer is not None
    assert facts.answer.verdicts == {"unverifiable": 1}
    # No way leads to a dispatch that the page does not show.
    assert {address for address in Parsed(section).addresses if "d0" in address} == {"#d0001-0", "#d0002-0"}
