"""A run's facts as a page: whole, or one section of it by its name, which a live view puts in the place of the old one.

Whatever a specialist, a model or a file said is text here: control characters are made visible, all else is escaped,
and the page allows no style, script or request but its own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from outcrop.report.charts import CHART_HEIGHT, seconds_text, token_chart
from outcrop.report.facts import RunFacts
from outcrop.report.jobs import JobFact
from outcrop.report.lineage import HEIGHT, WIDTH
from outcrop.report.links import Links
from outcrop.text import inert, shorten, size
from outcrop_schemas import limits
from outcrop_schemas.counts import named

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_GOOD = ("success", "verified", "supported")
_CALM = {
    "running": "…",
    "waiting": "…",
    "under way": "…",
    "active": "…",
    "open": "…",
    "unverifiable": "?",
} | dict.fromkeys(("cancelled", "revised", "dropped"), "–")


@dataclass(frozen=True)
class Section:
    """A part of the page: its element has this name as id, also where there is nothing to be shown in it."""

    name: str
    title: str
    has: Callable[[RunFacts], object]


SECTIONS = (
    Section("conversation", "Conversation", lambda facts: facts.conversation),
    Section("answer", "Answer", lambda facts: not facts.conversation),
    Section("undone", "Not done", lambda facts: facts.not_done),
    Section("warnings", "Warnings", lambda facts: facts.warnings or facts.notices),
    Section("hypotheses", "Hypotheses", lambda facts: facts.hypotheses),
    Section("artifacts", "Files", lambda facts: facts.artifacts),
    Section("figures", "Figures that were checked", lambda facts: facts.answer and facts.answer.claims),
    Section("repairs", "Repaired in the data", lambda facts: facts.repairs),
    Section("jobs", "Jobs", lambda facts: facts.jobs),
    Section("dispatches", "Dispatches", lambda facts: facts.dispatches.total),
    Section("lineage", "Where the files come from", lambda facts: len(facts.lineage.nodes) > 1),
    Section("tokens", "What filled the windows", lambda facts: facts.tokens.agents),
    Section("setting", "Under which conditions", lambda facts: True),
)


@dataclass(frozen=True)
class Dress:
    """What a face adds to the page: a script of its own, sources that it may use, and a way back."""

    script: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Directives of the content security policy, such as `connect-src`."""

    home: str | None = None
    """The address of the list of runs."""

    style: str = ""
    bar: str = ""
    """Markup of the face's own that stands above the content."""


def render_page(facts: RunFacts, links: Links, dress: Dress | None = None) -> str:
    """The whole page, one file without a request."""
    from markupsafe import Markup

    dress = dress or Dress()
    policy, style, script = policy_of(dress), asset("page.css"), asset("page.js")
    return (
        environment()
        .get_template("page.html")
        .render(
            **_context(facts, links),
            sections=SECTIONS,
            policy=Markup(policy.replace('"', "")),
            style=Markup(style),
            script=Markup(script),
            more_style=Markup(dress.style),
            more_script=Markup(dress.script),
            bar=Markup(dress.bar),
            home=dress.home,
        )
    )


@dataclass(frozen=True)
class JobsPage:
    """One of the pages that list all jobs of a batch. `number` counts from 1, `names` are all of them, `report` is the
    name of the page that they belong to."""

    shown: Sequence[JobFact]
    number: int
    names: Sequence[str]
    total: int
    report: str

    @property
    def first(self) -> int:
        """The number of its first job, from 1."""
        return (self.number - 1) * limits.REPORT_JOBS + 1

    @property
    def beyond(self) -> int:
        """How many jobs no page lists."""
        return max(0, self.total - len(self.names) * limits.REPORT_JOBS)


def render_jobs(facts: RunFacts, page: JobsPage, links: Links) -> str:
    """One page of a batch's jobs, beside its report and like it."""
    from markupsafe import Markup

    told = {"style": Markup(asset("page.css")), "script": Markup(asset("page.js"))}
    policy = Markup(policy_of(Dress()).replace('"', ""))
    return (
        environment().get_template("jobs_page.html").render(facts=facts, page=page, links=links, policy=policy, **told)
    )


def policy_of(dress: Dress) -> str:
    """The content security policy of a page: what may be loaded, and that nothing runs but its own."""
    own = {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src": " ".join(map(_hashed, filter(None, (asset("page.css"), dress.style)))),
        "script-src": " ".join(map(_hashed, filter(None, (asset("page.js"), dress.script)))),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in {**own, **dress.sources}.items())


def render_section(name: str, facts: RunFacts, links: Links, dress: Dress | None = None) -> str:
    """One section by its name, `head` or `contents`. Raises KeyError for a name that there is none of."""
    templates = environment()
    if name in ("head", "contents"):
        home = dress.home if dress else None
        return templates.get_template(f"{name}.html").render(**_context(facts, links), sections=SECTIONS, home=home)
    section = {section.name: section for section in SECTIONS}[name]
    return templates.get_template("section.html").render(**_context(facts, links), section=section)


@cache
def asset(name: str) -> str:
    """A file of the page's own: its style, its script."""
    return files(__package__).joinpath("templates", name).read_text("utf-8")


def _context(facts: RunFacts, links: Links) -> dict[str, Any]:
    there = {section.name for section in SECTIONS if section.has(facts)}
    return {"facts": facts, "links": links, "there": there}


@lru_cache(16)
def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def environment(*packages: str) -> Environment:
    """What templates are made with: those of the report, and of these packages."""
    # It takes 50 ms to import, and is wanted at the end of a run only.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in (*packages, __package__)]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {
        "sign": sign,
        "tone": tone,
        "chart": token_chart,
        "box": (WIDTH, HEIGHT),
        "chart_height": CHART_HEIGHT,
        "shorten": shorten,
        "same_rows": _same_rows,
        "title_chars": limits.REPORT_TITLE_CHARS,
    }
    environment.filters |= {"seconds": _seconds, "size": size, "many": many, "words": _words, "absent": _absent}
    return environment


@lru_cache(16)
def _same_rows(template: str, rows: tuple[object, ...]) -> Markup:
    """The same for every job of a batch; to escape them anew would be most of what a small page costs."""
    from markupsafe import Markup

    return Markup(environment().get_template(template).render(rows=rows))


@cache
def _absent(section: Section) -> Markup:
    """The element of a section in which there is nothing to be shown: most of them, on the page of a small job."""
    from markupsafe import Markup

    return Markup(environment().get_template("section.html").render(section=section, there=()))


def _shown(value: Any) -> Any:
    return inert(value) if type(value) is str else value


def sign(status: str) -> str:
    """A sign beside the word: colour alone tells nobody anything."""
    return {"good": "✓", "half": "◐", "bad": "✗"}.get(tone(status)) or _CALM[status]


def tone(status: str) -> str:
    """The class of a status or verdict: good, half, bad, calm."""
    if status in _GOOD:
        return "good"
    return "half" if status == "partial" else "calm" if status in _CALM else "bad"


def _seconds(value: float | None) -> str:
    return "under way" if value is None else seconds_text(value)


def many(count: int, one: str, more: str | None = None) -> str:
    """`1 file`, `2 files`, `12,000 files`."""
    return f"{count:,} {named(count, one, more)}"


def _words(name: str) -> str:
    return name.replace("_", " ")
