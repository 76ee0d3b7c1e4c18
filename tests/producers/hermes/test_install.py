"""Writing the plugin into a home: self-contained, whole, repeatable."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nextlevel.errors import Misconfigured
from nextlevel.producers.hermes import VERSION, status
from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes import install as installer
from nextlevel.producers.hermes.config import Config, load, path_of
from nextlevel.producers.hermes.install import install, prepare, uninstall
from nextlevel.producers.hermes.provider import Provider


def pythons(*versions: str) -> list[str]:
    """Those that are here, on the PATH or of pyenv, whose shims stand there also for versions that are not chosen."""
    installed = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = {sys.executable}
    for version in versions:
        for each in (shutil.which(f"python{version}"), *installed.glob(f"{version}.*/bin/python{version}")):
            if each:
                asked = subprocess.run(
                    [each, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True
                )
                found |= {asked.stdout.strip()} if asked.returncode == 0 else set()
    return sorted(found)


HOSTS = ("3.11", "3.12", "3.13")
"""What Hermes 0.19 runs on; on later ones it can't be installed, and the plugin is compiled only."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where a path has a space and letters of other alphabets."""
    made = tmp_path / "hermes für 日本"
    made.mkdir()
    return made.resolve()


@pytest.fixture
def no_hermes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on a machine where the agent is not on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def installed(home: Path, no_hermes: None) -> Path:
    install(home, prepare(home, service_url="http://127.0.0.1:7717", redis_url=""))
    return home


USE = """
import importlib.util, json, sys
before = set(sys.modules)
spec = importlib.util.spec_from_file_location("guest", sys.argv[1] + "/plugins/nextlevel/__init__.py")
guest = importlib.util.module_from_spec(spec)
spec.loader.exec_module(guest)

class Host:
    def register_memory_provider(self, provider):
        self.provider = provider

host = Host()
guest.register(host)
provider = host.provider
provider.initialize("s1", hermes_home=sys.argv[1], platform="cli")
provider.sync_turn("the crm runs on port 8080", "Noted.", messages=[])
tool = json.loads(provider.handle_tool_call("nextlevel_search", {"query": "crm port"}))
provider.prefetch("crm port?")
roots = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps({
    "tool": tool["results"][0]["user"],
    "rung": provider.last_recall.rung,
    "library": sys.modules["nextlevel"].__file__,
    "foreign": sorted(roots - set(sys.stdlib_module_names) - {"nextlevel"}),
    "kept": provider._home.counters["kept"],
}))
"""


@pytest.mark.parametrize("python", pythons(*HOSTS))
def test_it_works_in_a_python_without_any_package(installed: Path, python: str) -> None:
    """The host's environment has none of ours, and what pip puts there does not last."""
    done = subprocess.run([python, "-I", "-S", "-c", USE, str(installed)], capture_output=True, text=True, timeout=60)
    assert 0 == done.returncode, done.stderr
    told = json.loads(done.stdout)
    assert ("the crm runs on port 8080", "unavailable", []) == (told["tool"], told["rung"], told["foreign"])
    assert 1 == told["kept"]
    assert told["library"].startswith(str(installed / "plugins" / "nextlevel" / f"_lib-{VERSION}-"))


