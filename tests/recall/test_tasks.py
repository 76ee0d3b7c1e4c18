"""Standing rules meet the kind of task, in four languages."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from nextlevel.model import Block, BlockStatus, BlockType, Category, Provenance
from nextlevel.recall.source import Entry
from nextlevel.recall.tasks import holds_in, kinds_asked, rules_for
from nextlevel.store.search import Found

NOW = datetime(2026, 6, 15, tzinfo=UTC)
DATA = json.loads((Path(__file__).parents[1] / "data" / "standing_rules.json").read_text("utf-8"))


def rule(says: list[str], category: str, *, project: str | None = None, negated: bool = False, **_: str) -> Entry:
    subject, predicate, object_ = says
    block = Block(
        id=uuid4(), scope_id=uuid4(), type=BlockType.USER_PREFERENCE, category=Category(category), subject=subject,
        predicate=predicate, object=object_, key=None, value=None, context="", confidence=0.8,
        provenance=Provenance.USER_STATED, status=BlockStatus.ACTIVE, negated=negated, explicit=False, project=project,
        created_at=NOW, valid_from=NOW, valid_to=None, superseded_by=None,
    )  # fmt: skip
    return Entry(Found(block, None, frozenset(), None, NOW, NOW + timedelta(days=90)))


RULES = {each["id"]: rule(**each) for each in DATA["rules"]}


def joined(text: str, project: str | None = "waldseilgarten-crm") -> set[str]:
    found = rules_for(text, list(RULES.values()), project)
    return {name for name, entry in RULES.items() if entry in found}


def test_of_forty_tasks_in_four_languages_nearly_all_get_their_rules_and_no_other():
    """One that is missing is a repeated "table, please!"; one too many is noise in every turn."""
    assert 40 == len(DATA["probes"])
    got = {each["text"]: joined(each["text"]) for each in DATA["probes"]}
    wrong = {each["text"]: got[each["text"]] for each in DATA["probes"] if got[each["text"]] != set(each["rules"])}
    assert len(wrong) <= 2, wrong


def test_a_rule_of_one_project_stays_there():
    """ "Answer in German in this project" must not turn the others German."""
    german = RULES["german"].found.block
    assert holds_in(german, "pegelwacht")
    assert not holds_in(german, "waldseilgarten-crm")
    assert not holds_in(german, None)


def test_a_preference_told_at_work_on_a_project_holds_in_all():
    """Nobody adds "everywhere" to "tables, please"."""
    assert "tables" in joined("compare a and b", "pegelwacht")


def test_the_tools_of_a_project_are_those_of_that_project():
    """ "Poetry here" in one repository is no reason to bring it into another."""
    poetry = rule(["shop", "package_manager", "poetry"], "workflow", project="shop").found.block
    assert holds_in(poetry, "shop")
    assert not holds_in(poetry, "boathouse")


@pytest.mark.parametrize(
    "text", ["add a dependency", "füg eine Abhängigkeit hinzu", "lägg till ett beroende", "dodaj pakiet"]
)
def test_whoever_adds_a_package_needs_the_package_manager(text):
    poetry = rule(["shop", "package_manager", "poetry"], "workflow", project="shop")
    assert [poetry] == rules_for(text, [poetry], "shop")


@pytest.mark.parametrize("text", ["sort this list: 3, 1", "sortiere diese Liste", "sortera den här listan"])
def test_what_is_pointed_at_is_given_and_not_asked_for(text):
    """A list to be sorted is no wish for a table."""
    assert "format" not in kinds_asked(text)


@pytest.mark.parametrize("text", ["", "🙂", "log line\n" * 200 + "install", "SELECT * FROM setup"])
def test_what_sets_no_task_or_is_pasted_below_one_asks_for_no_rule(text):
    assert "uv" not in joined(text)


def test_a_tool_is_chosen_where_something_is_set_up_not_where_it_fails():
    assert "python" in kinds_asked("set up a python env")
    assert "python" not in kinds_asked("my python script fails")
