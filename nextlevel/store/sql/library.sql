-- The library: documents, their sections as search sees them, and what they link to. Inside `Database.memory`, but where
-- the pipeline's door is named.

-- name: hashes
-- What is held of a folder, by path, from just after one.
-- $1 tenant · $2 scope · $3 folder · $4 after this path · $5 at most
SELECT path, encode(hash, 'hex') AS hash, as_memory FROM documents
 WHERE tenant_id = $1 AND scope_id = $2 AND folder = $3 AND path > $4 ORDER BY path LIMIT $5;

-- name: forgotten
-- Whether a document that read exactly so was forgotten.
-- $1 tenant · $2 user · $3 hash, hex
SELECT EXISTS (SELECT FROM tombstones WHERE tenant_id = $1 AND user_id = $2 AND kind = 'document' AND ref = $3);

-- name: remove
-- Documents of a folder with all that is theirs: those of these paths, or all where they are null.
-- $1 tenant · $2 scope · $3 folder · $4 paths or null
DELETE FROM documents WHERE tenant_id = $1 AND scope_id = $2 AND folder = $3 AND ($4::text[] IS NULL OR path = ANY ($4))
RETURNING folder, path, as_memory;

-- name: add
-- $1 tenant · $2 scope · $3 user · $4 folder · $5 path · $6 title · $7 project · $8 hash · $9 changed at ·
-- $10 as memory too
INSERT INTO documents (tenant_id, scope_id, user_id, folder, path, title, project, hash, changed_at, as_memory)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING document_id;

-- name: add_section
-- $1 tenant · $2 section · $3 document · $4 scope · $5 place · $6 heading · $7 body · $8 reads like orders
INSERT INTO sections (tenant_id, section_id, document_id, scope_id, place, heading, body, orders)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: add_words
-- $1 section · $2 scope · $3 words
SELECT index_section($1, $2, $3);

-- name: add_edge
-- $1 tenant · $2 document · $3 scope · $4 user · $5 subject's name · $6 subject · $7 predicate · $8 object's name · $9 object
INSERT INTO document_edges (tenant_id, document_id, scope_id, user_id, subject_name, subject_entity, predicate, object_name, object_entity)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING;

-- name: move_names
-- What documents say under these names, they say of another entity now.
-- $1 tenant · $2 user · $3 names, in normal form · $4 from entity · $5 to entity
UPDATE document_edges
   SET subject_entity = CASE WHEN subject_entity = $4 AND subject_name = ANY ($3) THEN $5 ELSE subject_entity END,
       object_entity = CASE WHEN object_entity = $4 AND object_name = ANY ($3) THEN $5 ELSE object_entity END
 WHERE tenant_id = $1 AND user_id = $2
   AND (subject_entity = $4 AND subject_name = ANY ($3) OR object_entity = $4 AND object_name = ANY ($3));

-- name: get
-- $1 tenant · $2 documents
SELECT document_id, scope_id, folder, path, title, project, changed_at, encode(hash, 'hex') AS hash FROM documents
 WHERE tenant_id = $1 AND document_id = ANY ($2);

-- name: forget
-- $1 tenant · $2 document
DELETE FROM documents WHERE tenant_id = $1 AND document_id = $2;

-- name: size
-- How many sections there are.
-- $1 tenant · $2 scopes · $3 moment, or null for now: of documents that have not changed since
SELECT count(*) FROM sections s
 WHERE s.tenant_id = $1 AND s.scope_id = ANY ($2)
   AND ($3::timestamptz IS NULL OR EXISTS (SELECT FROM documents d WHERE d.tenant_id = $1 AND d.document_id = s.document_id
                                                                     AND d.changed_at <= $3));

-- name: count_words
-- In how many sections each word stands; a word that none has is left out.
-- $1 words
SELECT c.word, c.sections FROM count_sections($1) c;

-- name: by_words
-- The sections that hold most of the words, by their weights, best first.
-- $1 tenant · $2 words · $3 weights · $4 moment, or null for now · $5 at most
SELECT s.section_id FROM search_sections($2, $3, $5 * 4) f
  JOIN sections s ON s.tenant_id = $1 AND s.section_id = f.section_id
  JOIN documents d ON d.tenant_id = s.tenant_id AND d.document_id = s.document_id
 WHERE $4::timestamptz IS NULL OR d.changed_at <= $4
 ORDER BY f.score DESC, s.section_id LIMIT $5;

