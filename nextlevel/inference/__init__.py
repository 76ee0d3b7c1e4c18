"""Models behind small protocols, with their time limits and error translation: the embedder, the language model."""

import re

from nextlevel.errors import Misconfigured
from nextlevel.settings import Settings

from .batched import Backend, BatchedEmbedder, Prefixes
from .embedder import Embedder, Measures, Vector, Vectors
from .endpoint import Endpoint
from .llm import LLM, Answer, Message, document, open_cheaper, open_judge, open_llm, tokens_of
from .measure import measure
from .packaged import PackagedEmbedder
from .rerank import Reranker, open_reranker
from .transformers import SentenceTransformers

__all__ = [
    "LLM",
    "Answer",
    "Embedder",
    "Measures",
    "Message",
    "PackagedEmbedder",
    "Reranker",
    "Vector",
    "Vectors",
    "document",
    "measure",
    "model_named",
    "open_cheaper",
    "open_embedder",
    "open_judge",
    "open_llm",
    "open_reranker",
    "tokens_of",
]

_E5 = re.compile(r"(?<![a-z0-9])e5(?![a-z0-9])", re.IGNORECASE)


def open_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name: behind an endpoint, in this process, or the packaged one. Asks nobody yet.

    Raises:
        EmbedderUnavailable: the model can't be loaded. Words and graph do without.
        Misconfigured: a server is named, but no model; or what the model needs is not installed.
    """
    name, base_url = settings.embed_model, settings.embed_base_url
    if base_url is not None and name is None:
        raise Misconfigured("NEXTLEVEL_EMBED_BASE_URL is set, but not NEXTLEVEL_EMBED_MODEL: name the model to ask")
    if name is None:
        return PackagedEmbedder()
    backend: Backend
    if base_url is None:
        backend = SentenceTransformers(name)
    else:
        key = None if settings.embed_api_key is None else settings.embed_api_key.get_secret_value()
        backend = Endpoint(base_url, name, key, timeout_s=settings.embed_timeout_s)
    return BatchedEmbedder(name, _prefixes(settings, name), backend)


def model_named(settings: Settings) -> str:
    """The name of the model that `open_embedder` would open, as it stands beside vectors."""
    name = settings.embed_model
    return PackagedEmbedder.model if name is None else _prefixes(settings, name).named(name)


def _prefixes(settings: Settings, name: str) -> Prefixes:
    """Those of the settings; where they say nothing, what E5 was trained with, and nothing for all others."""
    usual = Prefixes("query: ", "passage: ") if _E5.search(name) else Prefixes()
    query, passage = settings.embed_query_prefix, settings.embed_passage_prefix
    return Prefixes(usual.query if query is None else query, usual.passage if passage is None else passage)
