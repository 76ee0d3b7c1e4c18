"""How a stage of a turn can end. Each has a name; the one exception never leaves the stage."""

from enum import StrEnum


class Outcome(StrEnum):
    ADVANCED = "advanced"  # done; the next stage was woken, or the turn is stored
    SKIPPED = "skipped"  # done; there was nothing to keep
    ANOTHER_HAS_IT = "another_has_it"  # another worker owns the turn, or it has moved on: leave quietly
    PUT_BACK = "put_back"  # something is down: later, and no attempt is counted
    LOST = "lost"  # the lease ran out while we worked: what we did was rolled back
    DEAD = "dead"  # no retry can help: visible, with its reason


class LeaseLost(Exception):
    """The fence has moved: another worker owns the turn. Raised inside a transaction, to roll it back."""
