"""What is the same, what replaces what, and what must never be merged."""

from dataclasses import replace
from uuid import uuid4

import pytest

from nextlevel.model import Block, BlockStatus, BlockType
from nextlevel.workers.steps.dedup import Verdict, decide, fact_hash, hash_of
from tests.support.builders import NOON, candidate


def block(**more) -> Block:
    """The stored form of `builders.candidate`."""
    told = candidate(**more)
    return Block(
        id=uuid4(), scope_id=uuid4(), type=told.type, category=told.category, subject=told.subject,
        predicate=told.predicate, object=told.object, key=told.key, value=told.value, context="",
        confidence=0.9, provenance=told.provenance, status=BlockStatus.ACTIVE, negated=told.negated, explicit=False,
        project=told.project, created_at=NOON, valid_from=NOON, valid_to=None, superseded_by=None,
    )  # fmt: skip


def verdict(new, *known) -> Verdict:
    return decide(new, known).verdict


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Waldseilgarten-CRM", "uses", "the Postgres"), ("waldseilgarten-crm", "uses", "postgres")),
        (("user", "prefers", "compact  tables"), ("user", "prefers", "Compact tables")),
    ],
)
def test_a_fact_has_one_hash_however_it_is_spelt(one, other):
    assert fact_hash(*one, negated=False, project=None) == fact_hash(*other, negated=False, project=None)


@pytest.mark.parametrize(
    "change",
    [{"negated": True}, {"project": "other"}],
)
def test_a_fact_hash_tells_negation_and_project(change):
    fact = ("tests", "run_with", "-n 4")
    assert fact_hash(*fact, negated=False, project=None) != fact_hash(
        *fact, **{"negated": False, "project": None, **change}
    )


def test_a_fact_hash_tells_numbers():
    assert fact_hash("a", "runs_on_port", "8080", negated=False, project=None) != fact_hash(
        "a", "runs_on_port", "8081", negated=False, project=None
    )


def test_a_new_value_of_a_slot_that_holds_one_replaces_the_old():
    """Both "port 8080" and "port 8081" would be worse than none."""
    old = block(object_="8080")
    decision = decide(candidate(object_="8091"), [old])
    assert (Verdict.UPDATES, old) == (decision.verdict, decision.rival)


def test_the_same_slot_of_another_subject_is_left_alone():
    """The deadline of 1.1 does not end that of 1.0, however alike the words are."""
    new = candidate("release 1.1", "deadline", "31 July")
    assert Verdict.DISTINCT is verdict(new, block(subject="release 1.0", predicate="deadline", object_="26 June"))


def test_a_slot_that_holds_many_keeps_both():
    assert Verdict.DISTINCT is verdict(
        candidate(predicate="uses", object_="Redis"), block(predicate="uses", object_="NestJS")
    )


def test_the_same_slot_of_another_project_is_left_alone():
    """Supersession never crosses projects."""
    new = candidate(object_="8091", project="crm")
    assert Verdict.DISTINCT is verdict(new, block(object_="8080", project="shop"))


@pytest.mark.parametrize("other", ["port 8081", "port 8080 behind Caddy"])
def test_words_alike_are_not_the_same_where_numbers_or_names_differ(other):
    assert Verdict.SAME is not verdict(
        candidate(predicate="uses", object_=other), block(predicate="uses", object_="port 8080")
    )


def test_a_paraphrase_with_the_same_words_is_the_same():
    told = candidate("user", "prefers", "compact tables in answers", type=BlockType.USER_PREFERENCE)
    again = replace(told, object="in answers compact tables")
    assert Verdict.SAME is verdict(
        again, block(subject="user", predicate="prefers", object_=told.object, type=told.type)
    )


def test_the_opposite_of_a_preference_ends_it():
    wants = block(subject="user", predicate="wants", object_="emojis", type=BlockType.USER_PREFERENCE)
    new = candidate("user", "wants", "emojis", negated=True, type=BlockType.USER_PREFERENCE)
    assert Verdict.UPDATES is verdict(new, wants)


