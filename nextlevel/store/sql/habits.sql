-- name: active_people
-- People of whom turns ended lately, each with the scope that all their profiles share.
-- $1 within, seconds · $2 at most
SELECT t.tenant_id, t.user_id, t.user_scope FROM turns t
 WHERE t.finished_at > clock_timestamp() - make_interval(secs => $1) AND t.kind = 'turn'
 GROUP BY t.tenant_id, t.user_id, t.user_scope ORDER BY max(t.finished_at) DESC LIMIT $2;

-- name: turns
-- A person's last turns under all profiles, newest first; without what was forgotten or undone.
-- $1 tenant · $2 user · $3 days back · $4 at most
SELECT * FROM turns
 WHERE tenant_id = $1 AND user_id = $2 AND kind = 'turn' AND state IN ('stored', 'skipped') AND NOT hidden
   AND duplicate_of IS NULL AND at > clock_timestamp() - make_interval(days => $3)
 ORDER BY at DESC, seq DESC LIMIT $4;

-- name: tastes
-- The person's living preferences, stated and inferred.
-- $1 tenant · $2 the scope that all profiles share
SELECT * FROM blocks WHERE tenant_id = $1 AND scope_id = $2 AND type = 'user_preference' AND status = 'active'
   AND expires_at > now() ORDER BY valid_from DESC;
