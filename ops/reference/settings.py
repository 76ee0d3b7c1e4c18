"""Every setting: its name, default, bounds, and the sentence that helps to choose."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from nextlevel.settings import Settings

from .markdown import PRINTED, table

_HEAD = """\
# Settings

Each is read once, when a process starts. The strongest place wins:

1. a flag of the command line (`--data-dir`, `up --port`);
2. the environment: the name in capitals after `NEXTLEVEL_`; an empty variable counts as unset;
3. a secret file: `nextlevel_<setting>` in the directory that `NEXTLEVEL_SECRETS_DIR` names, as containers get it;
4. the settings file `nextlevel.toml` in the user's configuration directory (`~/.config/nextlevel` on Linux,
   `~/Library/Application Support/nextlevel` on macOS), or what `NEXTLEVEL_CONFIG_FILE` names: `serve_port = 7800`;
5. the default.

`nextlevel config` shows each value and where it came from. A wrong value or an unknown name stops the start, by name.

"""
_EXAMPLE_HEAD = """\
# Every setting with its default, for compose.yaml or a shell (set -a; . ./.env). Printed from the code by `make fix`.
# Secrets are better kept in files: NEXTLEVEL_SECRETS_DIR=./secrets

"""


def page() -> str:
    rows = [
        (f"`{name}`", _kind(field), _default(name, field), field.description or "")
        for name, field in Settings.model_fields.items()
    ]
    return PRINTED + _HEAD + table(("setting", "value", "default", "what it does"), rows) + "\n"


def example() -> str:
    """.env.example: each setting commented out, under its sentence."""
    parts = []
    for name, field in Settings.model_fields.items():
        default = field.default if field.default_factory is None else None
        value = "" if default is None else default
        parts.append(f"# {field.description}\n# NEXTLEVEL_{name.upper()}={value}\n")
    return _EXAMPLE_HEAD + "\n".join(parts)


def _kind(field: FieldInfo) -> str:
    kinds = [kind for kind in get_args(field.annotation) or (field.annotation,) if kind is not type(None)]
    name = (
        "secret"
        if SecretStr in kinds
        else {"str": "text", "bool": "true, false"}.get(kinds[0].__name__, kinds[0].__name__)
    )
    limits: dict[str, Any] = {}
    for each in field.metadata:
        limits |= {
            name: getattr(each, name) for name in ("ge", "le", "pattern") if getattr(each, name, None) is not None
        }
    if "pattern" in limits:
        return str(limits["pattern"]).strip("^$()").replace("|", ", ")
    name = {"int": "whole number", "float": "number", "Path": "path"}.get(name, name)
    return f"{name}, {limits['ge']:,} to {limits['le']:,}" if limits else name


def _default(name: str, field: FieldInfo) -> str:
    if field.default_factory is not None:
        return "the user's data directory; as root `/var/lib/nextlevel`"
    return "–" if field.default is None else f"`{field.default}`"
