"""Svenska: en mening för varje sort som stannar, och en för varje som inte gör det."""

from __future__ import annotations

from datetime import datetime

import pytest

from nextlevel.model import BlockType, EntityType, Turn
from nextlevel.workers.steps.extract import Extraction, extract

AT = datetime.fromisoformat("2026-05-12T09:00:00+02:00")


def _extract(text: str, window: tuple[Turn, ...] = ()) -> Extraction:
    return extract(Turn("i:1", "s", 1, AT, text, "", (), {"project": {"name": "anslagstavlan"}}), window)


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "value"),
    [
        ("brokern lyssnar på port 8080 hos oss", "brokern", "runs_on_port", "8080"),
        ("databasen är Postgres 16 hos oss", "anslagstavlan", "uses_database", "Postgres 16"),
        ("vi använder MariaDB för det här", "anslagstavlan", "uses_database", "MariaDB"),
        ("jag är nu på feature/inloggning", "anslagstavlan", "on_branch", "feature/inloggning"),
        ("jag heter Wilma och du är min assistent", "user", "is_called", "Wilma"),
        ("avtalet med elbolaget går ut den 30 juni", "avtalet med elbolaget", "deadline", "30 juni"),
        ("mötet är flyttat till på fredag", "mötet", "takes_place_on", "på fredag"),
        ("skrivarens ip är 10.0.0.4 numera", "skrivarens ip", "has_address", "10.0.0.4"),
    ],
)
def test_ett_falt_far_sitt_varde(text: str, subject: str, predicate: str, value: str) -> None:
    assert (subject, predicate, value) in [(c.subject, c.predicate, c.value) for c in _extract(text).candidates]


@pytest.mark.parametrize(
    ("text", "person", "predicate"),
    [
        ("vår kontaktperson är Jörgen Ahl", "Jörgen Ahl", "has_role"),
        ("Gun är vår revisor", "Gun", "has_role"),
        ("Gun sköter bokföringen hos oss", "Gun", "responsible_for"),
        ("Gun bor i Luleå", "Gun", "located_in"),
        ("Gun vikarierar för mig i juli", "Gun", "does"),
    ],
)
def test_vem_nagon_ar_och_vad_hen_gor(text: str, person: str, predicate: str) -> None:
    candidate = next(c for c in _extract(text).candidates if c.predicate == predicate)
    assert person == candidate.subject
    assert (person, EntityType.PERSON) in candidate.entities


@pytest.mark.parametrize(
    ("text", "object_", "negated"),
    [
        ("pusha aldrig direkt till main", "pusha direkt till main", True),
        ("aldrig på en fredag, är du snäll", "på en fredag", True),
        ("inga emojis tack", "emojis", True),
        ("jag föredrar korta svar", "korta svar", False),
    ],
)
def test_en_regel_eller_smak(text: str, object_: str, negated: bool) -> None:
    candidate = next(c for c in _extract(text).candidates if c.subject == "user")
    assert (object_, negated) == (candidate.object, candidate.negated)
    assert BlockType.USER_PREFERENCE == candidate.type


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("god morgon!", "chitchat"),
        ("ska vi byta till Traefik?", "question"),
        ("vilken port har tjänsten", "question"),
        ("tänk om vi skulle köra Kafka", "hypothetical"),
        ("Gun älskar lila", "third_person"),
        ("vad kul, ännu ett fel", "sarcasm"),
        ("starta om tjänsten nu", "one_off"),
        ("dumpen ligger i /tmp/dump-88.sql hos mig", "temp_path"),
        ('i manualen står det "starta alltid om tjänsten innan du uppdaterar"', "quote"),
    ],
)
def test_det_som_inte_ska_sparas_faller_bort_med_sitt_skal(text: str, why: str) -> None:
    found = _extract(text)
    assert () == found.candidates
    assert why in [dropped.why for dropped in found.dropped]


def test_det_anvandaren_tar_tillbaka_glomms() -> None:
    found = _extract("Gun sköter bokföringen hos oss. glöm det")
    assert () == found.candidates
    assert found.retractions


def test_ett_accepterat_forslag_blir_anvandarens() -> None:
    before = Turn("i:0", "s", 0, AT, "var ska den ligga", "Jag kan lägga tjänsten på port 8123. Ska jag göra det?")
    (candidate,) = _extract("ja, gör det", (before,)).candidates
    assert ("runs_on_port", "8123") == (candidate.predicate, candidate.value)


@pytest.mark.parametrize(
    ("text", "subject", "object_"),
    [
        ("Jag är redaktör på Fjärden", "user", "redaktör på Fjärden"),
        ("jag driver en liten butik i Lund", "user", "en liten butik i Lund"),
        ("nästa vecka byter vi till Nomad", "anslagstavlan", "Nomad"),
        ("sidorna byggs med `make sidor`", "sidorna", "make sidor"),
        ("Berit studerar juridik i Umeå", "Berit", "studerar juridik i Umeå"),
        ("vi åker med Berit till Visby på lördag", "user", "Visby på lördag"),
    ],
)
def test_vad_nagon_ar_och_gor(text: str, subject: str, object_: str) -> None:
    found = [(each.subject, each.object) for each in _extract(text).candidates]
    assert (subject, object_) in found
