"""Linking: which known entity a mention means.

`aliases` holds the names · `spoken` takes a mention apart · `resolve` goes down the ladder of names, `people` by parts
of a person's, `slips` under slips of the pen · `choose` decides among bearers of one name · `scan` finds all names in a
text · `reference` says what a pronoun or a bare noun means · `candidate` puts it to use. No cosine links anything.
"""

from .aliases import AliasCache, Aliases
from .candidate import Heard, link

__all__ = ["AliasCache", "Aliases", "Heard", "link"]
