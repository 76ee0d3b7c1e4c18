"""Sixty sessions that we labelled ourselves go the whole way; what is remembered of them must stay as good as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from nextlevel import settings
from nextlevel.workers.evaluate import extraction
from nextlevel.workers.evaluate.formats import Session
from tests.support import labels

# Floors, not goals: a little under what is measured, so that a step back is seen and a word more or less is not.
# The languages are told apart, so that a gain in one can't hide the loss of another.
FLOORS = {
    "tuned": {"recall": 0.87, "precision": 0.90, "types": 0.85, "en": 0.90, "de": 0.75, "sv": 0.85, "pl": 0.85},
    "unseen": {"recall": 0.80, "precision": 0.90, "types": 0.84, "en": 0.70, "de": 0.70, "sv": 0.80, "pl": 0.80},
}


@pytest.mark.journey
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", FLOORS)
async def test_what_is_remembered_of_our_own_sessions_stays_as_good_as_it_is(name, database, valkey, tmp_path: Path):
    """Whoever changes a rule for one sentence sees here what it costs the others."""
    labelled = labels.sessions(name)
    loaded = settings.load(
        data_dir=tmp_path, postgres_dsn=database.dsn, redis_url=valkey.url, accept_unenrolled=True, llm="off"
    )
    told = [Session.model_validate(each) for each in labelled]
    found = await extraction.predict(loaded, told, lambda: None)
    figures = labels.score(labelled, found.rows)
    floors = FLOORS[name]
    assert [] == found.dead
    assert (0, 0) == (figures.leaks, figures.invisible)
    assert floors["recall"] <= figures.recall, figures.missed
    assert floors["precision"] <= figures.precision, [each for each in figures.verdicts if each[1] != "right"]
    assert floors["types"] <= figures.type_accuracy
    for language in ("en", "de", "sv", "pl"):
        assert floors[language] <= figures.hit[language] / figures.must[language], (language, figures.missed)
