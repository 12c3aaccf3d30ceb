"""The card of an outcome in a real browser: hostile text runs nothing, and it can be read on light and dark pages."""

from __future__ import annotations

from typing import Any

import pytest
from browser import chromium

from outcrop_schemas.outcome import Outcome, VerifiedArtifact

HOSTILE = (
    "</pre></details><script>alert(1)</script><img src=//x.invalid onerror=alert(2)><style>*{display:none}</style>"
)
OUTCOME = Outcome(
    dispatch_id="d0001-0", specialist="analytics", objective=HOSTILE, status="partial", summary=HOSTILE + "\u202e" * 9,
    results={HOSTILE: ["W" * 9_000]}, findings=[HOSTILE] * 30, warnings=["A finding <b>of</b> one's own"],
    artifacts=[VerifiedArtifact(path=f"results/{HOSTILE}", kind="table", title="x", bytes=1, sha256="", rows=2)],
    started_at="", duration_s=1.5, usage={"input_tokens": 1_200, "output_tokens": 30},
)  # fmt: skip


@pytest.mark.parametrize(("page_colour", "text_colour"), [("white", "black"), ("#111", "#eee")])
def test_a_hostile_outcome_shows_text_and_nothing_else_happens(page_colour: str, text_colour: str) -> None:
    happened: list[Any] = []
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 700, "height": 900})
        page.on("request", lambda request: happened.append(request.url))
        page.on("dialog", lambda dialog: happened.append(dialog.message))
        page.on("pageerror", lambda error: happened.append(str(error)))
        page.set_content(f'<body style="background:{page_colour};color:{text_colour}">{OUTCOME._repr_html_()}</body>')
        card = page.locator(".outcrop-outcome")
        assert page.locator("script, img, style, iframe, b").count() == 0
        assert "<script>alert(1)</script>" in card.inner_text()
        assert "A finding <b>of</b> one's own" in card.inner_text()
        assert not page.locator("pre").last.is_visible()
        page.locator("summary").last.click()
        assert page.locator("pre").last.is_visible()
        colours = card.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e.parentElement).color]")
        assert colours[0] == colours[1]
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert happened == []
