"""Skills drafted from procedures: in the host's format, and never over what a person edited."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nextlevel.model import BlockType, Provenance
from nextlevel.producers.propose.facts import Fact
from nextlevel.producers.propose.skills import Skill, is_procedure, kept, skill
from tests.producers.propose.conftest import fact, told

FIRST, SECOND = "0192e4a6-7c1e-7d3b-9b1e-2f6a51a0c1d2", "0192e4a6-7c1e-7d3b-9b1e-2f6a51a0c1d3"


def release(steps: str = "build, test, then tag", **more: object) -> Fact:
    fields = {"id": FIRST, "type": BlockType.PROCEDURAL, "project": "crm", **more}
    return fact("release", "done_by", steps, **fields)


def drafted(home: Path, procedure: Fact, *line: str) -> Skill | str | None:
    return skill(procedure, {procedure.id, *line}, home, kept(home))


def accepted(home: Path, procedure: Fact, *line: str) -> Skill:
    found = drafted(home, procedure, *line)
    assert isinstance(found, Skill)
    found.path.parent.mkdir(parents=True, exist_ok=True)
    found.path.write_text(found.text)
    return found


def test_a_procedure_seen_twice_becomes_a_draft(home: Path) -> None:
    """With what it is asked for by, its steps in order, and where it comes from."""
    found = accepted(home, release(sources=(told(1, "how a release goes"), told(9, "release it please"))))
    assert home / "skills" / "crm-release" / "SKILL.md" == found.path
    assert found.text.startswith(
        '---\nname: crm-release\ndescription: "Release in crm, step by step"\nversion: 1.0.0\n'
    )
    assert "- “how a release goes”\n- “release it please”\n" in found.text
    assert "## Steps\n\n1. build\n2. test\n3. tag\n\n" in found.text
    assert "2 times, on 2026-05-01, 2026-05-09" in found.text
    assert drafted(home, release()) is None, "it is there, and its steps are the same"


def test_one_that_was_seen_once_is_none_yet(home: Path) -> None:
    """One afternoon's commands are no habit; two blocks of one turn are one time."""
    assert drafted(home, release(sources=(told(1), told(1, "in other words")))) is None
    assert not is_procedure(release("a script"))


def test_what_tools_did_are_commands(home: Path) -> None:
    """Word for word, to be run again; its name comes from what was asked for."""
    done = fact(
        "crm: please deploy the crm to staging",
        "done_by",
        "git pull; npm ci; docker compose up -d",
        type=BlockType.PROCEDURAL,
        provenance=Provenance.USER_ACCEPTED,
        id=FIRST,
    )
    found = accepted(home, done)
    assert "crm-deploy-staging" == found.path.parent.name
    assert "1. `git pull`\n2. `npm ci`\n3. `docker compose up -d`\n" in found.text
    assert "# Please deploy the crm to staging\n" in found.text


def test_changed_steps_are_a_diff_of_the_list_alone(home: Path) -> None:
    """What a person edited around it stays, and from now on the new block is known for it."""
    path = accepted(home, release()).path
    path.write_text(
        path.read_text().replace("# Release in crm", "# How we release") + "\n## Pitfalls\n\nMind the tag.\n"
    )
    newer = release("build, test, sign, tag", id=SECOND)
    changed = accepted(home, newer, FIRST)
    assert ["-    procedure: " + FIRST, "+    procedure: " + SECOND] == [x for x in changed.diff() if "procedure" in x]
    assert ["-3. tag", "+3. sign", "+4. tag"] == [x for x in changed.diff() if x[0] != " " and x[1].isdigit()]
    assert "# How we release" in path.read_text()
    assert path.read_text().endswith("Mind the tag.\n")
    assert drafted(home, newer, FIRST) is None


def test_a_skill_that_is_not_ours_is_left_alone(home: Path) -> None:
    """In whatever category the agent or the user has put it; and so is ours without its list."""
    path = accepted(home, release()).path
    path.write_text(path.read_text().replace("## Steps", "## How"))
    assert "left alone" in str(drafted(home, release()))
    path.rename(path.with_name("old"))
    other = home / "skills" / "devops" / "crm-release" / "SKILL.md"
    other.parent.mkdir(parents=True)
    other.write_text("---\nname: crm-release\ndescription: mine\n---\n\nDo it.\n")
    assert f"{other} is not from here" in str(drafted(home, replace(release(), id=SECOND)))
