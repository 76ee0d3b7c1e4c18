"""The vectors of a hot scope, against the plain product of all."""

from uuid import uuid4

import numpy as np
import pytest

from nextlevel.recall.vectors import CODED_ABOVE, VectorIndex

RANDOM = np.random.default_rng(7)


def unit(drawn: np.ndarray) -> np.ndarray:
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def like_texts(rows: int) -> np.ndarray:
    """Vectors as E5 makes them of texts: in one narrow cone, and in it by subject."""
    subjects = RANDOM.normal(size=(-(-rows // 10), 384)) + 3
    return unit(np.repeat(subjects, 10, axis=0)[:rows] + RANDOM.normal(scale=0.5, size=(rows, 384)))


def filled(rows: np.ndarray) -> tuple[VectorIndex, list]:
    index, ids = VectorIndex(rows.shape[1]), [uuid4() for _ in rows]
    for id, row in zip(ids, rows, strict=True):
        index.put(id, row)
    index.settle()
    return index, ids


@pytest.mark.parametrize("count", [1, 50, CODED_ABOVE + 1_000])
def test_the_nearest_are_those_of_the_plain_product(count):
    """Codes only choose whom to compare: what comes back is compared in full."""
    rows = like_texts(count)
    index, ids = filled(rows)
    hits = 0
    for query in unit(rows[RANDOM.integers(count, size=20)] + RANDOM.normal(scale=0.01, size=(20, 384))):
        cosines = rows @ query
        best = [ids[place] for place in np.argsort(-cosines)[:10]]
        found = index.nearest(query, 10)
        hits += len(set(best) & {id for id, _ in found.found}) / len(best)
        assert found.mean == pytest.approx(float(cosines.mean()), abs=1e-3)
        assert found.blocks == count
    assert hits / 20 > 0.99


def test_what_was_removed_or_changed_is_not_found_as_it_was():
    """The place of a removed row is taken by another: its id must go with it."""
    rows = like_texts(40)
    index, ids = filled(rows)
    for id in ids[:20]:
        index.remove(id)
    index.put(ids[30], rows[0])
    index.remove(uuid4())
    index.settle()
    found = index.nearest(rows[0], 40).found
    assert {id for id, _ in found} == set(ids[20:])
    assert found[0][0] == ids[30]
    assert len(index) == 20


def test_an_empty_index_finds_nothing():
    assert VectorIndex(8).nearest(np.ones(8, dtype=np.float32), 5).found == []
