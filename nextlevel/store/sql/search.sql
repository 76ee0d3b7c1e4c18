-- Everything that recall and the API read. The wall of the transaction applies besides the conditions written here.
-- A block "holds" now if it is active, not outlived and not over; as of a moment, if it was valid then, though it was
-- replaced or taken back since; with "known at", by what was learnt until then. Where a query takes a moment, null means now.

-- name: generations
-- $1 tenant · $2 scopes
SELECT scope_id, generation FROM scopes WHERE tenant_id = $1 AND scope_id = ANY ($2);

-- name: heads
-- What a hot scope should hold, and when each block last changed; the rest is read only where it differs.
-- $1 tenant · $2 scopes · $3 model
SELECT b.block_id, b.updated_at,
       true AS active, b.block_id IN (SELECT e.block_id FROM embeddings e
                       WHERE e.tenant_id = $1 AND e.scope_id = ANY ($2) AND e.model = $3) AS embedded
  FROM blocks b WHERE b.tenant_id = $1 AND b.scope_id = ANY ($2) AND b.status = 'active';

-- name: changed
-- The blocks that changed since a moment; whoever held the scope then can catch up.
-- $1 tenant · $2 scopes · $3 model · $4 moment
SELECT b.block_id, b.updated_at, b.status = 'active' AS active,
       EXISTS (SELECT FROM embeddings e WHERE e.tenant_id = $1 AND e.block_id = b.block_id AND e.model = $3) AS embedded
  FROM blocks b WHERE b.tenant_id = $1 AND b.scope_id = ANY ($2) AND b.updated_at >= $4;

-- name: counted
-- What a hot scope should hold, by numbers, and when that was.
-- $1 tenant · $2 scopes · $3 user · $4 scope of the user
SELECT now() AS at,
       (SELECT count(*) FROM blocks WHERE tenant_id = $1 AND scope_id = ANY ($2) AND status = 'active') AS blocks,
       (SELECT count(*) FROM entity_aliases WHERE tenant_id = $1 AND user_id = $3) AS aliases,
       (SELECT names FROM scopes WHERE tenant_id = $1 AND scope_id = $4) AS revision;

