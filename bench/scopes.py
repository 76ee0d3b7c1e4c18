"""Memories of any size, by COPY: synthetic blocks with words, entities, edges and clustered vectors, from a seed.

The centres of the clusters are real sentences, embedded; each block's vector is one of them with noise, so that a real
query meets cosines such as real blocks have.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np
import pgvector.asyncpg

from nextlevel.inference import Embedder, Vectors
from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import words
from nextlevel.model import Scope, block_text
from nextlevel.store import scopes
from nextlevel.store.pool import Database

from .talk import DINGE, HOSTS, PEOPLE, PROJECTS, THINGS, TOOLS

BATCH = 10_000
CENTRES = 64
NOISE = 0.35
"""Length of the noise beside a unit vector: two blocks of a cluster then have a cosine of about 0.89, as with E5."""

_BEGINS = datetime(2026, 1, 1, tzinfo=UTC)
_FACTS = (
    ("runs_on_port", "{port}"),
    ("uses", "{tool} for {thing}"),
    ("is_deployed_on", "{host}"),
    ("is_maintained_by", "{person}"),
    ("nutzt", "{tool} für {ding}"),
    ("liegt_auf", "{host} hinter Port {port}"),
    ("prefers", "{tool} over {other} in {thing}"),
    ("was_fixed_by", "restarting {thing} after {code} errors on {host}"),
)


@dataclass(frozen=True, slots=True)
class Memory:
    """A scope to fill: its installation, and how many blocks it gets."""

    install: str
    blocks: int


async def fill(
    dsn: str, admin_dsn: str, embedder: Embedder, memories: Sequence[Memory], *, seed: int
) -> dict[str, Scope]:
    """Enrol each installation as a user of its own, and give it its blocks."""
    db = await Database.connect(dsn)
    made: dict[str, Scope] = {}
    try:
        async with db.pipeline() as conn:
            for memory in memories:
                await scopes.enrol(conn, memory.install, user=memory.install)
                made[memory.install] = await scopes.resolve(
                    conn, memory.install, profile="default", principal="local", accept_unenrolled=False
                )
    finally:
        await db.close()
    await fill_scopes(admin_dsn, embedder, [(made[memory.install], memory.blocks) for memory in memories], seed=seed)
    return made


async def fill_scopes(
    admin_dsn: str,
    embedder: Embedder,
    wanted: Sequence[tuple[Scope, int]],
    *,
    seed: int,
    centres: int = CENTRES,
    noise: float = NOISE,
) -> None:
    """Give each scope so many blocks more. Noise is cheap, and takes each block a little out of E5's narrow cone."""
    pick = random.Random(seed)  # noqa: S311 - a seed is the point
    rows = await embedder.passages([_sentence(pick) for _ in range(centres)])
    admin = await asyncpg.connect(admin_dsn)
    try:
        await pgvector.asyncpg.register_vector(admin)
        # Checks of foreign keys and the triggers, row by row, would take most of the time.
        await admin.execute("SET session_replication_role = replica; SET synchronous_commit = off")
        await admin.execute("CREATE TEMP TABLE said (block_id uuid, tenant_id uuid, scope_id uuid, words text[])")
        for number, (scope, blocks) in enumerate(wanted):
            writer = _Writer(admin, scope, pick, np.random.default_rng(seed + number), rows, noise, embedder.model)
            await writer.fill(blocks)
            await admin.execute(
                "UPDATE scopes SET generation = generation + 1 WHERE scope_id = $1", scope.profile_scope
            )
        await admin.execute("ANALYZE")
    finally:
        await admin.close()


