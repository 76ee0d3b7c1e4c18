"""A memory of its own through the whole chain: told, recalled, forgotten again."""

from __future__ import annotations

import asyncio
import secrets
import time

from nextlevel.client import Client, ScopeName

from .finding import Finding, broken, ok
from .patient import Patient

WHO = "nextlevel-doctor"
"""A tenant of its own: no wall is thicker."""
RECALLED_WITHIN_S = 30.0


async def canary(patient: Patient) -> list[Finding]:
    link = "canary"
    client, scope = patient.service, ScopeName(install=WHO)
    client.enrol(WHO, tenant=WHO, user=WHO)
    word = secrets.token_hex(4)
    since = time.monotonic()
    told = client.remember(f"The canary of nextlevel doctor is called {word}.", scope)
    try:
        while not _recalled(client, scope, word):
            if time.monotonic() - since > RECALLED_WITHIN_S:
                says = f"turn {told.turn} is not recalled after {RECALLED_WITHIN_S:.0f} s"
                return [broken(link, says, f"see where it stands: nextlevel trace {told.turn}")]
            await asyncio.sleep(0.1)
        took_s = time.monotonic() - since
    finally:
        for block in client.blocks(scope, status=("active", "review")):
            client.forget(block["id"], scope)
    return [ok(link, f"told, recalled after {took_s:.1f} s, and forgotten")]


def _recalled(client: Client, scope: ScopeName, word: str) -> bool:
    return any(word in item["text"] for item in client.recall(f"What is the canary {word} called?", scope).items)
