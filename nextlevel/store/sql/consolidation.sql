-- What upkeep compares again.

-- name: active_scopes
-- The memories in which turns ended lately, the latest first (inside the pipeline's door).
-- $1 within, seconds · $2 at most
SELECT tenant_id, user_id, profile, profile_scope, user_scope FROM turns
 WHERE finished_at > clock_timestamp() - make_interval(secs => $1)
 GROUP BY 1, 2, 3, 4, 5 ORDER BY max(finished_at) DESC LIMIT $2;

-- name: fresh
-- The active blocks that changed lately, the newest first.
-- $1 tenant · $2 scopes · $3 within, seconds · $4 at most
SELECT b.block_id FROM blocks b
 WHERE b.tenant_id = $1 AND b.scope_id = ANY ($2) AND b.status = 'active' AND b.valid_to IS NULL
   AND b.updated_at > clock_timestamp() - make_interval(secs => $3)
 ORDER BY b.updated_at DESC, b.block_id LIMIT $4;

-- name: living
-- $1 tenant · $2 block
SELECT * FROM blocks WHERE tenant_id = $1 AND block_id = $2 AND status = 'active';

-- name: moved
-- Which of these blocks a merge of entities has moved that may still be taken apart.
-- $1 tenant · $2 blocks
SELECT DISTINCT b AS block_id FROM entity_merges m CROSS JOIN unnest(m.blocks) b
 WHERE m.tenant_id = $1 AND m.split_at IS NULL AND b = ANY ($2);
