-- Dead letters by filter, for a person who decides on them. $1 to $4 are the same filter everywhere, each part applied
-- unless it is null; what came after the look that a decision rests on is never part of it.

-- name: page
-- Newest first, from just after a cursor, with the turn's own words where there is a turn.
-- $1 kind · $2 code · $3 piece of reason, id or session · $4 up to this letter · $5 cursor: letter · $6 at most
SELECT d.dead_letter_id, d.kind, d.tenant_id, d.turn_id, d.entry_id, d.code, d.reason, d.input, d.at,
       t.state, t.session, t.user_text, t.assistant_text
  FROM dead_letters d LEFT JOIN turns t ON t.tenant_id = d.tenant_id AND t.id = d.turn_id
 WHERE ($1::text IS NULL OR d.kind = $1) AND ($2::text IS NULL OR d.code = $2)
   AND ($3::text IS NULL OR strpos(lower(d.reason), lower($3)) > 0 OR d.turn_id = $3 OR strpos(lower(t.session), lower($3)) > 0)
   AND ($4::bigint IS NULL OR d.dead_letter_id <= $4)
   AND ($5::bigint IS NULL OR d.dead_letter_id < $5)
 ORDER BY d.dead_letter_id DESC LIMIT $6;

-- name: count
-- How many a decision would be about, counted up to a cap; the newest of them bounds it.
-- $1 kind · $2 code · $3 piece of reason, id or session · $4 up to this letter · $5 count at most
SELECT count(*) AS letters, max(f.dead_letter_id) AS newest, count(*) FILTER (WHERE f.turn_id IS NOT NULL) AS of_turns
  FROM (SELECT d.dead_letter_id, t.id AS turn_id
          FROM dead_letters d LEFT JOIN turns t ON t.tenant_id = d.tenant_id AND t.id = d.turn_id
         WHERE ($1::text IS NULL OR d.kind = $1) AND ($2::text IS NULL OR d.code = $2)
           AND ($3::text IS NULL OR strpos(lower(d.reason), lower($3)) > 0 OR d.turn_id = $3 OR strpos(lower(t.session), lower($3)) > 0)
           AND ($4::bigint IS NULL OR d.dead_letter_id <= $4)
         ORDER BY d.dead_letter_id DESC LIMIT $5) f;

-- name: codes
-- How many of each kind and code, the newest counted up to a cap.
-- $1 count at most
SELECT kind, code, count(*) AS letters, max(at) AS latest
  FROM (SELECT kind, code, at FROM dead_letters ORDER BY dead_letter_id DESC LIMIT $1) d
 GROUP BY kind, code ORDER BY letters DESC, kind, code;

-- name: of_turn
-- $1 tenant · $2 turn
SELECT dead_letter_id, kind, code, reason, at FROM dead_letters WHERE tenant_id = $1 AND turn_id = $2 ORDER BY dead_letter_id DESC LIMIT 20;

-- name: hold
-- One at a time decides on a letter. An advisory lock, since locking the row would need the right to change it.
-- $1 letter
SELECT pg_advisory_xact_lock(hashtextextended('nl:letter:' || $1::bigint, 0));

-- name: one
-- $1 letter
SELECT d.dead_letter_id, d.kind, d.tenant_id, d.turn_id, d.entry_id, d.code, d.input, t.state
  FROM dead_letters d LEFT JOIN turns t ON t.tenant_id = d.tenant_id AND t.id = d.turn_id
 WHERE d.dead_letter_id = $1;

-- name: requeue
-- A dead turn begins anew: received, no attempt and no crash counted.
-- $1 tenant · $2 turn
UPDATE turns SET state = 'received', reason = NULL, finished_at = NULL, attempts = 0, crashes = 0, fence = fence + 1,
                 lease_until = NULL, not_before = NULL
 WHERE tenant_id = $1 AND id = $2 AND state = 'dead' RETURNING id;

-- name: remove
-- $1 letter
DELETE FROM dead_letters WHERE dead_letter_id = $1 RETURNING dead_letter_id;

-- name: remove_of_turn
-- Every letter about one turn.
-- $1 tenant · $2 turn
DELETE FROM dead_letters WHERE tenant_id = $1 AND turn_id = $2 AND kind = 'dead';
