"""POST /v1/installations: let an installation's turns in, and say whose they are."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from nextlevel.store import scopes

from .access import CallerOf
from .services import ServicesOf

router = APIRouter(tags=["operate"])

BASE = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$"
NAME = Field(default=scopes.LOCAL, min_length=1, max_length=200)


class EnrolBody(BaseModel):
    """An installation and its owner. Tenant and user are made where they are not there yet."""

    install: str = Field(pattern=BASE, description="The base id, without the suffix of a cloned home.")
    tenant: str = NAME
    user: str = NAME


class Enrolled(BaseModel):
    """Whose turns they are: where somebody enrolled it before, that owner stays."""

    install: str
    tenant: str
    user: str


@router.post("/v1/installations", status_code=201)
async def enrol(body: EnrolBody, caller: CallerOf, services: ServicesOf) -> Enrolled:
    """Enrol an installation. Repeating it changes nothing: an owner is never replaced by asking again."""
    caller.may_operate()
    async with services.db.pipeline() as conn:
        await scopes.enrol(conn, body.install, tenant=body.tenant, user=body.user)
        tenant, user = await scopes.owner_names(conn, body.install)
    return Enrolled(install=body.install, tenant=tenant, user=user)