class _Writer:
    """Fills one scope."""

    def __init__(
        self,
        conn: asyncpg.Connection[asyncpg.Record],
        scope: Scope,
        pick: random.Random,
        noise: np.random.Generator,
        centres: Vectors,
        length: float,
        model: str,
    ) -> None:
        self._conn, self._scope, self._pick, self._noise = conn, scope, pick, noise
        self._centres, self._length, self._model = centres, length, model
        self._entities: list[tuple[UUID, str]] = []

    async def fill(self, blocks: int) -> None:
        await self._name(max(8, blocks // 20))
        for start in range(0, blocks, BATCH):
            await self._write(min(BATCH, blocks - start))

    async def _name(self, count: int) -> None:
        """Entities: the projects that everybody has, and a tail of those that are named once."""
        names = [*PROJECTS, *PEOPLE, *TOOLS, *HOSTS][:count]
        names += [f"{self._pick.choice(PROJECTS)}-{number}" for number in range(count - len(names))]
        self._entities = [(self._uuid(), name) for name in names]
        tenant, user, now = self._scope.tenant_id, self._scope.user_id, datetime.now(UTC)
        await self._copy(
            "entities",
            "tenant_id user_id entity_id name normal_name type created_at",
            ((tenant, user, entity, name, normal_name(name), "topic", now) for entity, name in self._entities),
        )
        await self._copy(
            "entity_aliases",
            "tenant_id user_id alias entity_id",
            ((tenant, user, normal_name(name), entity) for entity, name in self._entities),
        )

    async def _write(self, count: int) -> None:
        tenant, scope = self._scope.tenant_id, self._scope.profile_scope
        rows = [self._block() for _ in range(count)]
        await self._copy("blocks", " ".join(rows[0][0]), (tuple(block.values()) for block, *_ in rows))
        mentions = ((tenant, block["block_id"], entity, scope) for block, found, _ in rows for entity in found)
        await self._copy("mentions", "tenant_id block_id entity_id scope_id", mentions)
        edges = (
            (tenant, block["block_id"], scope, found[0], block["predicate"], found[1])
            for block, found, _ in rows[::4]
            if len(found) > 1
        )
        await self._copy("edges", "tenant_id block_id scope_id subject_entity predicate object_entity", edges)
        vectors = self._vectors(count)
        await self._copy(
            "embeddings",
            "tenant_id scope_id block_id model emb",
            (
                (tenant, scope, block["block_id"], self._model, pgvector.HalfVector(vector))
                for (block, *_), vector in zip(rows, vectors, strict=True)
            ),
        )
        await self._copy(
            "said",
            "block_id tenant_id scope_id words",
            ((block["block_id"], tenant, scope, said) for block, _, said in rows),
        )
        await self._index()

    async def _index(self) -> None:
        """What index_words() does for one block, for all at once."""
        await self._conn.execute(
            """
            INSERT INTO block_words (block_id, tenant_id, scope_id, words)
            SELECT block_id, tenant_id, scope_id, array_to_tsvector(words || ('~s' || scope_id)) FROM said;
            INSERT INTO word_counts (scope_id, word, blocks)
            SELECT scope_id, word, count(*) FROM said, unnest(words || ('~s' || scope_id)) word GROUP BY 1, 2
            ON CONFLICT (scope_id, word) DO UPDATE SET blocks = word_counts.blocks + excluded.blocks;
            TRUNCATE said
            """
        )

    def _block(self) -> tuple[dict[str, Any], list[UUID], list[str]]:
        """A block's columns, the entities it names, subject first, and its words."""
        pick, scope = self._pick, self._scope
        # Few entities are in many blocks, most in few: as names are in what people say.
        subject, name = self._entities[int(len(self._entities) * pick.random() ** 3)]
        other, other_name = pick.choice(self._entities)
        predicate, object_ = pick.choice(_FACTS)
        object_ = f"{_filled(object_, pick)} near {other_name}" if pick.random() < 0.5 else _filled(object_, pick)
        since = _BEGINS + timedelta(minutes=pick.randrange(400_000))
        block = self._uuid()
        columns = {
            "tenant_id": scope.tenant_id,
            "block_id": block,
            "scope_id": scope.profile_scope,
            "user_id": scope.user_id,
            "type": "project_state",
            "category": "project",
            "subject": name,
            "predicate": predicate,
            "object": object_,
            "confidence": 0.5 + pick.random() / 2,
            "provenance": "user_stated",
            "status": "active",
            "subject_entity": subject,
            "hash": hashlib.sha256(block.bytes).digest(),
            "created_at": since,
            "updated_at": since,
            "valid_from": since,
            "utc_offset_min": 0,
            "expires_at": datetime.now(UTC) + timedelta(days=90),
        }
        said = sorted(set(words(block_text(name, predicate, object_, negated=False))))
        return columns, list(dict.fromkeys((subject, other))), said

    def _vectors(self, count: int) -> Vectors:
        centres = self._centres[self._noise.integers(len(self._centres), size=count)]
        noise = self._noise.standard_normal(centres.shape, dtype=np.float32)
        noise *= self._length / np.linalg.norm(noise, axis=1, keepdims=True)
        rows = centres + noise
        found: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return found

    def _uuid(self) -> UUID:
        return UUID(int=self._pick.getrandbits(128), version=4)

    async def _copy(self, table: str, columns: str, rows: Iterable[tuple[Any, ...]]) -> None:
        await self._conn.copy_records_to_table(table, records=list(rows), columns=columns.split())


def _sentence(pick: random.Random) -> str:
    predicate, object_ = pick.choice(_FACTS)
    return block_text(pick.choice(PROJECTS), predicate, _filled(object_, pick), negated=False)


def _filled(template: str, pick: random.Random) -> str:
    tool, other = pick.sample(TOOLS, 2)
    return template.format(
        port=pick.randrange(1_024, 65_536),
        tool=tool,
        other=other,
        thing=pick.choice(THINGS),
        ding=pick.choice(DINGE),
        host=pick.choice(HOSTS),
        person=pick.choice(PEOPLE),
        code=pick.randrange(400, 600),
    )
