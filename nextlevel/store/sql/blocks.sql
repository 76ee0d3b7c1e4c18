-- name: lock_user
-- One store at a time for one person's memory; other people's go on. Held to the end of the transaction. Until then each
-- statement is planned for its own parameters: a plan that was made for a small memory takes 20 times as long in a large one.
-- $1 tenant · $2 user
SELECT pg_advisory_xact_lock(hashtextextended('nl:' || $1::uuid || $2::uuid, 0)),
       set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: plan_each
SELECT set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: tombstoned_turn
-- $1 tenant · $2 user · $3 turn
SELECT true FROM tombstones WHERE tenant_id = $1 AND user_id = $2 AND kind = 'turn' AND ref = $3;

-- name: tombstoned_facts
-- Which of these facts were forgotten after they were told.
-- $1 tenant · $2 user · $3 hashes, hex · $4 told at
SELECT ref FROM tombstones WHERE tenant_id = $1 AND user_id = $2 AND kind = 'fact' AND ref = ANY ($3) AND at >= $4;

-- name: same_fact
-- $1 tenant · $2 scope · $3 hash
SELECT * FROM blocks WHERE tenant_id = $1 AND scope_id = $2 AND hash = $3 AND status IN ('active', 'review');

-- name: rivals
-- What a new fact may repeat or replace: the active blocks of the same subject, newest first, those that share most words
-- with it, what was taken back since the new fact began, and what all these have replaced. Never a scan of the scope. With
-- when and in which sessions each was told, or another for which it stands (one that held for no time of its own).
-- $1 tenant · $2 scope · $3 subject entity · $4 words · $5 since when the new fact holds · $6 user
WITH RECURSIVE near AS (
  SELECT * FROM (
    SELECT b.* FROM blocks b WHERE b.tenant_id = $1 AND b.scope_id = $2 AND b.subject_entity = $3 AND b.status = 'active'
     ORDER BY b.valid_from DESC LIMIT 200) same_subject
  UNION
  SELECT b.* FROM search_rare_words($4, 2000, 20) w JOIN blocks b USING (block_id)
   WHERE b.tenant_id = $1 AND b.scope_id = $2 AND b.status = 'active'
  UNION
  SELECT b.* FROM retractions r JOIN blocks b USING (tenant_id, block_id)
   WHERE r.tenant_id = $1 AND r.user_id = $6 AND r.at > $5 AND b.scope_id = $2 AND b.status = 'expired'
), line AS (
  SELECT * FROM near
  UNION
  -- Only what still held when the new fact began, or began later: of a fact that is told in its turn, nothing.
  SELECT b.* FROM line l JOIN blocks b ON b.tenant_id = $1 AND b.superseded_by = l.block_id
   WHERE l.valid_from > $5 AND b.scope_id = $2 AND b.status = 'superseded' AND b.valid_to > b.valid_from
)
SELECT l.*, told.at AS told, told.sessions FROM line l
 CROSS JOIN LATERAL (SELECT array_agg(s.at ORDER BY s.at) AS at, array_agg(DISTINCT t.session) AS sessions
                       FROM block_sources s JOIN turns t ON t.tenant_id = s.tenant_id AND t.id = s.turn_id
                      WHERE s.tenant_id = $1
                        AND s.block_id = ANY (l.block_id || ARRAY(SELECT a.block_id FROM blocks a WHERE a.tenant_id = $1
                                                      AND a.superseded_by = l.block_id AND a.valid_to = a.valid_from))) told;

-- name: subject_of
-- $1 tenant · $2 block
SELECT subject_entity FROM blocks WHERE tenant_id = $1 AND block_id = $2;

-- name: told
-- Blocks by id, with when and in which sessions each was told, as rivals are.
-- $1 tenant · $2 blocks
SELECT b.*, told.at AS told, told.sessions FROM blocks b
 CROSS JOIN LATERAL (SELECT array_agg(s.at ORDER BY s.at) AS at, array_agg(DISTINCT t.session) AS sessions
                       FROM block_sources s JOIN turns t ON t.tenant_id = s.tenant_id AND t.id = s.turn_id
                      WHERE s.tenant_id = $1
                        AND s.block_id = ANY (b.block_id || ARRAY(SELECT a.block_id FROM blocks a WHERE a.tenant_id = $1
                                                      AND a.superseded_by = b.block_id AND a.valid_to = a.valid_from))) told
 WHERE b.tenant_id = $1 AND b.block_id = ANY ($2);

