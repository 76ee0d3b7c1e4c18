"""Which known entity a mention means: by its words, never by likeness, and to none in doubt."""

from dataclasses import replace
from uuid import uuid4

import pytest

from nextlevel.lang.normal import normal_name
from nextlevel.model import EntityType
from nextlevel.store.entities import Alias, Known
from nextlevel.workers.steps.link import AliasCache, Aliases, link
from nextlevel.workers.steps.link.candidate import meant
from nextlevel.workers.steps.link.scan import scan
from nextlevel.workers.steps.link.spoken import Mention, at
from tests.support.builders import candidate


def known(name: str, kind: EntityType, *more: str) -> list[Alias]:
    """An entity as its names lead to it."""
    entity = Known(uuid4(), name, kind)
    return [Alias(normal_name(each), entity) for each in (name, *more)]


CRM = known("waldseilgarten-crm", EntityType.PROJECT)
FLO = known("Florian Amsel", EntityType.PERSON, "Flo")
MERCURY = [*known("mercury", EntityType.HOST), *known("Mercury", EntityType.PERSON)]
OSPREY = [*known("osprey-3", EntityType.HOST), *known("restic", EntityType.TECHNOLOGY)]
ALIASES = Aliases([*CRM, *FLO, *MERCURY, *OSPREY])


def name_of(text: str, mention: str, aliases: Aliases = ALIASES) -> str | None:
    found = at(text, mention)
    assert found is not None
    entity = meant(found, aliases).known
    return None if entity is None else entity.name


def named(text: str, aliases: Aliases = ALIASES) -> list[str]:
    return [each.known.name for each in scan(text, aliases) if each.known is not None]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Flo works on waldseilgarten-crm now", ["Florian Amsel", "waldseilgarten-crm"]),
        ("the waldseilgarten-crm's port", ["waldseilgarten-crm"]),
        ("waldseilgarten-crm-2 is another one", []),
        ("floor and flow are no people", []),
        ("auth.waldseilgarten-crm.ts is a file", []),
        ("Florian.", ["Florian Amsel"]),
        ("Florian Weber is somebody else", []),
        ("", []),
    ],
)
def test_names_are_found_only_where_they_stand_whole(text, found):
    """ "osprey" in "osprey-2" is another machine."""
    assert found == named(text)


@pytest.mark.parametrize(
    ("text", "mention", "entity"),
    [
        ("we ship the CRM on Fridays", "the CRM", "waldseilgarten-crm"),
        ("waldseilgraten-crm is red again", "waldseilgraten-crm", "waldseilgarten-crm"),
        ("Mr Amsel signs it", "Mr Amsel", "Florian Amsel"),
        ("F. Amsel signed", "F. Amsel", "Florian Amsel"),
        ("Florian A. signed", "Florian A.", "Florian Amsel"),
        ("Florian A. signed", "Florian B.", None),
        ("Florians Liste liegt dort", "Florians", "Florian Amsel"),
        ("Ms Amsel is his aunt", "Ms Amsel", None),
        ("osprey-4 is down", "osprey-4", None),
        ("osprey 3 is down", "osprey 3", "osprey-3"),
        ("waldseilgarten-crm-legacy stays off", "waldseilgarten-crm-legacy", None),
    ],
)
def test_a_mention_means_the_entity_whose_name_it_is_in_another_form(text, mention, entity):
    """Or nobody: what merely holds a known name, or the same first name, is somebody new."""
    found = at(text, mention) or Mention(mention, 0, len(mention))
    linked = meant(found, ALIASES).known
    assert entity == (linked.name if linked else None)


@pytest.mark.parametrize(
    ("text", "mention", "entity"),
    [
        ("Flo is back. He has the key.", "He", "Florian Amsel"),
        ("I set up osprey-3 and ran a scrub on it", "it", "osprey-3"),
        ("osprey-9 came today and it is loud", "it", None),
        ("Flo met Henrik. He was late.", "He", None),
        ("osprey-3 hängt. Starte den Server neu.", "den Server", "osprey-3"),
        ("It is late.", "It", None),
    ],
)
def test_a_pronoun_means_what_was_last_named_and_fits(text, mention, entity):
    """Also a new name that stands nearer: then it means nothing known. Two that fit: neither."""
    assert entity == name_of(text, mention)


def test_a_noun_that_two_share_means_the_one_named_last_and_raises_no_doubt():
    """ "The API" is said all day: it must not fill the review."""
    aliases = Aliases([*known("harbour-api", EntityType.PROJECT), *known("quayside-api", EntityType.PROJECT)])
    assert "harbour-api" == name_of("harbour-api is slow. The API uses JWT.", "The API", aliases)
    linked = link(candidate("API", span="The API uses JWT", entities=()), aliases)
    assert ("API", ()) == (linked.subject, linked.may_be)


def test_a_name_with_two_bearers_goes_to_the_one_that_the_words_around_speak_of():
    """And without such words to neither: a fact on the wrong entity is worse than an unlinked one."""
    assert meant(Mention("mercury is odd", 0, 7), ALIASES).known is None
    assert {"mercury", "Mercury"} == {rival.name for rival in meant(Mention("mercury is odd", 0, 7), ALIASES).rivals}
    host = meant(Mention("mercury needs a reboot, its disk is full", 0, 7), ALIASES).known
    assert host is not None
    assert host.type is EntityType.HOST


@pytest.mark.parametrize("name", ["", "   ", "the", "it", "?!", "x" * 10_000, "😀" * 300])
def test_what_is_no_name_links_to_nothing(name):
    """An entity of ten thousand characters, an empty one, a stop word: visible as unlinked, and nothing breaks."""
    assert meant(Mention(name, 0, len(name)), ALIASES).known is None
    assert name == link(candidate(name, span="", entities=()), ALIASES).subject


def test_a_candidate_takes_the_canonical_name_and_the_entities_of_its_sentence():
    linked = link(candidate("the CRM", span="the CRM is Flo's project", entities=()), ALIASES)
    assert "waldseilgarten-crm" == linked.subject
    assert {("waldseilgarten-crm", EntityType.PROJECT), ("Florian Amsel", EntityType.PERSON)} == set(linked.entities)


def test_a_known_name_of_another_type_stays_another_entity():
    linked = link(candidate("x", span="", entities=(("Flo", EntityType.HOST),)), ALIASES)
    assert (("Flo", EntityType.HOST),) == linked.entities


def test_names_that_come_later_are_found_as_well():
    """A worker adds what is new instead of reading thousands of names again."""
    aliases = Aliases(CRM)
    assert [] == named("Flo is in", aliases)
    aliases.add(FLO)
    assert ["Florian Amsel"] == named("Flo is in", aliases)


def test_what_kind_a_thing_is_may_be_learnt_later():
    """A topic turns out to be a host: "the server" means it from then on."""
    [row] = known("osprey", EntityType.TOPIC)
    aliases = Aliases([row])
    aliases.add([replace(row, known=replace(row.known, type=EntityType.HOST))])
    assert "osprey" == name_of("Restart the server.", "the server", aliases)


def test_a_person_without_entities_costs_nothing():
    assert [] == scan("anything", Aliases([]))


def test_the_cache_begins_anew_when_a_name_went():
    """A name that was forgotten, or merged into another entity, must link to nothing any more."""
    cache, person = AliasCache(), uuid4()
    cache.get(person, 3).add(CRM)
    assert ["waldseilgarten-crm"] == named("waldseilgarten-crm", cache.get(person, 3))
    assert [] == named("waldseilgarten-crm", cache.get(person, 4))
    assert [] == named("waldseilgarten-crm", cache.get(uuid4(), 4))
