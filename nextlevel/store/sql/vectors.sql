-- Whose vectors are compared, how many there are, and how many wait; all tenants together.

-- name: active
SELECT model, dimension, usual, times FROM embedder;

-- name: claim
-- The first model that memory is given stays.
-- $1 model · $2 dimension · $3 usual cosine · $4 times
INSERT INTO embedder (model, dimension, usual, times) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: switch
-- From this commit on recall compares another model's vectors.
-- $1 model · $2 dimension · $3 usual cosine · $4 times
INSERT INTO embedder (model, dimension, usual, times) VALUES ($1, $2, $3, $4)
ON CONFLICT (one) DO UPDATE SET model = excluded.model, dimension = excluded.dimension, usual = excluded.usual,
                                times = excluded.times, since = now();

-- name: count
-- $1 model
SELECT c.blocks, c.blocks_waiting, c.passages, c.passages_waiting, c.sections, c.sections_waiting FROM count_vectors($1) c;

-- name: add
-- A block that was forgotten meanwhile gets none.
-- $1 tenant · $2 block · $3 model · $4 unit vector
INSERT INTO embeddings (tenant_id, scope_id, block_id, model, emb)
SELECT b.tenant_id, b.scope_id, b.block_id, $3, $4::halfvec FROM blocks b WHERE b.tenant_id = $1 AND b.block_id = $2
ON CONFLICT DO NOTHING;

-- name: scopes_with_old
SELECT o.tenant_id, o.user_id, o.scope_id FROM scopes_with_old_vectors() o;

-- name: drop_old
-- Vectors of a scope that are of another model than the one in use.
-- $1 tenant · $2 scope
WITH of_passages AS (
  DELETE FROM passage_embeddings e USING embedder m WHERE e.tenant_id = $1 AND e.scope_id = $2 AND e.model <> m.model RETURNING 1),
of_sections AS (
  DELETE FROM section_embeddings e USING embedder m WHERE e.tenant_id = $1 AND e.scope_id = $2 AND e.model <> m.model RETURNING 1),
of_blocks AS (
  DELETE FROM embeddings e USING embedder m WHERE e.tenant_id = $1 AND e.scope_id = $2 AND e.model <> m.model RETURNING 1)
SELECT (SELECT count(*) FROM of_passages) + (SELECT count(*) FROM of_sections) + (SELECT count(*) FROM of_blocks);
