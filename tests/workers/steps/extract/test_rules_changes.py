"""What changes in a project: who leaves, what moves, what is merged, how things are written."""

from __future__ import annotations

from datetime import datetime

import pytest

from nextlevel.model import BlockType, Candidate, Category, Turn
from nextlevel.workers.steps.extract import extract

AT = datetime.fromisoformat("2026-05-12T09:00:00+02:00")


def told(text: str, *earlier: str) -> tuple[Candidate, ...]:
    window = [_turn(n, said) for n, said in enumerate(earlier, 1)]
    return extract(_turn(9, text), window).candidates


def _turn(n: int, text: str) -> Turn:
    return Turn(f"i:{n}", "s", n, AT, text, "", (), {"project": {"name": "pinboard"}})


@pytest.mark.parametrize(
    "text",
    [
        "our database is postgres 15 on cedar-01",
        "unsere Datenbank ist Postgres 15 auf cedar-01",
        "vår databas är postgres 15 på cedar-01",
        "nasza baza to postgres 15 na cedar-01",
    ],
)
def test_a_database_and_its_host_are_two_facts(text):
    """Told as one, "postgres 15 on cedar-01" would stay when the host changes, and be shown beside the new one."""
    values = [each.object for each in told(text) if each.predicate == "uses_database"]
    assert ["postgres 15"] == [value.casefold() for value in values]


@pytest.mark.parametrize(
    "text",
    [
        "mariadb goes from 10.6 to 11.4",
        "mariadb geht von 10.6 auf 11.4",
        "mariadb går från 10.6 till 11.4",
        "mariadb przechodzi z 10.6 na 11.4",
    ],
)
def test_the_version_that_a_database_goes_to_is_the_one_in_use(text):
    """Else the old version is known of the project for ever, and the new one of "mariadb"."""
    assert ("pinboard", "uses_database", "mariadb 11.4") in [(c.subject, c.predicate, c.value) for c in told(text)]


@pytest.mark.parametrize(
    "text",
    [
        "we move the queue on 3 june from cedar-01 to maple-02",
        "wir ziehen die queue am 3. juni von cedar-01 auf maple-02 um",
        "vi flyttar queue den 3 juni från cedar-01 till maple-02",
        "przenosimy queue 3 czerwca z cedar-01 na maple-02",
    ],
)
def test_what_moves_to_another_host_is_on_that_host(text):
    """A host is no tool: "uses maple-02" answers no question about where something runs."""
    assert [("queue", "on_host", "maple-02")] == [
        (c.subject.removeprefix("die "), c.predicate, c.object) for c in told(text)
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("selma vinter is our product owner from today", "selma vinter"),
        ("so selma is our product owner", "selma"),
        ("selma vinter ist ab heute unsere kundin", "selma vinter"),
        ("selma vinter är vår produktägare från och med idag", "selma vinter"),
        ("selma zima jest naszą szefową", "selma zima"),
    ],
)
def test_a_name_that_is_written_small_is_whole(text, name):
    """In chat many write names small; half a name is somebody else's."""
    assert [name] == [each.subject for each in told(text) if each.predicate == "has_role"]


@pytest.mark.parametrize(
    "text",
    ["this system is our client", "das system ist unser kunde", "systemet är vår kund", "ten system to nasz klient"],
)
def test_a_system_is_nobody(text):
    assert [] == [each.subject for each in told(text) if each.predicate == "has_role"]


@pytest.mark.parametrize(
    ("text", "subject", "words"),
    [
        ("bertil, that's the owner of the boathouse, wants a calendar in 1.2", "bertil", "boathouse"),
        ("bertil, he owns the boathouse, wants a calendar in 1.2", "bertil", "calendar"),
        ("bertil, das ist der Inhaber vom Bootshaus, will einen Kalender", "bertil", "Bootshaus"),
        ("bertil, det är ägaren till båthuset, önskar sig en kalender", "bertil", "båthuset"),
        ("bertil, to właściciel przystani, chce kalendarz", "bertil", "przystani"),
    ],
)
def test_who_is_presented_between_commas_is_who_is_meant(text, subject, words):
    """Else the project would be the owner of the boathouse."""
    assert [subject] == [each.subject for each in told(text)]
    assert words in told(text)[0].object


@pytest.mark.parametrize(
    "text",
    [
        "the deadline for 2.3 is 31 july",
        "die Deadline für 2.3 ist der 31. Juli",
        "deadline för 2.3 är den 31 juli",
        "termin dla 2.3 to 31 lipca",
    ],
)
def test_a_bare_version_is_one_of_the_project(text):
    """ "2.3" names nothing by itself: two projects have one, and the deadline would be no deadline."""
    assert [("pinboard 2.3", "deadline")] == [(each.subject, each.predicate) for each in told(text)]


@pytest.mark.parametrize(
    "text",
    [
        "and write dates as yyyy-mm-dd",
        "schreib Datumsangaben als jjjj-mm-tt",
        "skriv datum som åååå-mm-dd",
        "zapisuj daty jako rrrr-mm-dd",
    ],
)
def test_how_to_write_a_kind_of_thing_is_a_standing_wish(text):
    """Nobody says "always" of a date's form; taken for today's errand it would have to be said in every session."""
    (wish,) = told(text)
    assert (BlockType.USER_PREFERENCE, Category.FORMATTING) == (wish.type, wish.category)
    assert "mm" in wish.object


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("code comments are in english", "code comments"),
        ("Fehlermeldungen sind kurz und auf Deutsch", "Fehlermeldungen"),
        ("rubrikerna är på svenska", "rubrikerna"),
        ("komentarze są po angielsku", "komentarze"),
    ],
)
def test_how_what_is_written_in_a_project_looks_is_a_rule_for_it(text, subject):
    """As a mere fact it is forgotten when the next comment is written."""
    (rule,) = told(text)
    assert (BlockType.USER_PREFERENCE, Category.FORMATTING) == (rule.type, rule.category)
    assert (subject, "pinboard") == (rule.subject, rule.project)


