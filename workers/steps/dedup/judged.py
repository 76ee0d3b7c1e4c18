"""The rules' relation of two facts, and in the grey zone that of a model which was asked before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nextlevel.model import Block, Candidate

from . import grey
from .compare import Found, Relation
from .decision import Verdict, hash_of, relate

Pair = tuple[bytes, bytes]
"""The hashes of two facts, that of the later told one first."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a model said of some pairs. Without any, the rules decide alone."""

    verdicts: Mapping[Pair, Verdict] = field(default_factory=dict)

    def relate(self, later: Candidate | Block, earlier: Candidate | Block) -> Found | None:
        """How a fact relates to one that was told before it; None: both stand."""
        found = relate(later, earlier)
        if found is not None or not self.verdicts:
            return found
        verdict = self._verdict(hash_of(later), hash_of(earlier))
        undecided = None if verdict is Verdict.DISTINCT else grey.undecided(later, earlier)
        if undecided is None or (verdict is Verdict.SAME and undecided):
            return None
        return Found(Relation(verdict), "the model's verdict")

    def _verdict(self, later: bytes, earlier: bytes) -> Verdict:
        """What is the same is so in both directions; of all else one says nothing of the other."""
        if self.verdicts.get((earlier, later)) is Verdict.SAME:
            return Verdict.SAME
        return self.verdicts.get((later, earlier), Verdict.DISTINCT)
