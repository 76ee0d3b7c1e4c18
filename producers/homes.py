"""The homes on this machine whose outboxes the relay drains: written by `nextlevel hermes install`."""

from __future__ import annotations

import json
import os
from pathlib import Path

from nextlevel.errors import Misconfigured
from nextlevel.settings import Settings


def registered(settings: Settings) -> list[Path]:
    """The homes, by the setting where it is set, else by the file.

    Raises:
        Misconfigured: the file can't be read.
    """
    if settings.homes is not None:
        return [Path(each).expanduser() for each in settings.homes.split(os.pathsep) if each]
    path = file_of(settings)
    try:
        return [Path(each) for each in json.loads(path.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as error:
        raise Misconfigured(
            f"{path} can't be read ({error}); delete it and run `nextlevel hermes install` again"
        ) from error


def register_home(settings: Settings, home: Path) -> None:
    """From now on the relay drains this home too."""
    _write(settings, sorted({*_listed(settings), home.resolve()}))


def unregister_home(settings: Settings, home: Path) -> None:
    _write(settings, sorted({*_listed(settings)} - {home.resolve()}))


def file_of(settings: Settings) -> Path:
    return settings.data_dir / "homes.json"


def _listed(settings: Settings) -> list[Path]:
    return registered(settings.model_copy(update={"homes": None}))


def _write(settings: Settings, homes: list[Path]) -> None:
    path = file_of(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".homes.{os.getpid()}.json")
    draft.write_text(json.dumps([str(home) for home in homes], indent=2) + "\n", encoding="utf-8")
    os.replace(draft, path)
