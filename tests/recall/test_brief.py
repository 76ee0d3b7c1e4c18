"""The opening brief: what a session needs before it is asked anything."""

from datetime import timedelta

from nextlevel.lang.tokens import estimate_tokens
from nextlevel.model import BlockType, Category
from nextlevel.recall.brief import MOST_TOKENS
from nextlevel.safety.markers import HEADER
from tests.support.memory import JUNE, person

PREFERENCE = {"shared": True, "type": BlockType.USER_PREFERENCE, "category": Category.FORMATTING}


async def a_week(memory) -> None:
    await memory.tell("user", "prefers", "tables, compact, with │ as separator", **PREFERENCE)
    await memory.tell("crm", "has_open_task", "number the invoices per year", project="crm", since=JUNE)
    await memory.say("The invoice import works now, next is the PDF layout.", session="mon", project="crm")
    await memory.say(
        "Let us look at the gauge at the river.", session="tue", at=JUNE + timedelta(days=1), project="pegel"
    )
    await memory.say(
        "Invoices again: the VAT id is missing.", session="wed", at=JUNE + timedelta(days=2), project="crm"
    )


async def test_a_first_turn_that_asks_nothing_gets_rules_project_and_sessions(nele, ask):
    """ "morning, let's go on" must work: that is what the brief is for."""
    await a_week(nele)
    answer = await ask("morning, let's go on", brief=True, session="new")
    assert answer.context.startswith(HEADER)
    for expected in ("tables, compact", "number the invoices", "Invoices again", "gauge at the river"):
        assert expected in answer.context
    assert estimate_tokens(answer.context) <= MOST_TOKENS


async def test_the_brief_stays_within_its_budget_however_much_there_is(nele, ask):
    """A brief that grows with memory would cost every session more."""
    for number in range(40):
        await nele.tell(
            "user", "prefers", f"the rather long rule number {number} of how things are written", **PREFERENCE
        )
        await nele.say(f"{'A long first sentence about everything. ' * 5}{number}", session=f"s{number}", project="crm")
    await nele.tell("crm", "has_open_task", "number the invoices per year", project="crm")
    answer = await ask("carry on", brief=True, session="new", project="crm")
    assert estimate_tokens(answer.context) <= MOST_TOKENS
    assert "number the invoices" in answer.context
    assert "session of" in answer.context


async def test_the_branch_is_told_before_what_was_learnt_later(nele, ask):
    """Where a project stands is what "carry on" asks for; how times are stored can wait until it matters."""
    await nele.tell("crm", "on_branch", "release/1.0", project="crm", type=BlockType.PROJECT_STATE)
    for number in range(4):
        later = JUNE + timedelta(days=1 + number)
        await nele.tell("crm", "noted", f"habit {number}", project="crm", type=BlockType.LEARNED_PATTERN, since=later)
    assert "release/1.0" in (await ask("carry on", brief=True, session="new", project="crm")).context


async def test_what_the_brief_says_is_not_said_again_and_recall_stands_beside_it(nele, ask):
    await a_week(nele)
    answer = await ask("compare the two invoice layouts of crm", brief=True, session="new", project="crm")
    assert answer.context.count("tables, compact") == 1
    again = await ask("compare the two invoice layouts of crm", session="new", project="crm")
    assert "tables, compact" in again.context
    assert again.brief == ()


async def test_a_person_of_whom_nothing_is_known_gets_no_brief(nele, ask):
    """A header over nothing costs tokens and promises what is not there."""
    answer = await ask("hello", brief=True, session="new")
    assert (answer.context, answer.abstained) == ("", True)


async def test_the_brief_quotes_no_turn_of_which_something_was_forgotten(nele, ask):
    turn = await nele.say("My vault code is 4711.", session="mon")
    block = await nele.tell("vault", "has_code", "4711", source=turn)
    assert "4711" in (await ask("hello", brief=True, session="new")).context
    await nele.forget(block.id)
    assert "4711" not in (await ask("hello", brief=True, session="new")).context


async def test_the_brief_is_walled(db, nele, ask, embedder):
    other = await person(db, "kim", user="kim", embedder=embedder)
    await a_week(other)
    assert (await ask("hello", brief=True, session="new", project="crm")).context == ""
