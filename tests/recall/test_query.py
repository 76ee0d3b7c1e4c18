"""How a query is read."""

import pytest

from nextlevel.recall.query import MAX_CHARS, read
from nextlevel.safety.markers import HEADER


def test_function_words_ask_for_nothing():
    assert [term.whole for term in read("which port does the crm run on?").terms] == ["port", "crm", "run"]


@pytest.mark.parametrize(
    "text", ["", "ok", "Thanks!", "guten Morgen", "tack", "dzięki", "谢谢", "👍", "???", "the of and"]
)
def test_what_only_keeps_the_talk_going_does_not_ask(text):
    assert not read(text).asks


@pytest.mark.parametrize("text", ["thanks, and the port?", "8080", "crm", "端口是多少"])
def test_what_asks_asks(text):
    assert read(text).asks


def test_names_are_found_as_aliases_are_spelled():
    """In normal form, of several words, without article and possessive; in CJK without borders."""
    assert {"waldseilgarten crm", "flo"} <= read("What is Flo's part in the Waldseilgarten CRM?").names
    assert "王芳" in read("王芳在哪里工作").names


def test_what_we_injected_is_no_question():
    """A host may hand its whole prompt over: our own lines in it must not look for themselves."""
    query = read(f"{HEADER}\n- crm: runs on port 8080 (since 1 Jun)\n\nand the database?")
    assert query.text == "and the database?"


@pytest.mark.parametrize("text", ["a b " * 400_000, "x" * 2_000_000, "漢" * 1_000_000, "a.b" * 500_000])
def test_a_pasted_megabyte_is_read_as_its_head(text):
    """Reading takes part in the deadline."""
    query = read(text)
    assert len(query.text) <= MAX_CHARS
    assert len(query.names) <= 1_000


def test_control_characters_and_broken_unicode_are_no_words():
    assert read("po\x00rt \ud800 crm\x1b[31m").text == "po rt crm [31m"
