"""Polski: po zdaniu na każdy rodzaj, który zostaje, i na każdy, który nie."""

from __future__ import annotations

from datetime import datetime

import pytest

from nextlevel.model import BlockType, EntityType, Turn
from nextlevel.workers.steps.extract import Extraction, extract

AT = datetime.fromisoformat("2026-05-12T09:00:00+02:00")


def _extract(text: str, window: tuple[Turn, ...] = ()) -> Extraction:
    return extract(Turn("i:1", "s", 1, AT, text, "", (), {"project": {"name": "tablica"}}), window)


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "value"),
    [
        ("kolejka działa u nas na porcie 8080", "kolejka", "runs_on_port", "8080"),
        ("baza to Postgres 16", "tablica", "uses_database", "Postgres 16"),
        ("używamy MariaDB", "tablica", "uses_database", "MariaDB"),
        ("jestem teraz na gałęzi feature/logowanie", "tablica", "on_branch", "feature/logowanie"),
        ("nazywam się Wanda", "user", "is_called", "Wanda"),
        ("umowa z elektrownią kończy się 30 czerwca", "umowa z elektrownią", "deadline", "30 czerwca"),
        ("spotkanie jest przeniesione na piątek", "spotkanie", "takes_place_on", "piątek"),
    ],
)
def test_pole_dostaje_swoja_wartosc(text: str, subject: str, predicate: str, value: str) -> None:
    assert (subject, predicate, value) in [(c.subject, c.predicate, c.value) for c in _extract(text).candidates]


@pytest.mark.parametrize(
    ("text", "person", "predicate"),
    [
        ("naszym kontaktem jest Jan Uhl", "Jan Uhl", "has_role"),
        ("Grażyna jest naszą księgową", "Grażyna", "has_role"),
        ("za księgowość odpowiada Grażyna", "Grażyna", "responsible_for"),
        ("Grażyna mieszka w Łodzi", "Grażyna", "located_in"),
        ("Grażyna zastępuje mnie w lipcu", "Grażyna", "does"),
    ],
)
def test_kim_ktos_jest_i_co_robi(text: str, person: str, predicate: str) -> None:
    candidate = next(c for c in _extract(text).candidates if c.predicate == predicate)
    assert person == candidate.subject
    assert (person, EntityType.PERSON) in candidate.entities


@pytest.mark.parametrize(
    ("text", "object_", "negated"),
    [
        ("nigdy nie wypychaj wprost na main", "wypychaj wprost na main", True),
        ("nie używaj emoji", "używaj emoji", True),
        ("bez emoji proszę", "emoji", True),
        ("wolę krótkie odpowiedzi", "krótkie odpowiedzi", False),
    ],
)
def test_zasada_albo_upodobanie(text: str, object_: str, negated: bool) -> None:
    candidate = next(c for c in _extract(text).candidates if c.subject == "user")
    assert (object_, negated) == (candidate.object, candidate.negated)
    assert BlockType.USER_PREFERENCE == candidate.type


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("dzień dobry!", "chitchat"),
        ("czy przechodzimy na Traefika?", "question"),
        ("jaki port ma usługa", "question"),
        ("a gdyby tak użyć Kafki", "hypothetical"),
        ("Grażyna uwielbia fiolet", "third_person"),
        ("no super, znowu błąd", "sarcasm"),
        ("uruchom usługę", "one_off"),
        ("zrzut jest w /tmp/zrzut-88.sql", "temp_path"),
    ],
)
def test_co_nie_zostaje_odpada_z_powodem(text: str, why: str) -> None:
    found = _extract(text)
    assert () == found.candidates
    assert why in [dropped.why for dropped in found.dropped]


def test_co_uzytkownik_cofa_jest_zapomniane() -> None:
    found = _extract("Grażyna mieszka w Łodzi. zapomnij o tym")
    assert () == found.candidates
    assert found.retractions


def test_przyjeta_propozycja_staje_sie_slowem_uzytkownika() -> None:
    before = Turn("i:0", "s", 0, AT, "gdzie to postawić?", "Mogę postawić usługę na porcie 8123. Czy mam tak zrobić?")
    (candidate,) = _extract("tak, zrób tak", (before,)).candidates
    assert ("runs_on_port", "8123") == (candidate.predicate, candidate.value)


@pytest.mark.parametrize(
    ("text", "subject", "object_"),
    [
        ("Jestem redaktorką w Kurierze", "user", "redaktorką w Kurierze"),
        ("piszę pracę o porostach", "user", "piszę pracę o porostach"),
        ("żona ma na imię Halina", "Halina", "żona"),
        ("moja córka Basia studiuje prawo w Gdańsku", "Basia", "studiuje prawo w Gdańsku"),
        ("obrazy budujemy komendą `make obrazy`", "obrazy", "make obrazy"),
        ("jadę z Kingą do Torunia", "user", "z Kingą do Torunia"),
    ],
)
def test_kim_jest_uzytkownik_i_co_robia_jego_bliscy(text: str, subject: str, object_: str) -> None:
    found = [(each.subject, each.object) for each in _extract(text).candidates]
    assert (subject, object_) in found
