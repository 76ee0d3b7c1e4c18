"""The application: its routers, its limits, its errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from nextlevel.settings import Settings

from . import blocks, dead, entities, errors, feedback, forget, installations, library, operate, recall, sessions, turns
from .limits import BodyLimit
from .services import open_services


def create_app(settings: Settings) -> FastAPI:
    """An app that opens its services when it starts and closes them when it ends."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_services(settings) as services:
            app.state.services = services
            yield

    app = FastAPI(
        title="Hermes Memory Next Level",
        description="Long-term memory for agents: publish turns, recall what matters, see why, forget for good.",
        version=version("hermes-nextlevel"),
        lifespan=lifespan,
    )
    for each in (recall, turns, blocks, entities, sessions, library, feedback, forget, operate, installations, dead):
        app.include_router(each.router)
    errors.install(app)
    app.add_middleware(BodyLimit)
    return app
