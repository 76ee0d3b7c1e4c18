"""A folder of notes and the real service: the library holds what stands there, each once, and no more."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nextlevel.api import library
from nextlevel.client import Client
from nextlevel.errors import ServiceUnreachable, UnusableFile
from nextlevel.producers.importers import markdown
from nextlevel.producers.importers.commands import app as commands
from nextlevel.producers.importers.markdown import bring
from tests.api.conftest import SECRET
from tests.producers.importers.conftest import NELE, Vault
from tests.support.ports import free_port


async def test_a_second_run_sends_what_changed_and_takes_out_what_went(vault: Vault) -> None:
    """A vault of ten thousand notes is imported each week; a note renamed must not be found twice."""
    vault.write("boat/engine.md", "# Engine\nThe boat's engine takes two litres of oil.")
    vault.write("boat/sail.markdown", "# Sail\nThe jib is torn.")
    vault.write("picture.png", b"\x89PNG")
    first = await vault.bring()
    assert (2, 2, 0, 0) == (first.of, first.new, first.unchanged, first.removed)
    assert ['boat/engine.md › Engine: "The boat\'s engine takes two litres of oil."'] == await vault.found("engine oil")

    vault.write("boat/engine.md", "# Engine\nThe boat's engine takes three litres of oil.")
    (vault.folder / "boat/sail.markdown").rename(vault.folder / "boat/jib.md")
    second = await vault.bring()
    assert (1, 1, 0, 1) == (second.new, second.changed, second.unchanged, second.removed)
    assert ['boat/engine.md › Engine: "The boat\'s engine takes three litres of oil."'] == await vault.found(
        "engine oil"
    )
    assert {"boat/engine.md", "boat/jib.md"} == await vault.held()

    third = await vault.bring()
    assert (0, 0, 2, 0) == (third.new, third.changed, third.unchanged, third.removed)


async def test_an_import_that_broke_off_goes_on_where_it_was(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was taken is known by its hash, so nothing needs to remember how far it came."""
    monkeypatch.setattr(markdown, "_AT_ONCE", 1)
    for number in range(4):
        vault.write(f"{number}.md", f"note {number}")

    def broken_off() -> None:
        for done in bring(vault.client, vault.folder, NELE, None):
            if done.done == 2:
                return

    await asyncio.to_thread(broken_off)
    assert 2 == len(await vault.held())
    done = await vault.bring()
    assert (2, 2) == (done.new, done.unchanged)


