-- name: stages
-- What waits in front of each stage: how many, the age of the oldest, and how many are being worked on.
SELECT state, count(*) AS waiting, extract(epoch FROM clock_timestamp() - min(received_at))::float8 AS oldest_s,
       count(*) FILTER (WHERE lease_until > clock_timestamp()) AS running,
       count(*) FILTER (WHERE not_before > clock_timestamp()) AS delayed
  FROM turns WHERE finished_at IS NULL GROUP BY state;

-- name: ended
-- How many turns ended how, within a day.
SELECT state, count(*) AS turns FROM turns WHERE finished_at > clock_timestamp() - interval '1 day' GROUP BY state;

-- name: installations
SELECT i.install, i.mark, i.high, i.last_seen, t.name AS tenant, u.name AS "user"
  FROM installations i JOIN tenants t USING (tenant_id) JOIN users u USING (tenant_id, user_id)
 WHERE i.revoked_at IS NULL ORDER BY i.last_seen DESC NULLS LAST LIMIT 100;

-- name: dead_letters
-- $1 at most
SELECT dead_letter_id, kind, turn_id, code, reason, at FROM dead_letters ORDER BY dead_letter_id DESC LIMIT $1;

-- name: count_dead_letters
SELECT kind, count(*) AS letters FROM dead_letters GROUP BY kind;

-- name: add_dead_letter
-- $1 kind · $2 tenant · $3 turn · $4 stream entry · $5 code · $6 reason · $7 input
INSERT INTO dead_letters (kind, tenant_id, turn_id, entry_id, code, reason, input) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (entry_id) DO NOTHING;
