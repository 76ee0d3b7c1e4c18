"""`nextlevel learn --dry-run` from outside: what it prints, and how it refuses."""

import json

from tests.support.command import nextlevel

TALK = "User: waldseilgarten-crm runs on port 8080.\nAssistant: Noted.\nUser: thanks!\nAssistant: \x1b[2JWelcome.\n"


async def test_a_text_is_shown_turn_by_turn_with_its_sums(tmp_path):
    path = tmp_path / "talk.txt"
    path.write_text(TALK)
    code, out, _ = await nextlevel("learn", "--dry-run", str(path))
    assert 0 == code
    assert "+ waldseilgarten-crm runs on port 8080   (note: environment_or_convention; project_state" in out
    assert "2 turns, 1 of them skipped; 1 memories would be kept" in out
    assert "\x1b" not in out

    code, out, _ = await nextlevel("learn", "--dry-run", str(path), "--json")
    assert (0, 1) == (code, json.loads(out)["totals"]["kept"])


async def test_without_dry_run_it_refuses_and_says_that_it_stores_nothing(tmp_path):
    """A command that looked like an import, and was none, would lie."""
    path = tmp_path / "talk.txt"
    path.write_text(TALK)
    code, out, err = await nextlevel("learn", str(path))
    assert (2, "") == (code, out)
    assert "--dry-run" in err


async def test_a_file_that_cannot_be_read_is_told_by_name(tmp_path):
    code, _, err = await nextlevel("learn", "--dry-run", str(tmp_path / "nowhere.json"))
    assert 2 == code
    assert "nowhere.json: No such file" in err
