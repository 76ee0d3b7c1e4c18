"""What a rescued tier 2 lacks is asked of the service, on the delivery's thread."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import closing
from typing import Any
from urllib.parse import urlencode

from nextlevel.errors import MalformedEvent, ServiceUnreachable
from nextlevel.event import VERSION, check
from nextlevel.producers.shortterm import refill
from nextlevel.producers.shortterm.database import Database
from nextlevel.producers.shortterm.refill import Due, Past
from nextlevel.wire.http import JsonClient

from .config import Config
from .speaker import Speaker

log = logging.getLogger("nextlevel.hermes")

_PAGE = 50
_PAGE_S = 5.0


def one_page(database: Database, config: Config) -> bool:
    """Ask for one page and keep what is missing of it. False where none is due.

    Raises:
        ServiceUnreachable: it does not answer, or refuses; the next time asks for the same page.
        ShortTermUnavailable: tier 2 can't be read or written.
    """
    asked = refill.due(database)
    if asked is None:
        return False
    page, after = _ask(config, asked)
    refill.take(database, asked, page, after)
    if refill.due(database) is None:
        log.info("nextlevel: %s: %s", database.path, refill.told(database))
    return True


def _ask(config: Config, asked: Due) -> tuple[list[Past], str | None]:
    query = {"install": config.install, "profile": asked.profile, "principal": asked.principal, "limit": _PAGE}
    if asked.after is not None:
        query["after"] = asked.after
    # Its own client: a page may take long, and recall must not take that for a service that is away.
    with closing(JsonClient(config.service_url)) as service:
        answer = service.request("GET", f"/v1/turns?{urlencode(query)}", token=config.token, timeout_s=_PAGE_S)
    if not answer.ok:
        raise ServiceUnreachable(answer.reason)
    try:
        return [_past(turn, asked) for turn in answer.body["turns"]], answer.body["next"]
    except (KeyError, TypeError, AttributeError, MalformedEvent) as error:
        raise ServiceUnreachable(f"the service's page of turns can't be read: {error}") from error


def _past(turn: Mapping[str, Any], asked: Due) -> Past:
    whose = {"profile": asked.profile, "principal": asked.principal}
    event = check({**turn, **whose, "v": VERSION, "kind": "turn"})
    place = {name: event.meta.get(name, "") for name in ("platform", "chat_type", "chat_id")}
    return Past(event, Speaker(**place).chat)
