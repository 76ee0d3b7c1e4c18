"""Notes as people write them: cut by headings, with what they link, and no complaint about what is malformed."""

import pytest

from nextlevel.lang.markdown import MOST_SECTIONS, SECTION_CHARS, read
from nextlevel.model import EntityType


def sections(text, path="note.md"):
    return [(each.heading, each.text) for each in read(path, text).sections]


def links(text, path="note.md"):
    return {(each.predicate, each.target) for each in read(path, text).links}


def test_a_section_stands_under_all_headings_above_it():
    """A person looks for the place, and "Ports" alone is none."""
    text = "before\n# Crm\nintro\n## Ports ##\n8080\n### Old\n3000\n## Hosts\nbirch\n"
    assert [
        ("", "before"),
        ("Crm", "intro"),
        ("Crm › Ports", "8080"),
        ("Crm › Ports › Old", "3000"),
        ("Crm › Hosts", "birch"),
    ] == sections(text)


def test_an_underlined_heading_counts_and_a_rule_does_not():
    text = "Crm\n===\nintro\n\nPorts\n---\n8080\n\n---\n- item\n---\nrest"
    assert [("Crm", "intro"), ("Crm › Ports", "8080\n\n---\n- item\n---\nrest")] == sections(text)


def test_a_heading_with_nothing_under_it_is_its_own_text():
    """ "## Buy diesel" is the note; above a deeper heading it is only the way there."""
    assert [("List › Buy diesel", "Buy diesel"), ("List › Call Flo", "Call Flo")] == sections(
        "# List\n## Buy diesel\n## Call Flo\n"
    )


def test_code_is_text_and_its_signs_mean_nothing():
    """A shell comment is no heading, and an array of arrays no link."""
    text = "# Run\n```sh\n# not a heading\nx=[[no]]\n```\nthen `#no [[no]]` and #yes\n~~~\n# no\n"
    assert ["Run"] == [heading for heading, _ in sections(text)]
    assert {("tagged", "yes")} == links(text)


@pytest.mark.parametrize("text", ["word " * 2_000, ("word " * 100 + "\n\n") * 12, "x" * 5_000, "é\n" * 3_000])
def test_a_long_section_is_cut_and_nothing_is_lost(text):
    """Between paragraphs where there are any: half a sentence is a poor quote."""
    cut = [piece for _, piece in sections(f"# Long\n{text}")]
    assert len(cut) > 1
    assert max(len(piece) for piece in cut) <= SECTION_CHARS
    assert text.split() == [word for piece in cut for word in piece.split()] or "".join(cut) == text


def test_links_lead_to_names_whichever_way_they_are_written():
    """Obsidian's own, with alias, heading or folder, and Markdown's to a file."""
    text = "[[Birch-2]] [[net/Beech|the beech]] [[Oak#Ports]] ![[Elm]] [ash](../trees/Ash%20Tree.md#x) [[node.js]]"
    assert {("links_to", name) for name in ("Birch-2", "Beech", "Oak", "Elm", "Ash Tree", "node.js")} == links(text)
    assert "Birch-2 the beech Oak Elm" in read("a.md", text).sections[0].text


@pytest.mark.parametrize(
    "text", ["![[photo.png]]", "[[2026-06-03]]", "[x](https://example.org/a.html)", "[[]]", "[[#h]]"]
)
def test_what_leads_to_no_note_of_a_thing_is_no_link(text):
    """A day or a picture is nothing that others are related to."""
    assert set() == links(text)


def test_front_matter_gives_title_names_tags_and_relations():
    text = """---
title: "The CRM"   # ours
type: project
aliases:
  - crm
  - Waldseilgarten CRM
tags: [work, "net/vlan"]
author: Florian
project: Waldseilgarten
runs on: "[[Birch-2|birch]]"
status: active
created: 2026-06-03
nested:
  key: value
---
# Heading
text
"""
    note = read("notes/crm-notes.md", text)
    assert ("The CRM", "crm-notes", EntityType.PROJECT) == (note.title, note.name, note.type)
    assert ("crm", "Waldseilgarten CRM") == note.aliases
    assert [("Heading", "text")] == [(each.heading, each.text) for each in note.sections]
    assert {
        ("tagged", "work", EntityType.TOPIC),
        ("tagged", "vlan", EntityType.TOPIC),
        ("author", "Florian", EntityType.PERSON),
        ("part_of", "Waldseilgarten", EntityType.PROJECT),
        ("runs_on", "Birch-2", EntityType.TOPIC),
    } == {(each.predicate, each.target, each.type) for each in note.links}


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("crm/README.md", "# Waldseilgarten CRM\n", "Waldseilgarten CRM"),
        ("crm/README.md", "text", "crm"),
        ("daily/2026-06-03.md", "text", None),
        ("people/Florian Meier.md", "# Flo\n", "Florian Meier"),
    ],
)
def test_a_note_is_called_as_others_link_it(path, text, name):
    """By its file; a README by what it is about; a day is nobody."""
    assert name == read(path, text).name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\nno end",
        "---\n: : :\n- - -\n[\n---\nbody",
        "\ufeff# A\nb",
        "#",
        "# ",
        "[[",
        "```\nopen",
        "\r\n# A\r\nb\r\n",
    ],
)
def test_nothing_that_a_file_may_hold_is_an_error(text):
    """An import of ten thousand notes must not stop at the one that an editor left half written."""
    read("odd.md", text)


@pytest.mark.parametrize(
    "text",
    ["# " + " " * 500_000 + "x", "[" * 500_000, "[[" * 250_000, "---\nk: " + " " * 500_000 + "x\n---\n", "`" * 500_000,
     "[x](" * 125_000, "#" * 500_000, "```\n" * 125_000, "# a\n" * 125_000],
    ids=["spaces", "brackets", "links", "front matter", "ticks", "parentheses", "signs", "fences", "headings"],
)  # fmt: skip
def test_half_a_megabyte_of_one_sign_is_read_in_linear_time(text):
    """A file of anybody's may stand in the folder; what takes the square of its length would never end."""
    note = read("odd.md", text)
    assert len(note.sections) <= MOST_SECTIONS
    assert note.cut == (len(text.split("# a")) > MOST_SECTIONS)
