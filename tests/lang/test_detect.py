"""The language of a text decides which rules read it."""

from __future__ import annotations

import pytest

from nextlevel.lang.detect import certain, language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we moved the service to another host yesterday", "en"),
        ("wir haben den Dienst gestern auf einen anderen Rechner gelegt", "de"),
        ("vi flyttade tjänsten till en annan server igår", "sv"),
        ("przenieśliśmy usługę na inny serwer, bo tak jest lepiej", "pl"),
        ("我们把服务迁移到另一台服务器了", "zh"),
        ("サービスを別のサーバーに移しました", "ja"),
        ("", "en"),
        ("12345 !!", "en"),
        ("läuft auf Port 8080", "de"),
    ],
)
def test_the_language_is_told_by_script_and_function_words(text: str, expected: str) -> None:
    assert expected == language(text)


def test_where_nothing_tells_the_session_speaks() -> None:
    """A short "8091" in a German session is German."""
    assert "de" == language("8091", otherwise="de")
    assert "en" == language("the port is 8091", otherwise="de")


def test_one_shared_word_makes_nothing_certain() -> None:
    """ "ten" is a number in English and a pronoun in Polish: a sentence keeps its session's language for it."""
    assert certain("max ten lines") is None
    assert "sv" == certain("vi flyttade den till en annan server")
    assert "zh" == certain("端口是8080")
