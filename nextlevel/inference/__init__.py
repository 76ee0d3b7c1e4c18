"""Models behind small protocols, with their time limits and error translation: the embedder, the language model."""

from nextlevel.settings import Settings

from .embedder import Embedder, Vector, Vectors
from .llm import LLM, Answer, Message, open_cheaper, open_llm
from .packaged import PackagedEmbedder

__all__ = ["LLM", "Answer", "Embedder", "Message", "Vector", "Vectors", "open_cheaper", "open_embedder", "open_llm"]


def open_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name; so far there is one, and it needs neither network nor key.

    Raises:
        EmbedderUnavailable: the model can't be loaded. Words and graph do without.
    """
    return PackagedEmbedder()
