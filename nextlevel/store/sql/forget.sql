-- name: visible
-- Those of the blocks asked for that this wall can see.
-- $1 tenant · $2 blocks
SELECT block_id, scope_id, hash FROM blocks WHERE tenant_id = $1 AND block_id = ANY ($2) FOR UPDATE;

-- name: hide_sources
-- The turns on which forgotten blocks stood: tier 2 must not show them any more.
-- $1 tenant · $2 blocks
UPDATE turns t SET hidden = true FROM block_sources s
 WHERE s.tenant_id = $1 AND s.block_id = ANY ($2) AND t.tenant_id = $1 AND t.id = s.turn_id
RETURNING t.id, t.install;

-- name: unlink_successors
-- What a forgotten block had replaced stays replaced, but names no successor any more.
-- $1 tenant · $2 blocks
UPDATE blocks SET superseded_by = NULL WHERE tenant_id = $1 AND superseded_by = ANY ($2);

-- name: scrub_extractions
-- The model's or rules' own copy of what was said.
-- $1 tenant · $2 blocks
UPDATE extractions x SET raw = '{}', linked = NULL, answer = NULL FROM block_sources s
 WHERE s.tenant_id = $1 AND s.block_id = ANY ($2) AND x.tenant_id = $1 AND x.turn_id = s.turn_id;

-- name: scrub_trace
-- A trace keeps its steps, counts and reasons, without the words that were weighed.
-- $1 tenant · $2 turns
UPDATE trace_events SET facts = facts - ARRAY['kept', 'dropped', 'changes', 'may_be', 'left_open'] WHERE tenant_id = $1 AND turn_id = ANY ($2);

-- name: delete_blocks
-- Sources, versions, edges, mentions, vectors and words go with them.
-- $1 tenant · $2 blocks
DELETE FROM blocks WHERE tenant_id = $1 AND block_id = ANY ($2);

-- name: delete_orphans
-- Entities that nothing speaks of any more, under whatever profile of the person.
-- $1 tenant
DELETE FROM entities WHERE tenant_id = $1 AND entity_id IN (SELECT orphaned_entities());

-- name: said_by
-- Whether a turn is there and is this person's.
-- $1 tenant · $2 turn · $3 user
SELECT EXISTS (SELECT FROM turns WHERE tenant_id = $1 AND id = $2 AND user_id = $3);

-- name: detach_turn
-- The blocks that others confirmed go on without this turn.
-- $1 tenant · $2 turn
DELETE FROM block_sources WHERE tenant_id = $1 AND turn_id = $2;

-- name: scrub_turn
-- $1 tenant · $2 turn
UPDATE extractions SET raw = '{}', linked = NULL, answer = NULL WHERE tenant_id = $1 AND turn_id = $2;

-- name: erase_turn
-- An erased turn keeps id and fingerprint, without its words: else its number would be a gap, and fetched again.
-- $1 tenant · $2 turn · $3 reason
UPDATE turns SET state = 'erased', reason = $3, user_text = '', assistant_text = '', tools = '[]', meta = '{}', body = '{}',
                 hidden = true, lease_until = NULL, fence = fence + 1, finished_at = coalesce(finished_at, clock_timestamp())
 WHERE tenant_id = $1 AND id = $2 RETURNING install;
