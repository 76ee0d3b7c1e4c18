-- The end of blocks that nobody used for as long as they live.

-- name: outlived_scopes
-- Where outlived blocks stand, those that wait longest first (inside the pipeline's door).
-- $1 at most
SELECT o.tenant_id, o.user_id, o.scope_id FROM scopes_with_outlived($1) o;

-- name: expire
-- Outlived blocks of a scope expire, those that wait longest first; each with a version. When they held stays as it is.
-- $1 tenant · $2 scope · $3 at most
WITH outlived AS MATERIALIZED (
  SELECT * FROM blocks WHERE tenant_id = $1 AND scope_id = $2 AND status IN ('active', 'review') AND expires_at <= now()
   ORDER BY expires_at LIMIT $3),
kept AS (
  INSERT INTO block_versions (tenant_id, block_id, version, change, caused_by, before)
  SELECT o.tenant_id, o.block_id, 1 + (SELECT count(*) FROM block_versions v WHERE v.tenant_id = $1 AND v.block_id = o.block_id),
         'expired', 'not used for as long as it lives', to_jsonb(o) - ARRAY['tenant_id', 'block_id', 'user_id', 'hash']
    FROM outlived o)
UPDATE blocks b SET status = 'expired', updated_at = now() FROM outlived o
 WHERE b.tenant_id = $1 AND b.block_id = o.block_id RETURNING b.block_id;

-- name: count
-- How many blocks have outlived their time and wait to expire, and how many expired within a day (inside the pipeline's door).
SELECT c.waiting, c.today FROM count_expired() c;