-- name: bodies
-- Blocks with what each speaks of, its vector, and, where that is asked for, what it joins; whatever their state. Where a
-- vector is given, the cosine to it stands in the place of their own, which are most of what would be sent. Looked up
-- block by block: joined, each block meets all rows of all others where nothing tells the planner how many there are.
-- $1 tenant · $2 block ids · $3 model · $4 with edges · $5 vector of unit length or null
SELECT b.block_id, b.scope_id, b.type, b.category, b.subject, b.predicate, b.object, b.key, b.value, b.context, b.confidence,
       b.provenance, b.status, b.negated, b.explicit, b.project, b.created_at, b.updated_at, b.valid_from, b.valid_to,
       b.utc_offset_min, b.superseded_by, b.expires_at, b.subject_entity, b.verdict,
       (SELECT e.emb FROM embeddings e
         WHERE $5::halfvec IS NULL AND e.tenant_id = $1 AND e.block_id = b.block_id AND e.model = $3) AS emb,
       (SELECT -(e.emb <#> $5) FROM embeddings e
         WHERE $5 IS NOT NULL AND e.tenant_id = $1 AND e.block_id = b.block_id AND e.model = $3) AS cosine,
       ARRAY(SELECT m.entity_id FROM mentions m WHERE m.tenant_id = $1 AND m.block_id = b.block_id) AS entities,
       ARRAY(SELECT ARRAY[g.subject_entity, g.object_entity] FROM edges g
              WHERE $4 AND g.tenant_id = $1 AND g.block_id = b.block_id) AS edges
  FROM blocks b WHERE b.tenant_id = $1 AND b.block_id = ANY ($2);

-- name: unchanged
-- Which of these blocks are still as they were when they were last changed at these times.
-- $1 tenant · $2 block ids · $3 times
SELECT held.block_id FROM unnest($2::uuid[], $3::timestamptz[]) held (block_id, updated_at)
 WHERE (SELECT b.updated_at FROM blocks b WHERE b.tenant_id = $1 AND b.block_id = held.block_id) = held.updated_at;

-- name: as_known
-- Blocks as memory knew them at a moment.
-- $1 tenant · $2 block ids · $3 moment
SELECT k.* FROM blocks b CROSS JOIN LATERAL as_known(b, $3) k WHERE b.tenant_id = $1 AND b.block_id = ANY ($2);

-- name: aliases
-- Each name of a person's entities: all, or those given.
-- $1 tenant · $2 user · $3 entities or null
SELECT alias, entity_id FROM entity_aliases WHERE tenant_id = $1 AND user_id = $2 AND ($3::uuid[] IS NULL OR entity_id = ANY ($3));

-- name: named
-- $1 tenant · $2 user · $3 aliases in normal form
SELECT alias, entity_id FROM entity_aliases WHERE tenant_id = $1 AND user_id = $2 AND alias = ANY ($3);

-- name: spoken_of
-- Which of these names are some entity's, and every name of the entities into which others were merged: those of entities
-- that some block of this wall speaks of. One mention tells, of what may be a thousand.
-- $1 tenant · $2 user · $3 aliases in normal form
SELECT alias, entity_id FROM (
  SELECT alias, entity_id FROM entity_aliases WHERE tenant_id = $1 AND user_id = $2 AND alias = ANY ($3)
   UNION
  SELECT alias, entity_id FROM entity_aliases
   WHERE tenant_id = $1 AND user_id = $2
     AND entity_id IN (SELECT kept FROM entity_merges WHERE tenant_id = $1 AND user_id = $2 AND split_at IS NULL)) known
 WHERE (SELECT true FROM mentions m WHERE m.tenant_id = $1 AND m.entity_id = known.entity_id LIMIT 1);

-- name: weigh
-- How many blocks hold a word at all, and the weight (idf) of each of these words that some block has.
-- $1 words
SELECT worded_blocks() AS blocks, array_agg(word) AS words, array_agg(idf) AS weights FROM weigh_words($1);

-- name: by_words
-- The blocks that share most with the query and hold, best first. They are looked at in that order, until enough hold.
-- $1 tenant · $2 words · $3 moment · $4 at most · $5 known at
SELECT s.block_id
  FROM (SELECT block_id, score FROM search_words($2, $4 * 8) ORDER BY score DESC, block_id) s
 CROSS JOIN LATERAL (
  SELECT FROM blocks b WHERE b.tenant_id = $1 AND b.block_id = s.block_id
     AND CASE WHEN $3::timestamptz IS NULL
              THEN b.status = 'active' AND b.expires_at > now() AND (b.valid_to IS NULL OR b.valid_to > now())
              WHEN $5::timestamptz IS NULL
              THEN b.status <> 'review' AND b.valid_from <= $3 AND (b.valid_to IS NULL OR b.valid_to > $3)
              ELSE EXISTS (SELECT FROM as_known(b, $5) k
                           WHERE k.status <> 'review' AND k.valid_from <= $3 AND (k.valid_to IS NULL OR k.valid_to > $3)) END
  OFFSET 0) holds
 ORDER BY s.score DESC, s.block_id LIMIT $4;

-- name: by_vector
-- The blocks nearest to a vector that hold, nearest first; with the mean cosine over all that hold, and how many those are.
-- $1 tenant · $2 scopes · $3 vector of unit length · $4 model · $5 moment · $6 at most · $7 known at
WITH mine AS NOT MATERIALIZED (SELECT * FROM blocks WHERE tenant_id = $1 AND scope_id = ANY ($2)),
absent AS MATERIALIZED (  -- what does not hold: an index finds it, and it is less than what does (10,000 looked at: 5 ms)
  SELECT block_id FROM mine WHERE $7::timestamptz IS NULL AND valid_to <= coalesce($5::timestamptz, now())
   UNION ALL
  SELECT block_id FROM mine WHERE $7 IS NULL AND valid_from > $5
   UNION ALL
  SELECT block_id FROM mine
   WHERE $7 IS NULL AND status = ANY (CASE WHEN $5 IS NULL THEN '{review,superseded,expired}' ELSE '{review}' END::text[])
   UNION ALL
  SELECT block_id FROM mine WHERE $5 IS NULL AND status IN ('active', 'review') AND expires_at <= now()
   UNION ALL
  SELECT b.block_id FROM blocks b
   WHERE b.tenant_id = $1 AND b.scope_id = ANY ($2) AND $7 IS NOT NULL AND NOT EXISTS (
         SELECT FROM as_known(b, $7) k WHERE k.status <> 'review' AND k.valid_from <= $5 AND (k.valid_to IS NULL OR k.valid_to > $5))),
compared AS MATERIALIZED (  -- each once, and not by index: for one scope the exact scan is faster, and complete
  SELECT block_id, -(emb <#> $3) AS cosine FROM embeddings
   WHERE tenant_id = $1 AND scope_id = ANY ($2) AND model = $4 AND block_id NOT IN (SELECT block_id FROM absent))
SELECT block_id, cosine, mean, blocks
  FROM (SELECT block_id, cosine FROM compared ORDER BY cosine DESC LIMIT $6) nearest
 CROSS JOIN (SELECT avg(cosine) AS mean, count(*) AS blocks FROM compared) whole
 ORDER BY cosine DESC;

-- name: near
-- The blocks that speak of these entities (hop 1) or of their neighbours in the graph (hop 2), bounded on the way.
-- $1 tenant · $2 entities · $3 moment · $4 neighbours at most · $5 blocks at most · $6 known at
WITH neighbours AS (
  SELECT unnest(ARRAY[subject_entity, object_entity]) AS entity_id
    FROM (SELECT subject_entity, object_entity FROM edges
           WHERE tenant_id = $1 AND (subject_entity = ANY ($2) OR object_entity = ANY ($2)) LIMIT $4) g),
direct AS MATERIALIZED (
  SELECT block_id FROM mentions WHERE tenant_id = $1 AND entity_id = ANY ($2) LIMIT $5),
beyond AS MATERIALIZED (
  SELECT block_id FROM mentions WHERE tenant_id = $1 AND entity_id = ANY (ARRAY(SELECT entity_id FROM neighbours)) LIMIT $5)
SELECT b.block_id, CASE WHEN b.block_id IN (SELECT block_id FROM direct) THEN 1 ELSE 2 END AS hop
  FROM blocks b
 WHERE b.tenant_id = $1 AND b.block_id = ANY (ARRAY(SELECT block_id FROM direct UNION SELECT block_id FROM beyond))
   AND CASE WHEN $3::timestamptz IS NULL
            THEN b.status = 'active' AND b.expires_at > now() AND (b.valid_to IS NULL OR b.valid_to > now())
            WHEN $6::timestamptz IS NULL
            THEN b.status <> 'review' AND b.valid_from <= $3 AND (b.valid_to IS NULL OR b.valid_to > $3)
            ELSE EXISTS (SELECT FROM as_known(b, $6) k
                         WHERE k.status <> 'review' AND k.valid_from <= $3 AND (k.valid_to IS NULL OR k.valid_to > $3)) END
 ORDER BY hop, b.valid_from DESC, b.block_id LIMIT $5;

-- name: page
-- Blocks, newest first, from just after a cursor. Each filter applies unless it is null.
-- $1 tenant · $2 scopes · $3 statuses · $4 type · $5 category · $6 entity id · $7 valid at
-- $8 cursor: created at · $9 cursor: id · $10 at most · $11 piece of the text · $12 known at
SELECT b.* FROM blocks b
 WHERE b.tenant_id = $1 AND b.scope_id = ANY ($2)
   AND ($4::text IS NULL OR b.type = $4)
   AND ($5::text IS NULL OR b.category = $5)
   AND ($6::uuid IS NULL OR EXISTS (SELECT FROM mentions m
         WHERE m.tenant_id = b.tenant_id AND m.block_id = b.block_id AND m.entity_id = $6))
   AND CASE WHEN $12::timestamptz IS NULL
            THEN ($3::text[] IS NULL OR b.status = ANY ($3))
             AND ($7::timestamptz IS NULL OR b.valid_from <= $7 AND (b.valid_to IS NULL OR b.valid_to > $7))
            ELSE EXISTS (SELECT FROM as_known(b, $12) k
                          WHERE ($3 IS NULL OR k.status = ANY ($3))
                            AND ($7 IS NULL OR k.valid_from <= $7 AND (k.valid_to IS NULL OR k.valid_to > $7))) END
   AND ($8::timestamptz IS NULL OR (b.created_at, b.block_id) < ($8, $9::uuid))
   AND ($11::text IS NULL OR strpos(lower(concat_ws(' ', b.subject, replace(b.predicate, '_', ' '), b.object, b.context)), lower($11)) > 0)
 ORDER BY b.created_at DESC, b.block_id DESC LIMIT $10;

-- name: lineage
-- A block with all that it replaced and all that replaced it, oldest first.
-- $1 tenant · $2 block id
WITH RECURSIVE line AS (
  SELECT block_id, superseded_by FROM blocks WHERE tenant_id = $1 AND block_id = $2
  UNION
  SELECT b.block_id, b.superseded_by FROM blocks b JOIN line l ON b.superseded_by = l.block_id OR b.block_id = l.superseded_by
   WHERE b.tenant_id = $1)
SELECT b.* FROM blocks b JOIN line USING (block_id) WHERE b.tenant_id = $1
 ORDER BY b.valid_from, b.created_at LIMIT 200;

-- name: versions
-- $1 tenant · $2 block ids
SELECT block_id, version, change, caused_by, before, changed_at FROM block_versions
 WHERE tenant_id = $1 AND block_id = ANY ($2) ORDER BY changed_at, version;

-- name: sources
-- The turns that blocks stand on, and where a document told it, its address.
-- $1 tenant · $2 block ids
SELECT s.block_id, s.turn_id, s.span, s.at, CASE t.kind WHEN 'note' THEN t.session END AS document
  FROM block_sources s JOIN turns t ON t.tenant_id = s.tenant_id AND t.id = s.turn_id
 WHERE s.tenant_id = $1 AND s.block_id = ANY ($2) ORDER BY s.at, s.turn_id;

-- name: sources_in_context
-- The turns that a block stands on, newest first, with all that was said in them.
-- $1 tenant · $2 block id · $3 at most
SELECT s.turn_id, s.span, s.at, t.session, t.ordinal, t.state, t.user_text, t.assistant_text
  FROM block_sources s JOIN turns t ON t.tenant_id = s.tenant_id AND t.id = s.turn_id
 WHERE s.tenant_id = $1 AND s.block_id = $2 ORDER BY s.at DESC, s.turn_id LIMIT $3;

-- name: entities_of
-- What a block speaks of.
-- $1 tenant · $2 block id
SELECT e.entity_id, e.name, e.type FROM mentions m JOIN entities e USING (tenant_id, entity_id)
 WHERE m.tenant_id = $1 AND m.block_id = $2 ORDER BY e.name;

-- name: graph
-- Relations, newest first: the edges of the blocks that hold now, and what documents link; all, or those on the way to
-- what is within so many steps of an entity.
-- $1 tenant · $2 scopes · $3 entity id or null · $4 at most · $5 steps · $6 entities that are reached at most
WITH RECURSIVE walk (entity_id, step) AS (
  SELECT $3::uuid, 0
  UNION
  SELECT g.entity_id, w.step + 1 FROM walk w, LATERAL (
    SELECT CASE w.entity_id WHEN e.subject_entity THEN e.object_entity ELSE e.subject_entity END AS entity_id
      FROM edges e JOIN blocks b ON b.tenant_id = e.tenant_id AND b.block_id = e.block_id AND b.status = 'active'
     WHERE e.tenant_id = $1 AND w.entity_id IN (e.subject_entity, e.object_entity) AND e.scope_id = ANY ($2)
     UNION ALL
    SELECT CASE w.entity_id WHEN d.subject_entity THEN d.object_entity ELSE d.subject_entity END
      FROM document_edges d
     WHERE d.tenant_id = $1 AND w.entity_id IN (d.subject_entity, d.object_entity) AND d.scope_id = ANY ($2)) g
   WHERE w.step < $5),
reach AS (SELECT entity_id, min(step) AS step FROM (SELECT * FROM walk LIMIT $6) w GROUP BY entity_id),
relations AS (
  SELECT e.block_id, NULL::uuid AS document_id, NULL::text AS document, e.predicate, e.subject_entity, e.object_entity, b.valid_from
    FROM edges e JOIN blocks b ON b.tenant_id = e.tenant_id AND b.block_id = e.block_id AND b.status = 'active'
   WHERE e.tenant_id = $1 AND e.scope_id = ANY ($2)
   UNION ALL
  SELECT NULL, e.document_id, d.path, e.predicate, e.subject_entity, e.object_entity, d.changed_at
    FROM document_edges e JOIN documents d USING (tenant_id, document_id)
   WHERE e.tenant_id = $1 AND e.scope_id = ANY ($2))
SELECT g.block_id, g.document_id, g.document, g.predicate, g.valid_from,
       s.entity_id AS subject_id, s.name AS subject, s.type AS subject_type,
       o.entity_id AS object_id, o.name AS object, o.type AS object_type
  FROM relations g
  JOIN entities s ON s.tenant_id = $1 AND s.entity_id = g.subject_entity
  JOIN entities o ON o.tenant_id = $1 AND o.entity_id = g.object_entity
 WHERE $3::uuid IS NULL OR (g.subject_entity IN (SELECT entity_id FROM reach) AND g.object_entity IN (SELECT entity_id FROM reach))
 ORDER BY g.valid_from DESC, g.block_id, g.document_id LIMIT $4;

-- name: scope_of_turn
-- Whose memory a turn is part of (inside the pipeline's door).
-- $1 turn · $2 its install
SELECT t.tenant_id, t.user_id, t.profile, t.profile_scope, t.user_scope
  FROM turns t JOIN installations i USING (tenant_id, install) WHERE i.install = $2 AND t.id = $1;
