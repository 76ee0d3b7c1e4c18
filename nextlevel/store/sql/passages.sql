-- Past turns as search sees them: made and embedded by upkeep, read by recall.

-- name: unindexed
-- Where turns wait for their passage (inside the pipeline's door).
SELECT DISTINCT t.tenant_id, t.user_id, t.profile_scope AS scope_id FROM turns t
 WHERE NOT t.indexed AND NOT t.hidden AND t.kind = 'turn' AND t.state <> 'quarantined' AND t.duplicate_of IS NULL
   AND NOT EXISTS (SELECT FROM tombstones d WHERE d.tenant_id = t.tenant_id AND d.user_id = t.user_id AND d.kind = 'turn' AND d.ref = t.id);

-- name: backlog
-- Turns without a passage, scopes in which passages wait for vectors, and a number that moves as that changes (inside
-- the pipeline's door).
-- $1 model
SELECT (SELECT count(*) FROM turns t
         WHERE NOT t.indexed AND NOT t.hidden AND t.kind = 'turn' AND t.state <> 'quarantined' AND t.duplicate_of IS NULL
           AND NOT EXISTS (SELECT FROM tombstones d WHERE d.tenant_id = t.tenant_id AND d.user_id = t.user_id
                                                      AND d.kind = 'turn' AND d.ref = t.id)) AS unindexed,
       (SELECT count(*) FROM scopes_without_passage_vectors($1)) AS scopes_without_vectors,
       (SELECT coalesce(sum(passages), 0)::bigint FROM scopes) AS moves;

-- name: unembedded_scopes
-- $1 model
SELECT w.tenant_id, w.user_id, w.scope_id FROM scopes_without_passage_vectors($1) w;

-- name: take_unindexed
-- Turns without a passage, oldest first. Who forgets or erases one of them waits for us, and then finds its passage too.
-- $1 tenant · $2 user · $3 scope · $4 characters of each side · $5 at most
SELECT id, session, ordinal, at, utc_offset_min, left(user_text, $4) AS said, left(assistant_text, $4) AS answered
  FROM turns t
 WHERE tenant_id = $1 AND user_id = $2 AND profile_scope = $3
   AND NOT indexed AND NOT hidden AND kind = 'turn' AND state <> 'quarantined' AND duplicate_of IS NULL
   -- Undone before it arrived.
   AND NOT EXISTS (SELECT FROM tombstones d WHERE d.tenant_id = $1 AND d.user_id = $2 AND d.kind = 'turn' AND d.ref = t.id)
 ORDER BY at, id LIMIT $5 FOR UPDATE OF t SKIP LOCKED;

-- name: add
-- $1 tenant · $2 turn · $3 scope · $4 session · $5 ordinal · $6 at · $7 speaker · $8 weak
INSERT INTO passages (tenant_id, turn_id, scope_id, session, ordinal, at, speaker, weak)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING true;

-- name: add_words
-- $1 turn · $2 scope · $3 words
SELECT index_passage($1, $2, $3);

-- name: mark_indexed
-- $1 tenant · $2 turns
UPDATE turns SET indexed = true WHERE tenant_id = $1 AND id = ANY ($2);

-- name: unembedded
-- Passages of this wall that a model has not seen yet, newest first: what was said lately is asked for first.
-- $1 tenant · $2 scopes · $3 model · $4 characters of each side · $5 at most
SELECT p.turn_id, p.scope_id, left(t.user_text, $4) AS said, left(t.assistant_text, $4) AS answered
  FROM passages p JOIN turns t ON t.tenant_id = p.tenant_id AND t.id = p.turn_id
 WHERE p.tenant_id = $1 AND p.scope_id = ANY ($2)
   AND NOT EXISTS (SELECT FROM passage_embeddings e WHERE e.tenant_id = p.tenant_id AND e.turn_id = p.turn_id AND e.model = $3)
 ORDER BY p.at DESC, p.turn_id LIMIT $5;

-- name: add_embedding
-- A passage that went meanwhile gets none.
-- $1 tenant · $2 turn · $3 scope · $4 model · $5 vector
INSERT INTO passage_embeddings (tenant_id, scope_id, turn_id, model, emb)
SELECT p.tenant_id, p.scope_id, p.turn_id, $4, $5::halfvec FROM passages p
 WHERE p.tenant_id = $1 AND p.turn_id = $2 AND p.scope_id = $3
ON CONFLICT DO NOTHING;

-- name: moved
-- Passages came. No generation moves: what is cached stays right, and the session that they are from has them in its prompt.
-- $1 tenant · $2 scope
UPDATE scopes SET passages = passages + 1 WHERE tenant_id = $1 AND scope_id = $2;

-- name: forget
-- $1 turns
SELECT f.scope_id, f.generation FROM forget_passages($1) f;

-- name: state
-- Moves whenever a passage comes or goes.
-- $1 tenant · $2 scopes
SELECT coalesce(sum(passages), 0)::bigint FROM scopes WHERE tenant_id = $1 AND scope_id = ANY ($2);

-- name: heads
-- The newest passages, and whether each has its vector.
-- $1 tenant · $2 scopes · $3 model · $4 at most
SELECT p.turn_id, p.turn_id IN (SELECT e.turn_id FROM passage_embeddings e
                                 WHERE e.tenant_id = $1 AND e.scope_id = ANY ($2) AND e.model = $3) AS embedded
  FROM passages p WHERE p.tenant_id = $1 AND p.scope_id = ANY ($2) ORDER BY p.at DESC, p.turn_id LIMIT $4;

-- name: read
-- $1 tenant · $2 scopes · $3 turns · $4 model
WITH vectors AS MATERIALIZED (
  SELECT turn_id, emb FROM passage_embeddings WHERE tenant_id = $1 AND turn_id = ANY ($3) AND model = $4),
said AS MATERIALIZED (SELECT turn_id, words FROM words_of_passages($3))
SELECT p.turn_id, p.session, p.ordinal, p.at, p.speaker, p.weak, s.words, v.emb
  FROM passages p JOIN said s USING (turn_id) LEFT JOIN vectors v USING (turn_id)
 WHERE p.tenant_id = $1 AND p.scope_id = ANY ($2) AND p.turn_id = ANY ($3);

-- name: size
-- $1 tenant · $2 scopes · $3 moment, or null for now
SELECT count(*) FROM passages WHERE tenant_id = $1 AND scope_id = ANY ($2) AND ($3::timestamptz IS NULL OR at <= $3);

-- name: count_words
-- In how many passages each word stands; a word that none has is left out.
-- $1 words
SELECT c.word, c.passages FROM count_passages($1) c;

-- name: by_words
-- The passages that hold most of the words, by their weights, best first.
-- $1 tenant · $2 words · $3 weights · $4 moment, or null for now · $5 at most
SELECT p.turn_id FROM search_passages($2, $3, $5 * 4) s JOIN passages p ON p.tenant_id = $1 AND p.turn_id = s.turn_id
 WHERE $4::timestamptz IS NULL OR p.at <= $4
 ORDER BY s.score DESC, p.turn_id LIMIT $5;

-- name: by_vector
-- The passages nearest to a vector, nearest first, with the mean cosine over all and its deviation.
-- $1 tenant · $2 scopes · $3 vector of unit length · $4 model · $5 moment, or null for now · $6 at most
SELECT e.turn_id, -(e.emb <#> $3) AS cosine,
       avg(-(e.emb <#> $3)) OVER () AS mean, coalesce(stddev_pop(-(e.emb <#> $3)) OVER (), 0) AS deviation
  FROM passage_embeddings e
 WHERE e.tenant_id = $1 AND e.scope_id = ANY ($2) AND e.model = $4
   AND ($5::timestamptz IS NULL OR (e.turn_id IN (
         SELECT p.turn_id FROM passages p WHERE p.tenant_id = $1 AND p.scope_id = ANY ($2) AND p.at <= $5)) IS TRUE)
 ORDER BY (e.emb <#> $3) + 0
 LIMIT $6;

-- name: beside
-- The passages said just before and after these, in their sessions.
-- $1 tenant · $2 scopes · $3 turns · $4 moment, or null for now
SELECT DISTINCT n.turn_id FROM passages p
  JOIN passages n ON n.tenant_id = p.tenant_id AND n.scope_id = p.scope_id AND n.session = p.session
                 AND n.ordinal IN (p.ordinal - 1, p.ordinal + 1)
 WHERE p.tenant_id = $1 AND p.scope_id = ANY ($2) AND p.turn_id = ANY ($3) AND ($4::timestamptz IS NULL OR n.at <= $4);

-- name: said
-- What was said in these turns, as far as it may still be shown; and whether something learnt from it holds no longer. What
-- is of a day by its nature, as a demo or a holiday, is told rightly after it too.
-- $1 tenant · $2 scopes · $3 turns · $4 characters of each side
SELECT t.id, t.session, t.ordinal, t.at, t.utc_offset_min, left(t.user_text, $4) AS said, left(t.assistant_text, $4) AS answered,
       t.meta #>> '{project,name}' AS project,
       EXISTS (SELECT FROM block_sources s JOIN blocks b ON b.tenant_id = s.tenant_id AND b.block_id = s.block_id
                WHERE s.tenant_id = t.tenant_id AND s.turn_id = t.id
                  AND (b.status = 'superseded' OR b.valid_to < now()
                       AND (b.status = 'expired' OR b.predicate NOT IN ('deadline', 'goes_live_on', 'takes_place_on', 'away')))) AS outdated
  FROM passages p JOIN turns t ON t.tenant_id = p.tenant_id AND t.id = p.turn_id
 WHERE p.tenant_id = $1 AND p.scope_id = ANY ($2) AND p.turn_id = ANY ($3) AND NOT t.hidden;
