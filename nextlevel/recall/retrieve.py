"""Candidates for a query, from every channel: words, vectors, and the graph around the entities it names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from uuid import UUID

from nextlevel.inference import Measures, Vector
from nextlevel.store.search import Nearest

from .passages import Heard, Sought
from .query import Query
from .source import Entry, Source, Worded


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block, how near it is to the query by vector (None: no vector), and in how many steps by the graph (0: not)."""

    entry: Entry
    cosine: float | None
    hop: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """All that was found, and the measures to judge it by.

    `weights` is the idf of each query word that the scope knows, `blocks` how many blocks it has. `named` maps an alias
    that stands in the query to its entities. `mean_cosine` is None where there is no vector to compare. `heard`: past
    turns, best first.
    """

    found: tuple[Candidate, ...]
    weights: dict[str, float]
    blocks: int
    named: dict[str, frozenset[UUID]]
    mean_cosine: float | None
    heard: tuple[Heard, ...] = ()


async def retrieve(
    query: Query, sought: Sought, source: Source, vector: Awaitable[Vector | None], measures: Measures | None
) -> Candidates:
    """Ask every channel. Words and graph are asked at once; `vector` gives None when it will not come in time.

    Cosines are given as the packaged model would have, by the `measures` of the one that made them.
    """
    # The longest first: to compare all vectors of a scope.
    (row, nearest), (worded, named, hops), heard = await asyncio.gather(
        _nearest(vector, source), _ahead(query, source), _heard(sought, vector, source, measures)
    )
    row = None if measures is None else row
    found_by_vector = [] if nearest is None or row is None else [id for id, _ in nearest.found]
    mean = None if nearest is None or measures is None else _mean(measures.read(nearest.mean), nearest.blocks)
    ids = dict.fromkeys([*worded.found, *found_by_vector, *hops])
    found = [
        Candidate(entry, None if cosine is None or measures is None else measures.read(cosine), hops.get(entry.id, 0))
        for entry, cosine in await source.entries(ids, row)
    ]
    return Candidates(tuple(found), worded.weights, worded.blocks, named, mean, tuple(heard))


async def _ahead(query: Query, source: Source) -> tuple[Worded, dict[str, frozenset[UUID]], dict[UUID, int]]:
    """What words and the graph bring: blocks by words, names, steps by the graph.

    Those blocks are split into words while the vector is on its way.
    """
    worded, (named, hops) = await asyncio.gather(source.by_words(query.words), _around(query, source))
    for entry, _ in await source.entries(dict.fromkeys([*worded.found, *hops]), None):
        entry.split()
    return worded, named, hops


async def _around(query: Query, source: Source) -> tuple[dict[str, frozenset[UUID]], dict[UUID, int]]:
    """The entities that the query names, and in how many steps each block around them is."""
    named = await _named(query, source)
    seeds = set().union(*named.values())
    return named, dict(await source.near(seeds)) if seeds else {}


async def _nearest(vector: Awaitable[Vector | None], source: Source) -> tuple[Vector | None, Nearest | None]:
    row = await vector
    return row, None if row is None else await source.by_vector(row)


async def _heard(
    sought: Sought, vector: Awaitable[Vector | None], source: Source, measures: Measures | None
) -> list[Heard]:
    """Past turns, compared by vector where that means something."""
    row = await vector
    return in_measure(await source.passages(sought, None if measures is None else row), measures)


def in_measure(heard: list[Heard], measures: Measures | None) -> list[Heard]:
    """What was heard, with lifts as the packaged model would have given them."""
    if measures is None or measures.times == 1.0:
        return heard
    return [replace(each, lift=each.lift and each.lift * measures.times) for each in heard]


_USUAL_COSINE, _USUAL_WEIGHT = 0.78, 20


def _mean(mean: float, blocks: int) -> float:
    """A query's mean cosine to blocks at large. In a scope of a few most may be about it, so a usual one counts too."""
    return (mean * blocks + _USUAL_COSINE * _USUAL_WEIGHT) / (blocks + _USUAL_WEIGHT)


async def _named(query: Query, source: Source) -> dict[str, frozenset[UUID]]:
    """The longest names win: where `waldseilgarten crm` is somebody's name, `crm` inside it names nobody else."""
    pairs = await source.named(query.names, query.words)
    aliases = {alias for alias, _ in pairs}
    said = aliases & query.names
    inside = {short for short in said for long in said if short != long and f" {short} " in f" {long} "}
    return {alias: frozenset(e for a, e in pairs if a == alias) for alias in aliases - inside}
