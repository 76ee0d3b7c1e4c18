-- name: undigested
-- Sessions that fell idle or ended, that have no digest of all that was said, and no turn still on its way.
-- $1 idle from, seconds · $2 at most
SELECT s.tenant_id, s.user_id, s.session, s.profile, p.scope_id AS profile_scope, u.scope_id AS user_scope
  FROM sessions s
  JOIN scopes p ON p.tenant_id = s.tenant_id AND p.user_id = s.user_id AND p.profile = s.profile AND p.kind = 'profile'
  JOIN scopes u ON u.tenant_id = s.tenant_id AND u.user_id = s.user_id AND u.kind = 'user'
 WHERE s.digested_at IS NULL
   AND (s.ended_at IS NOT NULL OR s.last_at < clock_timestamp() - make_interval(secs => $1))
   AND NOT EXISTS (SELECT FROM turns t WHERE t.tenant_id = s.tenant_id AND t.user_id = s.user_id AND t.session = s.session
                                         AND t.finished_at IS NULL)
 ORDER BY s.last_at LIMIT $2;

-- name: hold
-- The session's row, held until the transaction ends: who adds a turn or forgets one waits, and then asks for a new digest.
-- $1 tenant · $2 user · $3 session
SELECT digested_at IS NULL FROM sessions WHERE tenant_id = $1 AND user_id = $2 AND session = $3 FOR UPDATE;

-- name: turns
-- The turns of a session that may be told again, newest first.
-- $1 tenant · $2 user · $3 session · $4 at most
SELECT * FROM turns
 WHERE tenant_id = $1 AND user_id = $2 AND session = $3 AND kind = 'turn' AND NOT hidden AND duplicate_of IS NULL
   AND state NOT IN ('erased', 'quarantined')
 ORDER BY at DESC, seq DESC LIMIT $4;

-- name: save_digest
-- $1 tenant · $2 user · $3 session · $4 digest, null where nothing is left of the session
UPDATE sessions SET digest = $4, digested_at = clock_timestamp() WHERE tenant_id = $1 AND user_id = $2 AND session = $3;

-- name: undigest
-- What was forgotten or undone must not live on in a digest: it is made anew from what is left.
-- $1 tenant · $2 user · $3 turns
UPDATE sessions SET digest = NULL, digested_at = NULL
 WHERE tenant_id = $1 AND user_id = $2
   AND session IN (SELECT session FROM turns WHERE tenant_id = $1 AND user_id = $2 AND id = ANY ($3));

-- name: page
-- A profile's sessions, latest first. Those in which nothing but memories were told (no conversation) are left out.
-- $1 tenant · $2 user · $3 profile · $4 before this last_at, or null · $5 and before this session · $6 at most
SELECT s.session, s.started_at, s.last_at, s.ended_at, s.digest, s.digested_at, t.turns
  FROM sessions s,
       LATERAL (SELECT count(*) AS turns FROM turns t
                 WHERE t.tenant_id = s.tenant_id AND t.user_id = s.user_id AND t.session = s.session AND t.kind = 'turn'
                   AND t.state NOT IN ('erased', 'quarantined') AND t.duplicate_of IS NULL) t
 WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.profile = $3 AND t.turns > 0
   AND ($4::timestamptz IS NULL OR (s.last_at, s.session) < ($4, $5::text))
 ORDER BY s.last_at DESC, s.session DESC LIMIT $6;

-- name: digest
-- $1 tenant · $2 user · $3 session
SELECT digest FROM sessions WHERE tenant_id = $1 AND user_id = $2 AND session = $3;

-- name: learnt
-- The blocks that a session told, in their order, each with the last of what replaced it; itself, where nothing did.
-- $1 tenant · $2 user · $3 session · $4 at most
WITH RECURSIVE told AS MATERIALIZED (
  SELECT s.block_id, min(s.at) AS at FROM turns t
    JOIN block_sources s ON s.tenant_id = t.tenant_id AND s.turn_id = t.id
    JOIN blocks b ON b.tenant_id = s.tenant_id AND b.block_id = s.block_id AND b.status <> 'review'
   WHERE t.tenant_id = $1 AND t.user_id = $2 AND t.session = $3
   GROUP BY s.block_id ORDER BY at, s.block_id LIMIT $4),
line (told, block_id, step) AS (
  SELECT block_id, block_id, 0 FROM told
  UNION ALL
  SELECT l.told, b.superseded_by, l.step + 1 FROM line l JOIN blocks b ON b.tenant_id = $1 AND b.block_id = l.block_id
   WHERE b.superseded_by IS NOT NULL AND l.step < 20)
SELECT t.block_id AS told, (SELECT l.block_id FROM line l WHERE l.told = t.block_id ORDER BY l.step DESC LIMIT 1) AS last
  FROM told t ORDER BY t.at, t.block_id;

-- name: blocks
-- $1 tenant · $2 blocks
SELECT * FROM blocks WHERE tenant_id = $1 AND block_id = ANY ($2);
