"""GET /v1/trace/{turn}, /v1/status, /healthz, /readyz: what an operator asks."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from nextlevel.errors import NextLevelError, NotFound
from nextlevel.inference import model_named
from nextlevel.queue import inspect
from nextlevel.store import passages, search, status, trace, vectors

from .access import CallerOf
from .services import Services, ServicesOf

STUCK_S = 120.0
"""A turn that waits longer than this, with nobody at work, means that nothing moves."""

_PROBE_S = 2.0

router = APIRouter(tags=["operate"])


class StepOut(BaseModel):
    at: datetime
    step: str
    facts: dict[str, Any]


class TraceOut(BaseModel):
    """One turn from event to blocks: its state with the reason, each step with its facts, what it became."""

    turn: dict[str, Any]
    events: list[StepOut]
    blocks: list[dict[str, Any]]


class StatusOut(BaseModel):
    """The pipeline over all tenants; ages in seconds."""

    store: dict[str, Any]
    queue: dict[str, Any]


class Health(BaseModel):
    status: str
    reasons: list[str] = []


@router.get("/v1/trace/{turn}")
async def trace_turn(turn: str, caller: CallerOf, services: ServicesOf) -> TraceOut:
    """What became of a turn, and why."""
    install, _, number = turn.rpartition(":")
    if not install or not number.isdecimal():
        raise NotFound(f"there is no turn {turn!r}: an id is <install>:<number>")
    caller.may_act_for(install)
    async with services.db.pipeline() as conn:
        scope = await search.scope_of_turn(conn, turn)
    async with services.db.memory(scope) as conn:
        return TraceOut(**await trace.of_turn(conn, scope.tenant_id, turn))


@router.get("/v1/status")
async def pipeline_status(caller: CallerOf, services: ServicesOf) -> StatusOut:
    """What waits where and for how long, how turns ended, who delivers, what died. For the operator."""
    caller.may_operate()
    async with services.db.pipeline() as conn:
        store = await status.snapshot(conn)
        active = await vectors.active(conn)
        model = model_named(services.settings) if active is None else active.model
        store["passages"] = asdict(await passages.backlog(conn, model))
        counted = asdict(await vectors.count(conn, model))
        store["vectors"] = {"model": model, **counted, "note": services.embedding.note or None}
    return StatusOut(store=store, queue=await inspect.snapshot(services.redis))


@router.get("/healthz")
async def healthz() -> Health:
    """This process is alive."""
    return Health(status="alive")


@router.get("/readyz")
async def readyz(services: ServicesOf, response: Response) -> Health:
    """Memory works: the stores answer and turns move on. Else 503, with the reasons.

    Without an embedder it is `degraded`: words and graph answer, so that nobody should be sent away.
    """
    of_store, of_queue = await asyncio.gather(_store(services), _queue(services))
    if of_store or of_queue:
        response.status_code = 503
        return Health(status="not ready", reasons=[*of_store, *of_queue])
    if services.embedder is None and services.embedding.note:
        reason = f"embedder: recall goes by words and graph alone: {services.embedding.note}"
        return Health(status="degraded", reasons=[reason])
    return Health(status="ready")


async def _store(services: Services) -> list[str]:
    try:
        async with asyncio.timeout(_PROBE_S), services.db.pipeline() as conn:
            stages = (await status.snapshot(conn))["stages"]
    except (NextLevelError, TimeoutError) as error:
        return [f"postgres: {error or 'no answer'}"]
    return [
        f"pipeline: {stage['waiting']} turns are {state}, the oldest for {stage['oldest_s']:.0f} s; nobody is at work"
        for state, stage in stages.items()
        if stage["oldest_s"] > STUCK_S and stage["running"] == 0 and stage["delayed"] < stage["waiting"]
    ]


async def _queue(services: Services) -> list[str]:
    try:
        async with asyncio.timeout(_PROBE_S):
            streams = (await inspect.snapshot(services.redis))["streams"]
    except (NextLevelError, TimeoutError) as error:
        return [f"redis: {error or 'no answer'}"]
    return [
        f"ingest: {stream['entries']} events wait on {name}, the oldest for {stream['oldest_s']:.0f} s"
        for name, stream in streams.items()
        if stream["oldest_s"] > STUCK_S
    ]