-- name: near_words
-- The active blocks of this wall that share most words with a text, best first.
-- $1 words · $2 at most
SELECT b.*, w.score FROM search_words($1, $2) w JOIN blocks b USING (block_id) WHERE b.status = 'active' ORDER BY w.score DESC;

-- name: insert
-- $1 tenant · $2 block · $3 scope · $4 user · $5 type · $6 category · $7 subject · $8 predicate · $9 object · $10 key ·
-- $11 value · $12 context · $13 negated · $14 explicit · $15 confidence · $16 provenance · $17 status · $18 project ·
-- $19 subject entity · $20 hash · $21 valid from · $22 valid to · $23 superseded by · $24 days to live ·
-- $25 minutes east of UTC
INSERT INTO blocks (tenant_id, block_id, scope_id, user_id, type, category, subject, predicate, object, key, value, context,
                    negated, explicit, confidence, provenance, status, project, subject_entity, hash, valid_from, valid_to,
                    superseded_by, expires_at, utc_offset_min)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
        greatest(now(), $21::timestamptz) + make_interval(days => $24), $25);

-- name: confirm
-- The same fact again: surer, and alive for longer. What waited in review is taken up once it is sure enough; who is
-- trusted more vouches for it from here on. Told of an earlier time, it holds since then.
-- $1 tenant · $2 block · $3 confidence · $4 status · $5 days to live · $6 provenance · $7 since
UPDATE blocks SET confidence = $3, status = $4, provenance = $6, valid_from = least(valid_from, $7), updated_at = now(),
                  expires_at = greatest(expires_at, now() + make_interval(days => $5))
 WHERE tenant_id = $1 AND block_id = $2;

-- name: use
-- A block was made use of: it lives longer, and is no surer for it. Where that moves its end by more than a day, the
-- scope is returned: what readers hold of it is stale.
-- $1 tenant · $2 blocks · $3 days to live, one each · $4 when
UPDATE blocks b SET access_count = b.access_count + 1, last_accessed = greatest(b.last_accessed, $4::timestamptz),
                    updated_at = now(), expires_at = greatest(b.expires_at, now() + make_interval(days => u.days))
  FROM unnest($2::uuid[], $3::integer[]) u (block_id, days), blocks was
 WHERE b.tenant_id = $1 AND b.block_id = u.block_id AND b.status = 'active'
   AND was.tenant_id = $1 AND was.block_id = b.block_id
RETURNING b.block_id, b.scope_id, b.expires_at > was.expires_at + interval '1 day' AS extended;

-- name: supersede
-- $1 tenant · $2 block · $3 valid to · $4 superseded by
UPDATE blocks SET status = 'superseded', valid_to = greatest(valid_from, least($3, coalesce(valid_to, $3))), superseded_by = $4, updated_at = now()
 WHERE tenant_id = $1 AND block_id = $2;

-- name: retract
-- No longer true, and nothing takes its place.
-- $1 tenant · $2 block · $3 valid to
UPDATE blocks SET status = 'expired', valid_to = greatest(valid_from, $3), superseded_by = NULL, updated_at = now()
 WHERE tenant_id = $1 AND block_id = $2;

-- name: learnt_from_deeds
-- The living blocks that stand on this turn alone, and not on the user's own word.
-- $1 tenant · $2 turn
SELECT b.* FROM block_sources s JOIN blocks b USING (tenant_id, block_id)
 WHERE s.tenant_id = $1 AND s.turn_id = $2 AND b.status IN ('active', 'review') AND b.provenance <> 'user_stated'
   AND NOT EXISTS (SELECT FROM block_sources o WHERE o.tenant_id = $1 AND o.block_id = s.block_id AND o.turn_id <> $2);

-- name: replaced_by
-- Without what was told anew meanwhile: it lives already. And without what stands on some turns alone.
-- $1 tenant · $2 block · $3 those turns
SELECT b.* FROM blocks b WHERE b.tenant_id = $1 AND b.superseded_by = $2 AND b.status = 'superseded'
   AND (NOT EXISTS (SELECT FROM block_sources s WHERE s.tenant_id = $1 AND s.block_id = b.block_id AND s.turn_id = ANY ($3))
        OR EXISTS (SELECT FROM block_sources s WHERE s.tenant_id = $1 AND s.block_id = b.block_id AND s.turn_id <> ALL ($3)))
   AND NOT EXISTS (SELECT FROM blocks o WHERE o.tenant_id = $1 AND o.scope_id = b.scope_id AND o.hash = b.hash
                                          AND o.status IN ('active', 'review'));

