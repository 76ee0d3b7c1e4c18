"""Models behind small protocols, with their time limits and error translation: for now the embedder."""

from nextlevel.settings import Settings

from .embedder import Embedder, Vector, Vectors
from .packaged import PackagedEmbedder

__all__ = ["Embedder", "Vector", "Vectors", "open_embedder"]


def open_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name; so far there is one, and it needs neither network nor key.

    Raises:
        EmbedderUnavailable: the model can't be loaded. Words and graph do without.
    """
    return PackagedEmbedder()
