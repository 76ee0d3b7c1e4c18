"""Is it worth remembering? The first branch of this tree that fits decides, and the trace names it.

1. a correction, or something the user asked to remember  → keep, as a note
2. a preference or pattern of the user                    → keep, in their profile
3. a fact of the environment, or a convention             → keep, as a note
4. easily found again                                     → skip
5. matters in this session only                           → skip
6. anything else                                          → keep, as a note

What an extractor has dropped by itself gets its branch too (`of_drop`): a raw dump can be looked up again, a one-off
matters now only; what nobody stated as true (a question, a quotation) or must never be stored does not reach the tree.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from pathlib import Path

from nextlevel.model import BlockType, Candidate

from .extract.rules.names import is_temporary, technology


class Branch(StrEnum):
    CORRECTION_OR_INSTRUCTION = "correction_or_instruction"
    PREFERENCE_OR_PATTERN = "preference_or_pattern"
    ENVIRONMENT_OR_CONVENTION = "environment_or_convention"
    EASILY_FOUND = "easily_found_again"
    THIS_SESSION = "this_session_only"
    ELSE = "anything_else"
    NEVER = "never_stored"  # a secret, an order to the agent, hidden text: before the tree
    NOT_STATED = "not_stated"  # nobody said that it is so: before the tree


class Shelf(StrEnum):
    """Where a kept memory goes. The profile tells who the user is and how they like things; notes are the rest."""

    PROFILE = "profile"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The branch that decided; `shelf` None means skip."""

    branch: Branch
    shelf: Shelf | None


_LASTING = frozenset({BlockType.PROJECT_STATE, BlockType.PROCEDURAL})
_VAGUE = frozenset({"is", "has", "means", "behaves", "uses", "knows", "noted", "needs"})
"""Predicates that may tell anything; a slot (a port, a host, a role) is about somebody's own things."""
_DEFINING = frozenset({"is", "means"})
"""Those by which a manual says what a thing is. "npm breaks the lockfile" is a quirk, and stands in none."""

_DROPS = {
    "dump": Branch.EASILY_FOUND,
    "one_off": Branch.THIS_SESSION,
    "temp_path": Branch.THIS_SESSION,
    "chitchat": Branch.THIS_SESSION,
    "nothing_lasting": Branch.THIS_SESSION,
    "secret": Branch.NEVER,
    "injection": Branch.NEVER,
    "invisible": Branch.NEVER,
}


def judge(candidate: Candidate, said_at: datetime) -> Judgement:
    """Walk the tree for one candidate of a turn that was said at this time."""
    if candidate.corrects or candidate.explicit:
        return Judgement(Branch.CORRECTION_OR_INSTRUCTION, Shelf.NOTE)
    if candidate.type is BlockType.USER_PREFERENCE or candidate.subject == "user":
        return Judgement(Branch.PREFERENCE_OR_PATTERN, Shelf.PROFILE)
    if candidate.type in _LASTING or candidate.key is not None or candidate.predicate not in _VAGUE:
        return Judgement(Branch.ENVIRONMENT_OR_CONVENTION, Shelf.NOTE)
    if _is_general(candidate):
        return Judgement(Branch.EASILY_FOUND, None)
    if _is_over_soon(candidate, said_at):
        return Judgement(Branch.THIS_SESSION, None)
    return Judgement(Branch.ELSE, Shelf.NOTE)


def of_drop(why: str) -> Branch:
    """The branch of what an extractor or the guard dropped; a reason may go on behind a colon ("ungrounded: …")."""
    return _DROPS.get(why.partition(":")[0], Branch.NOT_STATED)


def _is_general(candidate: Candidate) -> bool:
    """Knowledge about a well-known technology that any manual has: its subject is the product itself, nobody's own."""
    if candidate.predicate not in _DEFINING or technology().fullmatch(candidate.subject.strip()) is None:
        return False
    return _cue("ours").search(candidate.span) is None and not re.search(r"\d", candidate.span)


def _is_over_soon(candidate: Candidate, said_at: datetime) -> bool:
    """True until tonight, or told of this moment or of what is thrown away. What ended earlier is history."""
    ends_today = candidate.valid_to is not None and candidate.valid_to.date() == said_at.date()
    if ends_today and _cue("today").search(candidate.span) is not None:
        return True
    return is_temporary(candidate.object) or _cue("now_only").search(candidate.span) is not None


@cache
def _cue(name: str) -> re.Pattern[str]:
    """Words of all languages under one name; ASCII ones are whole words."""
    phrases = tomllib.loads(Path(__file__).with_name("worth.toml").read_text("utf-8"))[name]
    words = "|".join(re.escape(phrase) for by_language in phrases.values() for phrase in by_language)
    return re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])", re.IGNORECASE)