-- name: outlived_by
-- What a block had replaced and what has replaced it since, where that is so: the one holds until the other.
-- $1 tenant · $2 block
SELECT b.block_id FROM blocks b JOIN blocks x ON x.tenant_id = $1 AND x.block_id = $2
 WHERE b.tenant_id = $1 AND b.superseded_by = $2 AND x.superseded_by IS NOT NULL;

-- name: hand_on
-- Let what a block had replaced hold until what has replaced that block.
-- $1 tenant · $2 block · $3 those
UPDATE blocks b SET superseded_by = x.superseded_by, valid_to = greatest(b.valid_from, x.valid_to), updated_at = now()
  FROM blocks x WHERE x.tenant_id = $1 AND x.block_id = $2 AND b.tenant_id = $1 AND b.block_id = ANY ($3);

-- name: retracted_by
-- What a turn said holds no more, and nothing has touched since; without what was told anew.
-- $1 tenant · $2 turn
SELECT b.* FROM block_versions v JOIN blocks b USING (tenant_id, block_id)
 WHERE v.tenant_id = $1 AND v.caused_by = $2 AND v.change = 'retracted' AND b.status = 'expired'
   AND NOT EXISTS (SELECT FROM block_versions o WHERE o.tenant_id = $1 AND o.block_id = v.block_id AND o.version > v.version)
   AND NOT EXISTS (SELECT FROM blocks o WHERE o.tenant_id = $1 AND o.scope_id = b.scope_id AND o.hash = b.hash
                                          AND o.status IN ('active', 'review'));

-- name: restore
-- As it was before it was closed. What was told late was closed when it came, by what is known since: it has no earlier form,
-- and holds, unless it had ended by itself.
-- $1 tenant · $2 block · $3 how it was closed
UPDATE blocks b SET status = coalesce(v.before->>'status', 'active'), updated_at = now(),
                    valid_to = CASE WHEN v.before IS NOT NULL THEN (v.before->>'valid_to')::timestamptz
                                    ELSE (SELECT b.valid_to FROM blocks o WHERE o.tenant_id = $1 AND o.block_id = b.superseded_by
                                                                            AND b.valid_to < o.valid_from) END,
                    superseded_by = (SELECT o.block_id FROM blocks o WHERE o.tenant_id = $1
                                                                      AND o.block_id = (v.before->>'superseded_by')::uuid)
  FROM (SELECT (SELECT before FROM block_versions WHERE tenant_id = $1 AND block_id = $2 AND change = $3
                 ORDER BY version DESC LIMIT 1) AS before) v
 WHERE b.tenant_id = $1 AND b.block_id = $2;

-- name: add_version
-- What a block was before it changes.
-- $1 tenant · $2 block · $3 change · $4 caused by
INSERT INTO block_versions (tenant_id, block_id, version, change, caused_by, before)
SELECT b.tenant_id, b.block_id, 1 + (SELECT count(*) FROM block_versions v WHERE v.tenant_id = $1 AND v.block_id = $2), $3, $4,
       to_jsonb(b) - ARRAY['tenant_id', 'block_id', 'user_id', 'hash']
  FROM blocks b WHERE b.tenant_id = $1 AND b.block_id = $2;

