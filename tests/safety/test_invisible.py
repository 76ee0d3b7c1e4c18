"""No character that a person can't see is stored."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nextlevel.safety import invisible

HIDDEN = "\u00ad\u200b\u200d\u200e\u202e\u2060\u2066\ufeff\U000e0041"


def test_hidden_characters_go_and_all_that_shows_stays() -> None:
    assert "übel 日本 🎉\tok\n" == invisible.clean("ü\u200bbel 日\u2060本 🎉\tok\n\ufeff")
    assert len(HIDDEN) == invisible.count(HIDDEN)
    assert "" == invisible.clean(HIDDEN)


@given(st.text())
def test_a_cleaned_text_holds_none(text: str) -> None:
    cleaned = invisible.clean(text)
    assert 0 == invisible.count(cleaned)
    assert cleaned == invisible.clean(cleaned)
