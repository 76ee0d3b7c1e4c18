-- name: aliases
-- Every name of the person's entities, for the alias automaton.
-- $1 tenant · $2 user
SELECT a.alias, e.entity_id, e.name, e.type FROM entity_aliases a JOIN entities e USING (tenant_id, entity_id)
 WHERE a.tenant_id = $1 AND a.user_id = $2;

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