@pytest.mark.parametrize("python", pythons(*HOSTS, "3.14"))
def test_it_compiles_without_a_warning(installed: Path, python: str) -> None:
    """Also for a Python that the host does not run on yet: what it will refuse, it warns of before."""
    code = (
        "import pathlib, sys\n"
        "for each in pathlib.Path(sys.argv[1]).rglob('*.py'):\n"
        "    compile(each.read_text(encoding='utf-8'), str(each), 'exec', dont_inherit=True)\n"
    )
    command = [python, "-I", "-W", "error", "-c", code, str(installed / "plugins")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert 0 == done.returncode, done.stderr


def test_only_what_the_plugin_reaches_is_copied(installed: Path) -> None:
    """The host carries no service, no store and no command line of ours."""
    (lib,) = (installed / "plugins" / "nextlevel").glob("_lib-*")
    listed = [*(lib / "nextlevel").iterdir(), *(lib / "nextlevel" / "producers").iterdir()]
    top = {"__init__.py", "errors.py", "event.py", "model.py", "lang", "safety", "wire", "producers"}
    assert top | {"hermes", "shortterm"} == {path.name for path in listed} - {"__pycache__"}
    assert "" == (lib / "nextlevel" / "__init__.py").read_text()
    names = {path.name for path in lib.parent.iterdir()} - {"__pycache__"}
    assert {"__init__.py", "cli.py", "config_schema.py", "plugin.yaml", lib.name} == names


def test_the_door_is_recognised_by_the_host(installed: Path) -> None:
    """It looks for a word in the first 8 KiB; the folder, the manifest and the provider have one name."""
    folder = installed / "plugins" / "nextlevel"
    assert "register_memory_provider" in (folder / "__init__.py").read_text()[:8192]
    assert 30 > len((folder / "__init__.py").read_text().splitlines())
    assert f'name: nextlevel\nversion: "{VERSION}"' in (folder / "plugin.yaml").read_text()


def test_the_configuration_is_for_its_owner_only(installed: Path) -> None:
    """It holds the token."""
    assert 0o600 == stat.S_IMODE(path_of(installed).stat().st_mode)


def test_installing_again_keeps_the_enrolment_and_changes_nothing(installed: Path) -> None:
    """It is also how one upgrades."""
    first = load(installed)
    path_of(installed).write_text(
        json.dumps({**json.loads(path_of(installed).read_text()), "recall_mode": "tools", "mine": 1})
    )
    before = sorted(path.as_posix() for path in (installed / "plugins").rglob("*"))
    install(installed, prepare(installed, service_url="http://other:1", redis_url=""))
    again = load(installed)
    assert replace(first, service_url="http://other:1", recall_mode="tools") == again
    assert 1 == json.loads(path_of(installed).read_text())["mine"]
    assert before == sorted(path.as_posix() for path in (installed / "plugins").rglob("*"))


def test_an_upgrade_leaves_the_version_that_a_host_may_still_run(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway runs for weeks, and reads from its folder; the version before that one goes."""
    config = load(installed)
    for version in ("0.2.0", "0.3.0"):
        monkeypatch.setattr(installer, "VERSION", version)
        install(installed, config)
    libs = sorted(path.name.split("-")[1] for path in (installed / "plugins" / "nextlevel").glob("_lib-*"))
    assert ["0.2.0", "0.3.0"] == libs


def test_a_copied_home_is_enrolled_anew(installed: Path, tmp_path: Path) -> None:
    """Two homes are two installations, each with a token of its own."""
    shutil.copytree(installed, tmp_path / "clone")
    assert load(installed).install != prepare(tmp_path / "clone", service_url="", redis_url="").install


def test_the_hosts_recall_mode_is_taken_over(home: Path) -> None:
    """Where a person has put one into the host's own file."""
    (home / "config.yaml").write_text(
        "model:\n  recall_mode: x\nmemory:\n  provider: nextlevel\n\n  recall_mode: 'context'\n"
    )
    assert "context" == prepare(home, service_url="", redis_url="").recall_mode


def test_an_install_id_has_none_of_the_signs_that_delivery_ids_add(home: Path) -> None:
    """`base.suffix` and `base~fp` are told apart by them."""
    made = prepare(home, service_url="", redis_url="").install
    assert (10, True) == (len(made), made.isalnum() and made == made.lower())


def test_a_plugin_that_does_not_load_is_told(home: Path, no_hermes: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host would go on without memory, and say so nowhere."""
    monkeypatch.setattr(installer, "CLOSURE", ("__init__.py", "errors.py"))
    with pytest.raises(Misconfigured, match="a bare Python can't load it"):
        install(home, Config(install="k3v9wq"))


def test_a_folder_that_cannot_be_written_is_told(home: Path, no_hermes: None) -> None:
    """With its name."""
    (home / "plugins").write_text("a file")
    with pytest.raises(Misconfigured, match="can't be written"):
        install(home, Config())


def test_uninstalling_keeps_what_was_kept(installed: Path) -> None:
    """Turns that are not delivered yet are nobody's to delete, unless asked."""
    assert uninstall(installed)
    assert (False, True) == ((installed / "plugins" / "nextlevel").exists(), path_of(installed).exists())
    assert uninstall(installed, purge=True)
    assert not path_of(installed).exists()
    assert not uninstall(installed, purge=True)


def test_a_purge_leaves_the_home_as_it_was(home: Path, no_hermes: None) -> None:
    """Neither an empty folder nor a lock: who tried it once must not find us years later."""
    (home / "config.yaml").write_text("memory: {}\n")
    before = sorted(home.rglob("*"))
    for _ in range(2):
        install(home, prepare(home, service_url="http://127.0.0.1:7717", redis_url=""))
    provider = Provider()
    provider.initialize("s1", hermes_home=str(home))
    provider.sync_turn("a", "b")
    homes.of(home).database.close()
    assert uninstall(home, purge=True)
    assert before == sorted(home.rglob("*"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "can't be read"),
        ("[]", "not a JSON object"),
        ('{"install": 7}', "install must be str"),
        ('{"recall_mode": "loud"}', "hybrid, context, tools"),
        ('{"version": 2, "install": "k3v9wq"}', "written by a newer version"),
        ('{"prefetch_ms": 1}', "between 10 and 2000"),
        ('{"service_url": "redis://x"}', "service_url: 'redis://x' is not http"),
        ('{"redis_url": "http://x"}', "redis_url: http:// is not redis"),
    ],
)
def test_a_wrong_configuration_names_file_and_field(home: Path, text: str, complaint: str) -> None:
    """A person may have edited it."""
    path_of(home).parent.mkdir()
    path_of(home).write_text(text)
    with pytest.raises(ValueError, match=complaint):
        load(home)
    assert complaint in "\n".join(status.lines(home))


def test_a_home_that_a_newer_version_enrolled_is_left_to_it(home: Path) -> None:
    """To enrol it anew would begin its memory anew."""
    path_of(home).parent.mkdir()
    path_of(home).write_text('{"version": 2, "install": "k3v9wq"}')
    with pytest.raises(Misconfigured, match="newer version"):
        prepare(home, service_url="", redis_url="")
    assert "k3v9wq" in path_of(home).read_text()


def test_a_number_that_the_settings_page_stored_as_text_is_read(home: Path) -> None:
    """The host stores what was typed."""
    path_of(home).parent.mkdir()
    path_of(home).write_text('{"prefetch_ms": "120"}')
    assert 120 == load(home).prefetch_ms


def test_the_host_can_show_the_state(installed: Path) -> None:
    """`hermes nextlevel status`, loaded without the plugin's door."""
    code = (
        "import argparse, importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('cli', sys.argv[1] + '/plugins/nextlevel/cli.py')\n"
        "cli = importlib.util.module_from_spec(spec); spec.loader.exec_module(cli)\n"
        "parser = argparse.ArgumentParser(); cli.register_cli(parser)\n"
        "args = parser.parse_args(['status']); args.func(args)\n"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", USE, str(installed)], check=True, timeout=60, capture_output=True)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(installed)], capture_output=True, text=True, timeout=60
    )
    assert 0 == done.returncode, done.stderr
    told = dict(line.split("  ", 1) for line in done.stdout.splitlines())
    assert "1 (1 sessions held)" == told["events"].strip()
    assert "1" == told["waiting"].strip()
    assert load(installed).install == told["delivery id"].strip()
    assert "does not answer" in told["memory service"]
    assert "relay of this machine" in told["redis"]