@pytest.mark.parametrize(
    "text",
    [
        "write the date into the footer",
        "give me a list",
        "gib mir eine Tabelle",
        "ge mig en lista",
        "daj mi tabelę",
        "schreib das Datum in die Fußzeile von index.html",
        "skriv in namnet i sidfoten",
        "napisz nazwę w stopce",
    ],
)
def test_an_errand_is_no_wish(text):
    assert () == told(text)


@pytest.mark.parametrize(
    "text",
    ["so dont run migrations then", "bitte deploy nicht morgen", "pusha inte idag", "nie wdrażaj jutro"],
)
def test_an_order_for_one_day_is_no_rule(text):
    """A rule would forbid it for ever."""
    assert () == told(text)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("coupons are merged", "coupons"),
        ("die Gutscheine sind ausgerollt", "Gutscheine"),
        ("kupongerna är släppta", "kupongerna"),
        ("kupony są wdrożone", "kupony"),
    ],
)
def test_what_a_thing_has_come_to_is_kept(text, subject):
    """Else "are the coupons out?" is answered by whatever else was."""
    assert [subject] == [each.subject for each in told(text)]


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("ivar keeps the printers running", "ivar"),
        ("ivar hält die Drucker am Laufen", "ivar"),
        ("ivar håller skrivarna igång", "ivar"),
        ("ivar dba o drukarki", "ivar"),
        ("ivar gör affischerna", "ivar"),
    ],
)
def test_who_keeps_something_going_answers_for_it(text, person):
    (found,) = told(text)
    assert person == found.subject
    assert found.predicate in ("responsible_for", "does")


@pytest.mark.parametrize(
    "text", ["ivar builds the shelf", "ivar baut das Regal", "ivar bygger hyllan", "ivar buduje półkę"]
)
def test_who_builds_something_does_it(text):
    assert [("ivar", "does")] == [(each.subject, each.predicate) for each in told(text)]


def test_who_does_it_says_nothing_without_the_sentence_before():
    """ "Responsible for it at night" tells nobody for what."""
    assert "it at night" not in [each.object for each in told("the backup is moved. ivar does it at night")]


def test_a_project_is_not_said_to_be_itself():
    (what,) = told("this is pinboard, django backend and htmx templates")
    assert ("pinboard", "django backend and htmx templates") == (what.subject, what.object)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("how do we print the labels?", "we use zebra-tools"),
        ("womit drucken wir die Etiketten?", "wir nehmen zebra-tools"),
        ("vad skriver vi ut etiketterna med?", "vi använder zebra-tools"),
        ("czym drukujemy etykiety?", "używamy zebra-tools"),
    ],
)
def test_a_short_answer_carries_the_question_that_it_settles(before, text):
    """ "We use zebra-tools" alone says not for what, and is found by nobody who asks about labels."""
    (choice,) = told(text, before)
    assert choice.context.startswith(before)
    assert not told(text)[0].context.startswith(before)


@pytest.mark.parametrize(
    ("before", "text", "right"),
    [
        (
            "ivar helps with the shop, he does the site in angular",
            "no, not angular, just vue with vite",
            "the site in vue with vite",
        ),
        (
            "ivar hilft beim Laden mit, er macht die Seite in angular",
            "nein, nicht angular, nur vue mit vite",
            "die Seite in vue mit vite",
        ),
    ],
)
def test_a_correction_is_told_of_whom_the_mended_sentence_was(before, text, right):
    """As a wish of the user's, "just vue" would hold for all that they ever build."""
    (mended,) = told(text, before)
    assert ("ivar", right) == (mended.subject, mended.object)


@pytest.mark.parametrize(
    "text", ["we're on release/2.0 now", "wir sind jetzt auf release/2.0", "vi är på release/2.0 nu", "na release/2.0"]
)
def test_a_release_branch_is_the_projects(text):
    """As the speaker's own it would not end the branch before it."""
    assert ("pinboard", "on_branch", "release/2.0") in [(c.subject, c.predicate, c.value) for c in told(text)]


@pytest.mark.parametrize(
    "text",
    [
        "the printer needs --dpi 203, otherwise the labels are blurred",
        "der Drucker braucht --dpi 203, sonst sind die Etiketten unscharf",
        "skrivaren behöver --dpi 203, annars blir etiketterna suddiga",
        "drukarka wymaga --dpi 203, inaczej etykiety są rozmyte",
    ],
)
def test_what_happens_otherwise_stays_with_what_is_needed(text):
    """ "Otherwise the labels are blurred" alone names the trouble and hides the cure."""
    (needed,) = told(text)
    assert "203, " in needed.object


@pytest.mark.parametrize(
    "text", ["use pnpm, not npm", "nimm hier bitte pnpm, nicht npm", "använd pnpm, inte npm", "używaj pnpm, nie npm"]
)
def test_one_tool_and_not_another_is_a_choice_that_lasts(text):
    assert ("package_manager", "pnpm") in [(each.predicate, each.value) for each in told(text)]


@pytest.mark.parametrize(
    "text", ["min granne ivar sköter rosorna när jag är borta", "ivar podlewa róże, gdy jestem na urlopie"]
)
def test_whoever_says_what_happens_while_they_are_away_is_not_away(text):
    assert "away" not in [each.predicate for each in told(text)]
