-- The library: documents to look things up in, their sections with words and vectors, and what they link to.

CREATE TABLE documents (
  tenant_id   uuid NOT NULL,
  document_id uuid NOT NULL DEFAULT gen_random_uuid(),
  scope_id    uuid NOT NULL,
  user_id     uuid NOT NULL,
  folder      text NOT NULL CHECK (octet_length(folder) BETWEEN 1 AND 1000), -- as the machine that read it names it
  path        text NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 1000),   -- in the folder, with /; both fit an index
  title       text NOT NULL,
  project     text,
  hash        bytea NOT NULL CHECK (octet_length(hash) = 32),                -- of what was read: the same need not come again
  changed_at  timestamptz NOT NULL,                                          -- the file's own time
  imported_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, document_id),
  UNIQUE (tenant_id, scope_id, folder, path),
  FOREIGN KEY (tenant_id, scope_id) REFERENCES scopes (tenant_id, scope_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users
);

-- A piece of a document, by its headings. What is found, embedded and quoted.
CREATE TABLE sections (
  tenant_id   uuid NOT NULL,
  section_id  uuid NOT NULL DEFAULT gen_random_uuid(),
  document_id uuid NOT NULL,
  scope_id    uuid NOT NULL,
  place       integer NOT NULL CHECK (place > 0),  -- in its document, from 1
  heading     text NOT NULL,                       -- those above it, outermost first; empty before the first
  body        text NOT NULL,
  orders      text,                                -- by which pattern it reads like orders to a model: found, never quoted
  PRIMARY KEY (tenant_id, section_id),
  UNIQUE (tenant_id, document_id, place),
  FOREIGN KEY (tenant_id, document_id) REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX sections_of_scope ON sections (scope_id);

-- As narrow as embeddings, for the same reason.
CREATE TABLE section_embeddings (
  tenant_id   uuid NOT NULL,
  scope_id    uuid NOT NULL,
  section_id  uuid NOT NULL,
  model       text NOT NULL,
  emb         halfvec NOT NULL,            -- unit length; the dimension is the model's
  PRIMARY KEY (tenant_id, section_id, model),
  FOREIGN KEY (tenant_id, section_id) REFERENCES sections ON DELETE CASCADE
);
CREATE INDEX section_embeddings_of_scope ON section_embeddings (scope_id, model);

-- Without policy and grant, as block_words. Who reads it goes through the functions below.
CREATE TABLE section_words (
  tenant_id   uuid NOT NULL,
  section_id  uuid NOT NULL,
  scope_id    uuid NOT NULL,
  words       tsvector NOT NULL,
  PRIMARY KEY (tenant_id, section_id),
  FOREIGN KEY (tenant_id, section_id) REFERENCES sections ON DELETE CASCADE
);
CREATE INDEX section_words_gin ON section_words USING gin (words);

-- What a document links to, as part of the graph. Seen by all profiles of the person, as entities are: what forgets an
-- entity or merges it must know that a document of another profile names it. The names, in normal form, are those that
-- the document uses: they lead to the right one after a merge and after a split.
CREATE TABLE document_edges (
  tenant_id       uuid NOT NULL,
  document_id     uuid NOT NULL,
  scope_id        uuid NOT NULL,
  user_id         uuid NOT NULL,
  subject_name    text NOT NULL,
  subject_entity  uuid NOT NULL,
  predicate       text NOT NULL,
  object_name     text NOT NULL,
  object_entity   uuid NOT NULL,
  PRIMARY KEY (tenant_id, document_id, subject_name, predicate, object_name),
  FOREIGN KEY (tenant_id, document_id) REFERENCES documents ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, subject_entity) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, object_entity) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE
);
CREATE INDEX document_edges_of_subject ON document_edges (tenant_id, subject_entity);
CREATE INDEX document_edges_of_object ON document_edges (tenant_id, object_entity);

CREATE FUNCTION scopes_without_section_vectors(of_model text) RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT s.tenant_id, s.user_id, s.scope_id FROM scopes s JOIN sections p USING (tenant_id, scope_id)
   WHERE NOT EXISTS (SELECT FROM section_embeddings e
                      WHERE e.tenant_id = p.tenant_id AND e.section_id = p.section_id AND e.model = of_model)
$$;

