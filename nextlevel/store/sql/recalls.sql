-- name: add
-- $1 tenant · $2 user · $3 session · $4 at · $5 query · $6 mode · $7 rung · $8 ms · $9 abstained · $10 vectors · $11 shown
INSERT INTO recalls (tenant_id, user_id, session, at, query, mode, rung, ms, abstained, vectors, shown)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: showing
-- The answers in which any of these blocks were shown, newest first. By person and time: a search in the JSON would not
-- use its index behind the wall.
-- $1 tenant · $2 user · $3 not before · $4 blocks · $5 at most
SELECT r.recall_id, r.session, r.at, r.query, r.mode, r.rung, r.ms, r.vectors, r.shown
  FROM recalls r
 WHERE r.tenant_id = $1 AND r.user_id = $2 AND r.at >= $3
   AND EXISTS (SELECT FROM jsonb_array_elements(r.shown) s WHERE (s->>'block')::uuid = ANY ($4))
 ORDER BY r.at DESC LIMIT $5;

-- name: shown_in
-- The blocks that the latest answers of one conversation showed, as they are now.
-- $1 tenant · $2 user · $3 session · $4 not before · $5 answers at most
SELECT b.* FROM blocks b
 WHERE b.tenant_id = $1 AND b.block_id IN (
   SELECT (s->>'block')::uuid
     FROM (SELECT r.shown FROM recalls r
            WHERE r.tenant_id = $1 AND r.user_id = $2 AND r.session = $3 AND r.at >= $4 ORDER BY r.at DESC LIMIT $5) latest,
          jsonb_array_elements(latest.shown) s);

-- name: forget
-- A question that was answered with a forgotten block may quote it.
-- $1 tenant · $2 user · $3 blocks
DELETE FROM recalls r
 WHERE r.tenant_id = $1 AND r.user_id = $2
   AND EXISTS (SELECT FROM jsonb_array_elements(r.shown) s WHERE (s->>'block')::uuid = ANY ($3));

-- name: prune
-- $1 days kept · $2 rows kept
DELETE FROM recalls
 WHERE at < clock_timestamp() - make_interval(days => $1)
    OR recall_id <= (SELECT recall_id FROM recalls ORDER BY recall_id DESC OFFSET $2 LIMIT 1);
