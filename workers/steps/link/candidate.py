"""A candidate with canonical names: its subject, its entities, the known ones that its sentence names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nextlevel.lang.tokens import WORD, fold
from nextlevel.model import BlockType, Candidate, Category, EntityType, Turn

from ..extract.rules.focus import NOBODYS, told_project
from .aliases import Aliases
from .reference import LOOK_BACK, by_kind, by_pronoun, last_named, may_mean, refers
from .resolve import NEW, Link, resolve
from .scan import Told, scan, told_by
from .spoken import Mention, at

MOST_ENTITIES = 20
_NAMED = frozenset({"named", "declined", "people", "initials"})


@dataclass(frozen=True, slots=True)
class Heard:
    """What a session said so far, in the user's words, and the project that the host named or works in.

    `told` are the names that this turn's candidates carry.
    """

    before: str = ""
    turn: str = ""
    project: str | None = None
    told: Told = ()

    def until(self, span: str) -> str:
        """All that was said before a sentence of this turn, the last of it where there is much."""
        head = self.turn[: max(0, self.turn.find(span))]
        return f"{self.before}\n{head}"[-LOOK_BACK:]

    @staticmethod
    def of(turn: Turn, window: Sequence[Turn], candidates: Sequence[Candidate] = ()) -> Heard:
        """What a turn's candidates may refer to: `window` holds the session's earlier turns, oldest first."""
        before = "\n".join(each.user_text for each in window)
        return Heard(before, turn.user_text, told_project(turn), told_by(candidates))


def meant(mention: Mention, aliases: Aliases, told: Told = ()) -> Link:
    """The entity that a mention means, by name or by reference."""
    if refers(mention) is not None and not aliases.bearers(mention.key):
        return by_pronoun(mention, aliases, told)
    found = resolve(mention, aliases)
    if found.known is None and not found.rivals:
        return by_kind(mention, aliases, told)
    if found.rivals and found.how == "by_head":
        return Link(last_named(mention, found.rivals, aliases), how=found.how)  # a common noun leaves no doubt to clear
    return found


def link(candidate: Candidate, aliases: Aliases, said: Heard = Heard()) -> Candidate:
    """The candidate with canonical names for what is known, in the project it was told of."""
    before = said.until(candidate.span)
    subject = _subject(candidate, aliases, said, before)
    about = [subject.entity] if subject.entity is not None else []
    name = about[0][0] if about else candidate.subject
    named = [(each.known.name, each.known.type) for each in scan(candidate.span, aliases) if each.known is not None]
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
        return meant(mention, aliases, said.told)
    first = WORD.search(text, start)
    if first is not None and refers(pronoun := Mention(text, first.start(), first.end())) is not None:
        return _pointed_to(pronoun, candidate, aliases, said.told)
    if said.project is None and candidate.subject in (NOBODYS, candidate.project):
        focus = _in_focus(aliases, before, said.told)
        if focus.known is not None:
            return focus
    return meant(Mention(candidate.subject, 0, len(candidate.subject)), aliases)


def _pointed_to(pronoun: Mention, candidate: Candidate, aliases: Aliases, told: Told) -> Link:
    """Whom or what the pronoun at a sentence's head means: as the text tells, else whom the extractor took it for.

    Not the latter where two fit, or where the gender tells: then the fact is nobody's.
    """
    pointed = by_pronoun(pronoun, aliases, told)
    if pointed.entity is not None and _may_be_about(candidate, *pointed.entity, is_new=pointed.known is None):
        return pointed
    kind = dict(candidate.entities).get(candidate.subject)
    two_fit = pointed.entity is None and pointed.how == "pronoun"
    if (two_fit and kind is EntityType.PERSON) or not may_mean(pronoun, candidate.subject, kind, aliases):
        return Link(how=pointed.how, new=(pronoun.said, EntityType.TOPIC))  # no name, so that it is not stored
    return meant(Mention(candidate.subject, 0, len(candidate.subject)), aliases)


def _may_be_about(candidate: Candidate, name: str, kind: EntityType, *, is_new: bool) -> bool:
    """Whether a fact may be about what its pronoun means, though the extractor said otherwise.

    Not what users say of themselves, nor what somebody does to the project in focus, unless it is how to reach them.
    Of things only those that are known: for a new one the extractor knows more of its form.
    """
    if fold(candidate.subject) == "user" or (is_new and kind is not EntityType.PERSON):
        return False
    of_project = candidate.subject in (NOBODYS, candidate.project) and candidate.subject != name
    return kind is not EntityType.PERSON or not of_project or candidate.category is Category.CONTACT


def _in_focus(aliases: Aliases, before: str, told: Told) -> Link:
    """The project that the session named last."""
    named = [each.known for each in scan(before, aliases, told) if each.type is EntityType.PROJECT]
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
    focus = _in_focus(aliases, before, said.told).known
    return focus.name if focus else candidate.project


def _canonical(name: str, kind: EntityType, aliases: Aliases) -> tuple[str, EntityType]:
    known = resolve(Mention(name, 0, len(name)), aliases).known
    if known is None or (known.type is not kind and kind is not EntityType.TOPIC):
        return name, kind
    return known.name, known.type
