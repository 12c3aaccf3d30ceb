"""One cluster for all tests of it, and a pool on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from outcrop import Pool

pytest.importorskip("distributed", reason="the extra `dask` is not installed")

from servers.dask_cluster import Cluster, running


@pytest.fixture(scope="module")  # no longer: other tests look for processes that were left
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture
def cluster(_cluster: Cluster) -> Cluster:
    _cluster.wait()
    return _cluster


@pytest.fixture
async def pool(cluster: Cluster, workspace: Path) -> AsyncIterator[Pool]:
    async with Pool(workspace=workspace, backend=cluster.backend) as opened:
        yield opened


@pytest.fixture
def soils(shared: Path) -> Path:
    return shared / "data" / "files" / "colorado_soils.csv"
