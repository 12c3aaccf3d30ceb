"""Figures do not depend on how many processors were free."""

from __future__ import annotations

import numpy
import pytest
from threadpoolctl import threadpool_limits

from outcrop_specialists.tools.multivariate import grouping


@pytest.mark.parametrize("groups", [2, 5])
def test_the_inertia_is_the_same_to_the_last_digit_with_any_number_of_threads(groups: int) -> None:
    values = numpy.random.default_rng(3).lognormal(1, 1, (3_000, 3))
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            found.append(grouping.kmeans(values, groups, 42)[1])
    assert found[0] == found[1] == found[2]
