-- Look for what a new fact may repeat or replace at a cost that does not grow with the scope.
-- The newest blocks of a subject are read in order, not sorted out of all of them.
DROP INDEX blocks_of_subject;
CREATE INDEX blocks_of_subject ON blocks (tenant_id, subject_entity, valid_from DESC) WHERE status = 'active';

-- The blocks that share rare words with a text: words that together stand in at most `most` blocks, so that the cost does
-- not grow with the scope. For who looks for the same fact, not for who asks a question.
CREATE FUNCTION search_rare_words(terms text[], most integer, at_most integer) RETURNS TABLE (block_id uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  walls uuid[] := wall_scopes();
  rarest text[];
  weights real[];
BEGIN
  SELECT array_agg(f.word), array_agg(ln(1 + most / f.held)::real) INTO rarest, weights FROM (
    SELECT c.word, sum(c.blocks)::real AS held, sum(sum(c.blocks)) OVER (ORDER BY sum(c.blocks), c.word) AS held_so_far
      FROM word_counts c WHERE c.scope_id = ANY (walls) AND c.word = ANY (terms) GROUP BY c.word) f
   WHERE f.held_so_far <= most;
  IF rarest IS NULL THEN RETURN; END IF;
  RETURN QUERY
    SELECT f.block_id FROM (
      SELECT b.block_id, (SELECT sum(weights[i]) FROM generate_subscripts(rarest, 1) i
                           WHERE b.words @@ quote_lexeme(rarest[i])::tsquery) AS score
        FROM block_words b
       WHERE b.words @@ ((SELECT string_agg(quote_lexeme('~s' || s), '|') FROM unnest(walls) s)::tsquery
                         && (SELECT string_agg(quote_lexeme(w), '|') FROM unnest(rarest) w)::tsquery)) f
     ORDER BY f.score DESC, f.block_id LIMIT at_most;
END $$;
REVOKE EXECUTE ON FUNCTION search_rare_words(text[], integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_rare_words(text[], integer, integer) TO nextlevel_app;
