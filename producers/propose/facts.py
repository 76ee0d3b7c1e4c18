"""A block as a proposal looks at it: who vouches for it, what it says in few words, and the turns it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nextlevel.lang.tokens import content_words
from nextlevel.model import BlockStatus, BlockType, Provenance, block_text

_VOUCHED = frozenset({Provenance.USER_STATED, Provenance.USER_ACCEPTED, Provenance.INFERRED})
"""The user's word, what they accepted, and their own choices. What tools, documents and imports say is not proposed."""
_SUREST = 0.75
_NOBODY = frozenset({"user", "noted", "project"})
_NEGATES = re.compile(
    r"\b(?:no|not|never|none|without|\w+n['’]t|kein\w*|nicht|nie|niemals|ohne|inte|aldrig|ing[ea]\w*|utan|nie|nigdy|bez|żadn\w+)\b"
    r"|[不没無无非]|ない|ません",
    re.IGNORECASE,
)
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
    def about_user(self) -> bool:
        return self.subject == "user" or self.subject.startswith("user's ")

    @property
    def heading(self) -> str:
        """What an entry begins with: who or what it is about, in its project where that is another."""
        if self.about_user:
            return f"U{self.subject[1:]}"
        if self.project is None or self.project == self.subject:
            return self.subject
        return self.project if self.subject == "project" else f"{self.project}, {self.subject}"

    @property
    def phrase(self) -> str:
        """What is said of the subject: `runs on port 8080`, `does not want: emojis`."""
        if not self.negated:
            return block_text("", self.predicate, self.object)
        verb, *rest = self.predicate.split("_")
        negated = f"{verb} not" if verb in ("is", "are", "can") else f"does not {_bare(verb)}"
        return f"{' '.join([negated, *rest])}: {self.object}"

    @property
    def sentence(self) -> str:
        """The fact as an entry of its own."""
        if self.about_user and self.predicate == "noted":
            return self.object
        return f"{self.heading} {self.phrase}" if self.about_user else f"{self.heading}: {self.phrase}"

    @property
    def core(self) -> frozenset[str]:
        """The words without which nobody has said this: of the object, and of a subject other than the user."""
        return words(self.object if self.subject == "user" else f"{self.subject} {self.object}")

    @property
    def words(self) -> frozenset[str]:
        """All words that say it."""
        return words(f"{self.heading} {self.subject} {self.predicate.replace('_', ' ')} {self.object} {self.key or ''}")

    def part_of(self, entry: str) -> str | None:
        """The part of an entry that says just this, and neither its contrary nor much else; None where none does."""
        if not self.core or not self.core <= words(entry):
            return None
        about = words(self.object)
        for part in parts(entry):
            said = words(part)
            if about <= said and 2 * len(self.words & said) >= len(said) and negates(part) == negates(self.sentence):
                return part
        return None


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
