"""Index and query cut a text the same way, in every script we speak."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nextlevel.lang.tokens import LONGEST_WORD, content_words, estimate_tokens, fold, stop_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Straße Łódź Ærø smörgås Ｆｕｌｌ", ["strass", "lodz", "aero", "smorgas", "full"]),
        ("waldseilgarten-crm", ["waldseilgarten-crm", "waldseilgart", "crm"]),
        ("auth.service.ts", ["auth.service.ts", "auth", "servic", "ts"]),
        ("getUserById", ["getuserbyid", "get", "user", "by", "id"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("port 8080", ["port", "8080"]),
        ("Odile's café", ["odile", "cafe"]),
        ("tables boxes queries class status", ["table", "box", "query", "class", "status"]),
        ("数据库", ["数据", "据库"]),
        ("青い x", ["青い", "x"]),
        ("中", ["中"]),
        ("", []),
        ("… — !", []),
    ],
)
def test_a_text_is_cut_into_terms(text: str, expected: list[str]) -> None:
    assert expected == words(text)


@given(st.text(max_size=200))
def test_the_same_text_always_has_the_same_terms(text: str) -> None:
    """A term that depends on the process, or on what was cut before, is never found again."""
    assert words(text) == words(text)
    assert all(0 < len(word) <= LONGEST_WORD for word in words(text))


@given(st.text(alphabet="abäßłé-.9 語", max_size=40))
def test_case_makes_no_difference(text: str) -> None:
    assert words(text) == words(text.upper())
    assert fold(text) == fold(fold(text))


@pytest.mark.parametrize(
    ("query", "statement"),
    [
        ("service", "we edit auth.service.ts"),
        ("waldseilgarten-crm", "the Waldseilgarten-CRM uses NestJS"),
        ("Tabellen", "Tabelle kompakt"),
        ("preferences", "a preference"),
        ("zolw", "żółw"),
        ("services", "auth.service.ts"),
        ("数据库在哪里", "数据库是 MySQL"),
        ("データベース", "データベースは PostgreSQL"),
        ("데이터베이스", "데이터베이스는 MySQL"),
    ],
)
def test_a_query_meets_what_was_written(query: str, statement: str) -> None:
    """Chinese that was never segmented, or an identifier kept whole on one side only, is memory that can't be found."""
    assert set(words(query)) & set(words(statement))


def test_function_words_of_four_languages_carry_no_topic() -> None:
    assert ["port", "api"] == content_words("what is the port of the api")
    assert ["port", "lauft", "api"] == content_words("auf welchem Port läuft die API")
    assert [] == content_words("och det är inte vad jag") == content_words("to jest nie ale czy")
    assert {"the", "uber", "ar", "zeby"} <= stop_words()


def test_tokens_are_estimated_from_characters_and_cjk_counts_one_each() -> None:
    assert 0 == estimate_tokens("")
    assert 2 == estimate_tokens("abcde")
    assert 3 == estimate_tokens("数据库")
    assert 4 == estimate_tokens("数据库 ab")
