"""The last look at what an extractor proposes, whichever it was: nothing unsafe, made up or oversized is stored.

Extractors filter too, each in its own way. This step trusts none of them: it sees every candidate of every kind of
turn, just before it becomes a memory, and each drop has a code that the trace shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nextlevel.model import Candidate, Turn
from nextlevel.safety import injection, invisible
from nextlevel.safety.redact import redact

from .extract.found import Dropped

LONGEST = {"subject": 200, "predicate": 60, "object": 2_000, "key": 100, "value": 500, "context": 2_000, "span": 4_000}
"""Characters that each text of a candidate may have. An explicit memory of 2,000 is the longest that anybody writes."""
MOST_ENTITIES = 40
LONGEST_NAME = 200

_PLACEHOLDER = "[redacted:"


def guard(candidates: Iterable[Candidate], turn: Turn) -> tuple[tuple[Candidate, ...], tuple[Dropped, ...]]:
    """The candidates that may be kept, in order, and the others with their codes.

    Codes: `oversized`, `secret`, `invisible`, `injection`, `ungrounded`.
    """
    said = _said(turn)
    kept: list[Candidate] = []
    dropped: list[Dropped] = []
    for each in candidates:
        why = _why_not(each, said)
        if why is None:
            kept.append(each)
        else:
            dropped.append(Dropped("" if why == "secret" else each.span[:200], why))
    return tuple(kept), tuple(dropped)


def _why_not(candidate: Candidate, said: str) -> str | None:
    texts = list(_texts(candidate))
    too_long = any(len(getattr(candidate, name) or "") > most for name, most in LONGEST.items())
    if too_long or len(candidate.entities) > MOST_ENTITIES or any(len(n) > LONGEST_NAME for n, _ in candidate.entities):
        return "oversized"
    # The sentence first: parts that are harmless alone may give an order together.
    whole = "\n".join((_sentence(candidate), *texts))
    if _PLACEHOLDER in whole or redact(whole).counts:
        return "secret"
    if invisible.count(whole):
        return "invisible"
    if injection.suspicious(whole):
        return "injection"
    if not candidate.span.strip() or _flat(candidate.span) not in said:
        return "ungrounded"
    return None


def _texts(candidate: Candidate) -> Iterator[str]:
    """All of a candidate that would be stored and could be shown."""
    named = (getattr(candidate, name) for name in LONGEST)
    yield from (text for text in (*named, candidate.project, *(name for name, _ in candidate.entities)) if text)


def _sentence(candidate: Candidate) -> str:
    return f"{candidate.subject} {candidate.predicate.replace('_', ' ')} {candidate.object}"


def _said(turn: Turn) -> str:
    """What a span may stand on: the words of both sides, and what the agent itself did; never what a tool answered."""
    parts = (turn.user_text, turn.assistant_text, *(call.args for call in turn.tools))
    return _flat("\n".join(invisible.clean(part) for part in parts))


def _flat(text: str) -> str:
    return " ".join(text.split())
