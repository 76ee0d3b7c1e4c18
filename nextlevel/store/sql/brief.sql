-- What the opening brief of a session is made of.

-- name: rules
-- Standing rules of these scopes: the person's preferences that hold; with what was told to be remembered, if that is asked.
-- $1 tenant · $2 scopes · $3 moment, or null for now · $4 at most · $5 known at · $6 told to be remembered too
SELECT block_id FROM blocks
 WHERE tenant_id = $1 AND scope_id = ANY ($2) AND (type = 'user_preference' OR $6 AND explicit)
   AND CASE WHEN $3::timestamptz IS NULL
            THEN status = 'active' AND expires_at > now() AND (valid_to IS NULL OR valid_to > now())
            WHEN $5::timestamptz IS NULL
            THEN status <> 'review' AND valid_from <= $3 AND (valid_to IS NULL OR valid_to > $3)
            ELSE EXISTS (SELECT FROM as_known(blocks, $5) k
                         WHERE k.status <> 'review' AND k.valid_from <= $3 AND (k.valid_to IS NULL OR k.valid_to > $3)) END
 ORDER BY explicit DESC, confidence DESC, valid_from DESC, block_id LIMIT $4;

-- name: states
-- What holds of a project, what was told last first.
-- $1 tenant · $2 scopes · $3 project · $4 at most
SELECT * FROM blocks
 WHERE tenant_id = $1 AND scope_id = ANY ($2) AND project = $3 AND type IN ('project_state', 'procedural', 'learned_pattern')
   AND status = 'active' AND expires_at > now() AND (valid_to IS NULL OR valid_to > now())
 ORDER BY valid_from DESC, block_id LIMIT $4;

-- name: person
-- What holds of the person: how they want things, and what is told of them, what they told us to remember first.
-- $1 tenant · $2 scopes · $3 at most
SELECT * FROM blocks
 WHERE tenant_id = $1 AND scope_id = ANY ($2) AND (type = 'user_preference' OR subject = 'user')
   AND status = 'active' AND expires_at > now() AND (valid_to IS NULL OR valid_to > now())
 ORDER BY explicit DESC, confidence DESC, valid_from DESC, block_id LIMIT $3;

-- name: sessions
-- The last conversations of a profile but one: when, on what, what each came to, and its first words.
-- $1 tenant · $2 user · $3 profile · $4 but this session · $5 at most
SELECT s.session, s.last_at, s.digest, f.user_text AS first_words,
       (SELECT t.meta #>> '{project,name}' FROM turns t
         WHERE t.tenant_id = s.tenant_id AND t.user_id = s.user_id AND t.session = s.session AND t.kind = 'turn' AND NOT t.hidden
         ORDER BY t.ordinal DESC LIMIT 1) AS project
  FROM sessions s,
       LATERAL (SELECT left(t.user_text, 300) AS user_text FROM turns t
                 WHERE t.tenant_id = s.tenant_id AND t.user_id = s.user_id AND t.session = s.session AND t.kind = 'turn'
                   AND NOT t.hidden AND t.duplicate_of IS NULL AND t.user_text <> ''
                 ORDER BY t.ordinal LIMIT 1) f
 WHERE s.tenant_id = $1 AND s.user_id = $2 AND s.profile = $3 AND s.session <> $4
 ORDER BY s.last_at DESC LIMIT $5;