def test_a_correction_that_names_what_it_replaces_ends_it():
    old = block(subject="user", predicate="prefers", object_="npm", type=BlockType.USER_PREFERENCE)
    new = candidate(
        "user", "prefers", "pnpm", type=BlockType.USER_PREFERENCE, corrects=True, span="no, pnpm instead of npm"
    )
    assert Verdict.UPDATES is verdict(new, old)
    assert Verdict.DISTINCT is verdict(replace(new, corrects=False), old)


def test_the_value_of_a_slot_with_more_beside_it_is_more_exact():
    """What is told beside the port is kept, and the barer telling ends where the fuller begins."""
    old = block(object_="port 8080", key="port", value="8080")
    decision = decide(candidate(object_="8080 behind Caddy", key="port", value="8080"), [old])
    assert (Verdict.REFINES, old, True) == (decision.verdict, decision.rival, decision.closes)


@pytest.mark.parametrize(
    ("told", "again"),
    [
        (("Marit", "leads", "the search team"), ("search team", "is led by", "Marit")),
        (("indexer", "uses", "port 9200"), ("port 9200", "taken_by", "the indexer")),
        (("user", "prefers", "short answers"), ("user", "bevorzugt", "kurze Antworten")),
        (("Krokus", "działa na porcie", "9055"), ("Krokus", "lyssnar på port", "9055")),
        (("quillfeed", "监听", "7410"), ("quillfeed", "runs_on_port", "7410")),
        (("report", "deadline", "3 November"), ("report", "deadline", "3/11")),
        (("box", "has", "4x A100"), ("box", "has", "four A100")),
    ],
)
def test_one_fact_in_other_words_order_or_language_is_the_same(told, again):
    """Else it would stand in memory as often as it is worded anew."""
    assert Verdict.SAME is verdict(candidate(*again), block(subject=told[0], predicate=told[1], object_=told[2]))


@pytest.mark.parametrize(
    ("told", "new"),
    [
        (("Ana", "replaces", "Boris"), ("Boris", "replaces", "Ana")),
        (("orchard staging", "uses", "Postgres 15"), ("orchard production", "uses", "Postgres 14")),
        (("user", "wants", "bullets in notes"), ("user", "dislikes", "bullets in letters")),
        (("user", "prefers", "spaces in Python"), ("user", "prefers", "tabs in Go")),
        (("make lint", "behaves", "runs before make test"), ("make lint", "behaves", "runs after make docs")),
        (("node", "has_version", "24.1 in the monorepo"), ("node", "has_version", "22.14 in the mobile repo")),
        (("project", "noted", "the lamps go off at 23:00"), ("project", "noted", "we sit on the spring branch now")),
        (("Nadia", "works_on", "ticket 41"), ("Nadia", "works_on", "ticket 57")),
        (("app", "uses", "vue.js"), ("app", "uses", "chart.js")),
    ],
)
def test_what_differs_in_a_guarded_word_is_another_fact(told, new):
    """A false merge loses a block for good."""
    assert Verdict.DISTINCT is verdict(candidate(*new), block(subject=told[0], predicate=told[1], object_=told[2]))


@pytest.mark.parametrize(
    "denial",
    ["no longer drinks", "trinkt nicht mehr", "dricker inte längre", "już nie pije", "不再喝"],
)
def test_a_no_longer_ends_a_fact_in_every_language(denial):
    """Whatever the language, "coffee" and "coffee no longer" must not both be recalled."""
    assert Verdict.UPDATES is verdict(
        candidate("user", denial, "coffee"), block(subject="user", predicate="drinks", object_="coffee")
    )


def test_what_says_more_but_not_all_leaves_the_other_standing():
    """The phone number is news; the company it was told with is not in it."""
    old = block(subject="Odette", predicate="is", object_="contact at Larkfield")
    decision = decide(candidate("Odette", "is", "contact, mornings only, phone 0151 17342"), [old])
    assert (Verdict.REFINES, False) == (decision.verdict, decision.closes)


