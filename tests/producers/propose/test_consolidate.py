"""Room in a full file: what holds no longer, what says the same, what memory keeps anyway."""

from __future__ import annotations

from dataclasses import replace

from nextlevel.model import BlockStatus, BlockType, Provenance
from nextlevel.producers.propose.consolidate import entries_of, merges, outdated, safe, touched
from nextlevel.producers.propose.facts import Fact
from nextlevel.producers.propose.files import Change, MemoryFile
from nextlevel.producers.propose.proposal import Proposal
from tests.producers.propose.conftest import Put, fact, taste, told


def replaced(old: Fact, new: Fact) -> list[Fact]:
    return [replace(old, status=BlockStatus.SUPERSEDED, superseded_by=new.id), new]


def port(number: str) -> Fact:
    return fact("CI", "runs_on_port", number, key="port", value=number, type=BlockType.PROJECT_STATE)


def renewed(file: MemoryFile, facts: list[Fact]) -> list[Change | str]:
    found = [each.proposal for each in outdated([file], {each.id: each for each in facts})]
    return [each.change if isinstance(each, Proposal) else each for each in found]  # type: ignore[misc]


def test_an_entry_is_brought_up_to_what_holds_now(put: Put) -> None:
    """In the words of who wrote it, and without touching what else it says."""
    entry = "CI runs on port 8080. Deploys are on Thursdays."
    found = renewed(put("memory", entry), replaced(port("8080"), port("8081")))
    assert [Change("memory", (entry,), "CI runs on port 8081. Deploys are on Thursdays.")] == found


def test_the_last_of_several_changes_counts(put: Put) -> None:
    """8080, then 8081, then 8080 again: the entry is right."""
    first, second, third = port("8080"), port("8081"), replace(port("8080"), id="again")
    facts = [*replaced(first, second)[:1], *replaced(second, third)]
    assert [] == renewed(put("memory", "CI runs on port 8080."), facts)
    assert [Change("memory", ("CI runs on port 8081.",), "CI runs on port 8080.")] == renewed(
        put("memory", "CI runs on port 8081."), facts
    )


def test_words_that_meet_by_chance_change_nothing(put: Put) -> None:
    """A branch that is merged is not the branch one is on."""
    old = fact("crm", "on_branch", "feature/login", key="branch")
    file = put("memory", "crm: feature/login is merged")
    assert [] == renewed(file, replaced(old, replace(old, id="new", object="main")))


def test_an_entry_in_the_words_of_a_turn_is_known_by_them(put: Put) -> None:
    """That is how entries are proposed: no word of the block's own verb is in it."""
    old = fact("postgres", "on_host", "birke-02", project="crm", sources=(told(1, "postgres is live on birke-02"),))
    facts = replaced(old, replace(old, id="new", object="esche-01", sources=()))
    file = put("memory", old.sentence)
    assert [Change("memory", (old.sentence,), "crm: postgres is live on esche-01")] == renewed(file, facts)


def test_an_entry_goes_where_another_says_what_holds_now(put: Put) -> None:
    """Bringing it up to date would only say it twice."""
    file = put("memory", "CI runs on port 8080.", "CI runs on port 8081 since May.")
    assert [Change("memory", ("CI runs on port 8080.",))] == renewed(file, replaced(port("8080"), port("8081")))


def test_a_change_of_mind_is_no_change_of_words(put: Put) -> None:
    """The same words, denied: the entry says the contrary now."""
    old, new = taste("emojis", "wants"), replace(taste("emojis", "wants", negated=True), id="not any more")
    found = renewed(put("user", "User wants emojis"), replaced(old, new))
    assert [Change("user", ("User wants emojis",), "User does not want: emojis")] == found


def test_what_no_wording_offers_itself_for_is_told(put: Put) -> None:
    """A person can mend it; a guess in every prompt can't be seen."""
    old, new = taste("emojis", "wants"), replace(taste("emojis", "wants", negated=True), id="not any more")
    [told_] = renewed(put("user", "User wants emojis in talks. Lives in Kiel."), replaced(old, new))
    assert isinstance(told_, str)
    assert "out of date" in told_


