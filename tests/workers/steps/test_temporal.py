"""Dates are counted from the day of the turn that says them, in the speaker's own offset."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from nextlevel.workers.steps.temporal import LONGEST, begins_with_date, dates, validity

TUESDAY = datetime.fromisoformat("2026-05-12T23:30:00-08:00")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("the launch is friday next week", None, "2026-05-22"),
        ("hands off from wednesday the 20th on", "2026-05-20", None),
        ("we switched last thursday", "2026-05-07", None),
        ("the report is due thursday", None, "2026-05-14"),
        ("the fair is the 19th", None, "2026-05-19"),
        ("I am in Oslo on the 24th, back on the 28th", "2026-05-24", "2026-05-28"),
        ("the room is ours until the 15th", None, "2026-05-15"),
        ("she is on leave till 17 August", None, "2026-08-17"),
        ("I join the team on 1 June", "2026-06-01", None),
        ("it replaces the old one by end of Q3", None, "2026-09-30"),
        ("on version 4 since march", "2026-03-01", None),
        ("it ends in may", None, "2026-05-31"),
        ("merged on friday", "2026-05-08", None),
        ("three days ago we moved", "2026-05-09", None),
        ("the demo is in two weeks", None, "2026-05-26"),
        ("the deadline is 2026-06-30", None, "2026-06-30"),
        ("deadline March 3, 2027", None, "2027-03-03"),
        ("the port changed just now", "2026-05-12", None),
        ("her last day was 31 march", "2026-03-31", None),
        ("the contract runs until June 2027", None, "2027-06-30"),
        ("we have been there since 2024", "2024-01-01", None),
        ("raise the limit from 2048 on", None, None),
        ("the box is at 10.8.3.17", None, None),
        ("the ports from 2000 to 2049 are open", None, None),
        ("in Q3 it is due", None, "2026-09-30"),
        ("we bill weekly from next month on", "2026-06-01", None),
        ("last year was better", "2025-01-01", None),
        ("it closes at the end of the year", None, "2026-12-31"),
        ("we freeze from Monday for two weeks", "2026-05-18", "2026-05-31"),
        ("for the next three weeks Ana covers for me", "2026-05-12", "2026-06-02"),
        ("the demo is a week from Monday", None, "2026-05-25"),
        ("the report is due in six months", None, "2026-11-12"),
        ("two weeks from now it opens", None, "2026-05-26"),
        ("the talk is on Friday 22 May", None, "2026-05-22"),
        ("the talk is on Friday the 22", None, "2026-05-22"),
        ("we stay on 14 until the end of March", None, "2027-03-31"),
        ("two days before that", None, None),
        ("the meeting is every friday", None, None),
        ("this is the 2nd try on 3.9", None, None),
        ("nothing dated here", None, None),
    ],
)
def test_english(text: str, start: str | None, end: str | None) -> None:
    assert (start, end) == _days(text, "en")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("die Abnahme ist übernächsten Dienstag", None, "2026-05-26"),
        ("seit letztem Montag läuft es", "2026-05-11", None),
        ("er kommt am 21. und bleibt bis zum 24.", "2026-05-21", "2026-05-24"),
        ("ich übernehme das ab 1. Januar", "2027-01-01", None),
        ("die Sitzung ist am 27. Mai", None, "2026-05-27"),
        ("ich bin ab Donnerstag weg, zurück am 31.", "2026-05-14", "2026-05-31"),
        ("Frist ist der 17.8.", None, "2026-08-17"),
        ("vor drei Wochen umgezogen", "2026-04-21", None),
        ("fertig bis Ende Juni", None, "2026-06-30"),
        ("heißt ab heute anders", "2026-05-12", None),
        ("nächste Woche Mittwoch", None, "2026-05-20"),
        ("seit März 2025 läuft das", "2025-03-01", None),
        ("ab Q3 auf Postgres 17", "2026-07-01", None),
        ("ab nächstem Monat", "2026-06-01", None),
        ("fertig bis Jahresende", None, "2026-12-31"),
        ("Montag in einer Woche ist Abnahme", None, "2026-05-25"),
        ("er ist ab Montag zwei Wochen weg", "2026-05-18", "2026-05-31"),
        ("bis spätestens 15.07", None, "2026-07-15"),
        ("übernächste Woche ist Messe", None, "2026-05-31"),
        ("eingezogen wird zum 5. jedes Monats", None, None),
        ("die Wartung ist immer mittwochs", None, None),
    ],
)
def test_german(text: str, start: str | None, end: str | None) -> None:
    assert (start, end) == _days(text, "de")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("sedan förra tisdagen kör vi på den", "2026-05-05", None),
        ("från och med nästa måndag", "2026-05-18", None),
        ("hon är borta från måndag i två veckor", "2026-05-18", "2026-05-31"),
        ("jour från på måndag och två veckor framåt", "2026-05-18", "2026-05-31"),
        ("mässan är 4-6 juni", "2026-06-04", "2026-06-06"),
        ("senast 15/7", None, "2026-07-15"),
        ("fredag den 22 är det klart", None, "2026-05-22"),
        ("från nästa månad", "2026-06-01", None),
        ("i slutet av året", None, "2026-12-31"),
        ("idag om en vecka", None, "2026-05-19"),
        ("för tre dagar sedan", "2026-05-09", None),
        ("sedan 2024", "2024-01-01", None),
        ("varje fredag", None, None),
        ("vi är 15/20 klara", None, None),
    ],
)
def test_swedish(text: str, start: str | None, end: str | None) -> None:
    assert (start, end) == _days(text, "sv")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("od zeszłego wtorku działa", "2026-05-05", None),
        ("od przyszłego miesiąca", "2026-06-01", None),
        ("nie ma jej od poniedziałku przez dwa tygodnie", "2026-05-18", "2026-05-31"),
        ("targi są od 4 do 6 czerwca", "2026-06-04", "2026-06-06"),
        ("oddajemy za tydzień", None, "2026-05-19"),
        ("zmieniliśmy to miesiąc temu", "2026-04-12", None),
        ("najpóźniej 15.07", None, "2026-07-15"),
        ("w piątek 22 maja", None, "2026-05-22"),
        ("do końca roku", None, "2026-12-31"),
        ("od 2024", "2024-01-01", None),
        ("w każdy piątek", None, None),
    ],
)
def test_polish(text: str, start: str | None, end: str | None) -> None:
    assert (start, end) == _days(text, "pl")


@pytest.mark.parametrize(("text", "language"), [("下个月开始", "zh"), ("来月から", "ja")])
def test_next_month_begins_on_its_first_day_in_a_language_that_parts_no_words(text: str, language: str) -> None:
    assert ("2026-06-01", None) == _days(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("the report is due two weeks before that", "en"),
        ("der Bericht muss zwei Wochen vorher fertig sein", "de"),
        ("rapporten ska vara klar två veckor innan", "sv"),
        ("raport ma być dwa tygodnie wcześniej", "pl"),
    ],
)
def test_a_distance_from_another_date_is_counted_from_the_one_named_before(text: str, language: str) -> None:
    held = validity(text, TUESDAY, language, anchor=date(2026, 6, 30))
    assert "2026-06-16" == str(held.valid_to and held.valid_to.date())


def test_who_mixes_languages_is_understood_in_both() -> None:
    held = validity("ich bin ab Donnerstag weg, back on the 31st", TUESDAY, "de", also=["en"])
    assert ("2026-05-14", "2026-05-31") == tuple(str(each and each.date()) for each in (held.valid_from, held.valid_to))


def _days(text: str, language: str) -> tuple[str | None, str | None]:
    held = validity(text, TUESDAY, language)
    return (
        held.valid_from.date().isoformat() if held.valid_from else None,
        held.valid_to.date().isoformat() if held.valid_to else None,
    )


def test_a_span_keeps_the_speakers_offset_and_its_last_day_whole() -> None:
    """Late in the evening at UTC-8 it is tomorrow in UTC; the speaker's today counts."""
    held = validity("from today until tomorrow", TUESDAY, "en")
    assert "2026-05-12T00:00:00-08:00" == (held.valid_from and held.valid_from.isoformat())
    assert "2026-05-13T23:59:59-08:00" == (held.valid_to and held.valid_to.isoformat())


def test_a_date_that_does_not_exist_is_none() -> None:
    assert [] == dates("due 31 February or 2026-13-40 or week 77", TUESDAY, "en")


def test_an_unknown_language_has_iso_dates_only() -> None:
    assert ["2026-07-01"] == [dated.first.isoformat() for dated in dates("do 2026-07-01 albo friday", TUESDAY, "xx")]


def test_a_date_beyond_the_searched_head_is_not_read() -> None:
    assert [] == dates("x " * LONGEST + "on 2026-07-01", TUESDAY, "en")


def test_a_text_that_begins_with_a_date_is_told_from_one_that_mentions_one() -> None:
    assert "2026-05-25" == str(begins_with_date("on the 25th now", TUESDAY, "en"))
    assert begins_with_date("closed on the 25th", TUESDAY, "en") is None
