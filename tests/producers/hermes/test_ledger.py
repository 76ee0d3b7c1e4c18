"""What recall put before the model: not again while it stands there, and never learnt."""

from __future__ import annotations

from nextlevel.producers.hermes.ledger import Ledger, Ledgers
from nextlevel.safety.markers import HEADER, UNAVAILABLE

A, B = "- the crm runs on port 8080", "- flo does the frontend"


def block(*lines: str) -> str:
    return "\n".join([HEADER, *lines])


def test_a_line_is_injected_once_a_session() -> None:
    """The host replays it in every later request: 20 turns of it are 20 times its tokens."""
    ledger = Ledger()
    assert block(A) == ledger.offer(block(A))
    ledger.turn_kept([], 2)
    assert block(B) == ledger.offer(block(A, B))
    ledger.turn_kept([], 4)
    assert "" == ledger.offer(block(A, B))


def test_what_was_recalled_for_a_failed_turn_is_offered_again() -> None:
    """The host does not deliver it."""
    ledger = Ledger()
    ledger.offer(block(A))
    assert block(A) == ledger.offer(block(A))


def test_a_compaction_makes_room_again() -> None:
    """The lines are gone from the prompt, told by the hook or by a conversation that shrank."""
    ledger = Ledger()
    ledger.offer(block(A))
    ledger.turn_kept([], 20)
    ledger.compacted()
    assert block(A) == ledger.offer(block(A))
    ledger.turn_kept([], 22)
    ledger.turn_kept([], 6)
    assert block(A) == ledger.offer(block(A))
    ledger.turn_kept([], 8)
    assert "" == ledger.offer(block(A))
    ledger.turn_kept([], 8)
    assert block(A) == ledger.offer(block(A)), "a small one takes away as much as the turn adds"
    ledger.turn_kept([], 10)
    ledger.turn_kept([], 10, undone=True)
    assert "" == ledger.offer(block(A))


def test_unavailable_is_said_once() -> None:
    """Not at every turn of an outage."""
    ledger = Ledger()
    assert UNAVAILABLE == ledger.offer(UNAVAILABLE)
    ledger.turn_kept([], 2)
    assert "" == ledger.offer(UNAVAILABLE)


def test_an_injected_line_is_taken_out_of_what_is_kept() -> None:
    """Also as an item of another list; all else stays as it is."""
    ledger = Ledger()
    ledger.offer(block(A))
    answer = "I know this:\n* the crm runs on port 8080\n\nand the crm runs on port 8080 still."
    assert "I know this:\n\nand the crm runs on port 8080 still." == ledger.without_injected(answer, lambda: [])


def test_a_line_injected_by_an_earlier_process_is_known() -> None:
    """A resumed session quotes what was recalled before the restart."""
    first = Ledger()
    first.offer(block(A))
    kept = first.unsaved()
    assert "news" == Ledger().without_injected(f"{A}\nnews", lambda: kept)


def test_a_saved_hash_is_saved_once() -> None:
    """Each is a row."""
    ledger = Ledger()
    ledger.offer(block(A))
    ledger.turn_kept(ledger.unsaved(), 2)
    assert [] == ledger.unsaved()


def test_the_least_used_session_is_dropped() -> None:
    """A gateway has thousands."""
    ledgers = Ledgers()
    first = ledgers.of("s0")
    for n in range(1, 300):
        ledgers.of(f"s{n}")
    assert first is not ledgers.of("s0")
