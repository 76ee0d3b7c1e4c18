"""A process that is killed at any moment of a turn loses no turn that it has acknowledged, and doubles none."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from nextlevel.producers.hermes.provider import Provider
from tests.producers.hermes.conftest import Enrol
from tests.producers.hermes.test_provider import events
from tests.support.ports import free_port

TALKS = """
import sys
from nextlevel.producers.hermes.provider import Provider
provider, rows, number = Provider(), [], 0
provider.initialize(sys.argv[2], hermes_home=sys.argv[1], platform="cli")
while True:
    number += 1
    said = f"{sys.argv[2]} says number {number}. " + "and so on " * 200
    rows += [{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}]
    provider.prefetch(said)
    provider.sync_turn(said, "Noted.", session_id=sys.argv[2], messages=rows)
    print(f"{sys.argv[2]} {number}", flush=True)
"""


@pytest.mark.journey
def test_twenty_kills_at_random_lose_no_acknowledged_turn(enrol: Enrol, tmp_path: Path) -> None:
    """Redis is down, so that nothing but the disk can hold them; two of them talk at once."""
    home = enrol(redis_url=f"redis://127.0.0.1:{free_port()}")
    chance, acknowledged = random.Random(7), set[str]()
    for number in range(10):
        talking = [
            subprocess.Popen(
                [sys.executable, "-c", TALKS, str(home.path), f"s{number}{name}"], stdout=subprocess.PIPE, text=True
            )
            for name in "ab"
        ]
        for each in talking:
            assert each.stdout is not None
            first = each.stdout.readline().strip()
            for _ in range(chance.randrange(30)):
                acknowledged.add(each.stdout.readline().strip())
            each.kill()  # somewhere in the turn after that
            rest, _ = each.communicate()
            acknowledged |= {first, *rest.split("\n")[:-1]}
    kept = Counter(f"{event['session']} {event['user_text'].split('.')[0].split()[-1]}" for event in events(home))
    assert len(acknowledged) > 100
    assert set() == acknowledged - set(kept)
    assert {1} == set(kept.values())
    after = Provider()
    after.initialize("after", hermes_home=str(home.path))
    after.sync_turn("still here", "Yes.")
    assert "still here" == events(home)[-1]["user_text"]
