-- name: receive
-- Take one event in. Nothing is returned where this id is already there.
-- $1 tenant · $2 id · $3 install · $4 seq · $5 fp · $6 kind · $7 lane · $8 user · $9 profile scope · $10 user scope ·
-- $11 profile · $12 session · $13 ordinal · $14 at · $15 minutes east of UTC · $16 user text · $17 assistant text ·
-- $18 tools · $19 meta · $20 body · $21 state · $22 reason
INSERT INTO turns (tenant_id, id, install, seq, fp, kind, lane, user_id, profile_scope, user_scope, profile, session, ordinal,
                   at, utc_offset_min, user_text, assistant_text, tools, meta, body, state, reason, finished_at, duplicate_of)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
       -- A clock ahead of ours must not outrank what is said later, nor one that was never set leave the calendar.
       greatest(least($14::timestamptz, clock_timestamp() + interval '5 minutes'), '1970-01-01Z'), $15, $16, $17, $18, $19, $20,
       CASE WHEN twin.id IS NULL THEN $21::text ELSE 'skipped' END,
       CASE WHEN twin.id IS NULL THEN $22::text ELSE 'the same turn as ' || twin.id END,
       CASE WHEN twin.id IS NOT NULL OR $21 NOT IN ('received') THEN clock_timestamp() END,
       twin.id
  FROM (SELECT) one
  LEFT JOIN turns twin ON twin.tenant_id = $1 AND twin.user_id = $8 AND twin.fp = $5 AND twin.duplicate_of IS NULL AND twin.id <> $2
-- Either the same id, or a twin that another transaction is just taking in.
ON CONFLICT DO NOTHING
RETURNING state;

-- name: receive_again
-- Take in the event of a turn that was quarantined since nobody here could read it, and that can be read by now. Nothing is
-- returned where it was not. Parameters as of `receive`.
UPDATE turns t
   SET fp = $5, kind = $6, lane = $7, user_id = $8, profile_scope = $9, user_scope = $10, profile = $11, session = $12,
       ordinal = $13, at = greatest(least($14::timestamptz, clock_timestamp() + interval '5 minutes'), '1970-01-01Z'),
       utc_offset_min = $15, user_text = $16, assistant_text = $17, tools = $18, meta = $19, body = $20,
       received_at = clock_timestamp(), duplicate_of = twin.id,
       state = CASE WHEN twin.id IS NULL THEN $21::text ELSE 'skipped' END,
       reason = CASE WHEN twin.id IS NULL THEN $22::text ELSE 'the same turn as ' || twin.id END,
       finished_at = CASE WHEN twin.id IS NOT NULL OR $21 NOT IN ('received') THEN clock_timestamp() END
  FROM (SELECT) one
  LEFT JOIN turns twin ON twin.tenant_id = $1 AND twin.user_id = $8 AND twin.fp = $5 AND twin.duplicate_of IS NULL AND twin.id <> $2
 WHERE t.tenant_id = $1 AND t.id = $2 AND t.install = $3 AND t.seq = $4 AND t.state = 'quarantined' AND t.fp = 'quarantined:' || $2
RETURNING t.state;

-- name: known
-- $1 tenant · $2 id
SELECT fp, state FROM turns WHERE tenant_id = $1 AND id = $2;

-- name: touch_session
-- $1 tenant · $2 user · $3 session · $4 profile · $5 at · $6 true if it ends here
INSERT INTO sessions (tenant_id, user_id, session, profile, started_at, last_at, ended_at)
     VALUES ($1, $2, $3, $4, $5::timestamptz, $5, CASE WHEN $6 THEN $5::timestamptz END)
ON CONFLICT (tenant_id, user_id, session) DO UPDATE
   SET started_at = least(sessions.started_at, excluded.started_at), last_at = greatest(sessions.last_at, excluded.last_at),
       ended_at = CASE WHEN $6 THEN excluded.ended_at END, digested_at = NULL;

-- name: ready
-- The turns that a stage can take now, oldest first: unowned, not waiting, and, for the first stage, at the head of their
-- session. A turn whose forerunner may still come waits for it, but not for ever.
-- $1 state · $2 at most · $3 gap wait, seconds
SELECT t.tenant_id, t.id, t.fence, t.crashes + (t.lease_until IS NOT NULL)::int AS crashes
  FROM turns t JOIN installations i ON i.install = t.install
 WHERE t.state = $1 AND t.finished_at IS NULL
   AND (t.lease_until IS NULL OR t.lease_until < clock_timestamp())
   AND (t.not_before IS NULL OR t.not_before <= clock_timestamp())
   AND ($1 <> 'received' OR NOT EXISTS (
         SELECT FROM turns e WHERE e.tenant_id = t.tenant_id AND e.install = t.install AND e.session = t.session
                               AND e.seq < t.seq AND e.finished_at IS NULL))
   AND ($1 <> 'received' OR i.mark >= t.seq - 1 OR t.received_at < clock_timestamp() - make_interval(secs => $3)
        OR EXISTS (SELECT FROM turns p WHERE p.tenant_id = t.tenant_id AND p.user_id = t.user_id AND p.session = t.session
                                         AND p.ordinal = t.ordinal - 1 AND t.ordinal > 1))
 ORDER BY array_position(ARRAY['live', 'batch', 'backfill'], t.lane), t.received_at, t.seq
 LIMIT $2;

