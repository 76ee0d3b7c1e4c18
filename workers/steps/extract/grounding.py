"""What a language model said of a turn, held against the turn: a memory that does not stand on words of it is dropped
as ungrounded, whoever made it up. What was said of one part of a long turn is held against all of it that was shown;
the summary of the session grounds nothing. As often as it is read, it comes to the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, time

from nextlevel.lang import detect
from nextlevel.lang.normal import clauses
from nextlevel.lang.tokens import content_words, words
from nextlevel.model import Candidate, Provenance, Turn
from nextlevel.safety import injection, invisible
from nextlevel.safety.redact import redact

from .. import temporal
from . import conversation, model_answer, parts
from .found import Dropped, Extraction
from .llm import Heard
from .model_answer import Memory
from .rules.focus import focus_of
from .rules.pack import load
from .rules.stance import Why, unfit

_MOST_SURE = 0.9
_GROUNDED = 0.5
"""Share of an object's content words that must stand in the conversation: what is translated or made up has fewer."""
_BACK = str.maketrans("‹›", "<>")
_NAMELIKE = re.compile(r"\S*[\d/_@\\]\S*")
_TRIM = "\"'`.,;:!?()[]{}<>„“”"


def read(heard: Sequence[Heard], turn: Turn, window: Sequence[Turn]) -> Extraction:
    """The candidates of the answers for a turn's parts, and what of them is not kept, with the reason. Nothing of an
    answer in which there was trouble."""
    readable = [each for each in heard if each.trouble is None]
    if not readable:
        return Extraction()
    reader = _Reader(turn, window)
    candidates: list[Candidate] = []
    dropped: list[Dropped] = []
    for each in readable:
        memories, bad = model_answer.checked(each.said)
        dropped += [Dropped("", f"malformed: {why}") for why in bad]
        for memory in memories:
            found = reader.candidate(memory)
            if isinstance(found, str):
                dropped.append(Dropped(f"{memory.subject} {memory.predicate} {memory.object}"[:200], found))
            else:
                candidates.append(found)
    return Extraction(tuple(candidates), tuple(dropped))


class _Reader:
    """Reads the memories of one turn."""

    def __init__(self, turn: Turn, window: Sequence[Turn]) -> None:
        shown = parts.shown(turn)
        self._at = turn.at
        self._user, self._assistant = shown.user, shown.assistant
        self._language = detect.language(self._user)
        self._project = focus_of(turn, window, load(self._language)).project
        self._said = "\n".join([*conversation.quoted(window), shown.user, shown.assistant]).casefold()
        self._words = set(words(self._said))
        self._clauses = clauses(self._user)

    def candidate(self, memory: Memory) -> Candidate | str:
        """The memory as a candidate, or the reason to drop it."""
        text = " ".join((memory.subject, memory.predicate.replace("_", " "), memory.object, memory.value or ""))
        if "[redacted:" in text or redact(text).counts:
            return Why.SECRET
        if invisible.count(text):
            return Why.INVISIBLE
        if injection.suspicious(text) or injection.suspicious(memory.span):
            return Why.INJECTION
        stands = self._stands(memory.span)
        if isinstance(stands, str):
            return stands
        if (unknown := self._unsaid(memory)) is not None:
            return f"ungrounded: nobody said {unknown!r}"
        span, provenance = stands
        held = temporal.validity(span, self._at, self._language)
        zone = self._at.tzinfo
        return Candidate(
            type=memory.type,
            category=memory.category,
            subject=memory.subject,
            predicate="_".join(memory.predicate.casefold().split()),
            object=memory.object,
            confidence=min(memory.confidence, _MOST_SURE),
            provenance=provenance,
            span=span,
            rule="model",
            key=memory.key,
            value=memory.value,
            context="" if span == memory.object else span[:300],
            entities=tuple((each.name, each.type) for each in memory.entities if each.name.casefold() in self._said),
            negated=memory.negated,
            explicit=memory.explicit and provenance is Provenance.USER_STATED,
            corrects=memory.corrects,
            project=self._project,
            valid_from=held.valid_from
            or (datetime.combine(memory.valid_from, time.min, zone) if memory.valid_from else None),
            valid_to=held.valid_to or (datetime.combine(memory.valid_to, time.max, zone) if memory.valid_to else None),
        )

    def _stands(self, span: str) -> tuple[str, Provenance] | str:
        """The span as it stands in the turn, word for word, and who vouches for it; or why it counts for nothing."""
        pattern = re.compile(r"\s+".join(re.escape(word) for word in span.translate(_BACK).split()), re.IGNORECASE)
        if found := pattern.search(self._user):
            around = [each for each in self._clauses if each.start < found.end() and found.start() < each.end]
            if any(each.ends == "?" for each in around):
                return Why.QUESTION
            pasted = any(unfit(each) in (Why.DUMP, Why.QUOTE) for each in around)
            return found[0], Provenance.DOCUMENT if pasted else Provenance.USER_STATED
        if found := pattern.search(self._assistant):
            return found[0], Provenance.ASSISTANT_STATED
        return "ungrounded: its span is not in the turn"

    def _unsaid(self, memory: Memory) -> str | None:
        """A number, path or name of the memory that stands nowhere in the conversation, or an object of other words."""
        for word in self._namelike(memory):
            if word.casefold() not in self._said:
                return word
        content = content_words(memory.object)
        known = sum(word in self._words for word in content)
        return memory.object if content and known < _GROUNDED * len(content) else None

    def _namelike(self, memory: Memory) -> Iterator[str]:
        for text in (memory.subject, memory.object, memory.value or ""):
            yield from (word.strip(_TRIM) for word in _NAMELIKE.findall(text))
