"""One extraction and one embedding, as the product would ask for them: does it work, and how long does it take?"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from nextlevel.errors import ModelBusy, UnusableAnswer
from nextlevel.inference import Message, servers
from nextlevel.inference.llm import CompatibleLLM
from nextlevel.settings import Settings

SAID = "The staging server moved to port 8091, and please keep tables compact from now on."
_PROMPT: list[Message] = [
    {
        "role": "system",
        "content": "List the facts that the message states, as subject, predicate and object. Answer in JSON only.",
    },
    {"role": "user", "content": SAID},
]
_MAX_TOKENS = 1_000


class Fact(BaseModel):
    model_config = ConfigDict(extra="forbid")

    subject: str
    predicate: str
    object: str


class Facts(BaseModel):
    model_config = ConfigDict(extra="forbid")

    facts: list[Fact]


@dataclass(frozen=True, slots=True)
class Tried:
    """`works` decides; `says` tells what came and in what time, or why it does not do."""

    works: bool
    says: str


async def extraction(base_url: str, model: str, settings: Settings) -> Tried:
    """Ask for the facts of one message, held to a JSON schema."""
    key = None if settings.llm_api_key is None else settings.llm_api_key.get_secret_value()
    llm = CompatibleLLM(base_url, model, key, timeout_s=settings.llm_timeout_s)
    try:
        answer = await llm.complete(_PROMPT, Facts.model_json_schema(), max_tokens=_MAX_TOKENS)
        found = Facts.model_validate_json(answer.text).facts
    except (ModelBusy, UnusableAnswer) as error:
        return Tried(False, str(error))
    except ValidationError as error:
        return Tried(False, f"the answer does not follow the schema: {error.errors()[0]['msg']}")
    finally:
        await llm.close()
    facts = "; ".join(f"{fact.subject} {fact.predicate} {fact.object}" for fact in found)
    if "8091" not in facts:
        return Tried(False, f"valid JSON in {answer.ms / 1000:.1f} s, but it misses the port: {facts or 'no facts'}")
    return Tried(True, f"valid JSON in {answer.ms / 1000:.1f} s: {facts}")


async def embedding(base_url: str, model: str, settings: Settings) -> Tried:
    """Have the message embedded."""
    key = None if settings.llm_api_key is None else settings.llm_api_key.get_secret_value()
    try:
        found = await servers.embed(base_url, model, key, SAID, timeout_s=settings.llm_timeout_s)
    except (ModelBusy, UnusableAnswer) as error:
        return Tried(False, str(error))
    return Tried(True, f"{found.dimension} numbers in {found.ms} ms")
