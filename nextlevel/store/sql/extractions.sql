-- name: save
-- What the extractor gave, raw. A second run of the same stage replaces it: nothing was applied yet.
-- $1 tenant · $2 turn · $3 extractor · $4 raw
INSERT INTO extractions (tenant_id, turn_id, extractor, raw) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant_id, turn_id) DO UPDATE SET extractor = excluded.extractor, raw = excluded.raw, linked = NULL, made_at = now();

-- name: link
-- $1 tenant · $2 turn · $3 linked
UPDATE extractions SET linked = $3 WHERE tenant_id = $1 AND turn_id = $2;

-- name: raw
-- $1 tenant · $2 turn
SELECT raw FROM extractions WHERE tenant_id = $1 AND turn_id = $2;

-- name: linked
-- $1 tenant · $2 turn
SELECT linked FROM extractions WHERE tenant_id = $1 AND turn_id = $2;
