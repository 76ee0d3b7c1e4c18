"""A language model beside the rules: asked of a turn, and of those of its session that wait behind it, in one call.

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
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from nextlevel.errors import UnusableAnswer
from nextlevel.inference import LLM, Answer, Message
from nextlevel.lang.tokens import estimate_tokens
from nextlevel.model import Turn
from nextlevel.safety.redact import redact

from .. import predicates
from . import conversation, model_answer

MOST_TOKENS_OUT = 1_500
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A\s*```(?:json)?\s*(.*?)\s*```\s*\Z", re.DOTALL)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model said of one turn, before anything is made of it. JSON in table extractions.

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


async def ask(llm: LLM, turns: Sequence[Turn], window: Sequence[Turn]) -> list[Heard]:
    """Ask the model what of some turns in a row is worth keeping: what it said of each, of the first one in any case.

    It is asked twice, if its first answer can't be read. `window` is what came before.

    Raises:
        ModelBusy: no answer can be had now.
    """
    messages = _messages(turns, window)
    first = await _once(llm, messages)
    if first.trouble is None:
        return _by_turn(first, turns)
    if len(turns) > 1:
        second = await _once(llm, _messages(turns[:1], window))
    elif first.trouble.startswith("refused"):
        return [first]
    else:
        fault = f"That can't be used ({first.trouble}). Answer again: the JSON object only, short, at most 8 memories."
        said = first.said if isinstance(first.said, str) else json.dumps(first.said, ensure_ascii=False)
        again: list[Message] = [{"role": "assistant", "content": said}, {"role": "user", "content": fault}]
        second = await _once(llm, [*messages, *again])
    return [
        replace(
            second,
            calls=2,
            tokens_in=first.tokens_in + second.tokens_in,
            tokens_out=first.tokens_out + second.tokens_out,
            ms=first.ms + second.ms,
        )
    ]


def _messages(turns: Sequence[Turn], window: Sequence[Turn]) -> list[Message]:
    return [
        {"role": "system", "content": prompt()},
        {"role": "user", "content": conversation.document(turns, window)},
    ]


def _by_turn(heard: Heard, turns: Sequence[Turn]) -> list[Heard]:
    """The answer taken apart. A memory is of the turn in which its span stands: small models count badly."""
    if len(turns) == 1:
        return [heard]
    said: list[list[Any]] = [[] for _ in turns]
    for item in heard.said["memories"]:
        said[_turn_of(item, turns)].append(item)
    whole = [replace(heard, said={"memories": items}) for items in said]
    return whole[:1] + [replace(each, calls=0, tokens_in=0, tokens_out=0, ms=0) for each in whole[1:]]


def _turn_of(item: Any, turns: Sequence[Turn]) -> int:
    told = item if isinstance(item, dict) else {}
    span, number = _flat(str(told.get("span", ""))), told.get("turn")
    named = number - 1 if isinstance(number, int) and 0 < number <= len(turns) else 0
    standing = [n for n, turn in enumerate(turns) if span and span in _flat(turn.user_text)]
    return named if named in standing or not standing else standing[0]


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())


async def _once(llm: LLM, messages: Sequence[Message]) -> Heard:
    guess = sum(estimate_tokens(message["content"]) for message in messages)
    started = time.monotonic()
    try:
        answer = await llm.complete(messages, model_answer.schema(), max_tokens=MOST_TOKENS_OUT)
    except UnusableAnswer as error:
        said = _storable(error.said)
        ms = round((time.monotonic() - started) * 1000)
        return Heard(llm.model, prompt_version(), said, str(error), 1, guess, estimate_tokens(error.said), ms)
    said, trouble = _parsed(answer)
    spent = (answer.tokens_in or guess, answer.tokens_out or estimate_tokens(answer.text))
    return Heard(llm.model, prompt_version(), said, trouble, 1, *spent, answer.ms)


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
