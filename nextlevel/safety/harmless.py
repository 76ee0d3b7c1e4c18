"""An event as it may be kept: secrets and what recall injected taken out of every text in it, whoever sent it.

The plugin does this before it writes; other hosts may have none of our rules, so each door into the product does it
again: the API before it publishes, ingest before it stores. Doing it twice changes nothing more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from nextlevel.event import Event
from nextlevel.model import ToolCall

from .markers import strip
from .redact import redact


def harmless(event: Event) -> tuple[Event, dict[str, int]]:
    """The event without secrets and recalled text, and how many of each kind of secret went, here and now.

    What went is added to `meta.redactions`; the fingerprint stays the sender's.
    """
    counts: Counter[str] = Counter()

    def clean(text: str) -> str:
        if not text:
            return text
        found = redact(text)
        counts.update(found.counts)
        return found.text

    def call(tool: ToolCall) -> ToolCall:
        return replace(tool, args=clean(tool.args), result=clean(strip(tool.result)))

    def every(value: Any) -> Any:
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, dict):
            return {name: every(each) for name, each in value.items()}
        return [every(each) for each in value] if isinstance(value, list) else value

    cleaned = replace(
        event,
        user_text=clean(strip(event.user_text)),
        assistant_text=clean(strip(event.assistant_text)),
        tools=tuple(call(tool) for tool in event.tools),
        meta=every(event.meta),
        body=every(event.body),
    )
    if not counts:
        return cleaned, {}
    known = event.meta.get("redactions")
    told = Counter({kind: n for kind, n in known.items() if isinstance(n, int)} if isinstance(known, dict) else {})
    return replace(cleaned, meta={**cleaned.meta, "redactions": dict(told + counts)}), dict(counts)
