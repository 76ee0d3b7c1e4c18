"""Turns that the service publishes itself: each is an event of its own, numbered in an outbox of the service beside the
installation's, which numbers its own turns and owns both.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict
from datetime import datetime
from typing import Any

from nextlevel.event import Event, base_install, check, fingerprint
from nextlevel.queue import numbered
from nextlevel.store import turns

from .access import ScopeBody
from .services import Services


def event_of(
    of: ScopeBody, kind: str, text: str, *, session: str, at: datetime, body: dict[str, Any], **more: Any
) -> Event:
    """An event without a secret in `text`; told twice on purpose, it is two: dedup sees to the rest."""
    owner = f"{of.profile}\n{of.principal}"
    told = Event(
        id=f"{_outbox(of)}:1",
        fp=fingerprint(owner, session, text, "", secrets.randbits(60)),
        kind=kind,
        session=session,
        turn=0,
        at=at.isoformat(),
        profile=of.profile,
        principal=of.principal,
        user_text=text,
        body=body,
        **more,
    )
    # As a reader would take it in: NULs and broken Unicode out.
    return check(asdict(told) | {"tools": []})


async def highest(services: Services, of: ScopeBody) -> int:
    """The highest number of the service's own outbox that Postgres knows."""
    async with services.db.pipeline() as conn:
        receipt = await turns.receipt(conn, _outbox(of))
    return 0 if receipt is None else int(receipt["high"])


async def publish(services: Services, of: ScopeBody, event: Event, *, above: int) -> str:
    """Put an event on the stream under the next number; its id.

    Raises:
        QueueUnreachable: Redis is away or full; nothing was published.
        MalformedEvent: the event is too large.
    """
    return await numbered.publish_next(services.redis, _outbox(of), event, above=above)


def _outbox(of: ScopeBody) -> str:
    return f"{base_install(of.install)}.api"
