"""`nextlevel hermes …`: put the plugin into an agent's home, take it out, tell its state."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from nextlevel import auth, settings
from nextlevel.client import Client
from nextlevel.errors import Misconfigured, NextLevelError, ServiceUnreachable

from . import homes
from .hermes import VERSION, status
from .hermes import install as installer
from .hermes.config import Config

hermes = typer.Typer(add_completion=False, no_args_is_help=True, help="The plugin in Hermes Agent.")

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="The agent's home. Default: $HERMES_HOME, else ~/.hermes.")
]


@hermes.command(epilog="Then: hermes memory setup nextlevel")
def install(
    home: HomeOption = None,
    service_url: Annotated[str | None, typer.Option(help="Where the memory service is reached.")] = None,
    redis_url: Annotated[
        str | None, typer.Option(help="Where turns are sent. Without one the relay of this machine sends them.")
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose service it is, on a shared one.")] = "local",
    user: Annotated[str, typer.Option(help="Whose memory it becomes, on a shared service.")] = "local",
    profiles: Annotated[bool, typer.Option("--profiles", help="Also into each profile of this agent.")] = False,
) -> None:
    """Write the plugin into a home and enrol it. Repeat it to upgrade: enrolment and turns stay."""
    ours, home = settings.load(), home_of(home)
    for each in dict.fromkeys((home, *(status.profiles(home) if profiles else []))):
        _install(ours, each, service_url=service_url, redis_url=redis_url, tenant=tenant, user=user)
    for bare in status.without_plugin(home):
        typer.echo(f"profile {bare.name} has no plugin, so no memory: nextlevel hermes install --home {bare}")
    typer.echo("now run:       hermes memory setup nextlevel")


def _install(
    ours: settings.Settings, home: Path, *, service_url: str | None, redis_url: str | None, tenant: str, user: str
) -> None:
    config = installer.prepare(
        home, service_url=service_url or _service_url(ours), redis_url=redis_url or _redis_url(ours)
    )
    config = replace(config, token=auth.token(auth.secret_of(ours), config.install))
    done = installer.install(home, config)
    homes.register_home(ours, home)
    typer.echo(f"plugin:        {done.folder}")
    typer.echo(f"installation:  {done.config.install} (loaded with {done.checked_with})")
    typer.echo(f"service:       {done.config.service_url}")
    typer.echo(f"owner:         {_enrolled(ours, done.config, tenant=tenant, user=user)}")
    typer.echo(f"redis:         {done.config.redis_url or 'by the relay of this machine'}")
    if (home / "state.db").exists():
        typer.echo(f"past sessions: `nextlevel import hermes --home {home}` brings them in")


@hermes.command()
def uninstall(
    home: HomeOption = None,
    purge: Annotated[bool, typer.Option("--purge", help="Also delete turns kept here and the enrolment.")] = False,
) -> None:
    """Take the plugin out of a home. What it has remembered stays, here (unless --purge) and in the service."""
    ours, home = settings.load(), home_of(home)
    found = installer.uninstall(home, purge=purge)
    homes.unregister_home(ours, home)
    typer.echo("removed; now run: hermes memory off" if found else f"there was no plugin in {home}")


@hermes.command("status")
def show_status(
    home: HomeOption = None,
    every: Annotated[bool, typer.Option("--all", help="All homes that have the plugin.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="What the homes themselves know, as a JSON list.")] = False,
) -> None:
    """Tell what a home has kept, sent and not yet delivered, and who answers."""
    chosen = homes.registered(settings.load()) if every else [home_of(home)]
    if as_json:
        typer.echo(json.dumps([_facts(each) for each in chosen], indent=2))
        return
    typer.echo("\n\n".join("\n".join(status.lines(each)) for each in chosen))


def _facts(home: Path) -> dict[str, Any]:
    return {"plugin": installer.installed_version(home), "newest": VERSION, **status.facts(home)}


def home_of(given: Path | None) -> Path:
    """The agent's home: as given, else as the agent itself finds it.

    Raises:
        Misconfigured: there is none.
    """
    home = (given or Path(os.environ.get("HERMES_HOME") or Path.home() / ".hermes")).expanduser().resolve()
    if not home.is_dir():
        raise Misconfigured(f"there is no agent's home at {home}: run `hermes` once, or name it with --home")
    return home


def _enrolled(ours: settings.Settings, config: Config, *, tenant: str, user: str) -> str:
    """Tell the service whose turns will come, and say what it answered."""
    service = Client(config.service_url, auth.token(auth.secret_of(ours), auth.OPERATOR))
    try:
        its_tenant, its_user = service.enrol(config.install, tenant=tenant, user=user)
    except ServiceUnreachable:
        return "the local user; a shared service must be up: then repeat this command"
    return its_user if its_tenant == its_user else f"{its_user} of {its_tenant}"


def _service_url(ours: settings.Settings) -> str:
    try:
        return ours.need_service()
    except NextLevelError:  # not running yet: it will be where it is told to listen
        return f"http://{ours.serve_host}:{ours.serve_port}"


def _redis_url(ours: settings.Settings) -> str:
    try:
        return ours.need_redis()
    except NextLevelError:  # not running yet: the relay will know
        return ""
