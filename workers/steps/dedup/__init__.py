"""Is a new fact one we know, one that says it better, one that replaces what we know, or news?

`decision` asks each known fact in turn; `compare` holds the rules for two; `reading` reads a fact as words that weigh,
with the help of `terms`, `dates` and the dictionary of `nextlevel.lang`. `grey` says where the rules can't decide;
`judge` puts that to a model, and `judged` takes its verdict for the rules'. But for that question all is pure: no
store, no model.
"""

from .compare import Relation
from .decision import Decision, Verdict, decide, fact_hash, hash_of, relate, weigh
from .judged import Judged, Pair

__all__ = [
    "Decision",
    "Judged",
    "Pair",
    "Relation",
    "Verdict",
    "decide",
    "fact_hash",
    "hash_of",
    "relate",
    "weigh",
]
