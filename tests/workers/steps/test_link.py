"""Which known entity a mention means: by its words, never by likeness, and to none in doubt."""

from dataclasses import replace
from uuid import uuid4

import pytest

from nextlevel.lang.normal import normal_name
from nextlevel.model import Category, EntityType
from nextlevel.store.entities import Alias, Known
from nextlevel.workers.steps.link import AliasCache, Aliases, Heard, link
from nextlevel.workers.steps.link.candidate import meant
from nextlevel.workers.steps.link.scan import scan, told_by
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


KRAKOW = Aliases(
    [
        *known("Agnieszka Wrona", EntityType.PERSON),
        *known("Gunnel Ek", EntityType.PERSON),
        *known("Rechnungslauf", EntityType.PROJECT),
        *known("segelklubb", EntityType.ORGANISATION),
        *known("sowa", EntityType.HOST),
    ]
)


@pytest.mark.parametrize(
    ("text", "mention", "entity"),
    [
        ("zapytaj Agnieszkę o klucz", "Agnieszkę", "Agnieszka Wrona"),
        ("to jest klucz Agnieszki", "Agnieszki", "Agnieszka Wrona"),
        ("det är Gunnels nyckel", "Gunnels", "Gunnel Ek"),
        ("segelklubben betalar för den", "segelklubben", "segelklubb"),
        ("der Port des Rechnungslaufs ist belegt", "Rechnungslaufs", "Rechnungslauf"),
        ("Rechnungslauf ist rot. Das Projekt braucht Redis.", "Das Projekt", "Rechnungslauf"),
        ("sowa jest pełna. Ten serwer trzeba zrestartować.", "Ten serwer", "sowa"),
        ("Rechnungslauf är röd. Projektet behöver Redis.", "Projektet", "Rechnungslauf"),
    ],
)
def test_cases_articles_and_bare_nouns_of_three_languages(text, mention, entity):
    """A declined name is no second entity, and "ten serwer" is the one that was spoken of."""
    assert entity == name_of(text, mention, KRAKOW)


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


ONE_WAS_KNOWN = [
    ("Flo has the key.", "ayla signs the releases, she decides what goes in.", "she decides what goes in"),
    ("Flo hat den Schlüssel.", "Ayla macht den Betrieb. Sie arbeitet von Bergen aus.", "Sie arbeitet von Bergen aus"),
    ("Flo har nyckeln.", "ayla sköter driften, hon jobbar från Umeå.", "hon jobbar från Umeå"),
    ("Flo ma klucz.", "Ayla prowadzi wdrożenia. Ona decyduje o wydaniach.", "Ona decyduje o wydaniach"),
]


@pytest.mark.parametrize(("before", "turn", "span"), ONE_WAS_KNOWN, ids=["en", "de", "sv", "pl"])
@pytest.mark.parametrize("taken_for", ["ayla", "Flo"])
def test_she_is_whom_the_same_turn_names_and_not_who_was_known_before(before, turn, span, taken_for):
    """Nobody knows her yet, so that only the extractor's candidates tell that "ayla" is a name. Whomever it took
    "she" for: the text's order decides."""
    her = "ayla" if "ayla" in turn else "Ayla"
    named = candidate(her, span=turn.partition(".")[0], entities=((her, EntityType.PERSON),))
    said = candidate(taken_for if taken_for == "Flo" else her, span=span, entities=((her, EntityType.PERSON),))
    linked = link(said, ALIASES, Heard(before, turn, told=told_by([named, said])))
    assert her == linked.subject
    assert (her, EntityType.PERSON) in linked.entities
    assert "Florian Amsel" not in {name for name, _ in linked.entities}


@pytest.mark.parametrize(
    ("before", "span"),
    [
        ("Otto has the key.", "She decides what goes in"),
        ("Otto hat den Schlüssel.", "Sie arbeitet von Bergen aus"),
        ("Otto har nyckeln.", "Hon jobbar från Umeå"),
        ("Otto ma klucz.", "Ona decyduje o wydaniach"),
        ("Otto met Nils, both were late.", "He decides what goes in"),
    ],
    ids=["en", "de", "sv", "pl", "two"],
)
def test_whom_a_pronoun_can_not_mean_gets_no_fact(before, span):
    """By gender; or one of two who fit alike. Its subject is then no name, and store leaves it out."""
    aliases = Aliases([*known("Otto", EntityType.PERSON), *known("Nils", EntityType.PERSON)])
    said = candidate("Otto", span=span, entities=(("Otto", EntityType.PERSON),))
    linked = link(said, aliases, Heard(before, span))
    assert span.split()[0] == linked.subject
    assert "Otto" not in {name for name, _ in linked.entities}


@pytest.mark.parametrize(
    ("text", "mention", "entity"),
    [
        ("Karin hat den Schlüssel. Sie arbeiten beide von Bergen aus.", "Sie", None),
        ("Karin hat den Schlüssel. Sie arbeitet von Bergen aus.", "Sie", "Karin"),
        ("Karin hat den Schlüssel. Das können Sie mir glauben.", "Sie", None),
        ("Karin har nyckeln. De jobbar båda från Umeå.", "De", None),
        ("Karin ma klucz. Oni pracują z Gdyni.", "Oni", None),
        ("Karin has the key. They work from Leeds.", "They", "Karin"),
        ("Die Heidschnucke läuft, sagt Karin. Er liegt auf birke.", "Er", None),
        ("Jag bygger Heidschnucke med Karin. Den ligger på birke.", "Den", "Heidschnucke"),
    ],
)
def test_the_number_and_the_gender_of_a_pronoun_exclude(text, mention, entity):
    """Only English has a "they" of one person; German "Sie" may be several, or whom one talks to."""
    aliases = Aliases([*known("Karin", EntityType.PERSON), *known("Heidschnucke", EntityType.PROJECT)])
    assert entity == name_of(text, mention, aliases)


@pytest.mark.parametrize(
    ("span", "subject"),
    [
        ("im on branch feature/search, lets go on there", "harbour"),  # Polish "im": them
        ("ich heiße übrigens Reinhild", "user"),  # Polish "ich": their
        ("Hans kommt heute erst am Abend", "harbour"),  # Swedish "hans": his
    ],
)
def test_a_word_of_another_language_is_no_pronoun(span, subject):
    """What the user says of themselves, or of the project in focus, must not end on whoever was named last."""
    said = Heard("Flo has the key, Florian Amsel.", span, project="harbour")
    assert subject == link(candidate(subject, span=span, entities=(), project="harbour"), ALIASES, said).subject


def test_what_somebody_does_to_the_project_is_said_of_the_project():
    """ "he moved it to 8091" tells a port of the project; "his mail is …" tells how to reach him."""
    said = Heard("Flo has the key.", "he moved the port to 8091, his mail is flo@example.org")
    port = candidate("harbour", span="he moved the port to 8091", entities=(), project="harbour")
    mail = candidate(
        "harbour", span="his mail is flo@example.org", entities=(), project="harbour", category=Category.CONTACT
    )
    assert ("harbour", "Florian Amsel") == (link(port, ALIASES, said).subject, link(mail, ALIASES, said).subject)


def test_the_database_is_not_just_any_tool():
    aliases = Aliases([*known("docker compose", EntityType.TECHNOLOGY), *known("Postgres", EntityType.TECHNOLOGY)])
    assert name_of("docker compose starts it, the database too", "the database", aliases) is None
    assert "Postgres" == name_of("Postgres is up, the database is small", "the database", aliases)


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
