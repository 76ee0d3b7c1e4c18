"""What a turn says that is worth keeping. One door, `extract`, whatever stands behind it: here the rules."""

from .found import Dropped, Extraction
from .rules import extract

__all__ = ["Dropped", "Extraction", "extract"]
