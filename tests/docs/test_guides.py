"""What README and guides tell people to type exists, and what they link to is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from nextlevel.ops.cli.commands import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "compose.yaml")] + sorted(
    (ROOT / "docs").rglob("*.md")
)
# `hermes nextlevel …` is the host's own command line: the plugin's tests run it.
TYPED = re.compile(r"(?<!hermes )(?:\.venv/bin/)?\bnextlevel ((?:[a-z-]+)(?: [^`\n#→│|()]*)?)")
IN_CODE = re.compile(r"^```\w*\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)


def _named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if page.suffix == ".md" and page.name != "cli.md"], ids=_named)
def test_each_command_that_is_shown_exists_with_its_options(page: Path) -> None:
    """A newcomer types it as it stands; cli.md is the help itself."""
    code = "\n".join(block or span for block, span in IN_CODE.findall(page.read_text()))
    wrong = [line for line in TYPED.findall(code) if not _exists(line)]
    assert [] == wrong


@pytest.mark.parametrize("page", [page for page in PAGES if page.suffix == ".md"], ids=_named)
def test_each_link_inside_the_project_leads_somewhere(page: Path) -> None:
    """Pages move; links stay behind."""
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)|<img src=\"([^\"]+)\"", page.read_text())
    inside = [link for pair in links for link in pair if link and "://" not in link]
    assert [] == [link for link in inside if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=_named)
def test_each_target_of_make_that_is_shown_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown = set(re.findall(r"(?:`|^)make ([a-z][a-z-]*)", page.read_text(), re.MULTILINE))
    assert set() == shown - targets


def _exists(line: str) -> bool:
    """The words up to the first that is no command name a command, and it knows each option behind it."""
    command: Any = typer.main.get_command(app)
    context = command.context_class(command, info_name="nextlevel")
    words = shlex.split(line.replace("…", "x").replace("'", '"'), comments=True)
    while words and not words[0].startswith("--") and hasattr(command, "get_command"):
        command = command.get_command(context, words.pop(0).strip(",."))
        if command is None:
            return False
    known = {option for parameter in command.params for option in parameter.opts}
    return {word.partition("=")[0] for word in words if word.startswith("--")} <= known | {"--help"}
