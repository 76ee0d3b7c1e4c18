"""Known names are found whole, in one pass; nothing is linked by likeness."""

from uuid import uuid4

import pytest

from nextlevel.model import EntityType
from nextlevel.store.entities import Known
from nextlevel.workers.steps.link import AliasCache, Aliases, link
from tests.support.builders import candidate

CRM = Known(uuid4(), "waldseilgarten-crm", EntityType.PROJECT)
FLO = Known(uuid4(), "Florian", EntityType.PERSON)
MERCURY_HOST = Known(uuid4(), "mercury", EntityType.HOST)
MERCURY_PERSON = Known(uuid4(), "Mercury", EntityType.PERSON)
ALIASES = Aliases(
    [
        ("waldseilgarten-crm", CRM),
        ("crm", CRM),
        ("flo", FLO),
        ("florian", FLO),
        ("mercury", MERCURY_HOST),
        ("mercury", MERCURY_PERSON),
    ]
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Flo works on the CRM now", [FLO, CRM]),
        ("the waldseilgarten-crm's port", [CRM]),
        ("crm-2 is another one", []),
        ("floor and flow are no people", []),
        ("auth.crm.ts is a file", []),
        ("Crm.", [CRM]),
        ("", []),
    ],
)
def test_names_are_found_only_where_they_stand_whole(text, found):
    """ "pomelo" in "pomelo-2" is another machine."""
    assert found == ALIASES.within(text)


def test_a_name_with_two_bearers_links_to_neither():
    """A fact on the wrong entity is worse than an unlinked one."""
    assert ALIASES.exact("Mercury") is None
    assert [] == ALIASES.within("mercury is down")


def test_a_candidate_takes_the_canonical_name_and_the_entities_of_its_sentence():
    linked = link(candidate("the CRM", span="the CRM is Flo's project", entities=()), ALIASES)
    assert "waldseilgarten-crm" == linked.subject
    assert {("waldseilgarten-crm", EntityType.PROJECT), ("Florian", EntityType.PERSON)} == set(linked.entities)


def test_a_known_name_of_another_type_stays_another_entity():
    linked = link(candidate("x", span="", entities=(("Flo", EntityType.HOST),)), ALIASES)
    assert (("Flo", EntityType.HOST),) == linked.entities


def test_a_person_without_entities_costs_nothing():
    assert Aliases([]).within("anything") == []


def test_the_cache_answers_for_one_generation_only():
    """An automaton from before a new name must not be used after it."""
    cache, person = AliasCache(), uuid4()
    cache.put(person, 3, ALIASES)
    assert ALIASES is cache.get(person, 3)
    assert cache.get(person, 4) is None
    assert cache.get(uuid4(), 3) is None
