"""A long message is read in parts: none of it is lost without a word, and no cut makes another sense of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from nextlevel.lang.tokens import estimate_tokens
from nextlevel.model import Turn
from nextlevel.workers.steps.extract import parts


def shown(user: str, assistant: str = "Noted.") -> parts.Shown:
    return parts.shown(Turn("home:1", "s1", 1, datetime(2026, 6, 3, 12, 0, tzinfo=UTC), user, assistant))


def test_what_fits_is_one_part_with_the_answer_and_nothing_is_cut():
    told = shown("We moved the shop to port 8091.")
    assert ("We moved the shop to port 8091.", "Noted.", {}) == (told.user, told.assistant, told.cut)
    assert [("Noted.", 1, 1)] == [(part.assistant, part.number, part.of) for part in told.parts]


def test_of_an_empty_message_there_is_one_part():
    assert [""] == [part.user for part in shown("").parts]


@pytest.mark.parametrize(
    "sentence", ["Shed {n} is kept by Odile and has {n} doors. ", "第{n}号棚由真由美管理，有{n}扇门。"]
)
def test_a_long_message_is_shown_whole_in_parts_that_overlap_and_fit(sentence):
    text = "".join(sentence.format(n=n) for n in range(300))
    told = shown(text)
    assert 1 < len(told.parts) <= parts.MOST_PARTS
    assert (text, {}) == (told.user, {})
    assert all(estimate_tokens(part.user) <= parts.USER_TOKENS for part in told.parts)
    for one, next_ in zip(told.parts, told.parts[1:], strict=False):
        shared = max(size for size in range(len(next_.user)) if one.user.endswith(next_.user[:size]))
        assert 50 < shared < len(one.user) // 5
    assert [*[""] * (len(told.parts) - 1), "Noted."] == [part.assistant for part in told.parts]


def test_parts_begin_and_end_with_a_sentence():
    """What follows a "never" must not be read without it."""
    told = shown("Never put the queue of this shop on port 8091, whatever the old manual says about it. " * 200)
    assert 1 < len(told.parts)
    for part in told.parts:
        assert part.user.startswith("Never put")
        assert part.user.rstrip().endswith("says about it.")


def test_where_there_are_no_sentences_no_word_is_cut():
    told = shown(" ".join(f"host{n:06d}" for n in range(1_200)))
    assert 1 < len(told.parts)
    assert all(re.fullmatch(r"(host\d{6}\s*)+", part.user) for part in told.parts)


@pytest.mark.parametrize("size", [40_000, 2_000_000])
def test_of_what_the_parts_can_not_hold_the_end_is_shown_and_the_rest_is_told_as_cut(size):
    """What a paste is for often stands below it."""
    text = "It begins here. " + "filler " * (size // 7) + "Remember that Odile keeps shed four."
    told = shown(text)
    assert parts.MOST_PARTS == len(told.parts)
    assert told.user.startswith("It begins here.")
    assert told.user.endswith("Remember that Odile keeps shed four.")
    assert len(text) - len(told.user) + 2 >= told.cut["user"] >= len(text) - len(told.user)


def test_of_a_long_answer_the_head_is_shown_and_the_rest_is_told_as_cut():
    told = shown("And why?", "Because. " * 1_000)
    assert {"assistant": 9_000 - len(told.assistant)} == told.cut
    assert estimate_tokens(told.assistant) <= parts.ASSISTANT_TOKENS


@pytest.mark.parametrize("filler", range(6_700, 6_820, 40))
def test_no_cut_halves_a_secret_so_that_no_pattern_sees_it(filler):
    key = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    told = shown("x" * filler + f" {key} " + "y" * 6_000)
    assert 1 < len(told.parts)
    assert not any("ghp_" in part.user or "a1B2c3D4" in part.user for part in told.parts)
