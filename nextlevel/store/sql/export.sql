-- name: told
-- Every block of a wall, in the order learnt, with each turn that it stands on and the names of what it speaks of.
-- $1 tenant · $2 scopes
SELECT b.*,
       ARRAY(SELECT s.turn_id FROM block_sources s WHERE s.tenant_id = $1 AND s.block_id = b.block_id ORDER BY s.at, s.turn_id) AS turns,
       ARRAY(SELECT e.name FROM mentions m JOIN entities e USING (tenant_id, entity_id)
              WHERE m.tenant_id = $1 AND m.block_id = b.block_id ORDER BY e.name) AS names
  FROM blocks b WHERE b.tenant_id = $1 AND b.scope_id = ANY ($2)
 ORDER BY b.created_at, b.hash, b.block_id;
