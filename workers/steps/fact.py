"""A candidate with its place in memory: where it belongs, since when it holds, and the hash that makes it one fact."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nextlevel.model import BlockType, Candidate, EntityType, block_text
from nextlevel.store.turns import Claim

from . import dedup


@dataclass(frozen=True, slots=True)
class Fact:
    """Preferences are the person's, under every profile; all else belongs to the profile it was told under."""

    candidate: Candidate
    scope_id: UUID
    hash: bytes
    told_at: datetime

    @classmethod
    def of(cls, claim: Claim, candidate: Candidate) -> Fact:
        preference = candidate.type is BlockType.USER_PREFERENCE
        scope = claim.scope.user_scope if preference else claim.scope.profile_scope
        return cls(candidate, scope, dedup.hash_of(candidate), claim.turn.at)

    @property
    def since(self) -> datetime:
        return self.candidate.valid_from or self.told_at

    @property
    def text(self) -> str:
        """The sentence that stands for it: what is embedded, compared by words, and shown."""
        return sentence(self.candidate)

    @property
    def kind(self) -> EntityType:
        """What its subject is: as the extractor says, else a topic."""
        name = self.candidate.subject
        if name == "user":
            return EntityType.PERSON
        kinds = {entity.casefold(): kind for entity, kind in self.candidate.entities}
        return kinds.get(name.casefold(), EntityType.TOPIC)


def sentence(told: Candidate) -> str:
    return block_text(told.subject, told.predicate, told.object, negated=told.negated)
