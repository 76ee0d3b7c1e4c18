"""What recall showed and the conversation repeats. It is no evidence: nobody has said it anew.

Three ways lead back. The user pastes a recalled line: it is cut out before anything is read (`without_pasted`). The
assistant restates a memory: that is a use of it, and renews its life (`restated`). A model takes the assistant's words
for a finding: `is_echo` says so, and it is dropped. The plugin's ledger and the markers take out most of it before;
here it is done for hosts that have neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from nextlevel.lang.normal import clauses, normal_name
from nextlevel.lang.tokens import content_words, words
from nextlevel.model import Block, Candidate, Provenance, Turn, block_text

RESTATED_FROM = 0.8
"""Share of an object's content words that a clause must hold to be a restatement of the block."""
ECHOES_FROM = 0.5
"""Share of an object's content words that a block must hold for the assistant's word to be an echo of it."""
_LONGEST = 20_000

# As recall/render.py writes a block: "- subject: what holds (since 12 May 2026, until 3 June)".
_LINE = re.compile(
    r"[ \t>]*(?P<dash>[-*•][ \t]+)?[^\n:]{1,200}: [^\n]{1,2000} "
    r"\(since \d{1,2} [A-Z][a-z]{2}(?: \d{4})?(?:, until [^()\n]{1,20})?\)[ \t]*"
)


def without_pasted(turn: Turn, shown: Sequence[Block]) -> tuple[Turn, int]:
    """The turn without recalled lines that the user put into their message, and how many those were.

    A line of recall's own form is one if it is still an item, as it was injected, or tells a block that was shown.
    """
    if "(since " not in turn.user_text:
        return turn, 0
    lines = turn.user_text.split("\n")
    own = [line for line in lines if not _is_recalled(line, shown)]
    return (turn, 0) if len(own) == len(lines) else (replace(turn, user_text="\n".join(own)), len(lines) - len(own))


def restated(turn: Turn, shown: Sequence[Block]) -> tuple[UUID, ...]:
    """The shown blocks that the assistant's answer makes use of: what they say stands in one of its clauses."""
    said = [set(words(clause.text)) for clause in clauses(turn.assistant_text[:_LONGEST])] if shown else []
    return tuple(block.id for block in shown if any(_holds(clause, block) for clause in said))


def is_echo(candidate: Candidate, shown: Sequence[Block]) -> bool:
    """Whether a finding that only the assistant vouches for repeats what it had been shown, in whatever words."""
    if candidate.provenance is not Provenance.ASSISTANT_STATED:
        return False
    subject, object_ = normal_name(candidate.subject), set(content_words(candidate.object))
    for block in shown:
        held = set(words(f"{_sentence(block)} {block.context}"))
        if subject == normal_name(block.subject) or len(object_ & held) >= ECHOES_FROM * max(1, len(object_)):
            return True
    return False


def _is_recalled(line: str, shown: Sequence[Block]) -> bool:
    match = _LINE.fullmatch(line) if "(since " in line else None
    if match is None:
        return False
    return match["dash"] is not None or any(set(content_words(block.object)) <= set(words(line)) for block in shown)


def _holds(said: set[str], block: Block) -> bool:
    wanted = set(content_words(block.object)) or set(words(block.object))
    return bool(wanted) and len(wanted & said) >= RESTATED_FROM * len(wanted)


def _sentence(block: Block) -> str:
    return block_text(block.subject, block.predicate, block.object, negated=block.negated)
