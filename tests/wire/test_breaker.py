"""A dead server costs nothing per turn."""

from nextlevel.wire.breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def broken(clock: Clock) -> Breaker:
    breaker = Breaker(clock=clock)
    for _ in range(3):
        assert breaker.allows()
        breaker.failed()
    return breaker


def test_it_opens_after_three_failures_in_a_row() -> None:
    """One slow answer is no outage."""
    breaker = Breaker(clock=Clock())
    breaker.failed()
    breaker.failed()
    breaker.succeeded()
    breaker.failed()
    assert breaker.allows()
    breaker.failed()
    breaker.failed()
    assert (False, True) == (breaker.allows(), breaker.is_open)


def test_late_answers_are_borne_three_times_as_long_as_refusals() -> None:
    """A busy service is alive: giving it up for five seconds makes every answer worse, and saves nobody anything."""
    breaker = Breaker(clock=Clock())
    for _ in range(8):
        breaker.failed(late=True)
    assert breaker.allows()
    breaker.failed(late=True)
    assert not breaker.allows()


def test_after_five_seconds_one_caller_tries() -> None:
    """All at once would be a stampede on a server that just came back."""
    clock = Clock()
    breaker = broken(clock)
    clock.now += 4.9
    assert not breaker.allows()
    clock.now += 0.2
    assert (True, False) == (breaker.allows(), breaker.allows())


def test_the_trial_decides() -> None:
    """Success closes it, failure opens it for another five seconds."""
    clock = Clock()
    breaker = broken(clock)
    clock.now += 5.1
    assert breaker.allows()
    breaker.failed()
    assert not breaker.allows()
    clock.now += 5.1
    assert breaker.allows()
    breaker.succeeded()
    assert (True, True) == (breaker.allows(), breaker.allows())
