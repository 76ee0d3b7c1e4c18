"""A block as a proposal looks at it: who vouches for it, what it says in few words, and the turns it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from nextlevel.lang.tokens import content_words
from nextlevel.lang.when import when
from nextlevel.model import BlockStatus, BlockType, Category, Provenance, block_text

_VOUCHED = frozenset({Provenance.USER_STATED, Provenance.USER_ACCEPTED, Provenance.INFERRED})
"""The user's word, what they accepted, and their own choices. What tools, documents and imports say is not proposed."""
_SUREST = 0.75
_NOBODY = frozenset({"user", "noted", "project"})
_NEGATES = re.compile(
    r"\b(?:no|not|never|none|cannot|without|\w+n['’]t|kein\w*|nicht|nie|niemals|ohne|inte|aldrig|ing[ea]\w*|utan|nigdy|"
    r"bez|żadn\w+)\b|[不没沒]|ない|ません",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:I|my|mine|me|ich|mein\w*|mir|mich|jag|min|mitt|mina|mig|ja|mój|moj\w*|mnie)\b", re.IGNORECASE
)
"""In the agent's notes these would be the agent."""
_FOR_NOW = re.compile(
    r"\b(?:today|tomorrow|yesterday|now|currently|since|until|till|heute|morgen|gestern|jetzt|derzeit|seit|bis|"
    r"idag|imorgon|igår|nu|tills|dziś|dzisiaj|jutro|wczoraj|teraz|obecnie|aż)\b",
    re.IGNORECASE,
)
_HERE = re.compile(
    r"\b(?:here|hier|här|tutaj|(?:this|dies\w*|dem|detta|tym) (?:repo\w*|proje[ck]t\w*))\b", re.IGNORECASE
)
_WORDS_CHARS = 160
_PARTS = re.compile(r"(?<=[.!?;])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Source:
    """A turn that a fact stands on: its id, its day (YYYY-MM-DD), and the words in it."""

    turn: str
    day: str
    span: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One block, with as many of its sources as were asked for."""

    id: str
    type: BlockType
    category: Category
    subject: str
    predicate: str
    object: str
    key: str | None
    value: str | None
    negated: bool
    explicit: bool
    confidence: float
    provenance: Provenance
    status: BlockStatus
    project: str | None
    ends: bool
    superseded_by: str | None
    sources: tuple[Source, ...] = ()

    @classmethod
    def of(cls, block: Mapping[str, Any], sources: Iterable[Mapping[str, Any]] = ()) -> Fact:
        """From the service's answer."""
        same = ("id", "subject", "predicate", "object", "key", "value", "negated", "explicit", "confidence", "project")
        return cls(
            **{name: block[name] for name in same},
            type=BlockType(block["type"]),
            category=Category(block["category"]),
            provenance=Provenance(block["provenance"]),
            status=BlockStatus(block["status"]),
            ends=block["valid_to"] is not None,
            superseded_by=block["superseded_by"],
            sources=tuple(Source(each["turn_id"], each["at"][:10], each["span"]) for each in sources),
        )

    @property
    def may_be_proposed(self) -> bool:
        """True of what holds with no end in sight, and somebody vouches for who may."""
        sure = self.confidence >= _SUREST or self.provenance is Provenance.INFERRED
        return self.status is BlockStatus.ACTIVE and not self.ends and self.provenance in _VOUCHED and sure

    @property
    def statement(self) -> str:
        """What it says, in parts: the same however often it is told, another once one of them changes."""
        parts = (self.project or "", self.subject, self.predicate, str(self.negated), self.object)
        return "\x1f".join(" ".join(part.casefold().split()) for part in parts)

    @property
    def about_user(self) -> bool:
        return self.subject == "user" or self.subject.startswith("user's ")

    @property
    def days(self) -> int:
        """On how many days it was told."""
        return len({source.day for source in self.sources})

    @property
    def phrase(self) -> str:
        """What is said of the subject: `runs on port 8080`, `does not want: emojis`."""
        verb, *rest = self.predicate.split("_")
        if not self.negated:
            # What is wanted is often an order: "wants: ask before you deploy".
            return f"wants: {self.object}" if verb == "wants" else block_text("", self.predicate, self.object)
        negated = f"{verb} not" if verb in ("is", "are", "can") else f"does not {_bare(verb)}"
        return f"{' '.join([negated, *rest])}: {self.object}"

    @property
    def sentence(self) -> str:
        """The fact as an entry of its own: it stands in the prompts of all projects, so it names whom it is about."""
        if not self.about_user:
            return self._note
        said = self.object if self.predicate == "noted" else f"U{self.subject[1:]} {self.phrase}"
        return f"{said} (in {self.project})" if not self.is_general else said

    @property
    def _note(self) -> str:
        """In the words of who told it last, where they name all of it; else made of its parts."""
        told = next((source.span for source in reversed(self.sources)), "")
        if self._is_all_of(told):
            return told if self.project is None or self.project.lower() in told.lower() else f"{self.project}: {told}"
        if self.subject in ("project", self.project):
            return f"{self.project}: {self.phrase}"
        return f"{self.project}, {self.subject}: {self.phrase}" if self.project else f"{self.subject}: {self.phrase}"

    def _is_all_of(self, told: str) -> bool:
        """Whether someone's words say this, by its names, and not much else; and would be right in anybody's mouth."""
        if self.key is not None or not 0 < len(told) <= _WORDS_CHARS or "\n" in told:
            return False
        about = words(self.object if self.subject in ("project", self.project) else f"{self.subject} {self.object}")
        said = words(told)
        complete = bool(about) and about <= said and 2 * len(self.words & said) >= len(said)
        return complete and negates(told) == self.denies and not _FIRST_PERSON.search(told) and not is_passing(told)

    @property
    def is_general(self) -> bool:
        """Whether a preference holds in all projects, told in one or not: it was asked for, came again, or is about
        form. "No redis" is said of one."""
        if self.project is None:
            return True
        asked = self.explicit or self.days > 1 or self.category is Category.FORMATTING
        return asked and not self.is_local

    @property
    def is_local(self) -> bool:
        """True where it says "here" of its project."""
        return _HERE.search(f"{self.subject} {self.object}") is not None

    @property
    def denies(self) -> bool:
        """True where it says that something is not so, or not to be."""
        return self.negated or negates(self.object)

    @property
    def core(self) -> frozenset[str]:
        """The words without which nobody has said this: of the object, and of a subject other than the user."""
        return words(self.object if self.subject == "user" else f"{self.subject} {self.object}")

    @property
    def words(self) -> frozenset[str]:
        """All words that say it."""
        return words(
            f"{self.project or ''} {self.subject} {self.predicate.replace('_', ' ')} {self.object} {self.key or ''}"
        )

    def part_of(self, entry: str) -> str | None:
        """The part of an entry that says just this, and neither its contrary nor much else; None where none does."""
        return next((part for part in parts(entry) if self.core and self.core <= words(entry) and self._is(part)), None)

    def _is(self, part: str) -> bool:
        said, verb = words(part), words(f"{self.predicate.replace('_', ' ')} {self.key or ''}")
        if not words(self.object) <= said or negates(part) != self.denies:
            return False
        # "feature/x is merged" does not say that the project is on branch feature/x.
        named = bool(verb & said) and 2 * len(self.words & said) >= len(said)
        return named or any(
            said <= words(f"{self.project or ''} {self.subject} {source.span}") for source in self.sources
        )


def is_passing(text: str) -> bool:
    """True of what is so for some time only, by its words: "since Friday", "on 3 June".

    >>> is_passing("birke-02 is off since 9:40"), is_passing("falke is in Kiel")
    (True, False)
    """
    return _FOR_NOW.search(text) is not None or when(text, date.today()) is not None


def words(text: str) -> frozenset[str]:
    """What a text is about, as a set of search terms, without those that every block has."""
    return frozenset(content_words(text)) - _NOBODY


def parts(entry: str) -> list[str]:
    """The sentences of an entry, and what semicolons part."""
    return [part for part in _PARTS.split(entry) if part.strip()]


def negates(text: str) -> bool:
    """True where something is denied: two texts of the same words say the same only if both do or neither does.

    >>> negates("User wants no emojis"), negates("User wants emojis")
    (True, False)
    """
    return _NEGATES.search(text) is not None


def _bare(verb: str) -> str:
    """An English verb without the ending of the third person: predicates have it."""
    if verb in ("has", "does"):
        return {"has": "have", "does": "do"}[verb]
    if verb.endswith(("sses", "shes", "ches", "xes")):
        return verb[:-2]
    return verb.removesuffix("s")
