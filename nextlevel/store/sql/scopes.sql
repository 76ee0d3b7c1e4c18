-- name: owner_of
-- Who enrolled this outbox: its own row, else that of its base (a cloned or forked home inherits).
-- $1 install · $2 base
SELECT install, base, tenant_id, user_id, revoked_at FROM installations
 WHERE install IN ($1, $2) ORDER BY install = $1 DESC LIMIT 1;

-- name: owner_names
-- $1 install
SELECT t.name AS tenant, u.name AS "user"
  FROM installations i JOIN tenants t USING (tenant_id) JOIN users u USING (tenant_id, user_id) WHERE i.install = $1;

-- name: enrol
-- Make an installation's row; the first one wins.
-- $1 install · $2 base · $3 tenant · $4 user
INSERT INTO installations (install, base, tenant_id, user_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: inherit
-- A forked home's outbox belongs to whom the original belongs to.
-- $1 install · $2 the original
INSERT INTO installations (install, base, tenant_id, user_id)
SELECT $1, base, tenant_id, user_id FROM installations WHERE install = $2 ON CONFLICT DO NOTHING;

-- name: tenant
-- $1 name. A tenant by name, made if there is none.
WITH made AS (INSERT INTO tenants (name) VALUES ($1) ON CONFLICT (name) DO NOTHING RETURNING tenant_id)
SELECT tenant_id FROM made UNION ALL SELECT tenant_id FROM tenants WHERE name = $1 LIMIT 1;

-- name: user
-- $1 tenant · $2 name. A user by name, made if there is none.
WITH made AS (INSERT INTO users (tenant_id, name) VALUES ($1, $2) ON CONFLICT (tenant_id, name) DO NOTHING RETURNING user_id)
SELECT user_id FROM made UNION ALL SELECT user_id FROM users WHERE tenant_id = $1 AND name = $2 LIMIT 1;

-- name: principal
-- $1 base · $2 principal. The user a gateway's speaker was made to be.
SELECT user_id FROM principals WHERE base = $1 AND principal = $2;

-- name: add_principal
-- $1 base · $2 principal · $3 tenant · $4 user
INSERT INTO principals (base, principal, tenant_id, user_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: scope
-- $1 tenant · $2 user · $3 profile, or null for the scope that all the person's profiles share. Made if there is none.
WITH made AS (
  INSERT INTO scopes (tenant_id, kind, user_id, profile)
       VALUES ($1, CASE WHEN $3::text IS NULL THEN 'user' ELSE 'profile' END, $2, $3)
  ON CONFLICT (tenant_id, user_id, profile) DO NOTHING RETURNING scope_id)
SELECT scope_id FROM made
UNION ALL
SELECT scope_id FROM scopes WHERE tenant_id = $1 AND user_id = $2 AND profile IS NOT DISTINCT FROM $3
LIMIT 1;

-- name: raise_generations
-- Every cached answer of these scopes is stale from this commit on.
-- $1 tenant · $2 scopes
UPDATE scopes SET generation = generation + 1 WHERE tenant_id = $1 AND scope_id = ANY ($2) RETURNING scope_id, generation;

-- name: generations
-- Of the scopes that somebody used within a day.
SELECT scope_id, generation FROM scopes s
 WHERE EXISTS (SELECT FROM sessions x WHERE x.tenant_id = s.tenant_id AND x.user_id = s.user_id
                                        AND x.last_at > clock_timestamp() - interval '1 day');

-- name: without_vectors
-- Scopes that hold blocks a model has not seen yet.
-- $1 model
SELECT w.tenant_id, w.user_id, w.scope_id FROM scopes_without_vectors($1) w;

-- name: people
-- Whose memory there is: each profile with its person and tenant; or one of them, by its scope.
-- $1 the profile's scope, or null · $2 at most
SELECT s.tenant_id, s.user_id, s.profile, s.scope_id AS profile_scope, u.scope_id AS user_scope, t.name AS tenant, p.name AS "user"
  FROM scopes s
  JOIN tenants t ON t.tenant_id = s.tenant_id
  JOIN users p ON p.tenant_id = s.tenant_id AND p.user_id = s.user_id
  JOIN scopes u ON u.tenant_id = s.tenant_id AND u.user_id = s.user_id AND u.kind = 'user'
 WHERE s.kind = 'profile' AND ($1::uuid IS NULL OR s.scope_id = $1)
 ORDER BY t.name, p.name, s.profile LIMIT $2;
