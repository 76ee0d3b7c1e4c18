"""A language model's verdict on two facts in the grey zone: one short question, one word of JSON back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nextlevel.errors import UnusableAnswer
from nextlevel.inference import LLM, Message, document, tokens_of
from nextlevel.model import Block, Candidate, block_text
from nextlevel.safety.redact import redact

from .decision import Verdict

MOST_TOKENS_OUT = 400
"""One word is wanted; a model that thinks aloud first needs some more."""
_MALFORMED = "malformed"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": [str(each) for each in Verdict]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model said of two facts, or why that is of no use. Tokens are estimated where the server counts none."""

    model: str
    verdict: Verdict | None
    trouble: str | None
    tokens_in: int
    tokens_out: int
    calls: int = 1


def name(llm: LLM) -> str:
    """Model and prompt, as stored with what they said: another prompt asks anew."""
    return f"{llm.model}@{prompt_version()}"


@cache
def prompt() -> str:
    return Path(__file__).with_name("prompt.md").read_text(encoding="utf-8")


@cache
def prompt_version() -> str:
    return hashlib.sha256(prompt().encode()).hexdigest()[:12]


async def ask(llm: LLM, later: Candidate | Block, earlier: Candidate | Block) -> Judgement:
    """Ask a model once how a fact stands to one that was told before it.

    Raises:
        ModelBusy: no answer can be had now.
    """
    facts = {"earlier": _sentence(earlier), "later": _sentence(later)}
    messages: list[Message] = [
        {"role": "system", "content": prompt()},
        {"role": "user", "content": json.dumps(facts, ensure_ascii=False)},
    ]
    try:
        answer = await llm.complete(messages, _SCHEMA, max_tokens=MOST_TOKENS_OUT)
    except UnusableAnswer as error:
        return Judgement(llm.model, None, error.code, *tokens_of(messages, error.said, error.tokens))
    verdict = _verdict(answer.text)
    spent = tokens_of(messages, answer.text, (answer.tokens_in, answer.tokens_out))
    return Judgement(llm.model, verdict, None if verdict else _MALFORMED, *spent)


def _sentence(fact: Candidate | Block) -> str:
    return redact(block_text(fact.subject, fact.predicate, fact.object, negated=fact.negated)).text


def _verdict(text: str) -> Verdict | None:
    try:
        said = document(text)
        return Verdict(said["verdict"]) if isinstance(said, dict) else None
    except (ValueError, KeyError):
        return None
