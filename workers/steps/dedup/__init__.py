"""Is a new fact one we know, one that says it better, one that replaces what we know, or news?

`decision` asks each known fact in turn; `compare` holds the rules for two; `reading` reads a fact as words that weigh,
with the help of `terms`, `dates` and `lexicon`. Pure: no store, no model.
"""

from .compare import Relation
from .decision import Decision, Verdict, decide, fact_hash, judge, relate

__all__ = ["Decision", "Relation", "Verdict", "decide", "fact_hash", "judge", "relate"]
