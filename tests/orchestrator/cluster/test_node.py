"""One node without its cluster: what it looks at, and what it keeps between tasks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest
from processes import is_alive

from outcrop.cluster.node import Node
from outcrop.cluster.ticket import Site
from outcrop.workspace import Workspace
from outcrop_schemas import limits


@pytest.fixture
def site(workspace: Path) -> Iterator[Site]:
    held = Workspace(workspace)
    held.hold()
    probe = held.home / "cache" / "cluster-1"
    probe.write_text("content")
    yield Site(str(workspace), str(probe), "content", "auto", True, version("outcrop"))
    held.release()


def nurseries() -> list[psutil.Process]:
    """Children of this process that are one."""
    found = []
    for child in psutil.Process().children():
        try:
            if any("nursery" in word for word in child.cmdline()):
                found.append(child)
        except psutil.Error:
            continue
    return found


def test_a_node_keeps_one_nursery_for_the_runs_of_a_workspace_and_gives_it_up(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "NODE_IDLE_SECONDS", 5.0)
    before, node = nurseries(), Node()
    told = node.look(site)
    assert told["proof"]["sets"]["cold"]["network_denied"]["active"], told
    assert Path(site.probe).with_name(told["written"]).read_text() == "content"[::-1]
    Path(site.probe).with_name("cluster-2").write_text("other")
    other = replace(site, probe=str(Path(site.probe).with_name("cluster-2")), content="other")
    assert "reason" not in node.look(other)

    async def warm() -> None:
        for of_either in (site, other):
            async with node._ground(of_either) as ground:
                ground.launcher.warm()

    node._background.run(warm())
    [nursery] = [one for one in nurseries() if one not in before]
    until = time.monotonic() + 30
    while is_alive(nursery) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_alive(nursery)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"content": "another"}, "has other content on this node"),
        ({"probe": "/no/such/probe"}, "is not the orchestrator's workspace on this node"),
        ({"version": "0.0.0"}, "install the same"),
    ],
)
def test_what_a_node_cannot_do_is_told_before_anything_is_started(
    change: dict[str, str], told: str, site: Site
) -> None:
    before = nurseries()
    assert told in Node().look(replace(site, **change))["reason"]  # type: ignore[arg-type]
    assert nurseries() == before
