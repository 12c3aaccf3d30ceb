"""The list of runs as a page."""

from __future__ import annotations

from outcrop.ui.catalogue import Catalogue, Page
from outcrop.ui.feed import Part
from outcrop.ui.pages import Html, Pages
from outcrop.ui.watching import Look


class RunsView:
    """One page of the list, and of one search."""

    def __init__(self, catalogue: Catalogue, pages: Pages, number: int, query: str) -> None:
        self._catalogue, self._pages, self._number, self._query = catalogue, pages, number, query
        self._page: Page | None = None

    def look(self) -> Look:
        self._page = page = self._catalogue.page(self._number, self._query)
        is_more = not all(listed.totals.is_whole for listed in page.runs)
        return Look([Part("part", "runs", self._pages.runs_part(page))], is_more=is_more)

    def page(self, mark: str) -> Html:
        assert self._page is not None
        return self._pages.runs(self._page, mark)
