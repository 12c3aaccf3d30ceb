"""The pages of the live view: a run by the code of its report, the list and the rest in the same style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from outcrop.report.dispatches import RUNNING, WAITING
from outcrop.report.facts import RunFacts
from outcrop.report.page import SECTIONS, Dress, asset, environment, policy_of, render_page, render_section
from outcrop.runs import RunFolder
from outcrop.text import age
from outcrop.ui.catalogue import Page
from outcrop.ui.compare import Comparison
from outcrop.ui.earlier import Rows
from outcrop.ui.files import Codes
from outcrop.ui.follow import Totals
from outcrop_schemas.outcome import STATUSES

if TYPE_CHECKING:
    from jinja2 import Environment

    from outcrop.ui.batch_jobs import JobRows

_CHANGES = {"same": "the same", "changed": "changed", "only_first": "first only", "only_second": "second only"}
_SOURCES = {"connect-src": "'self'", "img-src": "'self' data:", "form-action": "'self'"}
_HOME = "../../"
_FRAMES = "; frame-ancestors 'none'"


@dataclass(frozen=True)
class Html:
    """A page and the content security policy that it is sent with."""

    text: str
    policy: str


@dataclass(frozen=True)
class LiveLinks:
    """What a page of a run refers to: files that its outcomes name, other runs, the end of a dispatch."""

    run_id: str
    runs: Path
    named: frozenset[str]
    codes: Codes
    is_under_way: bool

    def file(self, path: str) -> str | None:
        return f"file/{self.codes.address(self.run_id, path)}" if path in self.named else None

    def run(self, run_id: str) -> str | None:
        is_there = "/" not in run_id and RunFolder(self.runs / run_id).has_begun()
        return f"../{quote(run_id)}/" if is_there else None

    def jobs(self) -> str | None:
        return "jobs"

    def cancel(self, dispatch_id: str) -> str | None:
        return f"cancel/{quote(dispatch_id)}" if self.is_under_way else None


class Pages:
    """Makes the pages of one workspace."""

    def __init__(self, workspace: Path, runs: Path, codes: Codes) -> None:
        self._workspace, self._runs, self._codes = workspace, runs, codes

    def warm(self) -> None:
        """Have ready what the first page needs: reading the templates takes half a second."""
        for known in (environment(), _environment()):
            for name in known.list_templates(extensions=("html",)):
                known.get_template(name)

    # --- one run

    def links(self, facts: RunFacts, *, is_under_way: bool) -> LiveLinks:
        """The links of a page with these facts."""
        named = {artifact.path for artifact in facts.artifacts}
        named |= {artifact.path for fact in facts.dispatches.shown for artifact in fact.outcome_artifacts}
        return LiveLinks(facts.run_id, self._runs, frozenset(named), self._codes, is_under_way)

    def shown(self, facts: RunFacts, links: LiveLinks) -> RunFacts:
        """The same facts with pictures by their address: they need not be sent again with each change."""
        artifacts = [replace(each, picture=links.file(each.path)) if each.picture else each for each in facts.artifacts]
        return replace(facts, artifacts=artifacts)

    def run(self, facts: RunFacts, links: LiveLinks, totals: Totals, mark: str) -> Html:
        """The page of a run."""
        dress = self._dress("events", mark, self.reading(totals, is_under_way=links.is_under_way), home=_HOME)
        return Html(render_page(facts, links, dress), policy_of(dress) + _FRAMES)

    def sections(self, facts: RunFacts, links: LiveLinks) -> dict[str, str]:
        """All that may change on it, by the ids of the elements."""
        names = ["head", "contents", *(section.name for section in SECTIONS)]
        return {name: render_section(name, facts, links, Dress(home=_HOME)) for name in names}

    def reading(self, totals: Totals, *, is_under_way: bool) -> str:
        """How far the journal was read, and what there is in all."""
        return self._rendered("reading.html", totals=totals, is_under_way=is_under_way)

    def earlier(self, run_id: str, found: Rows, status: str, words: str, totals: Totals) -> Html:
        """Dispatches by pages."""
        told: Mapping[str, Any] = {"found": found, "status": status, "words": words, "totals": totals}
        return self._plain("earlier.html", run_id=run_id, statuses=[WAITING, RUNNING, *STATUSES], **told)

    def jobs(self, run_id: str, found: JobRows, totals: Totals, mark: str) -> Html:
        """Jobs of a batch by pages."""
        asked = found.asked
        events = f"jobs/events?{asked.address(asked.number, is_before=asked.is_before)}"
        dress = self._dress(events, mark, "", home=None)
        part = _safe(self.jobs_part(run_id, found, totals))
        statuses = sorted({*found.counts, *filter(None, (asked.status,))})
        told: Mapping[str, Any] = {"run_id": run_id, "found": found, "statuses": statuses, "part": part}
        return self._plain("jobs.html", dress, live=dress.bar, **told)

    def jobs_part(self, run_id: str, found: JobRows, totals: Totals) -> str:
        """What changes on it."""
        links = LiveLinks(run_id, self._runs, frozenset(), self._codes, is_under_way=False)
        return self._rendered("jobs_part.html", found=found, totals=totals, links=links)

    # --- the others

    def runs(self, page: Page, mark: str) -> Html:
        """The list of runs."""
        events = f"events?page={page.number}&q={quote(page.query)}"
        dress = self._dress(events, mark, "", home=None)
        return self._plain("runs.html", dress, page=page, workspace=str(self._workspace), live=dress.bar)

    def runs_part(self, page: Page) -> str:
        """What changes on it."""
        return self._rendered("runs_part.html", page=page)

    def compared(self, found: Comparison) -> Html:
        """Two runs side by side."""
        told: Mapping[str, Any] = {"one": found.first, "other": found.second, "sections": found.sections}
        return self._plain("compare.html", changes=_CHANGES, **told)

    def told(self, title: str, text: str, home: str) -> Html:
        """Why there is no page."""
        return self._plain("told.html", title=title, text=text, home=home)

    # --- how they are made

    def _dress(self, events: str, mark: str, reading: str, home: str | None) -> Dress:
        bar = self._rendered("live.html", events=events, mark=mark, reading=_safe(reading))
        return Dress(_own("live.js"), _SOURCES, home, style=_own("live.css"), bar=bar)

    def _plain(self, template: str, dress: Dress | None = None, **told: Any) -> Html:
        dress = dress or Dress("", _SOURCES, None, style=_own("live.css"))
        told = {name: _safe(value) if name == "live" else value for name, value in told.items()}
        text = self._rendered(
            template,
            style=_safe(asset("page.css")),
            more_style=_safe(dress.style),
            script=_safe(asset("page.js")),
            live_script=_safe(dress.script),
            **told,
        )
        return Html(text, policy_of(dress) + _FRAMES)

    def _rendered(self, template: str, **told: Any) -> str:
        return _environment().get_template(template).render(**told)


def _safe(text: str) -> Any:
    """Markup of our own."""
    from markupsafe import Markup

    return Markup(text)


@cache
def _own(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text("utf-8")


@cache
def _environment() -> Environment:
    own = environment(__package__)
    own.filters["age"] = age
    return own
