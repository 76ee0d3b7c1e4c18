"""A plain statement taken apart: who or what, which predicate, the rest. And bare values recognised by their form."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from nextlevel.lang.tokens import stop_words

from ... import predicates
from .focus import Focus
from .names import database, is_path, technology
from .pack import TRIM, Pack

_MOST_SUBJECT_WORDS = 7
_MOST_SUBJECT_SIGNS = 16
"""The same for a language that writes its words together."""
_LAST_PART = re.compile(r"[,，、：]")
KEEPS_VERB = frozenset({"behaves", "does", "left", "away", "available"})
"""Predicates that say nothing without the verb as it stood: it opens their object."""
_PERSONAL = frozenset({"responsible_for", "does", "knows", "left", "away", "available", "works_on"})
_PORT = re.compile(
    r"(?:ports?\s+)?(\d{4,5}|(?<=port\s)\d{2,5})(?![\w.:/%-]|\s*(?:%|ms|s|min|lines|rows|mb|gb|€|\$|euro|eur)\b)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"((?:\d{1,3}\.){3}\d{1,3})(?!\d)")
_URL = re.compile(r"(https?://\S+[^\s.,;)])")
_VERSION = re.compile(r"(v?\d+\.\d+(?:\.\d+)*)(?![\w%])")
_BARE_VERSION = re.compile(r"v?\d+(?:\.\d+)+")
_BRANCH = re.compile(r"[`'\"]?((?:feat|feature|fix|bugfix|hotfix|chore|refactor|topic|spike|wip|release)/[\w./-]*\w)")
_PATH = re.compile(r"[`'\"]?((?:~|\.{1,2}|[a-z]{2,8}:/|[\w.@-]+)?/[\w.@~<>*{}/-]+)")


@dataclass(frozen=True, slots=True)
class Statement:
    """`said` is the verb phrase as it stood; `value` the bare value where the object is one."""

    subject: str
    predicate: str
    object: str
    said: str = ""
    value: str | None = None
    kind: str = "thing"


def parse(text: str, pack: Pack, focus: Focus) -> Statement | None:
    """Subject, predicate and object of a clause, or None where it has no such form; pronouns resolved by the focus."""
    colon = _colon(text, pack, focus)
    if colon is not None:
        return colon
    for verb in pack.verbs.finditer(text):
        left, right = text[: verb.start()].strip(TRIM), text[verb.end() :].strip(TRIM)
        said = " ".join(verb[0].casefold().replace("’", "'").split())
        said, right = _whole_verb(said, right, pack)
        predicate = pack.said.get(said)
        left = _LAST_PART.split(left)[-1].strip(TRIM)
        if predicate is None or (not right and predicate not in KEEPS_VERB) or len(left.split()) > _MOST_SUBJECT_WORDS:
            continue
        if _is_mixed(left, pack):
            continue
        if left and left.split()[0].casefold() in pack.pronouns["preposition"]:
            # "With -n auto it hangs": what stands before the verb says when, not what.
            return Statement(focus.topic or focus.subject, "noted", text.strip(TRIM), said)
        subject, kind = resolve(left, pack, focus)
        if subject is None:
            continue
        if predicate == "is_called" and right.casefold().startswith(f"{subject.casefold()} "):
            kind = "person"  # "ada heter ada lovelace"
        if predicate in _PERSONAL and kind == "thing" and _may_be_person(subject, left, pack):
            kind = "person"
        predicate = _of_kind(predicate, kind, right)
        right = _without_name(right, subject) if predicate == "is" else right
        object_ = f"{verb[0]} {right}".strip() if predicate in KEEPS_VERB else right
        return typed(Statement(subject, predicate, object_, said, kind=kind), left, pack, focus)
    return None


def _whole_verb(said: str, right: str, pack: Pack) -> tuple[str, str]:
    """The verb with the words that an adverb parts from it: "is now hosted on" is "is hosted on"."""
    rest = _without(pack, "adverb", right)
    words = rest.split()
    for size in (2, 1):
        whole = f"{said} {' '.join(words[:size]).casefold()}"
        if rest != right and len(words) > size and whole in pack.said:
            return whole, " ".join(words[size:])
    return said, right


def _without_name(object_: str, subject: str) -> str:
    """ "This is larkfield, the shop of a farm" says of larkfield that it is the shop of a farm."""
    name, _, rest = object_.partition(",")
    return rest.strip(TRIM) if rest and name.casefold() == subject.casefold() else object_


def _of_kind(predicate: str, kind: str, object_: str) -> str:
    """The predicate as it is meant of a person or of a thing: a team is run by somebody, a machine runs an OS."""
    if kind in ("person", "user"):
        return "does" if predicate == "behaves" else predicate
    if predicate == "does":
        return "behaves"
    if predicate == "responsible_for":
        return "uses" if technology().match(object_) else "behaves"
    return predicate


def is_clear(said: Statement, pack: Pack) -> bool:
    """Whether the subject names something: no bare number, no half of a bracket, no clause with its own speaker."""
    subject = said.subject
    words = subject.casefold().split()
    if not any(c.isalpha() for c in subject) or subject.count("(") != subject.count(")") or len(subject) < 2:
        return False
    if not pack.spaced and len(subject) > _MOST_SUBJECT_SIGNS:
        return False
    talks = pack.pronouns["first"] | pack.pronouns["you"]
    points = pack.pronouns["thing"] | pack.pronouns["person"]
    return len(words) == 1 or not (any(word in talks for word in words) or words[-1] in points)


def points_back(said: Statement, pack: Pack) -> bool:
    """Whether only the sentence before tells what is done: "Ada does it at night"."""
    first = said.object.partition(" ")[0].casefold()
    return said.predicate == "responsible_for" and first in pack.pronouns["thing"] - pack.pronouns["article"]


def is_bare_verb(said: Statement) -> bool:
    """Whether a verb is all that is said of its subject: "the cache works"."""
    return said.predicate == "behaves" and said.object.casefold() == said.said


def _is_mixed(left: str, pack: Pack) -> bool:
    """Whether the words before a verb hold a second subject: then they are a clause, or talk to the agent."""
    words = left.casefold().split()
    return any(word in pack.pronouns["first"] for word in words[1:]) or any(
        word in pack.pronouns["you"] for word in words
    )


def _may_be_person(subject: str, left: str, pack: Pack) -> bool:
    """One or two words without an article, no technology: who "handles the accounts" is somebody."""
    words = left.split()
    if (
        not 0 < len(words) <= 2
        or words[0].casefold() in pack.pronouns["article"]
        or not subject.replace(" ", "").isalpha()
    ):
        return False
    return technology().search(subject) is None and subject.casefold() not in pack.pronouns["generic"]


def _colon(text: str, pack: Pack, focus: Focus) -> Statement | None:
    head, colon, rest = text.partition(": ")
    if not colon or not rest.strip() or len(head.split()) > 5 or pack.verbs.search(head):
        return None
    subject, kind = resolve(head.strip(TRIM), pack, focus)
    if subject is None:
        return None
    return typed(Statement(subject, "noted", rest.strip(TRIM), ":", kind=kind), head, pack, focus)


def resolve(left: str, pack: Pack, focus: Focus) -> tuple[str | None, str]:
    """The subject that words in front of a verb stand for, and whether it is `user`, `person` or `thing`."""
    words = left.split()
    while words and (words[0].casefold().strip(TRIM) in pack.pronouns["conjunction"] or not words[0].strip(TRIM)):
        words = words[1:]
    if not words:
        return focus.topic or focus.subject, "person" if focus.topic and focus.topic == focus.person else "thing"
    bare = " ".join(words).strip(TRIM)
    folded = bare.casefold()
    if folded in pack.pronouns["first"]:
        return "user", "user"
    if _BARE_VERSION.fullmatch(bare):
        return f"{focus.subject} {bare}", "thing"
    if len(words) == 1 and folded in pack.pronouns["person"] and (who := focus.who) is not None:
        return who, "person"
    if folded in pack.pronouns["thing"]:
        return focus.topic or focus.thing or focus.project or None, "thing"
    if folded in pack.pronouns["person"] or folded in stop_words():
        return None, "thing"
    if words[0].casefold() in pack.pronouns["owner"] and len(words) > 1:
        return f"user's {' '.join(words[1:])}".strip(TRIM), "thing"
    if words[0].casefold() in pack.pronouns["possessor"] and focus.person is not None and len(words) > 1:
        return f"{focus.person}'s {' '.join(words[1:])}".strip(TRIM), "thing"
    if words[0].casefold() in pack.pronouns["article"] and len(words) > 1:
        bare = " ".join(words[1:]).strip(TRIM)
    if bare.casefold() in pack.pronouns["generic"]:
        return focus.project or focus.thing or bare, "thing"
    return bare.strip("`„“\"'"), "thing"


def bare_slot(text: str, focus: Focus) -> Statement | None:
    """A value that stands alone and tells its slot by its form: "Postgres 16", "port 8091"."""
    value = text.strip(TRIM)
    if database(value) == value and any(c.isdigit() for c in value):
        return Statement(focus.subject, "uses_database", value, value=value)
    if (port := _PORT.fullmatch(value)) and not value.isdigit():
        return Statement(focus.topic or focus.subject, "runs_on_port", port[1], value=port[1])
    return None


def _without(pack: Pack, cue: str, text: str) -> str:
    found = pack.match(cue, text)
    return text[found.end() :].lstrip() if found else text


def typed(statement: Statement, left: str, pack: Pack, focus: Focus) -> Statement:
    """The statement with a slot's predicate where its object is a value of that slot: a port, a path, a version."""
    slot, owner = _slot(left, pack, focus)
    plain = _without(pack, "adverb", statement.object)
    bare = _without(pack, "preposition", plain)
    on = bare != plain or pack.find("preposition", statement.said) is not None
    subject = owner or statement.subject
    if match := _ADDRESS.match(bare):
        return replace(statement, subject=subject, predicate="has_address", value=match[1])
    if match := _URL.match(bare):
        named = resolve(left, pack, focus)[0]
        whose = subject if slot is None or named is None else f"{subject} {named}"
        return replace(statement, subject=whose, predicate="has_url", value=match[1])
    if match := _BRANCH.match(bare):
        whose = focus.subject if statement.kind == "user" else subject
        return replace(statement, subject=whose, kind="thing", predicate="on_branch", value=match[1])
    if (match := _PORT.match(bare)) and (on or slot == "runs_on_port" or bare.casefold().startswith("port")):
        return replace(statement, subject=subject, predicate="runs_on_port", value=match[1])
    if (
        (match := _PATH.match(bare))
        and is_path(match[1])
        and (slot == "located_at" or statement.predicate == "goes_to")
    ):
        return replace(statement, subject=subject, predicate="located_at" if slot else "goes_to", value=match[1])
    if slot == "uses_database" and database(bare):
        return replace(statement, subject=subject, predicate="uses_database", value=database(bare))
    if (match := _VERSION.match(bare)) and (
        on or slot == "has_version" or statement.predicate in ("is", "has_version")
    ):
        return replace(statement, subject=subject, predicate="has_version", value=match[1])
    if slot is not None and slot not in ("runs_on_port", "located_at", "has_url", "has_version"):
        return replace(statement, subject=subject, predicate=slot, value=bare if predicates.get(slot).key else None)
    return statement


def _slot(left: str, pack: Pack, focus: Focus) -> tuple[str | None, str | None]:
    """A slot's noun before the verb ("the port of the gateway"): the slot, and whose it is."""
    words = left.casefold().split()
    whose = focus.person if words and words[0] in pack.pronouns["person"] else None
    while words and any(words[0] in pack.pronouns[kind] for kind in ("article", "owner", "person")):
        words = words[1:]
    if not words:
        return None, None
    for size in (2, 1):
        noun = " ".join(words[:size])
        if noun in pack.slot_nouns:
            rest = left.split()[len(left.split()) - len(words) + size :]
            if not rest:
                return pack.slot_nouns[noun], whose or focus.subject
            if rest[0].casefold() in pack.pronouns["of"] and len(rest) > 1:
                owner, _ = resolve(" ".join(rest[1:]), pack, focus)
                return pack.slot_nouns[noun], owner or focus.subject
    if words[-1] in pack.slot_nouns and len(words) <= 4:
        return pack.slot_nouns[words[-1]], " ".join(left.split()[len(left.split()) - len(words) : -1]).strip(
            TRIM
        ) or focus.subject
    return None, None
