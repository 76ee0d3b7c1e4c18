-- name: add
-- $1 tenant · $2 turn · $3 step · $4 facts
INSERT INTO trace_events (tenant_id, turn_id, step, facts) VALUES ($1, $2, $3, $4);

-- name: events
-- $1 tenant · $2 turn
SELECT at, step, facts FROM trace_events WHERE tenant_id = $1 AND turn_id = $2 ORDER BY trace_event_id;

-- name: turn
-- $1 tenant · $2 turn
SELECT id, kind, lane, profile, session, ordinal, at, received_at, finished_at, state, reason, fence, attempts, crashes,
       lease_until, not_before, duplicate_of, user_text, assistant_text
  FROM turns WHERE tenant_id = $1 AND id = $2;
