"""What a turn says that is worth keeping. One door, `extract`, whatever stands behind it: here the rules."""

from .found import Dropped, Extraction
from .rules import extract

__all__ = ["EXTRACTOR", "Dropped", "Extraction", "extract"]

EXTRACTOR = "rules/1"
"""Name and version of the extractor, stored with what it found; a new number allows the old turns to be read again."""
