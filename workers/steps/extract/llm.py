"""A language model beside the rules: asked of a turn, or a part of it, and of those of its session that wait behind it.

`ask` gives back what it said, turn by turn, with nothing made of it but secrets taken out: that is what is stored
first, so that a crash afterwards asks no model again. What it is worth, grounding.py says.

When the model is away, `ModelBusy` goes up and the turn waits. An answer that is malformed or cut off is asked for once
more, with the fault named, and for the first turn alone where there were several; after that, and when the model
refuses, the turn goes by the rules alone.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from nextlevel.errors import UnusableAnswer
from nextlevel.inference import LLM, Answer, Message, document, tokens_of
from nextlevel.safety.redact import redact

from .. import predicates
from . import conversation, model_answer
from .parts import Part, head

MOST_TOKENS_OUT = 1_500
MOST_ANSWERS = 2
"""What one call of `ask` waits for: an answer, and its repair."""
_BAD_TOKENS = 60
"""Of a bad answer so much is shown again: all of it would not fit a small server's window."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model said of a turn or a part of it, before anything is made of it. JSON in table extractions.

    `said` is its JSON document, or its text where that is none; `trouble` says why it can't be used, None if it can.
    Without `calls` it was said in the call of an earlier turn, which has the tokens and the time. Tokens are as the
    server counts them, estimated where it does not say.
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


def summed(heard: Sequence[Heard]) -> dict[str, Any]:
    """What was heard of the parts of one turn, for the trace: all but the words."""
    if len(heard) == 1:
        return {name: value for name, value in asdict(heard[0]).items() if name != "said"}
    troubles = [f"part {n}: {each.trouble}" for n, each in enumerate(heard, 1) if each.trouble is not None]
    return {
        "model": "+".join(dict.fromkeys(each.model for each in heard)),
        "prompt": heard[0].prompt,
        "trouble": "; ".join(troubles) or None,
    } | {name: sum(getattr(each, name) for each in heard) for name in ("calls", "tokens_in", "tokens_out", "ms")}


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


async def ask(llm: LLM, parts: Sequence[Part], above: str, count: Callable[[Heard], Awaitable[None]]) -> list[Heard]:
    """Ask the model what is worth keeping of some turns in a row, or of a part of one: what it said of each, of the
    first in any case.

    It is asked twice, if its first answer can't be read. `above` is what came before, as conversation.py tells it.
    `count` hears of each answer at once: one that is of no use costs as much, whatever comes of the next.

    Raises:
        ModelBusy: no answer can be had now.
    """
    messages = _messages(parts, above)
    first = await _once(llm, messages)
    await count(first)
    if first.trouble is None:
        return _by_turn(first, parts)
    if len(parts) > 1:
        messages = _messages(parts[:1], above)
    elif first.trouble.startswith("refused"):
        return [first]
    else:
        fault = f"That can't be used ({first.trouble}). Answer again: the JSON object only, short, at most 8 memories."
        said = first.said if isinstance(first.said, str) else json.dumps(first.said, ensure_ascii=False)
        messages += [{"role": "assistant", "content": head(said, _BAD_TOKENS)}, {"role": "user", "content": fault}]
    second = await _once(llm, messages)
    await count(second)
    return [
        replace(
            second,
            calls=MOST_ANSWERS,
            tokens_in=first.tokens_in + second.tokens_in,
            tokens_out=first.tokens_out + second.tokens_out,
            ms=first.ms + second.ms,
        )
    ]


def _messages(parts: Sequence[Part], above: str) -> list[Message]:
    return [
        {"role": "system", "content": prompt()},
        {"role": "user", "content": conversation.document(parts, above)},
    ]


def _by_turn(heard: Heard, parts: Sequence[Part]) -> list[Heard]:
    """The answer taken apart. A memory is of the turn in which its span stands: small models count badly."""
    if len(parts) == 1:
        return [heard]
    said: list[list[Any]] = [[] for _ in parts]
    for item in heard.said["memories"]:
        said[_turn_of(item, parts)].append(item)
    whole = [replace(heard, said={"memories": items}) for items in said]
    return whole[:1] + [replace(each, calls=0, tokens_in=0, tokens_out=0, ms=0) for each in whole[1:]]


def _turn_of(item: Any, parts: Sequence[Part]) -> int:
    told = item if isinstance(item, dict) else {}
    span, number = _flat(str(told.get("span", ""))), told.get("turn")
    named = number - 1 if isinstance(number, int) and 0 < number <= len(parts) else 0
    standing = [n for n, part in enumerate(parts) if span and span in _flat(part.user)]
    return named if named in standing or not standing else standing[0]


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())


async def _once(llm: LLM, messages: Sequence[Message]) -> Heard:
    started = time.monotonic()
    trouble: str | None
    try:
        answer = await llm.complete(messages, model_answer.schema(), max_tokens=MOST_TOKENS_OUT)
    except UnusableAnswer as error:
        answer = Answer(error.said, *error.tokens, round((time.monotonic() - started) * 1000))
        said, trouble = _storable(error.said), str(error)
    else:
        said, trouble = _parsed(answer)
    spent = tokens_of(messages, answer.text, (answer.tokens_in, answer.tokens_out))
    return Heard(llm.model, prompt_version(), said, trouble, 1, *spent, answer.ms)


def _parsed(answer: Answer) -> tuple[Any, str | None]:
    """The answer without secrets, and what is wrong with it."""
    try:
        said = _storable(document(answer.text))
    except (ValueError, RecursionError) as error:
        return _storable(answer.text), f"malformed: {error}"
    try:
        model_answer.checked(said)
    except ValueError as error:
        return said, f"malformed: {error}"
    return said, None


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
