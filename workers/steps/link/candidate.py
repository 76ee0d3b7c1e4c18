"""A candidate with canonical names: its subject, its entities, the known ones that its sentence names."""

from __future__ import annotations

from dataclasses import replace

from nextlevel.model import Candidate, EntityType

from .aliases import Aliases
from .reference import by_kind, by_pronoun, refers
from .resolve import Link, resolve
from .scan import scan
from .spoken import Mention, at

MOST_ENTITIES = 20


def meant(mention: Mention, aliases: Aliases) -> Link:
    """The known entity that a mention means, by name or by reference."""
    if refers(mention) is not None and not aliases.bearers(mention.key):
        return by_pronoun(mention, aliases)
    found = resolve(mention, aliases)
    if found.known is None and not found.rivals:
        found = by_kind(mention, aliases)
    return found


def link(candidate: Candidate, aliases: Aliases, before: str = "") -> Candidate:
    """The candidate with canonical names for what is known. `before` is what the session said before its sentence."""
    text = f"{before}\n{candidate.span}" if before else candidate.span
    mention = at(text, candidate.subject, len(text) - len(candidate.span))
    if mention is None:
        mention = Mention(candidate.subject, 0, len(candidate.subject))
    subject = meant(mention, aliases).known
    named = [(each.known.name, each.known.type) for each in scan(candidate.span, aliases) if each.known is not None]
    own = [_canonical(name, kind, aliases) for name, kind in candidate.entities]
    about = [(subject.name, subject.type)] if subject else []
    entities = tuple(dict.fromkeys([*about, *own, *named]))[:MOST_ENTITIES]
    name = subject.name if subject else candidate.subject
    # A fact about a project belongs to it, whatever project was in focus when it was told.
    project = name if (name, EntityType.PROJECT) in entities else candidate.project
    return replace(candidate, subject=name, entities=entities, project=project)


def _canonical(name: str, kind: EntityType, aliases: Aliases) -> tuple[str, EntityType]:
    known = resolve(Mention(name, 0, len(name)), aliases).known
    if known is None or (known.type is not kind and kind is not EntityType.TOPIC):
        return name, kind
    return known.name, known.type