-- name: by_vector
-- The sections nearest to a vector, nearest first, with the mean cosine over all and its deviation.
-- $1 tenant · $2 scopes · $3 vector of unit length · $4 model · $5 moment, or null for now · $6 at most
SELECT e.section_id, -(e.emb <#> $3) AS cosine,
       avg(-(e.emb <#> $3)) OVER () AS mean, coalesce(stddev_pop(-(e.emb <#> $3)) OVER (), 0) AS deviation
  FROM section_embeddings e
 WHERE e.tenant_id = $1 AND e.scope_id = ANY ($2) AND e.model = $4
   AND ($5::timestamptz IS NULL OR (e.section_id IN (
         SELECT s.section_id FROM sections s JOIN documents d USING (tenant_id, document_id)
          WHERE s.tenant_id = $1 AND s.scope_id = ANY ($2) AND d.changed_at <= $5)) IS TRUE)
 ORDER BY (e.emb <#> $3) + 0
 LIMIT $6;

-- name: beside
-- The sections just before and after these, in their documents.
-- $1 tenant · $2 scopes · $3 sections
SELECT DISTINCT n.section_id FROM sections s
  JOIN sections n ON n.tenant_id = s.tenant_id AND n.document_id = s.document_id AND n.place IN (s.place - 1, s.place + 1)
 WHERE s.tenant_id = $1 AND s.scope_id = ANY ($2) AND s.section_id = ANY ($3);

-- name: read
-- $1 tenant · $2 scopes · $3 sections · $4 model
WITH vectors AS MATERIALIZED (
  SELECT section_id, emb FROM section_embeddings WHERE tenant_id = $1 AND section_id = ANY ($3) AND model = $4),
told AS MATERIALIZED (SELECT section_id, words FROM words_of_sections($3))
SELECT s.section_id, s.document_id, s.place, d.changed_at, t.words, v.emb
  FROM sections s JOIN documents d USING (tenant_id, document_id) JOIN told t USING (section_id) LEFT JOIN vectors v USING (section_id)
 WHERE s.tenant_id = $1 AND s.scope_id = ANY ($2) AND s.section_id = ANY ($3);

-- name: texts
-- Sections as they are shown, with their documents.
-- $1 tenant · $2 scopes · $3 sections
SELECT s.section_id, s.place, s.heading, s.body, s.orders, d.document_id, d.folder, d.path, d.title, d.project, d.changed_at
  FROM sections s JOIN documents d USING (tenant_id, document_id)
 WHERE s.tenant_id = $1 AND s.scope_id = ANY ($2) AND s.section_id = ANY ($3);

-- name: unembedded_scopes
-- Where sections wait for vectors (inside the pipeline's door).
-- $1 model
SELECT w.tenant_id, w.user_id, w.scope_id FROM scopes_without_section_vectors($1) w;

-- name: unembedded
-- Sections of this wall that a model has not seen yet, what was imported last first.
-- $1 tenant · $2 scopes · $3 model · $4 at most
SELECT s.section_id, d.title, s.heading, s.body FROM sections s JOIN documents d USING (tenant_id, document_id)
 WHERE s.tenant_id = $1 AND s.scope_id = ANY ($2)
   AND NOT EXISTS (SELECT FROM section_embeddings e WHERE e.tenant_id = s.tenant_id AND e.section_id = s.section_id AND e.model = $3)
 ORDER BY d.imported_at DESC, s.document_id, s.place LIMIT $4;

-- name: add_embedding
-- A section that went meanwhile gets none.
-- $1 tenant · $2 section · $3 model · $4 vector
INSERT INTO section_embeddings (tenant_id, scope_id, section_id, model, emb)
SELECT s.tenant_id, s.scope_id, s.section_id, $3, $4::halfvec FROM sections s WHERE s.tenant_id = $1 AND s.section_id = $2
ON CONFLICT DO NOTHING;