-- name: add_source
-- True if this turn is news to the block.
-- $1 tenant · $2 block · $3 turn · $4 span · $5 at
INSERT INTO block_sources (tenant_id, block_id, turn_id, span, at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING true;

-- name: copy_sources
-- Let a block stand on the turns of another, those from a time on.
-- $1 tenant · $2 from block · $3 to block · $4 told at or after
INSERT INTO block_sources (tenant_id, block_id, turn_id, span, at)
SELECT tenant_id, $3, turn_id, span, at FROM block_sources WHERE tenant_id = $1 AND block_id = $2 AND at >= $4
ON CONFLICT DO NOTHING;

-- name: drop_sources
-- $1 tenant · $2 block · $3 told at or after
DELETE FROM block_sources WHERE tenant_id = $1 AND block_id = $2 AND at >= $3;

-- name: told_as
-- The block that was told at a time, and for which another stands.
-- $1 tenant · $2 the other · $3 when
SELECT block_id FROM blocks
 WHERE tenant_id = $1 AND superseded_by = $2 AND valid_to = valid_from AND valid_from = $3 ORDER BY block_id LIMIT 1;

-- name: revive
-- $1 tenant · $2 block · $3 status · $4 valid to · $5 superseded by
UPDATE blocks SET status = $3, valid_to = $4, superseded_by = $5, updated_at = now() WHERE tenant_id = $1 AND block_id = $2
RETURNING true;

-- name: stand_for
-- What a block stood for from a time on, another stands for.
-- $1 tenant · $2 block · $3 the other · $4 from
UPDATE blocks SET superseded_by = $3, updated_at = now()
 WHERE tenant_id = $1 AND superseded_by = $2 AND valid_to = valid_from AND valid_from > $4;

-- name: resume
-- A block again, as another, from a time on: it had been told again then.
-- $1 tenant · $2 block · $3 the other's id · $4 from · $5 status · $6 valid to · $7 superseded by
INSERT INTO blocks (tenant_id, block_id, scope_id, user_id, type, category, subject, predicate, object, key, value, context,
                    negated, explicit, confidence, provenance, status, project, subject_entity, hash, valid_from, valid_to,
                    superseded_by, expires_at, utc_offset_min)
SELECT tenant_id, $3, scope_id, user_id, type, category, subject, predicate, object, key, value, context, negated, explicit,
       confidence, provenance, $5, project, subject_entity, hash, $4, $6, $7, expires_at, utc_offset_min
  FROM blocks WHERE tenant_id = $1 AND block_id = $2;

-- name: resume_links
-- Edges and mentions of a block that goes on as another.
-- $1 tenant · $2 block · $3 the other's id
WITH edge AS (
  INSERT INTO edges (tenant_id, block_id, scope_id, subject_entity, predicate, object_entity)
  SELECT tenant_id, $3, scope_id, subject_entity, predicate, object_entity FROM edges WHERE tenant_id = $1 AND block_id = $2)
INSERT INTO mentions (tenant_id, block_id, entity_id, scope_id)
SELECT tenant_id, $3, entity_id, scope_id FROM mentions WHERE tenant_id = $1 AND block_id = $2;

-- name: add_edge
-- $1 tenant · $2 block · $3 scope · $4 subject entity · $5 predicate · $6 object entity
INSERT INTO edges (tenant_id, block_id, scope_id, subject_entity, predicate, object_entity) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING;

-- name: add_mention
-- $1 tenant · $2 block · $3 entity · $4 scope
INSERT INTO mentions (tenant_id, block_id, entity_id, scope_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: add_embedding
-- $1 tenant · $2 scope · $3 block · $4 model · $5 unit vector
INSERT INTO embeddings (tenant_id, scope_id, block_id, model, emb) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, block_id, model) DO UPDATE SET emb = excluded.emb;

-- name: touch
-- What readers hold of these blocks is old, though no word of them has changed.
-- $1 tenant · $2 blocks
UPDATE blocks SET updated_at = now() WHERE tenant_id = $1 AND block_id = ANY ($2);

-- name: unembedded
-- Blocks that a model has not seen yet, oldest first: the embedder was down when they were stored.
-- $1 model · $2 at most
SELECT b.block_id, b.scope_id, b.subject, b.predicate, b.object, b.negated FROM blocks b
 WHERE b.status IN ('active', 'review', 'superseded')
   AND NOT EXISTS (SELECT FROM embeddings e WHERE e.tenant_id = b.tenant_id AND e.block_id = b.block_id AND e.model = $1)
 ORDER BY b.created_at LIMIT $2;

-- name: index_words
-- $1 block · $2 scope · $3 words
SELECT index_words($1, $2, $3);

-- name: of_turn
-- $1 tenant · $2 turn
SELECT b.* FROM blocks b JOIN block_sources s USING (tenant_id, block_id) WHERE s.tenant_id = $1 AND s.turn_id = $2 ORDER BY b.created_at, b.block_id;

-- name: only_from
-- The blocks that stand on this turn alone.
-- $1 tenant · $2 turn
SELECT s.block_id FROM block_sources s WHERE s.tenant_id = $1 AND s.turn_id = $2
   AND NOT EXISTS (SELECT FROM block_sources o WHERE o.tenant_id = $1 AND o.block_id = s.block_id AND o.turn_id <> $2);
