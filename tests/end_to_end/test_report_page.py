"""The report in a real browser: opened, clicked through, searched, filtered, printed, on a phone and on a desk."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest
from browser import DESK, PHONE, chromium, opened, overflow, serious_faults
from installed import OUTCROP
from made_runs import answer, made, outcome, said

from outcrop.recovery import open_run
from outcrop.report.writing import write_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
DEMO = (
    "Remove duplicate rows, summarise alcohol and proline, cluster the samples into 3 groups on alcohol, flavanoids "
    "and color_intensity, and plot the groups"
)
SCREENS = [(DESK, "dark"), (PHONE, "light"), ((360, 640), "dark")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("wines")
    subprocess.run([sys.executable, ROOT / "scripts" / "write_wines.py", workspace / "wines.csv"], check=True)
    return report_of(begin(workspace, DEMO, "wines.csv"))


REAL = {
    "soils": "cluster the samples into 2 groups on log10 of Rb, K, La and Th and map them by longitude and latitude",
    "core": "parse detection limits, summarise Au and plot a histogram of Au",
    "penguins": "remove duplicates, summarise the body mass by species and frobnicate the flippers",
}
NAMES = {"soils": "colorado_soils.csv", "core": "als_an1_core.csv", "penguins": "penguins.jsonl"}


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    begun = {}
    for name, objective in REAL.items():
        workspace = tmp_path_factory.mktemp(name)
        (workspace / NAMES[name]).write_bytes((shared / "data" / "files" / NAMES[name]).read_bytes())
        begun[name] = begin(workspace, objective, NAMES[name])
    return {name: report_of(run) for name, run in begun.items()}


def begin(workspace: Path, objective: str, data: str) -> subprocess.Popen[bytes]:
    command = [OUTCROP, "run", objective, "--data", data, "--json", "--model", "offline"]
    return subprocess.Popen(command, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def report_of(run: subprocess.Popen[bytes]) -> Path:
    told, _ = run.communicate(timeout=150)
    return Path(json.loads(told)["run_folder"]) / "report.html"


def shown(page: Page, selector: str) -> int:
    return page.locator(f":is({selector}):visible").count()


def cut_off(page: Page, region: str) -> int:
    """How much of a table lies outside of what is seen of it."""
    box = page.get_by_role("region", name=region)
    return int(box.evaluate("(box) => Math.max(0, box.scrollWidth - box.clientWidth)"))


def test_the_parts_of_the_demo_are_there_and_can_be_clicked(demo: Path, browser: Browser) -> None:
    with opened(browser, demo.as_uri()) as page:
        assert page.locator("h1").inner_text() == DEMO
        for link in page.locator("nav a").all():
            link.click()
            assert page.evaluate("document.querySelector(location.hash).checkVisibility()")
        assert shown(page, "article.dispatch") == 4
        for fold in page.locator("summary:visible").all():
            fold.click()
        assert shown(page, "pre") == 4
        bar = page.locator(".timeline a").last
        bar.focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.querySelector('article.dispatch:target h3').textContent").endswith(
            "plot the groups"
        )


def test_a_picture_opens_large_and_a_figure_says_what_it_was_computed_of(demo: Path, browser: Browser) -> None:
    with opened(browser, demo.as_uri()) as page:
        dialog = page.locator("dialog")
        page.locator("[data-large]").focus()
        page.keyboard.press("Enter")
        assert dialog.is_visible()
        assert page.evaluate("document.querySelector('dialog img').naturalWidth") > 600
        page.keyboard.press("Escape")
        assert not dialog.is_visible()
        assert page.evaluate("document.activeElement.matches('[data-large]')")
        page.locator("a.figure", has_text="746.893").first.click()
        told = dialog.inner_text()
        assert "746.8932584269663" in told
        assert "mean of proline" in told
        assert "verified" in told


def test_search_and_filters_show_what_fits_and_say_how_much_that_is(demo: Path, browser: Browser) -> None:
    with opened(browser, demo.as_uri()) as page:
        page.keyboard.press("/")
        page.keyboard.type("flavanoids kmeans")
        assert shown(page, "article.dispatch") == 1
        assert "1 of 4 dispatches" in page.locator("[aria-live]").inner_text()
        page.keyboard.press("Escape")
        assert shown(page, "article.dispatch") == 4
        page.get_by_role("combobox", name="Specialist").select_option("analytics")
        assert shown(page, "article.dispatch") == 2
        page.get_by_role("combobox", name="Status").select_option("success")
        assert shown(page, "article.dispatch") == 2
        page.get_by_label("Search").fill("no such word at all")
        assert shown(page, "article.dispatch, figure.file") == 0
        assert "0 of 4 dispatches" in page.locator("[aria-live]").inner_text()


def test_each_agent_can_be_chosen_whose_tokens_are_drawn(demo: Path, browser: Browser) -> None:
    with opened(browser, demo.as_uri()) as page:
        assert shown(page, ".agent svg") == 1
        names = page.get_by_role("combobox", name="Agent").locator("option").all_inner_texts()
        assert len(names) == 5
        page.get_by_role("combobox", name="Agent").select_option(names[3])
        assert page.locator(".agent:visible h3").inner_text() == names[3]
        assert page.locator(".agent:visible rect").count() > 3


def test_light_and_dark_can_be_chosen(demo: Path, browser: Browser) -> None:
    def back(page: Page) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    with opened(browser, demo.as_uri(), color_scheme="dark") as page:
        dark = back(page)
        page.get_by_role("button", name="Light colours").click()
        light = back(page)
        assert light != dark
        page.reload()
        assert back(page) == light
        page.get_by_role("button", name="Dark colours").click()
        assert back(page) == dark


def test_all_of_it_is_there_without_a_script(demo: Path, browser: Browser) -> None:
    with opened(browser, demo.as_uri(), java_script_enabled=False) as page:
        assert shown(page, "article.dispatch") == 4
        assert shown(page, ".agent svg") == 5
        assert shown(page, "button, input, select, dialog") == 0


@pytest.mark.parametrize(("size", "scheme"), [*SCREENS, (DESK, "light")])
def test_everybody_can_read_the_demo(demo: Path, browser: Browser, size: tuple[int, int], scheme: Any) -> None:
    with opened(browser, demo.as_uri(), size, color_scheme=scheme) as page:
        assert overflow(page) == 0
        assert serious_faults(page) == []


def test_on_paper_what_was_folded_is_unfolded_and_nothing_needs_a_click(demo: Path, browser: Browser) -> None:
    with opened(browser, demo.as_uri(), color_scheme="dark") as page:
        assert page.pdf(format="A4").startswith(b"%PDF")
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert shown(page, "pre") == 4
        assert shown(page, ".agent svg") == 5
        assert shown(page, "button, nav") == 0
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert shown(page, "pre") == 0


@pytest.mark.parametrize("name", REAL)
def test_reports_of_real_tables_are_whole_on_every_screen(
    name: str, real: dict[str, Path], browser: Browser, tmp_path: Path
) -> None:
    for size, scheme in ((DESK, "light"), (PHONE, "dark")):
        with opened(browser, real[name].as_uri(), size, color_scheme=scheme) as page:
            assert overflow(page) == 0
            assert serious_faults(page) == []
            assert page.screenshot(path=tmp_path / f"{name}-{scheme}.png", full_page=True)
            assert all(page.evaluate("[...document.images].map((each) => each.naturalWidth > 0)"))
            assert shown(page, "article.dispatch") >= 2
    with opened(browser, real["penguins"].as_uri()) as page:
        assert "frobnicate" in page.locator("#undone").inner_text()


HOSTILE = """
import json, sys
ID = json.loads(sys.stdin.buffer.readline())["dispatch_id"]
bad = [
    "<script>document.title='hacked'</script>",
    "<img src=x onerror=alert(1)>",
    "</style></script><svg onload=alert(1)>",
    "a" * 10_000,
    "\\u202egnp.exe\\u2066",
    "\\x1b[31mred\\x1b]8;;http://example.org\\x07",
    "' onfocus=alert(1) autofocus x='",
    "javascript:alert(1)",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<meta http-equiv=refresh content='0;url=http://example.org'>",
]
names = ["a'b\\"#?&<i>.csv", "new\\nline.csv", "javascript:alert(1).csv"]
for name in names:
    open(name, "w").write("<b>x</b>,'\\n" + bad[0] + ",=cmd\\n")
said = dict.fromkeys(("findings", "errors", "blockers", "recommendations"), bad)
artifacts = [{"path": name, "kind": "table", "title": bad[1]} for name in names]
print(json.dumps({
    "type": "completion", "dispatch_id": ID, "status": "error", "summary": bad[2], "results": dict.fromkeys(bad, bad),
    "evidence": {"supports": bad}, "gap": {"capability": bad[0], "package": bad[3]},
    "usage": {"turns": bad[0], "input_tokens": -1}, "artifacts": artifacts, **said,
}))
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("hostile")
    (workspace / "hostile.py").write_text(HOSTILE)
    command = [OUTCROP, "dispatch", "--objective", "<h1>o</h1>", "--", sys.executable, "hostile.py"]
    subprocess.run(command, cwd=workspace, capture_output=True, timeout=100, check=False)
    [report] = (workspace / ".outcrop" / "runs").glob("*/report.html")
    return report


@pytest.mark.parametrize(("size", "scheme"), SCREENS)
def test_a_hostile_completion_changes_nothing_but_text(
    hostile: Path, browser: Browser, size: tuple[int, int], scheme: Any
) -> None:
    with opened(browser, hostile.as_uri(), size, color_scheme=scheme) as page:
        page.wait_for_load_state("networkidle")
        assert page.title().startswith("Error: <h1>o</h1>")
        assert page.locator("script").count() == 1
        assert page.locator("iframe, article b, main img, main meta").count() == 0
        undone = page.locator("#undone").inner_text()
        assert "<img src=x onerror=alert(1)>" in undone
        assert "\\u202egnp.exe" in undone
        for fold in page.locator("summary:visible").all():
            fold.click()
        assert overflow(page) == 0
        assert set(page.evaluate("[...document.links].map((link) => link.protocol)")) == {"file:"}
        files = page.locator("#artifacts a.path").evaluate_all("(links) => links.map((link) => link.href)")
        assert [unquote(urlsplit(address).path).rpartition("/")[2] for address in files] == [
            "a'b\"#?&<i>.csv",
            "new\nline.csv",
            "javascript:alert(1).csv",
        ]
        assert serious_faults(page) == []


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_what_a_checked_figure_is_of_is_seen_without_scrolling(
    workspace: Path, browser: Browser, size: tuple[int, int]
) -> None:
    claim = {"path": "results/soils_remove_duplicates_63a17883.csv", "statistic": "mean", "column": "Th_ppm"}
    claims = [{**claim, "value": 13.00061797752809 * n, "verdict": "verified", "actual": n / 7} for n in range(1, 4)]
    told = answer("r", summary="done", claims=claims)
    report = write_report(open_run(made(workspace, [outcome(1)], events=[told])))
    with opened(browser, report.as_uri(), size) as page:
        assert cut_off(page, "Table of the figures") == 0
        seen = page.locator("#figures td:visible").first
        assert seen.inner_text() == "mean of Th_ppm"
        assert serious_faults(page) == []


def test_on_paper_no_short_number_is_broken_in_two(workspace: Path, browser: Browser) -> None:
    names = [f"column_{number}_of_them" for number in range(12)]
    table = workspace / "wide.csv"
    table.write_text(",".join(names) + "\n" + ",".join(["-1234.567", "W001", "0.8118265380058575"] * 4) + "\n")
    artifact = {
        "path": "wide.csv",
        "kind": "table",
        "title": "wide",
        "bytes": table.stat().st_size,
        "sha256": "0" * 64,
        "rows": 1,
    }
    report = write_report(open_run(made(workspace, [outcome(1, artifacts=[artifact])])))
    with opened(browser, report.as_uri(), (688, 1000)) as page:
        page.emulate_media(media="print")
        lines = page.locator("#artifacts td").evaluate_all(
            "(cells) => cells.map((cell) => { const all = document.createRange(); all.selectNodeContents(cell);"
            " return [cell.textContent, new Set([...all.getClientRects()].map((box) => box.top)).size]; })"
        )
        assert len(lines) == 12
        assert {text for text, count in lines if count > 1} <= {"0.8118265380058575"}
        assert overflow(page) == 0


def test_a_link_leads_to_a_dispatch_also_where_a_search_has_hidden_it(workspace: Path, browser: Browser) -> None:
    outcomes = [outcome(1, "error", errors=["no such column"]), outcome(2)]
    report = write_report(open_run(made(workspace, outcomes)))
    with opened(browser, report.as_uri()) as page:
        page.get_by_role("combobox", name="Status").select_option("success")
        assert shown(page, "article.dispatch") == 1
        page.locator("#undone a.who").click()
        assert page.locator("article.dispatch:target").is_visible()
        assert shown(page, "article.dispatch") == 2
        page.get_by_role("combobox", name="Status").select_option("success")
        page.locator(".timeline a").first.focus()
        page.keyboard.press("Enter")
        assert shown(page, "article.dispatch") == 2


def test_messages_of_a_chat_are_searched_and_counted(workspace: Path, browser: Browser) -> None:
    turns = [
        said(number, f"how much {metal}?") for number, metal in enumerate(("gold", "copper", "gold and silver"), 1)
    ]
    report = write_report(open_run(made(workspace, events=turns, kind="chat", objective=None)))
    with opened(browser, report.as_uri()) as page:
        assert page.locator("h1").inner_text() == "how much gold?"
        page.get_by_label("Search").fill("gold")
        assert shown(page, "#conversation article") == 2
        assert page.locator("[aria-live]").inner_text() == "Shown: 2 of 3 messages"


def test_a_run_of_ten_thousand_dispatches_is_a_page_like_any_other(workspace: Path, browser: Browser) -> None:
    folder = made(workspace, (outcome(number) for number in range(10_000)), kind="pool", objective=None)
    report = write_report(open_run(folder))
    assert report.stat().st_size < 2 << 20
    with opened(browser, report.as_uri(), PHONE) as page:
        assert shown(page, "article.dispatch") == 200
        assert "200 dispatches of 10,000" in page.locator("#dispatches").inner_text()
        assert overflow(page) == 0


def test_the_jobs_of_a_batch_fit_a_phone(workspace: Path, browser: Browser) -> None:
    def job(line: int, status: str) -> dict[str, Any]:
        told = {"status": status, "objective": "o" * 400, "duration_s": 1.0, "summary": "a word " * 90, "run_id": ""}
        name = "n" * 300 if line == 4 else f"name {line}"
        return {"kind": "job_end", "job": str(line), "line": line, "id": name, "outcome": told}

    events = [job(line, "error" if line % 3 else "success") for line in range(30)]
    events.append({"kind": "bad_line", "line": 31, "reason": "no JSON"})
    made(workspace, events=events[:1], name="20260101-000000-000001-bbbb")
    events[0]["outcome"]["run_id"] = "20260101-000000-000001-bbbb"
    folder = made(workspace, events=events, kind="batch", objective=None, jobs="/somewhere/jobs.jsonl")
    report = write_report(open_run(folder))
    for size in (PHONE, DESK):
        with opened(browser, report.as_uri(), size) as page:
            assert page.locator("h1").inner_text() == "Batch: jobs.jsonl"
            assert shown(page, "#jobs a") == 1
            assert cut_off(page, "Jobs of this batch") == 0
            assert page.locator("#jobs td").evaluate_all(
                "(cells) => cells.every((cell) => cell.scrollWidth <= cell.clientWidth + 1)"
            )
            assert overflow(page) == 0
            assert serious_faults(page) == []


LENGTHS = {
    "moment": 0.004, "seconds": 7.5, "a minute": 99, "minutes": 3_000, "hours": 36_000, "days": 4.9 * 86_400,
    "weeks": 20 * 86_400, "months": 100 * 86_400, "years": 3 * 365 * 86_400,
}  # fmt: skip
BOXES = """() => [...document.querySelectorAll('.timeline .ticks text')].map(label => {
    const box = label.getBoundingClientRect(); return [box.left, box.right]; })"""


def test_no_two_labels_of_the_timeline_overlap_however_long_a_run_was(workspace: Path, browser: Browser) -> None:
    for number, (name, seconds) in enumerate(LENGTHS.items()):
        run = f"2026010{number}-000000-000000-aaaa"
        folder = made(workspace, [outcome(1, duration_s=seconds)], name=run, kind="pool", objective=name)
        report = write_report(open_run(folder))
        for size in (PHONE, (360, 640), DESK):
            with opened(browser, report.as_uri(), size) as page:
                boxes = sorted(page.evaluate(BOXES))
            assert len(boxes) > 1, name
            assert all(left[1] + 2 < right[0] for left, right in pairwise(boxes)), (name, size, boxes)


def test_the_pages_of_all_jobs_are_gone_through_on_a_phone_and_searched(workspace: Path, browser: Browser) -> None:
    def job(line: int) -> dict[str, Any]:
        told = {"status": "error" if line == 700 else "success", "objective": f"map hole {line}", "duration_s": 1.0}
        return {"kind": "job_end", "job": str(line), "line": line, "id": f"name {line}", "outcome": told}

    folder = made(workspace, events=map(job, range(1, 1_201)), kind="batch", objective=None, jobs="/j/jobs.jsonl")
    report = write_report(open_run(folder))
    pages = folder.path.as_uri()
    for size in (PHONE, DESK):
        with opened(browser, report.as_uri(), size, allowed=(pages,)) as page:
            page.get_by_role("link", name="Go through them by pages").click()
            page.get_by_role("heading", name="Jobs 1 to 500 of 1,200").wait_for()
            assert overflow(page) == 0
            page.get_by_role("link", name="Page 2").click()
            page.get_by_role("heading", name="Jobs 501 to 1,000 of 1,200").wait_for()
            page.keyboard.press("/")
            page.keyboard.type("hole 700")
            page.get_by_text("Shown: 1 of 500 jobs").wait_for()
            assert shown(page, "tr[data-find=job]") == 1
            assert serious_faults(page) == []
            page.get_by_role("link", name="The report").click()
            page.get_by_role("heading", name="Batch: jobs.jsonl").wait_for()
