-- Table retractions: what a person took back, and what that ended.

-- name: add
-- $1 tenant · $2 turn · $3 number in the turn · $4 user · $5 the profile's scope · $6 when · $7 words · $8 project
INSERT INTO retractions (tenant_id, turn_id, number, user_id, scope_id, at, said, project) VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: after
-- What was taken back after a time, in order; of what a person prefers, under whatever profile.
-- $1 tenant · $2 user · $3 after · $4 the profile's scope, or null · $5 at most
SELECT turn_id, number, at, said, project, block_id FROM retractions
 WHERE tenant_id = $1 AND user_id = $2 AND at > $3 AND ($4::uuid IS NULL OR scope_id = $4)
 ORDER BY at, turn_id, number LIMIT $5;

-- name: ended
-- $1 tenant · $2 turn · $3 number in the turn
SELECT block_id FROM retractions WHERE tenant_id = $1 AND turn_id = $2 AND number = $3;

-- name: settle
-- $1 tenant · $2 turn · $3 number in the turn · $4 the block that it ended, or null
UPDATE retractions SET block_id = $4 WHERE tenant_id = $1 AND turn_id = $2 AND number = $3;

-- name: follow
-- What ended a block after a time ended another: the one that it goes on as.
-- $1 tenant · $2 block · $3 the other · $4 after
UPDATE retractions SET block_id = $3 WHERE tenant_id = $1 AND block_id = $2 AND at > $4;

-- name: may_mean
-- The blocks of this wall that share most words with a retraction, of those that held when it was said.
-- $1 tenant · $2 words · $3 when · $4 of so many by words
SELECT b.block_id FROM search_words($2, $4) w JOIN blocks b USING (block_id)
 WHERE b.tenant_id = $1 AND b.valid_from <= $3 AND b.status IN ('active', 'superseded', 'expired')
   AND (b.valid_to > $3 OR (b.valid_to IS NULL AND b.status = 'active'));

-- name: forget
-- $1 tenant · $2 blocks
DELETE FROM retractions WHERE tenant_id = $1 AND block_id = ANY ($2);

-- name: unsay
-- $1 tenant · $2 turn
DELETE FROM retractions WHERE tenant_id = $1 AND turn_id = $2;