def test_what_replaced_it_must_itself_be_vouched_for(put: Put) -> None:
    """Else a pasted text could change what the user wrote."""
    pasted = replace(port("9999"), provenance=Provenance.DOCUMENT)
    assert [] == renewed(put("memory", "CI runs on port 8080."), replaced(port("8080"), pasted))


def test_entries_that_say_the_same_become_one(put: Put) -> None:
    """With the characters that are won, the separator's too."""
    file = put("user", "User prefers helix", "User prefers poetry.", "User prefers helix with a dark theme")
    found = merges([file], frozenset())
    assert [Change("user", ("User prefers helix",))] == [each.change for each in found]
    assert [len("User prefers helix") + 3] == [each.won for each in found]
    file = put("memory", "crm: uses NestJS", "crm: runs on port 8080", "waldseilgarten-crm: uses NestJS", "Kiel")
    assert [] == merges([file], frozenset({"crm: uses NestJS", "waldseilgarten-crm: uses NestJS"}))
    file = put("memory", "The crm runs on port 8080.", "Lives in Kiel.", "The crm runs on NestJS.")
    [merged] = merges([file], frozenset())
    assert (
        Change(
            "memory", ("The crm runs on port 8080.", "The crm runs on NestJS."), "The crm runs on port 8080; NestJS."
        )
        == merged.change
    )
    assert file.used - len("\n§\n".join(file.after(merged.change))) == merged.won


def test_contraries_are_not_merged(put: Put) -> None:
    """ "User wants emojis" has all the words of "User wants no emojis" but one."""
    file = put("user", "User wants emojis", "User wants no emojis at all", "User never wants to see tables")
    assert [] == merges([file], frozenset())


def test_only_what_somebody_said_elsewhere_is_safe(put: Put) -> None:
    """What stands on the entry alone is taken back when that goes."""
    file = put("memory", "CI runs on port 8080.", "CI runs on port 8080 and must not be restarted.")
    assert [Change("memory", ("CI runs on port 8080.",))] == [
        each.change for each in safe(file, [port("8080")], frozenset())
    ]
    assert [] == safe(file, [replace(port("8080"), sources=())], frozenset())
    assert [] == safe(file, [port("8080")], frozenset({"CI runs on port 8080."}))
    [proposal] = safe(file, [port("8080")], frozenset())
    assert (len("CI runs on port 8080.") + 3, "2026-05-01") == (proposal.won, proposal.evidence[0].day)


def test_a_standing_preference_is_the_last_to_go(put: Put) -> None:
    """It serves in every prompt; a fact of one project in few."""
    file = put("memory", "User prefers the helix editor with dark theme", "CI runs on port 8080.")
    facts = [taste("the helix editor with dark theme"), port("8080")]
    assert file.entries[::-1] == tuple(each.change.old[0] for each in safe(file, facts, frozenset()))  # type: ignore[union-attr]


def test_the_turns_of_few_blocks_are_asked_for(put: Put) -> None:
    """A memory has thousands; a file some dozen entries."""
    file = put("memory", "CI runs on port 8080.")
    facts = [port("8080"), port("8081"), replace(port("8080"), status=BlockStatus.REVIEW), taste("helix")]
    assert [facts[0], facts[2]] == touched(facts, [file])


def test_an_entry_is_in_one_proposal_at_most(put: Put) -> None:
    """So that all that is shown can be accepted."""
    file = put("memory", "CI runs on port 8080.", "CI runs on port 8080, on falke")
    [stale] = outdated([file], {each.id: each for each in replaced(port("8080"), port("8081"))})[:1]
    assert [] == merges([file], entries_of([stale.proposal]))
    assert frozenset({"CI runs on port 8080."}) == entries_of([stale.proposal, "a note"])
