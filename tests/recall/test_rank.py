"""The order of candidates, and the bar below which silence is better."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from nextlevel.model import Block, BlockStatus, BlockType, Category, Provenance
from nextlevel.recall import Mode
from nextlevel.recall.query import read
from nextlevel.recall.rank import decay, rank
from nextlevel.recall.retrieve import Candidate, Candidates
from nextlevel.recall.source import Entry
from nextlevel.store.search import Found

NOW = datetime(2026, 6, 15, tzinfo=UTC)


def candidate(
    subject: str, predicate: str, object_: str, *, cosine: float | None = None, hop: int = 0, **more
) -> Candidate:
    fields = {
        "id": uuid4(), "scope_id": uuid4(), "type": BlockType.PROJECT_STATE, "category": Category.PROJECT,
        "subject": subject, "predicate": predicate, "object": object_, "key": None, "value": None, "context": "",
        "confidence": 0.9, "provenance": Provenance.USER_STATED, "status": BlockStatus.ACTIVE, "negated": False,
        "explicit": False, "project": None, "created_at": NOW, "valid_from": NOW, "valid_to": None,
        "superseded_by": None,
    }  # fmt: skip
    block = Block(**{**fields, **more})
    return Candidate(Entry(Found(block, None, frozenset(), None, NOW, NOW + timedelta(days=90))), cosine, hop)


def ranked(query: str, *found: Candidate, mode: Mode = Mode.PREFETCH, mean: float | None = 0.78):
    words = [each.entry.words for each in found]
    weights = {word: 2.0 for word in read(query).words if any(word in held for held in words)}
    return rank(read(query), Candidates(found, weights, 20, {}, mean), mode=mode, now=NOW)


def objects(ranking) -> list[str]:
    return [each.candidate.entry.found.block.object for each in ranking.kept]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"valid_from": NOW}, {"valid_from": NOW - timedelta(days=300)}),
        ({"confidence": 0.95}, {"confidence": 0.6}),
        ({"explicit": True}, {"explicit": False}),
        ({"cosine": 0.85}, {"cosine": 0.84}),
        ({"hop": 1}, {"hop": 0}),
    ],
    ids=["newer", "surer", "told to be remembered", "nearer in meaning", "named"],
)
def test_of_two_that_match_alike_the_one_goes_first_that_is(better, worse):
    """Each channel counts, in the direction one expects."""
    one, two = {"cosine": 0.84} | worse, {"cosine": 0.84} | better
    ranking = ranked(
        "crm port", candidate("crm", "has_port", "worse", **one), candidate("crm", "has_port", "better", **two)
    )
    assert objects(ranking) == ["better", "worse"]


def test_a_score_lies_between_0_and_1():
    """One scale everywhere, higher is better: a distance shown as a score makes the worse hit look better."""
    best = candidate("crm", "has_port", "8080", cosine=1.0, hop=1, confidence=1.0, explicit=True)
    [only] = ranked("crm port", best).kept
    assert only.score == 1.0


def test_usual_nearness_is_no_evidence():
    """E5 finds everything near everything: 0.80 is what a question about nothing gets."""
    assert objects(ranked("renew a passport", candidate("crm", "has_port", "8080", cosine=0.80))) == []
    assert objects(ranked("renew a passport", candidate("user", "travels_with", "ID", cosine=0.88))) == ["ID"]


def test_a_projects_name_alone_brings_none_of_its_blocks():
    """All that is told of a project is near a question that names it."""
    told = candidate("pegelwacht", "uses", "seven.io", cosine=0.85)
    assert objects(ranked("which web framework runs the dashboard of pegelwacht", told)) == []
    asked = candidate("pegelwacht", "has_framework", "FastAPI, web", cosine=0.86)
    assert objects(ranked("which web framework does pegelwacht use", asked, told)) == ["FastAPI, web"]


def test_a_block_that_shares_no_word_must_stand_out_by_nearness():
    """As in another language. Ten that are equally near are near for a reason that is none of theirs."""
    one = candidate("pegelwacht", "uses_database", "timescaledb", cosine=0.88)
    others = [candidate("host", "runs", f"service {number}", cosine=0.87) for number in range(9)]
    query = "womit speichern wir die zeitreihen"
    assert objects(ranked(query, one, *others)) == []
    far = [replace(each, cosine=0.80) for each in others]
    assert objects(ranked(query, one, *far)) == ["timescaledb"]


def test_one_word_of_many_is_no_evidence_in_a_prefetch_but_may_be_in_a_search():
    """A prefetch joins the turn uninvited; in a search a person chooses."""
    found = candidate("pegelwacht", "runs_tests_with", "pytest")
    query = "fix the failing unit test of the new importer"
    assert objects(ranked(query, found)) == []
    assert objects(ranked(query, found, mode=Mode.SEARCH)) == ["pytest"]


def test_a_weak_hit_beside_a_strong_one_is_left_out_with_the_reason():
    """What only distracts is worth a token less than nothing."""
    strong = candidate("crm", "runs_on_port", "8080", cosine=0.9)
    weak = candidate("crm", "uses", "react", cosine=0.8)
    ranking = ranked("which port does crm run on", strong, weak)
    assert objects(ranking) == ["8080"]
    assert "behind the best" in ranking.dropped[0].why or "too little evidence" in ranking.dropped[0].why


def test_an_identifier_counts_once_whole_or_by_its_parts():
    """`auth.service.ts` is one thing asked about, not four."""
    whole = candidate("auth.service.ts", "has_line", "47")
    part = candidate("service", "is", "slow")
    ranking = ranked("auth.service.ts", whole, part, mode=Mode.SEARCH)
    assert ranking.kept[0].channels["words"] == 1.0
    [other] = [each for each in (*ranking.kept, *ranking.dropped) if each.candidate is part]
    assert 0 < other.channels["words"] < 0.5


def test_what_was_told_at_work_on_a_project_counts_as_said_of_it():
    """Nobody says "in pegelwacht the tests run with …" while working on pegelwacht."""
    ours = candidate("tests", "run_with", "pytest -n 4", project="pegelwacht")
    theirs = candidate("tests", "run_with", "jest", project="crm")
    assert objects(ranked("how do i start the pegelwacht tests", theirs, ours))[0] == "pytest -n 4"


def test_words_alone_rank_too():
    """Without vectors the scale stays the same."""
    [only] = ranked("crm port", candidate("crm", "has_port", "8080"), mean=None).kept
    assert only.score > 0.5


def test_decay_halves_with_each_half_life():
    assert [decay(age, 90) for age in (0, 90, 180, -5)] == [1.0, 0.5, 0.25, 1.0]
    with pytest.raises(ValueError, match="positive"):
        decay(1, 0)


def test_a_context_that_is_not_shown_lets_nothing_in():
    """Who asks of the coupons reads "the calendar: is merged", and takes it for the answer."""
    beside = candidate("calendar", "is", "merged", cosine=0.85, context="the calendar is merged, now coupons")
    assert objects(ranked("what about the coupons?", beside)) == []
    shown = candidate("calendar", "is", "merged", cosine=0.85, context="before the coupons and the vouchers")
    assert objects(ranked("what about the coupons?", shown)) == ["merged"]


def test_where_somebody_is_known_for_what_is_asked_all_else_is_beside_the_point():
    """ "Where does it run" is answered by the host; which version it is only stands near."""
    where = candidate("mail queue", "on_host", "maple-02", cosine=0.83)
    what = candidate("mail queue", "sends", "bills of the shop", cosine=0.9)
    assert objects(ranked("where is the mail queue of the shop?", what, where)) == ["maple-02"]


def test_what_is_not_of_the_kind_that_is_asked_for_must_be_surer():
    """A role is near a person's birthday and no answer to "when"."""
    role = candidate("ivar", "has_role", "our neighbour", cosine=0.864)
    assert objects(ranked("what about the anniversary of ivar the neighbour?", role)) == ["our neighbour"]
    assert objects(ranked("when is the anniversary of ivar the neighbour?", role)) == []


def test_of_what_is_told_of_a_thing_that_is_only_named_the_nearest_goes_first():
    """To be surer of one thing does not make it what is asked for."""
    told = {"explicit": True, "confidence": 1.0}
    rule = candidate("boathouse", "noted", "lock the shed first", project="boathouse", cosine=0.85, **told)
    made = candidate("boathouse", "is", "python with django", project="boathouse", cosine=0.86, confidence=0.75)
    assert objects(ranked("was macht boathouse eigentlich?", rule, made))[0] == "python with django"