CREATE FUNCTION index_section(section uuid, section_scope uuid, terms text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF section_scope <> ALL (wall_scopes()) THEN RAISE insufficient_privilege USING MESSAGE = 'that scope is not in this wall'; END IF;
  INSERT INTO section_words (tenant_id, section_id, scope_id, words)
  SELECT wall_tenant(), section, section_scope,
         array_to_tsvector(ARRAY(SELECT DISTINCT left(t, 200) FROM unnest(terms) t WHERE t <> '') || ('~s' || section_scope));
END $$;

CREATE FUNCTION words_of_sections(wanted uuid[]) RETURNS TABLE (section_id uuid, words text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT w.section_id, array_remove(tsvector_to_array(w.words), '~s' || w.scope_id) FROM section_words w
   WHERE w.tenant_id = wall_tenant() AND w.scope_id = ANY (wall_scopes()) AND w.section_id = ANY (wanted)
$$;

CREATE FUNCTION count_sections(terms text[]) RETURNS TABLE (word text, sections bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  here tsquery := (SELECT string_agg(quote_lexeme('~s' || s), '|') FROM unnest(wall_scopes()) s)::tsquery;
BEGIN
  FOREACH word IN ARRAY terms LOOP
    sections := (SELECT count(*) FROM section_words w WHERE w.words @@ (here && quote_lexeme(word)::tsquery));
    IF sections > 0 THEN RETURN NEXT; END IF;
  END LOOP;
END $$;

CREATE FUNCTION search_sections(terms text[], weights real[], at_most integer) RETURNS TABLE (section_id uuid, score real)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  RETURN QUERY
    SELECT w.section_id, (SELECT sum(weights[i]) FROM generate_subscripts(terms, 1) i
                           WHERE w.words @@ quote_lexeme(terms[i])::tsquery)
      FROM section_words w
     WHERE w.words @@ ((SELECT string_agg(quote_lexeme('~s' || s), '|') FROM unnest(wall_scopes()) s)::tsquery
                       && (SELECT string_agg(quote_lexeme(t), '|') FROM unnest(terms) t)::tsquery)
     ORDER BY 2 DESC, 1 LIMIT at_most;
END $$;

DROP FUNCTION count_vectors(text);

-- How many blocks, passages and sections there are, and how many of them wait for a vector of a model. Numbers, and nothing else.
CREATE FUNCTION count_vectors(of_model text) RETURNS TABLE (blocks bigint, blocks_waiting bigint, passages bigint, passages_waiting bigint,
                                                            sections bigint, sections_waiting bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT * FROM
    (SELECT count(*), count(*) FILTER (WHERE e.model IS NULL) FROM blocks b
       LEFT JOIN embeddings e ON e.tenant_id = b.tenant_id AND e.block_id = b.block_id AND e.model = of_model
      WHERE b.status <> 'expired') of_blocks,
    (SELECT count(*), count(*) FILTER (WHERE e.model IS NULL) FROM passages p
       LEFT JOIN passage_embeddings e ON e.tenant_id = p.tenant_id AND e.turn_id = p.turn_id AND e.model = of_model) of_passages,
    (SELECT count(*), count(*) FILTER (WHERE e.model IS NULL) FROM sections p
       LEFT JOIN section_embeddings e ON e.tenant_id = p.tenant_id AND e.section_id = p.section_id AND e.model = of_model) of_sections
$$;

-- Where vectors lie of other models than the one in use.
CREATE OR REPLACE FUNCTION scopes_with_old_vectors() RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT s.tenant_id, s.user_id, s.scope_id FROM scopes s, embedder m
   WHERE EXISTS (SELECT FROM embeddings e WHERE e.scope_id = s.scope_id AND e.model <> m.model)
      OR EXISTS (SELECT FROM passage_embeddings e WHERE e.scope_id = s.scope_id AND e.model <> m.model)
      OR EXISTS (SELECT FROM section_embeddings e WHERE e.scope_id = s.scope_id AND e.model <> m.model)
$$;

ALTER TABLE tombstones DROP CONSTRAINT tombstones_kind_check;
ALTER TABLE tombstones ADD CONSTRAINT tombstones_kind_check CHECK (kind IN ('turn', 'fact', 'document'));

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['documents', 'sections', 'section_embeddings', 'document_edges'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
  END LOOP;
END $$;
CREATE POLICY wall ON documents          TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY (wall_scopes()));
CREATE POLICY wall ON sections           TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY (wall_scopes()));
CREATE POLICY wall ON section_embeddings TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY (wall_scopes()));
CREATE POLICY wall ON document_edges     TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());

GRANT SELECT, INSERT, DELETE ON documents, sections, section_embeddings TO nextlevel_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON document_edges TO nextlevel_app;
REVOKE EXECUTE ON FUNCTION scopes_without_section_vectors(text), index_section(uuid, uuid, text[]), words_of_sections(uuid[]),
                           count_sections(text[]), search_sections(text[], real[], integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scopes_without_section_vectors(text) TO nextlevel_pipeline;
GRANT EXECUTE ON FUNCTION index_section(uuid, uuid, text[]), words_of_sections(uuid[]), count_sections(text[]),
                          search_sections(text[], real[], integer) TO nextlevel_app;
REVOKE EXECUTE ON FUNCTION count_vectors(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION count_vectors(text) TO nextlevel_pipeline;
