"""Extraction by a language model, beside the rules: asked once a turn, held raw, then read and merged.

Two halves. `ask` talks to the model and gives back what it said, with nothing made of it but secrets taken out: that is
what is stored first, so that a crash afterwards asks no model again. `read` makes candidates of it, as often as it is
called the same: each must stand on words of the turn, else it is dropped as ungrounded, whoever made it up.

When the model is away, `ModelBusy` goes up and the turn waits. An answer that is malformed or cut off is asked for once
more, with the fault named; after that, and when the model refuses, the turn goes by the rules alone.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, time
from functools import cache
from pathlib import Path
from typing import Any

from nextlevel.errors import UnusableAnswer
from nextlevel.inference import LLM, Answer, Message
from nextlevel.lang import detect
from nextlevel.lang.normal import clauses
from nextlevel.lang.tokens import content_words, estimate_tokens, words
from nextlevel.model import Candidate, Provenance, Turn
from nextlevel.safety import injection, invisible
from nextlevel.safety.redact import redact

from .. import predicates, temporal
from . import model_answer
from .found import Dropped, Extraction
from .model_answer import Memory
from .rules.focus import focus_of
from .rules.pack import load
from .rules.stance import Why, unfit

MOST_TOKENS_OUT = 1_500
# With the prompt's 700 some 3,500 in all: what is beyond a small server's window falls out at the top, without a word.
_USER_TOKENS, _ASSISTANT_TOKENS, _EARLIER_TOKENS = 1_800, 300, 70
_EARLIER_TURNS = 4
_MOST_SURE = 0.9
_GROUNDED = 0.5
"""Share of an object's content words that must stand in the conversation: what is translated or made up has fewer."""

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A\s*```(?:json)?\s*(.*?)\s*```\s*\Z", re.DOTALL)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ANGLES, _BACK = str.maketrans("<>", "‹›"), str.maketrans("‹›", "<>")
_NAMELIKE = re.compile(r"\S*[\d/_@\\]\S*")
_TRIM = "\"'`.,;:!?()[]{}<>„“”"


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model said of one turn, before anything is made of it. JSON in table extractions.

    `said` is its JSON document, or its text where that is none; `trouble` says why it can't be used, None if it can.
    """

    model: str
    prompt: str
    said: Any
    trouble: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    ms: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def facts(self) -> dict[str, Any]:
        """For the trace: all but the words."""
        return {name: value for name, value in asdict(self).items() if name != "said"}


def extractor(llm: LLM) -> str:
    """Model and prompt, as stored with what they gave: another prompt reads a turn anew."""
    return f"{llm.model}@{prompt_version()}"


@cache
def prompt() -> str:
    """The system message: prompt.md with the canonical predicates filled in."""
    text = Path(__file__).with_name("prompt.md").read_text(encoding="utf-8")
    return text.replace("PREDICATES", ", ".join(predicates.names()))


@cache
def prompt_version() -> str:
    return hashlib.sha256(prompt().encode()).hexdigest()[:12]


def gave_up(llm: LLM, why: str) -> Heard:
    """What is held of a turn for which nobody waits for the model any longer."""
    return Heard(llm.model, prompt_version(), None, why, 0, 0, 0, 0)


# ---- asking


async def ask(llm: LLM, turn: Turn, window: Sequence[Turn]) -> Heard:
    """Ask the model what of a turn is worth keeping; twice, if its first answer can't be read.

    Raises:
        ModelBusy: no answer can be had now.
    """
    messages: list[Message] = [
        {"role": "system", "content": prompt()},
        {"role": "user", "content": _conversation(turn, window)},
    ]
    first = await _once(llm, messages)
    if first.trouble is None or first.trouble.startswith("refused"):
        return first
    repair = (
        f"That can't be used ({first.trouble}). Answer again: the JSON object only, short, with at most 8 memories."
    )
    said = first.said if isinstance(first.said, str) else json.dumps(first.said, ensure_ascii=False)
    second = await _once(llm, [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": repair}])
    return Heard(
        second.model,
        second.prompt,
        second.said,
        second.trouble,
        2,
        first.tokens_in + second.tokens_in,
        first.tokens_out + second.tokens_out,
        first.ms + second.ms,
    )


async def _once(llm: LLM, messages: Sequence[Message]) -> Heard:
    try:
        answer = await llm.complete(messages, model_answer.schema(), max_tokens=MOST_TOKENS_OUT)
    except UnusableAnswer as error:
        return Heard(llm.model, prompt_version(), _storable(error.said), str(error), 1, 0, 0, 0)
    said, trouble = _parsed(answer)
    return Heard(llm.model, prompt_version(), said, trouble, 1, answer.tokens_in, answer.tokens_out, answer.ms)


def _parsed(answer: Answer) -> tuple[Any, str | None]:
    """The answer without secrets, and what is wrong with it."""
    text = _THOUGHTS.sub("", answer.text)
    fenced = _FENCE.match(text)
    try:
        document = _storable(json.loads(fenced[1] if fenced else text))
    except (ValueError, RecursionError) as error:
        return _storable(answer.text), f"malformed: {error}"
    try:
        model_answer.checked(document)
    except ValueError as error:
        return document, f"malformed: {error}"
    return document, None


def _storable(value: Any) -> Any:
    """JSON without secrets and without what Postgres refuses. Text by text, so that no pattern can break its form."""
    if isinstance(value, str):
        return redact(_UNSTORABLE.sub("\ufffd", value)).text
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {_storable(name): _storable(each) for name, each in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _conversation(turn: Turn, window: Sequence[Turn]) -> str:
    """The turn and what came just before it, as data between tags. What goes out is redacted like what is stored."""
    date = f"Date of the turn: {turn.at.isoformat(timespec='minutes')} ({turn.at:%A})"
    return "\n".join([date, *(_tagged(tag, text) for tag, text in _shown(turn, window))])


def _shown(turn: Turn, window: Sequence[Turn]) -> list[tuple[str, str]]:
    """What the model sees of a session, each text with its tag, in order; the last two are the turn's own."""
    earlier = [
        (tag, _cut(text, _EARLIER_TOKENS))
        for each in window[-_EARLIER_TURNS:]
        for tag, text in (("earlier-user", each.user_text), ("earlier-assistant", each.assistant_text))
    ]
    own = [
        ("user", _cut(turn.user_text, _USER_TOKENS)),
        ("assistant", _cut(turn.assistant_text, _ASSISTANT_TOKENS)),
    ]
    return earlier + own


def _cut(text: str, tokens: int) -> str:
    """The head of a text that has at most about so many tokens."""
    text = text[: 4 * tokens]
    while (count := estimate_tokens(text)) > tokens:
        text = text[: len(text) * tokens // count]
    return text


def _tagged(tag: str, text: str) -> str:
    text = invisible.clean(redact(text).text).translate(_ANGLES).strip()
    return f"<{tag}>\n{text}\n</{tag}>"


# ---- reading


def read(heard: Heard, turn: Turn, window: Sequence[Turn]) -> Extraction:
    """The candidates of an answer, and what of it is not kept, with the reason. Nothing where there was trouble."""
    if heard.trouble is not None:
        return Extraction()
    memories, bad = model_answer.checked(heard.said)
    reader = _Reader(turn, window)
    candidates: list[Candidate] = []
    dropped = [Dropped("", f"malformed: {why}") for why in bad]
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
        shown = [text for _, text in _shown(turn, window)]
        self._at = turn.at
        self._user, self._assistant = shown[-2:]
        self._language = detect.language(self._user)
        self._project = focus_of(turn, window, load(self._language)).project
        self._said = "\n".join(shown).casefold()
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
