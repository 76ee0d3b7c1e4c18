"""The patterns of a language pack applied to one statement: each match becomes a candidate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from nextlevel.lang.tokens import fold, stop_words
from nextlevel.model import BlockType, Candidate, Category, EntityType

from ... import predicates
from .focus import NOBODYS, Focus
from .names import database
from .pack import TRIM, Pack, Rule, groups
from .statement import KEEPS_VERB, parse, resolve

_PORT = re.compile(r"\d{2,5}")
_NAMED = re.compile(r"[`„“\"']|[.,:;!]+$")
_SAID_OF_THINGS = frozenset({"behaves", "uses", "goes_to", "on_host"})
"""Of a person their verbs say something else: then the words as they stand say it best."""
_DAYS = frozenset({"deadline", "goes_live_on", "takes_place_on"})
_VALUE_END = re.compile(r",|\s\(")


def by_patterns(text: str, draft: Candidate, pack: Pack, focus: Focus) -> Iterator[tuple[Rule, Candidate]]:
    """What the pack's patterns find, in the order in which they end, so that "she" is the person named last."""
    hits = [
        (match.end(), match.start(), n, rule, match)
        for n, rule in enumerate(pack.rules)
        if (match := rule.regex.search(text))
    ]
    hits = [hit for hit in hits if hit[3].alone] or hits
    taken: set[tuple[str, str | None]] = set()
    persons: set[str] = set()
    for *_, rule, match in sorted(hits, key=lambda hit: hit[:3]):
        made = _made(rule, match, text, draft, pack, focus)
        if made is None or (made.value is not None and (made.predicate, made.value) in taken):
            continue
        if rule.role == "project":
            name = _NAMED.sub("", groups(match)["value"])
            if pack.has("no_name", name) or any(name == known for known in persons):
                continue
            unknown = focus.subject == NOBODYS
            focus.introduced(name)
            if made.subject == NOBODYS and unknown:
                continue
        elif rule.role == "person":
            persons.add(made.subject)
        taken.add((made.predicate, made.value))
        yield rule, made
        if made.predicate == "has_version" and database(made.subject) == made.subject:
            yield rule, _in_use(made, focus)


def _made(rule: Rule, match: re.Match[str], text: str, draft: Candidate, pack: Pack, focus: Focus) -> Candidate | None:
    caught = {name: _bare(value) for name, value in groups(match).items()}
    subject = _subject(rule, caught, text, pack, focus)
    object_ = _filled(rule.object, caught)
    if not subject or not object_:
        return None
    predicate, object_ = _predicate(rule, object_, pack)
    if predicate == "has_version":
        draft = replace(draft, valid_to=None)  # "to 11.4" is no day in April
    known = predicates.get(predicate)
    entities = draft.entities
    if rule.role == "person":
        focus.person = subject
        entities = with_entity(entities, subject, EntityType.PERSON)
    elif rule.role == "value_person":
        entities = with_entity(entities, caught["value"], EntityType.PERSON)
    elif rule.role == "project":
        entities = with_entity(entities, caught["value"], EntityType.PROJECT)
    return replace(
        ends_on(draft, predicate),
        type=rule.type or known.type or BlockType.ENTITY_RELATIONSHIP,
        category=rule.category or known.category or (Category.CONTACT if rule.role == "person" else Category.PROJECT),
        subject=subject,
        predicate=predicate,
        object=object_,
        key=known.key,
        value=(database(object_) or bare_value(object_, pack)) if known.key else None,
        confidence=rule.confidence,
        rule=rule.name,
        corrects=rule.corrects,
        negated=rule.negated,
        entities=entities,
    )


def _in_use(version: Candidate, focus: Focus) -> Candidate:
    """A version of a database, as what the project uses."""
    named, known = f"{version.subject} {version.object}", predicates.get("uses_database")
    return replace(
        version, subject=focus.subject, predicate=known.name, object=named, key=known.key, value=database(named)
    )


def ends_on(draft: Candidate, predicate: str) -> Candidate:
    """A due date, a launch or an appointment is an end, however its clause put it."""
    if predicate not in _DAYS or draft.valid_from is None or draft.valid_to is not None:
        return draft
    last = draft.valid_from.replace(hour=23, minute=59, second=59)
    return replace(draft, valid_from=None, valid_to=last)


def bare_value(object_: str, pack: Pack) -> str:
    """The value itself, without what is said beside it: "postgres 15 on birke-02" is "postgres 15"."""
    ends = (pattern.search(object_, 1) for pattern in (_VALUE_END, pack.cues["value_end"]))
    return object_[: min((end.start() for end in ends if end), default=len(object_))].strip(TRIM)


def with_entity(
    entities: tuple[tuple[str, EntityType], ...], name: str, kind: EntityType
) -> tuple[tuple[str, EntityType], ...]:
    """The entities and one more, unless it is there already."""
    return entities if any(name == known for known, _ in entities) else (*entities, (name, kind))


def _bare(text: str) -> str:
    """Without outer punctuation, and without back ticks that hold all of it."""
    text = text.strip(TRIM)
    return text.strip("`") if text.count("`") in (1, 2) and text.strip("`").count("`") == 0 else text


def _filled(template: str, caught: dict[str, str]) -> str:
    for name, value in caught.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def _subject(rule: Rule, caught: dict[str, str], text: str, pack: Pack, focus: Focus) -> str | None:
    """Whom or what a pattern speaks of, pronouns resolved."""
    if rule.subject == "user":
        return "user"
    if rule.subject == "focus":
        return focus.subject
    if rule.subject == "person" and focus.person is not None and focus.person in text:
        return focus.person
    template = "{subject}" if rule.subject == "person" else rule.subject
    named = "" if template == "left" else _filled(template, caught)
    if not named:
        said = parse(text, pack, focus)
        return said.subject if said is not None and said.kind != "user" else focus.topic or focus.subject
    if rule.role == "person":
        return focus.who if named.casefold() in pack.pronouns["person"] else _person(named, pack)
    return resolve(named, pack, focus)[0]


def _person(named: str, pack: Pack) -> str | None:
    """A person's name as it stands; words that are capitalised only because they begin a sentence are none."""
    first, _, rest = named.partition(" ")
    # Of this language only: Bo is a Swede, and "bo" is Polish for "because".
    is_function_word = pack.spaced and fold(first) in stop_words(pack.language)
    if first.casefold() in pack.pronouns["article"] or (is_function_word and rest.islower()):
        return _person(rest, pack) if rest else None
    known = (pack.pronouns[kind] for kind in ("thing", "first", "generic"))
    return None if any(first.casefold() in words for words in known) or is_function_word else named


def _predicate(rule: Rule, object_: str, pack: Pack) -> tuple[str, str]:
    """A pattern's predicate, made exact by the value's form, or by the verb that a person's work begins with."""
    if rule.predicate == "uses" and database(object_):
        return "uses_database", object_
    if rule.predicate == "uses" and _PORT.fullmatch(object_):
        return "runs_on_port", object_
    verb = pack.verbs.match(object_) if rule.predicate == "does" else None
    if verb is None:
        return rule.predicate, object_
    predicate, rest = pack.said[" ".join(verb[0].casefold().split())], object_[verb.end() :].strip(TRIM)
    if predicate in _SAID_OF_THINGS:
        return "does", object_
    return (predicate, object_) if predicate in KEEPS_VERB or not rest else (predicate, rest)
