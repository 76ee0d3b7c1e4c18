"""Write the plugin into a home of the agent: self-contained, whole or not at all, checked by loading it.

The folder holds the host-facing root files and `_lib-<version>-<hash>/nextlevel/…`, a copy of just the rooms that the
plugin reaches. A new version is written beside the old one; then the root files are swapped to name it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import nextlevel
from nextlevel.errors import Misconfigured

from . import VERSION
from .config import Config, NewerConfig, hosts_recall_mode, load, new_install_id, path_of, save

NAME = "nextlevel"
CLOSURE = (
    *("__init__.py", "errors.py", "event.py", "model.py", "lang", "safety", "wire"),
    *("producers/__init__.py", "producers/hermes", "producers/shortterm"),
)
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "guest", "install.py")
_ROOT_FILES = ("cli.py", "config_schema.py", "plugin.yaml", "__init__.py")  # the door last: it opens the new version

_LOAD_BARE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("guest", sys.argv[1] + "/__init__.py")
guest = importlib.util.module_from_spec(spec)
spec.loader.exec_module(guest)
class Host:
    def register_memory_provider(self, provider):
        print("loaded", provider.name, len(provider.get_tool_schemas()))
guest.register(Host())
"""
_LOAD_THROUGH_HERMES = """
from plugins.memory import load_memory_provider
provider = load_memory_provider("nextlevel")
if provider is None:
    raise SystemExit("Hermes found no provider in the folder")
print("loaded", provider.name, len(provider.get_tool_schemas()))
"""


@dataclass(frozen=True, slots=True)
class Installed:
    """Where the plugin is, for which enrolment, and with whose loader it was checked."""

    folder: Path
    config: Config
    checked_with: str


def folder_of(home: Path) -> Path:
    return home / "plugins" / NAME


def prepare(home: Path, *, service_url: str, redis_url: str) -> Config:
    """The configuration for a home: an enrolment that is there and belongs to this path is kept.

    Addresses change, and the recall mode where the host's own configuration names one.

    The token is left to the caller, who alone knows the secret.

    Raises:
        Misconfigured: a newer version enrolled this home.
    """
    home = home.resolve()
    try:
        known = load(home)
    except NewerConfig as error:
        raise Misconfigured(str(error)) from error
    except ValueError:
        known = Config()  # what can't be read is written anew
    if known == Config() or known.copied(home):
        known = replace(known, install=new_install_id())
    mode = hosts_recall_mode(home) or known.recall_mode
    return replace(known, home=str(home), service_url=service_url, redis_url=redis_url, recall_mode=mode)


def install(home: Path, config: Config) -> Installed:
    """Write plugin and configuration. Safe to repeat; an upgrade does not disturb a host that runs.

    Raises:
        Misconfigured: the folder can't be written, or what was written can't be loaded.
    """
    home = home.resolve()
    folder = folder_of(home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        previous = _named_lib(folder)
        lib = _write_lib(folder)
        save(home, config)
        for name in _ROOT_FILES:
            _write_root_file(folder, name, lib)
        # A compiled door is known by size and second: of two made in one second the older one would open.
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)
        # A host that still runs the version before may read from it yet; the ones before that go.
        for old in folder.glob("_lib-*"):
            if old.name not in (lib, previous):
                shutil.rmtree(old)
    except OSError as error:
        raise Misconfigured(f"{folder} can't be written: {error}") from error
    return Installed(folder, config, check(home))


def installed_version(home: Path) -> str | None:
    """The version of the plugin in a home, None where there is none."""
    try:
        text = (folder_of(home) / "plugin.yaml").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r'^version: "(.+)"$', text, re.MULTILINE)
    return found[1] if found else None


def uninstall(home: Path, *, purge: bool = False) -> bool:
    """Take the plugin away; with `purge` also its configuration and tier 2, turns not yet delivered included.

    True if there was something to take.
    """
    home = home.resolve()
    found = False
    for path in (folder_of(home), *([path_of(home).parent] if purge else [])):
        if path.exists():
            shutil.rmtree(path)
            found = True
    with contextlib.suppress(OSError):  # it is not there, or holds other plugins
        folder_of(home).parent.rmdir()
    return found


def check(home: Path) -> str:
    """Load the plugin as the host would, by the host where it can be found; tell who loaded it.

    Raises:
        Misconfigured: it does not load; the message has the loader's words.
    """
    python = hermes_python()
    if python is not None:
        command, loader = [str(python), "-c", _LOAD_THROUGH_HERMES], "Hermes"
    else:
        # Without site-packages, as bare as the host's environment is of ours.
        command, loader = [sys.executable, "-I", "-S", "-c", _LOAD_BARE, str(folder_of(home))], "a bare Python"
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, "HERMES_HOME": str(home)}, cwd=home
    )
    if done.returncode or f"loaded {NAME}" not in done.stdout:
        raise Misconfigured(
            f"the plugin was written to {folder_of(home)}, but {loader} can't load it: {done.stderr[-800:]}"
        )
    return loader


def hermes_python() -> Path | None:
    """The interpreter behind `hermes` on the PATH."""
    hermes = shutil.which("hermes")
    if hermes is None:
        return None
    beside = Path(hermes).resolve().with_name("python")
    return beside if beside.exists() else None


def _write_lib(folder: Path) -> str:
    """The closure, under a name made of its content: the same content is left alone, another never overwrites it."""
    package = Path(str(nextlevel.__file__)).parent
    draft = folder / f".lib-{os.getpid()}"
    shutil.rmtree(draft, ignore_errors=True)
    for part in CLOSURE:
        source, target = package / part, draft / NAME / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=_LEFT_OUT)
        else:
            shutil.copyfile(source, target)
    name = f"_lib-{VERSION}-{_content_hash(draft)}"
    if (folder / name).exists():
        shutil.rmtree(draft)
    else:
        draft.rename(folder / name)
    return name


def _content_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:8]


def _write_root_file(folder: Path, name: str, lib: str) -> None:
    text = (Path(__file__).parent / "guest" / name).read_text(encoding="utf-8")
    draft = folder / f".{name}.{os.getpid()}"
    draft.write_text(text.replace("@LIB@", lib).replace("@VERSION@", VERSION), encoding="utf-8")
    os.replace(draft, folder / name)


def _named_lib(folder: Path) -> str | None:
    try:
        found = re.search(r'^LIB = "(.+)"$', (folder / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return found[1] if found else None
