"""How much of what is asked a text says, the place that is named aside."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from nextlevel.model import Block, BlockStatus, BlockType, Category, Provenance
from nextlevel.recall.demand import Demand
from nextlevel.recall.query import read
from nextlevel.recall.retrieve import Candidate, Candidates
from nextlevel.recall.source import Entry
from nextlevel.store.search import Found

NOW = datetime(2026, 6, 15, tzinfo=UTC)


def entry(subject: str, predicate: str, object_: str, project: str | None = None) -> Entry:
    block = Block(
        id=uuid4(), scope_id=uuid4(), type=BlockType.PROJECT_STATE, category=Category.PROJECT, subject=subject,
        predicate=predicate, object=object_, key=None, value=None, context="", confidence=0.9,
        provenance=Provenance.USER_STATED, status=BlockStatus.ACTIVE, negated=False, explicit=False, project=project,
        created_at=NOW, valid_from=NOW, valid_to=None, superseded_by=None,
    )  # fmt: skip
    return Entry(Found(block, None, frozenset(), None, NOW, NOW + timedelta(days=90)))


def share(query: str, one: Entry) -> float:
    asked = read(query)
    weights = {word: 5.0 for word in asked.words if word in one.words}
    demand = Demand.of(asked, Candidates((Candidate(one, None, 0),), weights, 100, {}, None))
    return demand.share_of_block(one, demand.said(one))


def test_a_projects_name_is_a_condition_and_no_evidence():
    """All that was told at work on a project would answer any question that names it."""
    told = entry("boathouse", "uses", "seven.io", project="boathouse")
    assert share("which font does the boathouse brochure have?", told) == 0.0
    assert share("does boathouse use seven.io?", told) > 0.8


def test_a_word_is_met_by_its_translation_its_forms_and_its_compounds():
    """Facts are kept in the words they were told in, and asked for in others."""
    for query, told in (
        ("welche Datenbank nehmen wir?", entry("shop", "uses_database", "mariadb")),
        ("jaki próg ma alarm?", entry("alarmgrenze", "is", "90 cm")),
        ("was ist mit den Sensoren?", entry("sensor", "is", "new")),
    ):
        assert share(query, told) > 0.8, query


def test_a_kind_of_tool_is_met_by_its_members():
    assert share("which linter do we use?", entry("user", "wants", "ruff instead of flake8")) > 0.8


def test_who_and_when_are_answered_by_blocks_of_that_kind():
    """Of two that share the same word, the one that tells of a person, or of a day."""
    person, thing = entry("Ada", "responsible_for", "the frontend"), entry("frontend", "uses", "vue")
    assert share("who does the frontend?", person) > share("who does the frontend?", thing)
    day, other = entry("release", "noted", "is on 4 July"), entry("release", "uses", "woodpecker")
    assert share("when is the release?", day) > share("when is the release?", other)


def test_a_text_of_another_project_does_not_agree():
    query = read("which port does boathouse run on?")
    ours, theirs = entry("api", "runs_on_port", "1", "boathouse"), entry("api", "runs_on_port", "2", "harbour")
    demand = Demand.of(query, Candidates(tuple(Candidate(each, None, 0) for each in (ours, theirs)), {}, 100, {}, None))
    assert demand.agrees("boathouse", demand.said(ours))
    assert not demand.agrees("harbour", demand.said(theirs))
    assert demand.agrees("harbour", demand.said(entry("boathouse", "runs_on_port", "3", "harbour")))


def test_the_words_that_a_question_is_put_with_weigh_together_as_one():
    """Asked with many of them, in any language, the port is asked for no less."""
    port = entry("api", "runs_on_port", "8091")
    for query in ("which port?", "what port was it again that we use now?", "na jakim porcie to teraz działa?"):
        assert share(query, port) > 0.9, query


def test_what_a_thing_is_built_with_is_a_framework_or_a_language():
    """Where only the thing is named, whatever was told of it last would answer."""
    made, other = entry("site", "uses", "django and htmx"), entry("site", "on_branch", "release/2.0")
    for query in ("what is the site built with?", "in was ist die Seite geschrieben?", "vad är sajten byggd med?"):
        assert share(query, made) > share(query, other), query