def test_of_two_that_may_be_two_people_nothing_is_ended():
    """A full name may be another's than the first name that is known."""
    old = block(subject="Theo", predicate="likes", object_="hazelnuts")
    assert not decide(candidate("Theo Marsh", "likes", "hazelnuts and sesame"), [old]).closes
    assert not decide(candidate("Theo Marsh", "no longer likes", "hazelnuts"), [old]).closes


@pytest.mark.parametrize(
    ("said", "post", "held"),
    [
        ("left", "has_role", "the product owner on the client's side"),
        ("har slutat", "responsible_for", "bokföringen"),
        ("hat gekündigt", "does", "entscheidet, was ins Release kommt"),
        ("odeszła", "works_on", "pinboard"),
    ],
)
def test_who_has_left_holds_no_post(said, post, held):
    """Whom to ask is asked years later; the one who is gone is a wrong answer."""
    left = candidate(subject="selma", predicate="left", object_=said, key=None, value=None)
    assert Verdict.UPDATES == verdict(left, block(subject="selma", predicate=post, object_=held, key=None, value=None))


@pytest.mark.parametrize(
    ("subject", "predicate", "object_", "said"),
    [
        ("selma", "has_email", "selma@example.org", "left"),
        ("selma", "has_role", "our product owner", "left for Uppsala"),
        ("ivar", "has_role", "our product owner", "left"),
    ],
)
def test_leaving_ends_neither_an_address_nor_anothers_post(subject, predicate, object_, said):
    left = candidate(subject="selma", predicate="left", object_=said, key=None, value=None)
    known = block(subject=subject, predicate=predicate, object_=object_, key=None, value=None)
    assert Verdict.DISTINCT == verdict(left, known)


def test_an_office_is_handed_on_though_its_first_bearer_was_told_with_a_place():
    first = block(
        subject="selma", predicate="has_role", object_="the product owner on the client's side", key=None, value=None
    )
    then = candidate(subject="ivar", predicate="has_role", object_="our product owner from today", key=None, value=None)
    assert Verdict.UPDATES == verdict(then, first)


@pytest.mark.parametrize(
    ("known", "new", "said"),
    [
        (("alarm", "kommt bei 62 Grad"), ("alarm threshold", "70"), "I raised the alarm threshold from 62 to 70"),
        (("larmgränsen", "ligger vid 62 grader"), ("larmgräns", "70"), "jag höjde larmgränsen från 62 till 70"),
        (("alarm", "uruchamia się przy 62 stopniach"), ("próg alarmu", "70"), "podniosłem próg alarmu z 62 na 70"),
    ],
)
def test_a_value_that_a_change_names_is_over_whatever_words_told_it(known, new, said):
    """Both "at 62" and "at 70" would be shown, and nobody could tell which holds."""
    old = block(subject=known[0], predicate="behaves", object_=known[1], key=None, value=None)
    change = candidate(subject=new[0], predicate="is", object_=new[1], key=None, value=None, span=said, corrects=True)
    assert Verdict.UPDATES == verdict(change, old)
    other = block(subject="pump", predicate="behaves", object_="starts at 62 degrees", key=None, value=None)
    assert Verdict.DISTINCT == verdict(change, other)


def test_how_the_things_of_two_projects_are_to_be_is_told_apart():
    """Swedish commits in one repository must not end English ones in another."""
    rule = {"subject": "commit messages", "predicate": "is", "key": None, "type": BlockType.USER_PREFERENCE}
    one = block(object_="in swedish", project="shop", **rule)
    other = candidate(object_="in english", project="crm", **rule)
    assert Verdict.DISTINCT == verdict(other, one)
    assert hash_of(candidate(object_="in swedish", project="crm", **rule)) != hash_of(one)
