"""Where a model may be asked whether two facts are one, and what its word counts for."""

import pytest

from nextlevel.model import BlockType
from nextlevel.workers.steps.dedup import Judged, Relation, Verdict, grey, hash_of, relate
from tests.support.builders import candidate

OLD = candidate("the scraper", "behaves", "stumbles over empty shelves")
NEW = candidate("the scraper", "behaves", "chokes on bare racks")
DATED = candidate("the scraper", "behaves", "chokes on bare racks since 3 June")


def judged(later, earlier, verdict: Verdict) -> Judged:
    return Judged({(hash_of(later), hash_of(earlier)): verdict})


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (candidate(object_="8080"), candidate(object_="8081")),
        (candidate(predicate="uses", object_="Redis"), candidate(predicate="uses", object_="Redis", negated=True)),
        (candidate("Theo", "reviews", "the importer"), candidate("Nadia", "reviews", "the importer")),
        (candidate("shop", "hands out", "Martin's key"), candidate("shop", "hands out", "Martina's key")),
        (candidate("shop", "opens", "on 3 June"), candidate("shop", "opens", "on 4 June")),
        (candidate("shop", "sells", "only honey"), candidate("shop", "sells", "sometimes jam")),
        (candidate("tests", "behaves", "crawl", project="crm"), candidate("tests", "behaves", "drag", project="shop")),
    ],
    ids=["number", "negation", "person", "name", "day", "quantifier", "project"],
)
def test_what_a_guard_decides_is_not_in_the_grey_zone_and_no_verdict_changes_it(earlier, later):
    """A model is wrong now and then; a guard is there for that."""
    assert grey.undecided(later, earlier) is None
    for verdict in Verdict:
        assert relate(later, earlier) == judged(later, earlier, verdict).relate(later, earlier)


def test_what_no_table_knows_is_in_the_grey_zone_and_the_verdict_counts():
    assert relate(NEW, OLD) is None
    assert 0 == grey.undecided(NEW, OLD)
    for verdict in (Verdict.SAME, Verdict.UPDATES, Verdict.REFINES):
        found = judged(NEW, OLD, verdict).relate(NEW, OLD)
        assert found is not None
        assert Relation(verdict) is found.relation
    assert judged(NEW, OLD, Verdict.DISTINCT).relate(NEW, OLD) is None


def test_where_one_names_a_day_and_the_other_none_the_word_same_counts_for_nothing():
    """The day would be lost."""
    assert 1 == grey.undecided(DATED, OLD)
    assert judged(DATED, OLD, Verdict.SAME).relate(DATED, OLD) is None
    assert judged(DATED, OLD, Verdict.REFINES).relate(DATED, OLD) is not None


def test_the_same_is_so_in_both_directions_and_an_update_is_not():
    """Facts arrive in any order; the one that was told later is then compared as the earlier."""
    assert judged(NEW, OLD, Verdict.SAME).relate(OLD, NEW) is not None
    assert judged(NEW, OLD, Verdict.UPDATES).relate(OLD, NEW) is None


def test_a_preference_is_one_fact_in_all_projects():
    told = candidate("user", "prefers", "tea", type=BlockType.USER_PREFERENCE, project="crm")
    assert hash_of(told) == hash_of(candidate("user", "prefers", "tea", type=BlockType.USER_PREFERENCE))
