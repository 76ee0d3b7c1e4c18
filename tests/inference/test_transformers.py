"""sentence-transformers in the process. The package weighs gigabytes: its one call is stood in for by a module."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from nextlevel import settings
from nextlevel.errors import EmbedderUnavailable, Misconfigured
from nextlevel.inference import open_embedder

STAND_IN = """
import numpy as np

class SentenceTransformer:
    def __init__(self, name):
        if name == "nobody/nothing":
            raise OSError("no such model")

    def encode(self, texts, show_progress_bar):
        return np.array([[len(text), 1] for text in texts], dtype=np.float64)
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    (tmp_path / "sentence_transformers.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    yield
    sys.modules.pop("sentence_transformers", None)


@pytest.mark.skipif(importlib.util.find_spec("sentence_transformers") is not None, reason="it is installed here")
def test_without_the_extra_the_command_that_brings_it_is_told():
    with pytest.raises(Misconfigured, match=r"pip install 'hermes-nextlevel\[gpu\]'"):
        open_embedder(settings.load(embed_model="intfloat/multilingual-e5-large"))


@pytest.mark.usefixtures("installed")
async def test_texts_get_their_prefixes_and_vectors_unit_length():
    embedder = open_embedder(settings.load(embed_model="intfloat/multilingual-e5-large"))
    rows = await embedder.passages(["ab"])
    await embedder.close()
    assert np.allclose([[11 / 122**0.5, 1 / 122**0.5]], rows)
    assert np.float32 == rows.dtype


@pytest.mark.usefixtures("installed")
def test_a_model_that_can_not_be_loaded_leaves_words_and_graph():
    with pytest.raises(EmbedderUnavailable, match="no such model"):
        open_embedder(settings.load(embed_model="nobody/nothing"))
