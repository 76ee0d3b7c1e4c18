"""Which known entity does a mention mean? As the link stage would say of a fact about it."""

from __future__ import annotations

from typing import Any
from uuid import NAMESPACE_OID, uuid5

from nextlevel.lang.normal import normal_name
from nextlevel.model import BlockType, Candidate, Category, Provenance
from nextlevel.store.entities import Alias, Known

from ..steps.link import Aliases, link
from .formats import KnownEntity, Mention


def predict(case: Mention) -> dict[str, Any]:
    """One line for the scorer: the case's id and the entity's name, null for a new one."""
    aliases = Aliases(row for each in case.known for row in _rows(each))
    about = Candidate(
        type=BlockType.ENTITY_RELATIONSHIP,
        category=Category.PROJECT,
        subject=case.mention,
        predicate="noted",
        object=case.text,
        confidence=0.8,
        provenance=Provenance.USER_STATED,
        span=case.text,
        rule="given",
    )
    subject = link(about, aliases).subject
    return {"id": case.id, "entity": subject if subject in {each.name for each in case.known} else None}


def _rows(entity: KnownEntity) -> list[Alias]:
    """The entity as its names lead to it. Of a person and a firm of one name, each stays itself."""
    known = Known(uuid5(NAMESPACE_OID, f"{entity.type}\x1f{entity.name}"), entity.name, entity.type)
    return [
        Alias(alias, known) for alias in dict.fromkeys(normal_name(each) for each in (entity.name, *entity.aliases))
    ]
