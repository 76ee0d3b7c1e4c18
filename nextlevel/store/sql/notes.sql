-- What documents told memory, where their import asked for it: turns of kind note, one for each form a document had. Its
-- session is the document's address.

-- name: stands
-- Whether a document still reads as the turn that tells of it, and is memory too.
-- $1 tenant · $2 the profile's scope · $3 folder · $4 path · $5 hash, hex
SELECT EXISTS (SELECT FROM documents WHERE tenant_id = $1 AND scope_id = $2 AND folder = $3 AND path = $4
                                       AND encode(hash, 'hex') = $5 AND as_memory);

-- name: turns
-- $1 tenant · $2 user · $3 the profile's scope · $4 addresses
SELECT id FROM turns WHERE tenant_id = $1 AND user_id = $2 AND profile_scope = $3 AND session = ANY ($4) AND kind = 'note'
 ORDER BY install, seq;

-- name: alone
-- The living blocks that stand on some turns and on no other.
-- $1 tenant · $2 turns
SELECT b.* FROM blocks b
 WHERE b.tenant_id = $1 AND b.status IN ('active', 'review')
   AND b.block_id IN (SELECT s.block_id FROM block_sources s WHERE s.tenant_id = $1 AND s.turn_id = ANY ($2))
   AND NOT EXISTS (SELECT FROM block_sources o WHERE o.tenant_id = $1 AND o.block_id = b.block_id AND o.turn_id <> ALL ($2))
 ORDER BY b.created_at, b.block_id;

-- name: detach
-- What lives on stands no longer on these turns.
-- $1 tenant · $2 turns
DELETE FROM block_sources s USING blocks b
 WHERE s.tenant_id = $1 AND s.turn_id = ANY ($2) AND b.tenant_id = $1 AND b.block_id = s.block_id AND b.status IN ('active', 'review');
