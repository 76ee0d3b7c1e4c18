-- name: aliases
-- The names of the person's entities that came after one, in order.
-- $1 tenant · $2 user · $3 the last that is known
SELECT a.alias, a.added, e.entity_id, e.name, e.type FROM entity_aliases a JOIN entities e USING (tenant_id, entity_id)
 WHERE a.tenant_id = $1 AND a.user_id = $2 AND a.added > $3 ORDER BY a.added;

-- name: revision
-- $1 tenant · $2 scope of the user
SELECT names FROM scopes WHERE tenant_id = $1 AND scope_id = $2;

-- name: raise_revision
-- A name went, or means something else: who knows the names reads them all again.
-- $1 tenant · $2 scope of the user
UPDATE scopes SET names = names + 1 WHERE tenant_id = $1 AND scope_id = $2;

-- name: by_alias
-- $1 tenant · $2 user · $3 alias, in normal form
SELECT e.entity_id, e.name, e.normal_name, e.type FROM entity_aliases a JOIN entities e USING (tenant_id, entity_id)
 WHERE a.tenant_id = $1 AND a.user_id = $2 AND a.alias = $3 ORDER BY e.created_at, e.entity_id;

-- name: insert
-- $1 tenant · $2 user · $3 name · $4 normal name · $5 type
INSERT INTO entities (tenant_id, user_id, name, normal_name, type) VALUES ($1, $2, $3, $4, $5) RETURNING entity_id;

-- name: set_type
-- $1 tenant · $2 entity · $3 type
UPDATE entities SET type = $3 WHERE tenant_id = $1 AND entity_id = $2;

-- name: add_alias
-- $1 tenant · $2 user · $3 alias, in normal form · $4 entity
INSERT INTO entity_aliases (tenant_id, user_id, alias, entity_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;
