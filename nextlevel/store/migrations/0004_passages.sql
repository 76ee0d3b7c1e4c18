-- Past turns are found again though nothing was learnt from them. A passage is a turn as search sees it; what was said
-- stays in turns, so that there is one place to take it from.
ALTER TABLE turns ADD COLUMN indexed boolean NOT NULL DEFAULT false;
CREATE INDEX turns_unindexed ON turns (tenant_id, user_id, profile_scope)
  WHERE NOT indexed AND NOT hidden AND kind = 'turn' AND state <> 'quarantined' AND duplicate_of IS NULL;

ALTER TABLE scopes ADD COLUMN passages bigint NOT NULL DEFAULT 0;
GRANT UPDATE (passages) ON scopes TO nextlevel_app;

CREATE TABLE passages (
  tenant_id   uuid NOT NULL,
  turn_id     text NOT NULL,
  scope_id    uuid NOT NULL,
  session     text NOT NULL,
  ordinal     integer NOT NULL,
  at          timestamptz NOT NULL,
  speaker     text NOT NULL,
  weak        boolean NOT NULL,
  PRIMARY KEY (tenant_id, turn_id),
  FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, scope_id) REFERENCES scopes (tenant_id, scope_id)
);
CREATE INDEX passages_of_scope ON passages (scope_id, at);
CREATE INDEX passages_of_session ON passages (tenant_id, scope_id, session, ordinal);

CREATE TABLE passage_embeddings (
  tenant_id   uuid NOT NULL,
  scope_id    uuid NOT NULL,
  turn_id     text NOT NULL,
  model       text NOT NULL,
  emb         halfvec NOT NULL,
  PRIMARY KEY (tenant_id, turn_id, model),
  FOREIGN KEY (tenant_id, turn_id) REFERENCES passages ON DELETE CASCADE
);
CREATE INDEX passage_embeddings_of_scope ON passage_embeddings (scope_id, model);

CREATE TABLE passage_words (
  tenant_id   uuid NOT NULL,
  turn_id     text NOT NULL,
  scope_id    uuid NOT NULL,
  words       tsvector NOT NULL,
  PRIMARY KEY (tenant_id, turn_id),
  FOREIGN KEY (tenant_id, turn_id) REFERENCES passages ON DELETE CASCADE
);
CREATE INDEX passage_words_gin ON passage_words USING gin (words);

CREATE FUNCTION scopes_without_passage_vectors(of_model text) RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT s.tenant_id, s.user_id, s.scope_id FROM scopes s JOIN passages p USING (tenant_id, scope_id)
   WHERE NOT EXISTS (SELECT FROM passage_embeddings e
                      WHERE e.tenant_id = p.tenant_id AND e.turn_id = p.turn_id AND e.model = of_model)
$$;

CREATE FUNCTION index_passage(turn text, passage_scope uuid, terms text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF passage_scope <> ALL (wall_scopes()) THEN RAISE insufficient_privilege USING MESSAGE = 'that scope is not in this wall'; END IF;
  INSERT INTO passage_words (tenant_id, turn_id, scope_id, words)
  SELECT wall_tenant(), turn, passage_scope,
         array_to_tsvector(ARRAY(SELECT DISTINCT left(t, 200) FROM unnest(terms) t WHERE t <> '') || ('~s' || passage_scope));
END $$;

CREATE FUNCTION words_of_passages(turns text[]) RETURNS TABLE (turn_id text, words text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT w.turn_id, array_remove(tsvector_to_array(w.words), '~s' || w.scope_id) FROM passage_words w
   WHERE w.tenant_id = wall_tenant() AND w.scope_id = ANY (wall_scopes()) AND w.turn_id = ANY (turns)
$$;

CREATE FUNCTION count_passages(terms text[]) RETURNS TABLE (word text, passages bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  here tsquery := (SELECT string_agg(quote_lexeme('~s' || s), '|') FROM unnest(wall_scopes()) s)::tsquery;
BEGIN
  FOREACH word IN ARRAY terms LOOP
    passages := (SELECT count(*) FROM passage_words w WHERE w.words @@ (here && quote_lexeme(word)::tsquery));
    IF passages > 0 THEN RETURN NEXT; END IF;
  END LOOP;
END $$;

CREATE FUNCTION search_passages(terms text[], weights real[], at_most integer) RETURNS TABLE (turn_id text, score real)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  RETURN QUERY
    SELECT w.turn_id, (SELECT sum(weights[i]) FROM generate_subscripts(terms, 1) i
                        WHERE w.words @@ quote_lexeme(terms[i])::tsquery)
      FROM passage_words w
     WHERE w.words @@ ((SELECT string_agg(quote_lexeme('~s' || s), '|') FROM unnest(wall_scopes()) s)::tsquery
                       && (SELECT string_agg(quote_lexeme(t), '|') FROM unnest(terms) t)::tsquery)
     ORDER BY 2 DESC, 1 LIMIT at_most;
END $$;

CREATE FUNCTION forget_passages(turns text[]) RETURNS TABLE (scope_id uuid, generation bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  touched uuid[];
BEGIN
  WITH gone AS (
    DELETE FROM passages p USING scopes s
     WHERE p.tenant_id = wall_tenant() AND p.turn_id = ANY (turns)
       AND s.tenant_id = p.tenant_id AND s.scope_id = p.scope_id AND s.user_id = wall_user()
    RETURNING p.scope_id)
  SELECT array_agg(DISTINCT g.scope_id) INTO touched FROM gone g;
  RETURN QUERY
    UPDATE scopes s SET generation = s.generation + 1, passages = s.passages + 1
     WHERE s.tenant_id = wall_tenant() AND s.scope_id = ANY (touched) RETURNING s.scope_id, s.generation;
END $$;

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['passages', 'passage_embeddings'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
  END LOOP;
END $$;
CREATE POLICY wall ON passages           TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY (wall_scopes()));
CREATE POLICY wall ON passage_embeddings TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY (wall_scopes()));
GRANT SELECT, INSERT, UPDATE, DELETE ON passages, passage_embeddings TO nextlevel_app;

REVOKE EXECUTE ON FUNCTION scopes_without_passage_vectors(text), index_passage(text, uuid, text[]), words_of_passages(text[]),
                           count_passages(text[]), search_passages(text[], real[], integer), forget_passages(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scopes_without_passage_vectors(text) TO nextlevel_pipeline;
GRANT EXECUTE ON FUNCTION index_passage(text, uuid, text[]), words_of_passages(text[]), count_passages(text[]),
                          search_passages(text[], real[], integer), forget_passages(text[]) TO nextlevel_app;