-- name: claim
-- Own a turn for one stage. No row: somebody else has it, or it has moved on. A lease that ran out was a crash.
-- What is said later in a session was said later, though the speaker's clock ran backwards; an import keeps its times.
-- $1 tenant · $2 id · $3 state · $4 the fence expected · $5 lease, seconds
UPDATE turns t SET fence = fence + 1, attempts = attempts + 1, crashes = crashes + (lease_until IS NOT NULL)::int,
                   lease_until = clock_timestamp() + make_interval(secs => $5), not_before = NULL,
                   at = CASE WHEN state = 'received' AND lane = 'live' THEN greatest(at, (
                          SELECT CASE WHEN p.at > t.at THEN p.at + interval '1 millisecond' END FROM turns p
                           WHERE p.tenant_id = t.tenant_id AND p.user_id = t.user_id AND p.session = t.session
                             AND p.install = t.install AND p.lane = 'live' AND p.seq < t.seq
                           ORDER BY p.seq DESC LIMIT 1)) ELSE at END
 WHERE tenant_id = $1 AND id = $2 AND state = $3 AND fence = $4
   AND (lease_until IS NULL OR lease_until < clock_timestamp())
RETURNING *;

-- name: heartbeat
-- $1 tenant · $2 id · $3 fence · $4 lease, seconds
UPDATE turns SET lease_until = clock_timestamp() + make_interval(secs => $4)
 WHERE tenant_id = $1 AND id = $2 AND fence = $3 AND finished_at IS NULL;

-- name: advance
-- To the next stage or to its end. No row: the lease was lost, and another owns the turn.
-- $1 tenant · $2 id · $3 fence · $4 state now · $5 state then · $6 reason
UPDATE turns SET state = $5, reason = $6, lease_until = NULL, attempts = 0, crashes = 0,
                 finished_at = CASE WHEN $5 IN ('stored', 'skipped', 'quarantined', 'dead', 'erased') THEN clock_timestamp() END
 WHERE tenant_id = $1 AND id = $2 AND fence = $3 AND state = $4
RETURNING id;

-- name: put_back
-- The cause may pass: wait, and count no attempt.
-- $1 tenant · $2 id · $3 fence · $4 delay, seconds · $5 reason
UPDATE turns SET lease_until = NULL, attempts = attempts - 1, reason = $5,
                 not_before = clock_timestamp() + make_interval(secs => $4)
 WHERE tenant_id = $1 AND id = $2 AND fence = $3 AND finished_at IS NULL
RETURNING id;

-- name: window
-- The turns of the same session just before one, newest first: what "it" and "no, the other one" refer to.
-- $1 tenant · $2 user · $3 session · $4 before this seq · $5 install · $6 at most
SELECT * FROM turns
 WHERE tenant_id = $1 AND user_id = $2 AND session = $3 AND install = $5 AND seq < $4 AND kind = 'turn'
   AND state NOT IN ('erased', 'quarantined')
 ORDER BY seq DESC LIMIT $6;

-- name: told_before
-- The turns of the same session before one that may be told again, newest first: of none of them anything was forgotten.
-- $1 tenant · $2 user · $3 session · $4 before this seq · $5 install · $6 at most
SELECT * FROM turns
 WHERE tenant_id = $1 AND user_id = $2 AND session = $3 AND install = $5 AND seq < $4 AND kind = 'turn' AND NOT hidden
   AND duplicate_of IS NULL AND state NOT IN ('erased', 'quarantined')
 ORDER BY seq DESC LIMIT $6;

-- name: waiting
-- The turns of the same session that came after one and wait for it, of which no model was asked yet, in order.
-- $1 tenant · $2 user · $3 session · $4 after this seq · $5 install · $6 at most
SELECT t.* FROM turns t LEFT JOIN extractions e ON e.tenant_id = t.tenant_id AND e.turn_id = t.id
 WHERE t.tenant_id = $1 AND t.user_id = $2 AND t.session = $3 AND t.install = $5 AND t.seq > $4 AND t.kind = 'turn'
   AND t.state = 'received' AND e.answer IS NULL
 ORDER BY t.seq LIMIT $6;

-- name: tombstone
-- $1 tenant · $2 user · $3 kind · $4 ref · $5 at
INSERT INTO tombstones (tenant_id, user_id, kind, ref, at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, user_id, kind, ref) DO UPDATE SET at = greatest(tombstones.at, excluded.at);

-- name: page
-- What an installation, its forks with it, was told under one profile and may show again, newest first. Tools are left out.
-- $1 tenant · $2 user · $3 profile scope · $4 the installation's base · $5 before this at, or null · $6 and before this id · $7 at most
SELECT t.id, t.fp, t.session, t.ordinal, t.at, t.utc_offset_min, t.user_text, t.assistant_text, '[]'::jsonb AS tools, t.meta
  FROM turns t
 WHERE t.tenant_id = $1 AND t.user_id = $2 AND t.profile_scope = $3 AND substring(t.install FROM '^[^.~]+') = $4
   AND t.kind = 'turn' AND NOT t.hidden AND t.duplicate_of IS NULL AND t.state NOT IN ('erased', 'quarantined')
   AND NOT EXISTS (SELECT FROM tombstones d WHERE d.tenant_id = $1 AND d.user_id = $2 AND d.kind = 'turn' AND d.ref = t.id)
   AND ($5::timestamptz IS NULL OR (t.at, t.id) < ($5, $6::text))
 ORDER BY t.at DESC, t.id DESC LIMIT $7;
