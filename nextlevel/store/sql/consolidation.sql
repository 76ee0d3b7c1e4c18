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

-- name: brought_back
-- Which of these blocks had once become part of another that was distilled from them, and hold again.
-- $1 tenant · $2 blocks
SELECT DISTINCT block_id FROM block_versions
 WHERE tenant_id = $1 AND block_id = ANY ($2) AND change = 'superseded' AND caused_by = 'distilled';

-- name: named_by_both
-- The entities that two blocks name, and whether both name them as their object.
-- $1 tenant · $2 blocks
SELECT m.entity_id, (SELECT count(DISTINCT e.block_id) = 2 FROM edges e
                      WHERE e.tenant_id = $1 AND e.block_id = ANY ($2) AND e.object_entity = m.entity_id) AS as_object
  FROM mentions m WHERE m.tenant_id = $1 AND m.block_id = ANY ($2)
 GROUP BY m.entity_id HAVING count(DISTINCT m.block_id) = 2;

-- name: distilled_from
-- What was distilled from this turn among others, and holds; once said by the person too, it is theirs.
-- $1 tenant · $2 turn
SELECT b.* FROM block_sources s JOIN blocks b USING (tenant_id, block_id)
 WHERE s.tenant_id = $1 AND s.turn_id = $2 AND b.status = 'active' AND b.provenance = 'inferred'
   AND EXISTS (SELECT FROM blocks o JOIN block_versions v USING (tenant_id, block_id)
                WHERE o.tenant_id = $1 AND o.superseded_by = b.block_id
                  AND v.change = 'superseded' AND v.caused_by = 'distilled');
