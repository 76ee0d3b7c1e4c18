-- name: save
-- What the extractor gave, raw. A second run of the same stage replaces it: nothing was applied yet.
-- $1 tenant · $2 turn · $3 extractor · $4 raw
INSERT INTO extractions (tenant_id, turn_id, extractor, raw) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant_id, turn_id) DO UPDATE SET extractor = excluded.extractor, raw = excluded.raw, linked = NULL, made_at = now();

-- name: keep_answer
-- What a model said of the first parts of a turn, before anything is made of it. Nothing is returned where the lease was lost.
-- $1 tenant · $2 turn · $3 extractor · $4 answers, a list · $5 fence
INSERT INTO extractions (tenant_id, turn_id, extractor, answer)
SELECT $1, $2, $3, $4 FROM turns WHERE tenant_id = $1 AND id = $2 AND fence = $5 AND finished_at IS NULL
ON CONFLICT (tenant_id, turn_id) DO UPDATE SET extractor = excluded.extractor, answer = excluded.answer, made_at = now()
RETURNING true;

-- name: keep_ahead
-- What a model said of a turn that waits behind the one it was asked for.
-- $1 tenant · $2 turn · $3 extractor · $4 answers, a list
INSERT INTO extractions (tenant_id, turn_id, extractor, answer)
SELECT $1, $2, $3, $4 FROM turns WHERE tenant_id = $1 AND id = $2 AND state = 'received'
ON CONFLICT DO NOTHING;

-- name: answers
-- What the model of one of these extractors said of the turn's parts already.
-- $1 tenant · $2 turn · $3 extractors
SELECT answer FROM extractions WHERE tenant_id = $1 AND turn_id = $2 AND extractor = ANY ($3) AND answer IS NOT NULL;

-- name: link
-- $1 tenant · $2 turn · $3 linked
UPDATE extractions SET linked = $3 WHERE tenant_id = $1 AND turn_id = $2;

-- name: raw
-- $1 tenant · $2 turn
SELECT raw FROM extractions WHERE tenant_id = $1 AND turn_id = $2;

-- name: linked
-- $1 tenant · $2 turn
SELECT linked FROM extractions WHERE tenant_id = $1 AND turn_id = $2;
