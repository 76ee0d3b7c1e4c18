"""A candidate with canonical names: its subject, its entities, the known ones that its sentence names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nextlevel.lang.tokens import WORD, fold
from nextlevel.model import BlockType, Candidate, EntityType, Turn

from ..extract.rules.focus import NOBODYS, told_project
from .aliases import Aliases
from .reference import LOOK_BACK, by_kind, by_pronoun, last_named, refers
from .resolve import NEW, Link, resolve
from .scan import scan
from .spoken import Mention, at

MOST_ENTITIES = 20
_NAMED = frozenset({"named", "declined", "people", "initials"})


@dataclass(frozen=True, slots=True)
class Heard:
    """What a session said so far, in the user's words, and the project that the host named or works in."""

    before: str = ""
    turn: str = ""
    project: str | None = None

    def until(self, span: str) -> str:
        """All that was said before a sentence of this turn, the last of it where there is much."""
        head = self.turn[: max(0, self.turn.find(span))]
        return f"{self.before}\n{head}"[-LOOK_BACK:]

    @staticmethod
    def of(turn: Turn, window: Sequence[Turn]) -> Heard:
        """What a turn's candidates may refer to: `window` holds the session's earlier turns, oldest first."""
        return Heard("\n".join(each.user_text for each in window), turn.user_text, told_project(turn))


def meant(mention: Mention, aliases: Aliases) -> Link:
    """The known entity that a mention means, by name or by reference."""
    if refers(mention) is not None and not aliases.bearers(mention.key):
        return by_pronoun(mention, aliases)
    found = resolve(mention, aliases)
    if found.known is None and not found.rivals:
        return by_kind(mention, aliases)
    if found.rivals and found.how == "by_head":
        return Link(last_named(mention, found.rivals, aliases), how=found.how)  # a common noun leaves no doubt to clear
    return found


def link(candidate: Candidate, aliases: Aliases, said: Heard = Heard()) -> Candidate:
    """The candidate with canonical names for what is known, in the project it was told of."""
    before = said.until(candidate.span)
    subject = _subject(candidate, aliases, said, before)
    name = subject.known.name if subject.known else candidate.subject
    named = [(each.known.name, each.known.type) for each in scan(candidate.span, aliases) if each.known is not None]
    about = [(subject.known.name, subject.known.type)] if subject.known else []
    own = [
        _canonical(each, kind, aliases)
        for each, kind in candidate.entities
        if not about or each.casefold() != candidate.subject.casefold()
    ]
    entities = tuple(dict.fromkeys([*about, *own, *named]))[:MOST_ENTITIES]
    project = _project(candidate, name, entities, aliases, said, before)
    if project != candidate.project:  # the extractor named another, which was in focus and is not spoken of
        entities = tuple(each for each in entities if each[0] != candidate.project or each in named)
    return replace(
        candidate,
        subject=name,
        entities=entities,
        project=project,
        may_be=_in_doubt(subject),
    )


def _in_doubt(subject: Link) -> tuple[str, ...]:
    """Between whom a person must decide: bearers of one name. What a pronoun may mean is no question to ask later."""
    return tuple(rival.name for rival in subject.rivals) if subject.how in _NAMED else ()


def _subject(candidate: Candidate, aliases: Aliases, said: Heard, before: str) -> Link:
    """What the candidate is about: what its subject means in its sentence; where that names none, what its first word
    points to, else the project in focus."""
    text = f"{before}\n{candidate.span}"
    start = len(text) - len(candidate.span)
    mention = at(text, candidate.subject, start)
    if mention is not None:
        return meant(mention, aliases)
    first = WORD.search(text, start)
    if first is not None and refers(pronoun := Mention(text, first.start(), first.end())) is not None:
        pointed = by_pronoun(pronoun, aliases)
        if pointed.known is not None:
            return pointed
    elif said.project is None and candidate.subject in (NOBODYS, candidate.project):
        focus = _in_focus(aliases, before)
        if focus.known is not None:
            return focus
    return meant(Mention(candidate.subject, 0, len(candidate.subject)), aliases)


def _in_focus(aliases: Aliases, before: str) -> Link:
    """The project that the session named last."""
    named = [each.known for each in scan(before, aliases) if each.type is EntityType.PROJECT]
    return Link(named[-1], how="in focus") if named and named[-1] is not None else NEW


def _project(
    candidate: Candidate,
    name: str,
    entities: Sequence[tuple[str, EntityType]],
    aliases: Aliases,
    said: Heard,
    before: str,
) -> str | None:
    """The project that a fact belongs to: itself; else, of a noun ("the tests"), the one in focus.

    A person or a host is the same in all projects, and so is what the user likes.
    """
    if (name, EntityType.PROJECT) in entities:
        return name
    noun = name.islower() and fold(name) != "user" and name not in {each for each, _ in entities}
    if said.project is not None or not noun or candidate.type is BlockType.USER_PREFERENCE:
        return candidate.project
    focus = _in_focus(aliases, before).known
    return focus.name if focus else candidate.project


def _canonical(name: str, kind: EntityType, aliases: Aliases) -> tuple[str, EntityType]:
    known = resolve(Mention(name, 0, len(name)), aliases).known
    if known is None or (known.type is not kind and kind is not EntityType.TOPIC):
        return name, kind
    return known.name, known.type
