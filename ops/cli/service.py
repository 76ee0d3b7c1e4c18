"""What the commands that ask the service share: the client with the operator's token, and whose memory is meant."""

from __future__ import annotations

from typing import Annotated

import typer

from nextlevel.client import Client, ScopeName

Install = Annotated[str, typer.Option(help="Installation whose memory is meant.")]
Profile = Annotated[str, typer.Option(help="Profile (agent identity) whose memory is meant.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the service's answer as JSON.")]


def connect() -> Client:
    """A client of the running service, as the operator."""
    from nextlevel.auth import OPERATOR, secret_of, token
    from nextlevel.settings import load

    settings = load()
    return Client(settings.need_service(), token(secret_of(settings), OPERATOR))


def scope(install: str, profile: str) -> ScopeName:
    return ScopeName(install=install, profile=profile)
