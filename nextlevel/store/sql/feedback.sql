-- name: judge
-- What a person says of a block, or null to take it back; readers take the block anew.
-- $1 tenant · $2 scopes · $3 block · $4 verdict or null
UPDATE blocks SET verdict = $4, updated_at = now() WHERE tenant_id = $1 AND scope_id = ANY ($2) AND block_id = $3 RETURNING scope_id;
