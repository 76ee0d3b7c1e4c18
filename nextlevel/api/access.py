"""Who asks, and for whose memory. A token proves an installation, or the operator; a body proves nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from nextlevel.auth import OPERATOR, proves
from nextlevel.errors import ScopeDenied
from nextlevel.event import base_install
from nextlevel.model import Scope

from .services import Services, ServicesOf

INSTALL = r"^[A-Za-z0-9][A-Za-z0-9._~-]{0,79}$"


class Unauthenticated(Exception):
    """No bearer token came with the request. An error of HTTP alone: nothing but the edge knows tokens."""


class ScopeBody(BaseModel):
    """Whose memory: an installation, the agent's profile, and the person who speaks there."""

    install: str = Field(pattern=INSTALL, description="The installation's id, as enrolled.")
    profile: str = Field(default="default", min_length=1, max_length=128, description="The agent's identity.")
    principal: str = Field(default="local", min_length=1, max_length=256, description="platform:id, or local.")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who presented a token, not yet judged."""

    services: Services
    presented: str

    def may_operate(self) -> None:
        """Let only the operator through.

        Raises:
            ScopeDenied: the token is not the operator's.
        """
        if not proves(self.services.secret, OPERATOR, self.presented):
            raise ScopeDenied("this needs the operator's token")

    def may_act_for(self, install: str) -> None:
        """Let the operator through, and the installation itself.

        Raises:
            ScopeDenied: the token is somebody else's.
        """
        secret = self.services.secret
        if not any(proves(secret, purpose, self.presented) for purpose in (OPERATOR, base_install(install))):
            raise ScopeDenied(f"this token does not prove installation {base_install(install)!r}")

    async def scope(self, named: ScopeBody) -> Scope:
        """The memory that was named, if the caller may have it.

        Raises:
            ScopeDenied: the token is somebody else's.
            UnknownInstallation: nobody enrolled it.
        """
        self.may_act_for(named.install)
        return await self.services.recall.scopes.get(named.install, named.profile, named.principal)


_bearer = HTTPBearer(auto_error=False, description="An installation's token, or the operator's.")


async def _caller(
    services: ServicesOf, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Caller:
    if credentials is None or not credentials.credentials:
        raise Unauthenticated
    return Caller(services, credentials.credentials)


async def _scope_query(
    install: Annotated[str, Query(pattern=INSTALL)],
    profile: Annotated[str, Query(min_length=1, max_length=128)] = "default",
    principal: Annotated[str, Query(min_length=1, max_length=256)] = "local",
) -> ScopeBody:
    return ScopeBody(install=install, profile=profile, principal=principal)


CallerOf = Annotated[Caller, Depends(_caller)]
ScopeQuery = Annotated[ScopeBody, Depends(_scope_query)]
