"""What the peers ranked for LoCoMo, as it is kept: ids of turns and nothing else, which LoCoMo's licence allows."""

from __future__ import annotations

import re

from bench.locomo.peers import PEERS, rankings

QUESTIONS = 1_986


def test_every_peer_ranked_every_question() -> None:
    """A question that is missing counts as one where the peer found nothing: ours would look better than it is."""
    found = rankings()
    assert set(PEERS) == found.keys()
    assert [QUESTIONS] * len(PEERS) == [len(ranking) for ranking in found.values()]


def test_a_ranking_holds_ids_each_once() -> None:
    """Text of LoCoMo must not be published, and a turn named twice would count twice."""
    for ranking in rankings().values():
        for turns in ranking.values():
            assert len(turns) == len(set(turns)) <= 20
            assert all(re.fullmatch(r"D\d+:\d+", turn) for turn in turns)
