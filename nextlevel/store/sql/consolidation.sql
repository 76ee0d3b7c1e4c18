-- What upkeep compares again.

-- name: scopes_to_compare
-- Where blocks changed that were not compared yet, those seen longest ago first (inside the pipeline's door).
-- $1 at most
SELECT c.tenant_id, c.user_id, c.scope_id FROM scopes_to_compare($1) c;

-- name: take
-- The blocks of a scope that changed next, in order, those of one moment together; from here on they count as compared.
-- $1 tenant · $2 scope · $3 at most
WITH next AS MATERIALIZED (
  SELECT block_id, updated_at, status = 'active' AND valid_to IS NULL AS holds FROM blocks
   WHERE tenant_id = $1 AND scope_id = $2
     AND updated_at > (SELECT compared_to FROM scopes WHERE tenant_id = $1 AND scope_id = $2)
   ORDER BY updated_at FETCH FIRST $3 ROWS WITH TIES),
taken AS (
  UPDATE scopes SET compared_to = n.at FROM (SELECT max(updated_at) AS at FROM next) n
   WHERE tenant_id = $1 AND scope_id = $2 AND n.at IS NOT NULL)
SELECT block_id, holds FROM next ORDER BY updated_at, block_id;

-- name: living
-- $1 tenant · $2 block
SELECT * FROM blocks WHERE tenant_id = $1 AND block_id = $2 AND status = 'active';

-- name: moved
-- Which of these blocks a merge of entities has moved that may still be taken apart.
-- $1 tenant · $2 blocks
SELECT DISTINCT b AS block_id FROM entity_merges m CROSS JOIN unnest(m.blocks) b
 WHERE m.tenant_id = $1 AND m.split_at IS NULL AND b = ANY ($2);
