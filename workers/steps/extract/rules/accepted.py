"""What the assistant proposed and the user accepts: "yes, do that" makes it the user's own."""

from __future__ import annotations

from collections.abc import Sequence

from nextlevel.lang.normal import clauses
from nextlevel.lang.tokens import content_words
from nextlevel.model import Turn

from .pack import Pack
from .pieces import without_filler

_LONGEST = 4_000
_FEWEST_WORDS = 2
"""Content words of a proposal that says what it proposes; "shall I do that?" asks for the one before it."""
_TRIM = " ,.:;!?-–—"


def accepted(turn: Turn, window: Sequence[Turn], pack: Pack) -> tuple[str, str] | None:
    """The proposal that this turn accepts, and the user's words that accept it; None where there is neither.

    Only the last answer counts, and only its last proposal or question: an older one was passed over.
    """
    if not window:
        return None
    yes = pack.match("accept", turn.user_text.strip())
    if yes is None or yes.end() > 80:
        return None
    proposals = [
        _stated(clause.text, pack)
        for clause in clauses(window[-1].assistant_text[-_LONGEST:])
        if clause.kind in ("prose", "list") and (pack.has("proposal", clause.text) or clause.ends == "?")
    ]
    told = [proposal for proposal in proposals if len(content_words(proposal)) >= _FEWEST_WORDS]
    return (told[-1], yes[0].strip()) if told else None


def _stated(proposal: str, pack: Pack) -> str:
    """The proposal as a statement: "I could keep the port at 8091" is "keep the port at 8091"."""
    proposal = without_filler(proposal, pack)
    cue = pack.match("proposal", proposal)
    return (proposal[cue.end() :] if cue else proposal).strip(_TRIM)
