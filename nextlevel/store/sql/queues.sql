-- What waits, runs and ended, for a person to look through. Pages go by key, and counts stop at a cap: a queue is looked
-- at when it is long.

-- name: limit_time
-- A search may give up, but not hold the stores. For this transaction only.
SELECT set_config('statement_timeout', '3s', true);

-- name: depths
-- Each stage's turns, oldest first, counted up to a cap; the age of the oldest in seconds.
-- $1 count at most
SELECT s.state, c.*
  FROM unnest(ARRAY['received', 'extracted', 'linked']) WITH ORDINALITY AS s (state, place),
       LATERAL (SELECT count(*) AS waiting,
                       coalesce(extract(epoch FROM clock_timestamp() - min(t.received_at)), 0)::float8 AS oldest_s,
                       count(*) FILTER (WHERE t.lease_until > clock_timestamp()) AS running,
                       count(*) FILTER (WHERE t.lease_until <= clock_timestamp()) AS orphaned,
                       count(*) FILTER (WHERE t.not_before > clock_timestamp()) AS delayed,
                       count(*) FILTER (WHERE t.lane = 'live') AS live,
                       count(*) FILTER (WHERE t.lane = 'batch') AS batch,
                       count(*) FILTER (WHERE t.lane = 'backfill') AS backfill
                  FROM (SELECT lane, received_at, lease_until, not_before FROM turns
                         WHERE finished_at IS NULL AND state = s.state ORDER BY received_at LIMIT $1) t) c
 ORDER BY s.place;

-- name: flow
-- Turns that ended lately, by slot of time (0: the newest).
-- $1 seconds of a slot · $2 seconds in all · $3 count at most
SELECT floor(greatest(extract(epoch FROM clock_timestamp() - finished_at), 0) / $1::float8)::int AS slot, count(*) AS turns
  FROM (SELECT finished_at FROM turns WHERE finished_at > clock_timestamp() - make_interval(secs => $2)
         ORDER BY finished_at DESC LIMIT $3) t
 GROUP BY slot;

-- name: ended
-- How the turns of the last 24 hours ended, the newest counted up to a cap.
-- $1 count at most
SELECT state, count(*) AS turns
  FROM (SELECT state FROM turns WHERE finished_at > clock_timestamp() - interval '1 day' ORDER BY finished_at DESC LIMIT $1) t
 GROUP BY state ORDER BY turns DESC, state;

-- name: waiting
-- Turns on their way, oldest first, from just after a cursor. Each filter applies unless it is null. Stage by stage, so
-- that each goes along its index. `behind`: an earlier turn of the session has to end first; `gap`: one has not come yet.
-- $1 state · $2 lane · $3 piece of a session · $4 piece of a text or id · $5 cursor: received at · $6 cursor: id · $7 at most
SELECT t.tenant_id, n.name AS tenant, t.id, t.kind, t.lane, t.session, t.state, t.reason, t.received_at, t.finished_at,
       t.attempts, t.crashes, t.lease_until, t.not_before, left(t.user_text, 300) AS user_text, e.id AS behind,
       t.state = 'received' AND t.seq - 1 > i.mark AS gap
  FROM unnest(ARRAY['received', 'extracted', 'linked']) AS s (state),
       LATERAL (SELECT * FROM turns
                 WHERE finished_at IS NULL AND state = s.state AND ($1::text IS NULL OR state = $1)
                   AND ($2::text IS NULL OR lane = $2)
                   AND ($3::text IS NULL OR strpos(lower(session), lower($3)) > 0)
                   AND ($4::text IS NULL OR strpos(lower(user_text), lower($4)) > 0
                        OR strpos(lower(assistant_text), lower($4)) > 0 OR id = $4)
                   AND ($5::timestamptz IS NULL OR (received_at, id) > ($5, $6::text))
                 ORDER BY received_at, id LIMIT $7) t
  JOIN tenants n ON n.tenant_id = t.tenant_id
  JOIN installations i ON i.install = t.install
  LEFT JOIN LATERAL (SELECT p.id FROM turns p
                      WHERE t.state = 'received' AND p.tenant_id = t.tenant_id AND p.install = t.install
                        AND p.session = t.session AND p.seq < t.seq AND p.finished_at IS NULL
                      ORDER BY p.seq DESC LIMIT 1) e ON true
 ORDER BY t.received_at, t.id LIMIT $7;

-- name: waits_for
-- What holds up one turn on its way, as `waiting` tells it.
-- $1 tenant · $2 id
SELECT (SELECT p.id FROM turns p
         WHERE t.state = 'received' AND p.tenant_id = t.tenant_id AND p.install = t.install AND p.session = t.session
           AND p.seq < t.seq AND p.finished_at IS NULL ORDER BY p.seq DESC LIMIT 1) AS behind,
       t.state = 'received' AND t.seq - 1 > i.mark AS gap
  FROM turns t JOIN installations i USING (install)
 WHERE t.tenant_id = $1 AND t.id = $2 AND t.finished_at IS NULL;

-- name: finished
-- Turns that ended, last first, from just after a cursor. Each filter applies unless it is null.
-- $1 state · $2 lane · $3 piece of a session · $4 piece of a text or id · $5 cursor: finished at · $6 cursor: id · $7 at most
SELECT t.tenant_id, n.name AS tenant, t.id, t.kind, t.lane, t.session, t.state, t.reason, t.received_at, t.finished_at,
       t.attempts, t.crashes, t.lease_until, t.not_before, left(t.user_text, 300) AS user_text, NULL AS behind, false AS gap
  FROM turns t JOIN tenants n USING (tenant_id)
 WHERE t.finished_at IS NOT NULL AND ($1::text IS NULL OR t.state = $1)
   AND ($2::text IS NULL OR t.lane = $2)
   AND ($3::text IS NULL OR strpos(lower(t.session), lower($3)) > 0)
   AND ($4::text IS NULL OR strpos(lower(t.user_text), lower($4)) > 0
        OR strpos(lower(t.assistant_text), lower($4)) > 0 OR t.id = $4)
   AND ($5::timestamptz IS NULL OR (t.finished_at, t.id) < ($5, $6::text))
 ORDER BY t.finished_at DESC, t.id DESC LIMIT $7;

-- name: release
-- Take a turn from whoever holds it, and let it be tried at once: the fence refuses what the holder still writes.
-- $1 tenant · $2 id
UPDATE turns SET fence = fence + 1, lease_until = NULL, not_before = NULL
 WHERE tenant_id = $1 AND id = $2 AND finished_at IS NULL RETURNING state;

-- name: kill
-- $1 tenant · $2 id · $3 reason
UPDATE turns SET fence = fence + 1, lease_until = NULL, not_before = NULL, state = 'dead', reason = $3,
                 finished_at = clock_timestamp()
 WHERE tenant_id = $1 AND id = $2 AND finished_at IS NULL RETURNING id;