async def test_a_folder_of_many_pages_is_compared_whole(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that was missed would be sent again each time, or taken out."""
    monkeypatch.setattr(library, "PAGE", 2)
    monkeypatch.setattr(markdown, "_REMOVED_AT_ONCE", 2)
    for name in ("b", "A", "ä", "Z", "zz/1"):
        vault.write(f"{name}.md", f"note {name}")
    await vault.bring()
    assert 5 == (await vault.bring()).unchanged
    for name in ("b", "ä", "zz/1"):
        (vault.folder / f"{name}.md").unlink()
    assert 3 == (await vault.bring()).removed
    assert {"A.md", "Z.md"} == await vault.held()


async def test_what_is_no_note_is_left_out_with_its_reason(vault: Vault, tmp_path: Path) -> None:
    """A link may lead to a home directory, and a hidden folder holds the editor's own files."""
    outside = tmp_path / "private.md"
    outside.write_text("the vault code is 4711")
    vault.write("good.md", "a note")
    vault.write(".obsidian/plugin.md", "not a note")
    vault.write("binary.md", b"ab\x00cd")
    vault.write("latin.md", "straße".encode("latin-1"))
    vault.write("huge.md", b"x" * (markdown.LARGEST_BYTES + 1))
    (vault.folder / "link.md").symlink_to(outside)
    (vault.folder / "folder").symlink_to(tmp_path)
    (vault.folder / "loop").symlink_to(vault.folder)
    os.mkfifo(vault.folder / "pipe.md")
    vault.write("ä" * 120 + "/" + "ö" * 120 + "/" + "ü" * 120 + "/" + "ß" * 120 + "/" + "é" * 60 + ".md", "long")
    done = await vault.bring()
    assert {"good.md"} == await vault.held()
    why = {each.path: each.why for each in done.left_out}
    assert "1.0 MiB; a note has at most 1" == why.pop("huge.md")
    assert "its name can't be kept" == why.pop(max(why, key=len))
    assert {
        ".obsidian": "hidden",
        "binary.md": "not text",
        "folder": "a link",
        "latin.md": "not UTF-8",
        "link.md": "a link",
        "loop": "a link",
        "pipe.md": "no file",
    } == why


async def test_a_note_that_can_not_be_read_now_stays_in_the_library(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that stutters must not take a library apart."""
    vault.write("good.md", "a note")
    vault.write("gone.md", "another note")
    vault.write("odd.md", "a third note")
    await vault.bring()
    read_bytes = Path.read_bytes

    def stutter(file: Path) -> bytes:
        if file.name == "odd.md":
            raise OSError(5, "Input/output error")
        return read_bytes(file)

    monkeypatch.setattr(Path, "read_bytes", stutter)
    (vault.folder / "gone.md").unlink()
    done = await vault.bring()
    assert (1, ["odd.md"]) == (done.removed, [each.path for each in done.left_out])
    assert {"good.md", "odd.md"} == await vault.held()


async def test_a_folder_that_is_suddenly_empty_is_not_believed(vault: Vault) -> None:
    """It is a disk that is not mounted, more often than a vault that was cleared."""
    note = vault.write("good.md", "a note")
    await vault.bring()
    note.unlink()
    with pytest.raises(UnusableFile, match="is it mounted"):
        await vault.bring()
    assert {"good.md"} == await vault.held()
    vault.folder = vault.folder / "nowhere"
    with pytest.raises(UnusableFile, match="can't be read"):
        await vault.bring()


async def test_a_forgotten_note_is_not_brought_again(vault: Vault) -> None:
    vault.write("secret.md", "The vault code is 4711.")
    vault.write("good.md", "a note")
    await vault.bring()
    answer = await asyncio.to_thread(vault.client.recall, "vault code", NELE)
    [document] = [item["document"]["id"] for item in answer.items if item["document"]]
    await asyncio.to_thread(vault.client.forget_document, document, NELE)
    done = await vault.bring()
    assert [("secret.md", "forgotten; it comes back once it changes")] == [
        (each.path, each.why) for each in done.left_out
    ]
    assert {"good.md"} == await vault.held()


async def test_no_secret_leaves_the_machine(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Redacted before it is sent, not only before it is stored."""
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    vault.write("deploy.md", f"The boat's deploy token is {secret} for now.")
    sent: list[object] = []
    keep = vault.client.keep_documents
    monkeypatch.setattr(vault.client, "keep_documents", lambda *args, **more: sent.append(args) or keep(*args, **more))
    done = await vault.bring()
    assert 1 == done.secrets
    assert secret not in repr(sent)


async def test_under_a_project_the_same_note_is_told_anew(vault: Vault) -> None:
    vault.write("engine.md", "The engine takes two litres of oil.")
    await vault.bring()
    assert 1 == (await vault.bring("boat")).changed
    assert 1 == (await vault.bring("boat")).unchanged


async def test_the_command_tells_what_it_did_and_takes_a_folder_out_again(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who tries it on their vault must be able to undo it."""
    monkeypatch.setenv("NEXTLEVEL_SERVICE_URL", vault.client.url)
    monkeypatch.setenv("NEXTLEVEL_SECRET", SECRET)
    vault.write("engine.md", "The engine takes two litres of oil.")
    vault.write("latin.md", "straße".encode("latin-1"))

    async def typed(*words: str) -> str:
        done = await asyncio.to_thread(CliRunner().invoke, commands, ["markdown", *words], catch_exceptions=False)
        assert 0 == done.exit_code, done.output
        return str(done.stdout)

    told = await typed(str(vault.folder))
    assert "2 notes: 1 new, 0 changed (1 sections), 0 as before, 0 taken out" in told
    assert "left out: 'latin.md' (not UTF-8)" in told
    assert "1 notes taken out" in await typed("--remove", str(vault.folder))
    assert set() == await vault.held()


def test_a_service_that_is_away_is_told_as_such(tmp_path: Path) -> None:
    """Nothing waits for ever, and nothing is half done that a second run does not finish."""
    (tmp_path / "good.md").write_text("a note")
    with pytest.raises(ServiceUnreachable):
        list(bring(Client(f"http://127.0.0.1:{free_port()}", "t"), tmp_path, NELE, None))
