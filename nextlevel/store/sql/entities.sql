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
-- Its names count as new, so that who knows them learns of it.
-- $1 tenant · $2 entity · $3 type
WITH told AS (UPDATE entity_aliases SET added = DEFAULT WHERE tenant_id = $1 AND entity_id = $2)
UPDATE entities SET type = $3 WHERE tenant_id = $1 AND entity_id = $2;

-- name: add_alias
-- $1 tenant · $2 user · $3 alias, in normal form · $4 entity
INSERT INTO entity_aliases (tenant_id, user_id, alias, entity_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: get
-- With the one that it is merged into, if it is.
-- $1 tenant · $2 user · $3 entity
SELECT e.entity_id, e.name, e.type, x.kept AS merged_into FROM entities e
  LEFT JOIN entity_merges x ON x.tenant_id = e.tenant_id AND x.merged = e.entity_id AND x.split_at IS NULL
 WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.entity_id = $3;

-- name: names
-- $1 tenant · $2 user · $3 entity
SELECT alias FROM entity_aliases WHERE tenant_id = $1 AND user_id = $2 AND entity_id = $3 ORDER BY alias;

-- name: count_blocks
-- How many blocks of this wall speak of it.
-- $1 tenant · $2 entity
SELECT count(*) FROM mentions WHERE tenant_id = $1 AND entity_id = $2;

-- name: blocks_of
-- $1 entity
SELECT array(SELECT blocks_of_entity($1));

-- name: move_names
-- $1 tenant · $2 user · $3 aliases · $4 from entity · $5 to entity
WITH gone AS (DELETE FROM entity_aliases WHERE tenant_id = $1 AND user_id = $2 AND alias = ANY ($3) AND entity_id = $4 RETURNING alias)
INSERT INTO entity_aliases (tenant_id, user_id, alias, entity_id) SELECT $1, $2, alias, $5 FROM gone ON CONFLICT DO NOTHING;

-- name: move_blocks
-- $1 blocks · $2 from entity · $3 to entity · $4 merged or split · $5 caused by · $6 words of its names
SELECT scope_id, generation FROM move_entity($1, $2, $3, $4, $5, $6);

-- name: add_merge
-- $1 tenant · $2 user · $3 merge · $4 kept · $5 merged · $6 aliases · $7 blocks · $8 those that spoke of both · $9 merged at ·
-- $10 split at
INSERT INTO entity_merges (tenant_id, user_id, merge_id, kept, merged, aliases, blocks, shared, merged_at, split_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: end_merge
-- $1 tenant · $2 merge
UPDATE entity_merges SET split_at = clock_timestamp() WHERE tenant_id = $1 AND merge_id = $2;

-- name: mention_again
-- Blocks that spoke of both speak of this one again. Those of other profiles do when they are told again.
-- $1 tenant · $2 blocks · $3 entity
INSERT INTO mentions (tenant_id, block_id, entity_id, scope_id)
SELECT $1, b.block_id, $3, b.scope_id FROM blocks b WHERE b.tenant_id = $1 AND b.block_id = ANY ($2) ON CONFLICT DO NOTHING;

-- name: merges
-- What was merged into an entity, or split off it, newest first.
-- $1 tenant · $2 entity
SELECT x.merge_id, x.kept, x.merged, e.name, e.normal_name, x.aliases, x.blocks, x.shared, x.merged_at, x.split_at
  FROM entity_merges x JOIN entities e ON e.tenant_id = x.tenant_id AND e.entity_id = x.merged
 WHERE x.tenant_id = $1 AND x.kept = $2 ORDER BY coalesce(x.split_at, x.merged_at) DESC, x.merge_id;

-- name: discussed
-- session —discussed→ entity, with the words, newest first. A turn of which something was forgotten is quoted no more.
-- $1 tenant · $2 entity · $3 since or null · $4 before or null · $5 at most
SELECT t.session, t.id AS turn_id, s.at, s.span FROM mentions m
  JOIN block_sources s USING (tenant_id, block_id)
  JOIN turns t ON t.tenant_id = s.tenant_id AND t.id = s.turn_id AND NOT t.hidden
 WHERE m.tenant_id = $1 AND m.entity_id = $2
   AND ($3::timestamptz IS NULL OR s.at >= $3) AND ($4::timestamptz IS NULL OR s.at < $4)
 GROUP BY t.session, t.id, s.at, s.span ORDER BY s.at DESC, t.id, s.span LIMIT $5;
