"""Whose memory a request is about, remembered for a minute: it changes only by enrolling or revoking."""

from __future__ import annotations

import time
from collections import OrderedDict

from nextlevel.errors import StoreUnreachable
from nextlevel.model import Scope
from nextlevel.settings import Settings
from nextlevel.store import scopes
from nextlevel.store.pool import Database

_KEEP_S = 60.0
_KEPT = 10_000


class Scopes:
    """Resolved scopes of this process. While Postgres is away, what was known goes on to hold."""

    def __init__(self, settings: Settings, db: Database) -> None:
        self._db = db
        accept = settings.accept_unenrolled
        self._accept_unenrolled = settings.embedded if accept is None else accept
        self._known: OrderedDict[tuple[str, str, str], tuple[float, Scope]] = OrderedDict()

    async def get(self, install: str, profile: str, principal: str) -> Scope:
        """The scope of an installation's principal under a profile.

        Raises:
            UnknownInstallation: nobody enrolled it, or it was revoked (a minute ago at most, it may still be served).
            StoreUnreachable: not known yet, and nobody to ask.
        """
        name = (install, profile, principal)
        until, scope = self._known.get(name, (0.0, None))
        if scope is not None and time.monotonic() < until:
            return scope
        try:
            async with self._db.pipeline() as conn:
                found = await scopes.resolve(
                    conn, install, profile=profile, principal=principal, accept_unenrolled=self._accept_unenrolled
                )
        except StoreUnreachable:
            if scope is None:
                raise
            return scope
        self._known[name] = (time.monotonic() + _KEEP_S, found)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return found
