-- The whole schema of Hermes Memory Next Level, as of the last migration. One database of its own; Postgres 16 or later
-- with pgvector. A test builds one database from this file and one from nextlevel/store/migrations, and compares them.
--
-- Who sees what. Nobody logs in with rights of their own: each transaction takes one of two roles, for itself only
-- (set_config(…, is_local), so that a pooler in transaction mode is fine).
--   nextlevel_pipeline   moves turns through their stages, for all tenants; cannot see a single memory
--   nextlevel_app        reads and writes memory, walled by row-level security to the tenant, user and scopes that the
--                        transaction named; a setting that was not named is an error, not an empty answer
-- nextlevel_service is the login that may take either role, and owns nothing.

CREATE EXTENSION IF NOT EXISTS vector;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nextlevel_pipeline') THEN CREATE ROLE nextlevel_pipeline NOLOGIN; END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nextlevel_app') THEN CREATE ROLE nextlevel_app NOLOGIN; END IF;
  -- Without a password a server that asks for one lets nobody in: the fleet's operator sets it with ALTER ROLE.
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nextlevel_service') THEN CREATE ROLE nextlevel_service LOGIN NOINHERIT; END IF;
  GRANT nextlevel_pipeline, nextlevel_app TO nextlevel_service;
END $$;

-- The wall of the transaction. Unset: an error.
CREATE FUNCTION wall_tenant() RETURNS uuid LANGUAGE sql STABLE AS $$ SELECT current_setting('nextlevel.tenant')::uuid $$;
CREATE FUNCTION wall_user() RETURNS uuid LANGUAGE sql STABLE AS $$ SELECT current_setting('nextlevel.user')::uuid $$;
CREATE FUNCTION wall_scopes() RETURNS uuid[] LANGUAGE sql STABLE AS $$ SELECT current_setting('nextlevel.scopes')::uuid[] $$;


-- ─── whose ──────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE tenants (
  tenant_id   uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name        text NOT NULL UNIQUE,
  created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE users (
  tenant_id   uuid NOT NULL REFERENCES tenants,
  user_id     uuid NOT NULL DEFAULT gen_random_uuid(),
  name        text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id),
  UNIQUE (tenant_id, name)
);

-- A delivery identity: one outbox. Made at enrolment; a cloned or forked home's id (base.suffix, base~fp8) inherits the
-- base's owner. Tenant and user of a turn come from here, never from its event.
CREATE TABLE installations (
  install     text PRIMARY KEY,
  base        text NOT NULL,
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  mark        bigint NOT NULL DEFAULT 0,  -- every seq up to here is in turns
  high        bigint NOT NULL DEFAULT 0,  -- the highest seq in turns; what is missing between mark and high are the gaps
  created_at  timestamptz NOT NULL DEFAULT now(),
  last_seen   timestamptz,
  revoked_at  timestamptz,
  FOREIGN KEY (tenant_id, user_id) REFERENCES users,
  CHECK (mark >= 0 AND high >= mark)
);
CREATE INDEX ON installations (base);

-- A gateway's speaker (platform:id) is a user of their own under the installation's tenant.
CREATE TABLE principals (
  base        text NOT NULL,
  principal   text NOT NULL,
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  PRIMARY KEY (base, principal),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users
);

-- Where a block lives is who may read it. The generation is raised in every transaction that changes what recall could
-- answer for this scope: caches are keyed by it.
CREATE TABLE scopes (
  tenant_id   uuid NOT NULL,
  scope_id    uuid NOT NULL DEFAULT gen_random_uuid(),
  kind        text NOT NULL CHECK (kind IN ('profile', 'user', 'tenant')),
  user_id     uuid,
  profile     text,
  generation  bigint NOT NULL DEFAULT 1,
  passages    bigint NOT NULL DEFAULT 0,   -- raised beside the generation when a passage comes or goes
  names       bigint NOT NULL DEFAULT 0,   -- of the user's scope: raised when a name goes, or means something else
  compared_to timestamptz NOT NULL DEFAULT now(), -- up to this change upkeep has compared its blocks with each other
  PRIMARY KEY (tenant_id, scope_id),
  UNIQUE NULLS NOT DISTINCT (tenant_id, user_id, profile),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users,
  CHECK ((kind = 'tenant') = (user_id IS NULL)),
  CHECK ((kind = 'profile') = (profile IS NOT NULL))
);


-- ─── turns: the truth, and the state of each ────────────────────────────────────────────────────────────────────────

CREATE TABLE sessions (
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  session     text NOT NULL,
  profile     text NOT NULL,
  started_at  timestamptz NOT NULL,
  last_at     timestamptz NOT NULL,
  ended_at    timestamptz,
  digest      jsonb,                       -- title, topics, decisions, open ends, state: workers/steps/digest.py
  digested_at timestamptz,                 -- null: something was said or forgotten since, or never made
  PRIMARY KEY (tenant_id, user_id, session),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users
);
CREATE INDEX sessions_undigested ON sessions (last_at) WHERE digested_at IS NULL;
CREATE INDEX sessions_of_profile ON sessions (tenant_id, user_id, profile, last_at);

CREATE TABLE turns (
  tenant_id       uuid NOT NULL,
  id              text NOT NULL,           -- <install>:<seq>
  install         text NOT NULL REFERENCES installations,
  seq             bigint NOT NULL CHECK (seq > 0),
  fp              text NOT NULL,
  kind            text NOT NULL,
  lane            text NOT NULL CHECK (lane IN ('live', 'batch', 'backfill')),
  user_id         uuid NOT NULL,
  profile_scope   uuid NOT NULL,
  user_scope      uuid NOT NULL,
  profile         text NOT NULL,
  session         text NOT NULL,
  ordinal         integer NOT NULL,        -- place in the session, from 1; 0: outside a conversation
  at              timestamptz NOT NULL,    -- when it was said, at most five minutes after received_at
  utc_offset_min  smallint NOT NULL,       -- the speaker's own zone, so that "tomorrow" means theirs
  user_text       text NOT NULL,
  assistant_text  text NOT NULL,
  tools           jsonb NOT NULL DEFAULT '[]',
  meta            jsonb NOT NULL DEFAULT '{}',
  body            jsonb NOT NULL DEFAULT '{}',
  duplicate_of    text,                    -- the same turn under another id
  hidden          boolean NOT NULL DEFAULT false, -- something said here was forgotten: tier 2 must not show it
  indexed         boolean NOT NULL DEFAULT false, -- its passage was made
  received_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  --     received → extracted → linked → stored, or skipped, quarantined, dead, erased
  state           text NOT NULL CHECK (state IN ('received', 'extracted', 'linked',
                                                 'stored', 'skipped', 'quarantined', 'dead', 'erased')),
  reason          text,                    -- why it ended otherwise than stored, or what it waits for
  finished_at     timestamptz,
  fence           integer NOT NULL DEFAULT 0,  -- raised by each claim: a write with an older one is refused
  lease_until     timestamptz,                 -- owned by a worker until then; expired and not null: the worker died
  not_before      timestamptz,
  attempts        integer NOT NULL DEFAULT 0,  -- claims of this stage that were not ended by a transient error
  crashes         integer NOT NULL DEFAULT 0,  -- claims of this stage whose worker died
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, install, seq),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users,
  FOREIGN KEY (tenant_id, profile_scope) REFERENCES scopes (tenant_id, scope_id),
  FOREIGN KEY (tenant_id, user_scope) REFERENCES scopes (tenant_id, scope_id),
  CHECK ((finished_at IS NOT NULL) = (state IN ('stored', 'skipped', 'quarantined', 'dead', 'erased'))),
  CHECK (state NOT IN ('skipped', 'quarantined', 'dead') OR reason IS NOT NULL),
  CHECK (state <> 'erased' OR (user_text = '' AND assistant_text = ''))
);
CREATE UNIQUE INDEX turns_told_once ON turns (tenant_id, user_id, fp) WHERE duplicate_of IS NULL;
CREATE INDEX turns_waiting ON turns (state, received_at) WHERE finished_at IS NULL;
CREATE INDEX turns_waiting_in_session ON turns (tenant_id, install, session, seq) WHERE finished_at IS NULL;
CREATE INDEX turns_of_session ON turns (tenant_id, user_id, session, ordinal);
CREATE INDEX turns_hidden ON turns (install, seq) WHERE hidden;
CREATE INDEX turns_unindexed ON turns (tenant_id, user_id, profile_scope)
  WHERE NOT indexed AND NOT hidden AND kind = 'turn' AND state <> 'quarantined' AND duplicate_of IS NULL;
-- How fast turns end, and which did last: without a scan of all that ever ended.
CREATE INDEX turns_ended ON turns (finished_at, id) WHERE finished_at IS NOT NULL;

-- What a step found in a turn, held until it is stored: what the model said, what was read from that and by the rules,
-- then applied once.
CREATE TABLE extractions (
  tenant_id   uuid NOT NULL,
  turn_id     text NOT NULL,
  extractor   text NOT NULL,               -- name and version
  raw         jsonb,                       -- what was found
  linked      jsonb,                       -- raw with proposed entities, once linked
  made_at     timestamptz NOT NULL DEFAULT now(),
  answer      jsonb,                       -- what a model said, secrets taken out; null where none was asked
  PRIMARY KEY (tenant_id, turn_id),
  FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE,
  CHECK (raw IS NOT NULL OR answer IS NOT NULL)
);

-- What language models cost each tenant a day, so that a bound holds over all workers and a restart of any.
CREATE TABLE model_spending (
  tenant_id   uuid NOT NULL REFERENCES tenants,
  day         date NOT NULL,               -- UTC, by Postgres's clock
  model       text NOT NULL,
  calls       integer NOT NULL CHECK (calls >= 0),
  tokens_in   bigint NOT NULL CHECK (tokens_in >= 0),
  tokens_out  bigint NOT NULL CHECK (tokens_out >= 0),
  money       double precision NOT NULL CHECK (money >= 0), -- in the currency of the settings' prices
  PRIMARY KEY (tenant_id, day, model)
);

-- Entries that never became a turn (quarantined), and turns that no retry can help (dead): input, reason, cure.
CREATE TABLE dead_letters (
  dead_letter_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind            text NOT NULL CHECK (kind IN ('quarantined', 'dead')),
  tenant_id       uuid,                    -- unknown where the sender is
  turn_id         text,
  entry_id        text UNIQUE,             -- the stream entry, so that a redelivery adds no second row
  code            text NOT NULL,
  reason          text NOT NULL,
  input           bytea,                   -- as it came; at most 64 KiB of what is broken, all of what is only too new
  at              timestamptz NOT NULL DEFAULT now()
);

-- One linked trace from event to blocks: the step, and its facts (ids, counts, reasons).
CREATE TABLE trace_events (
  trace_event_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id       uuid NOT NULL,
  turn_id         text NOT NULL,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  step            text NOT NULL,
  facts           jsonb NOT NULL DEFAULT '{}',
  FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ON trace_events (tenant_id, turn_id);

-- What must not come back: an undone turn, a forgotten fact. Checked again in the store transaction, so that a turn in
-- flight can't bring it back. The same fact told after `at` is news and may.
CREATE TABLE tombstones (
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  kind        text NOT NULL CHECK (kind IN ('turn', 'fact', 'document')),
  ref         text NOT NULL,               -- turn id, or a fact's or a document's hash (hex)
  at          timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, user_id, kind, ref),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users
);

-- What was asked and what was shown, so that an operator can see where a memory went. Kept for 30 days and 100,000 rows.
CREATE TABLE recalls (
  recall_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  session     text NOT NULL,               -- empty where the host named none
  at          timestamptz NOT NULL,
  query       text NOT NULL CHECK (char_length(query) <= 300), -- redacted
  mode        text NOT NULL CHECK (mode IN ('prefetch', 'search')),
  rung        text NOT NULL CHECK (rung IN ('cache', 'hot', 'sql')),
  ms          real NOT NULL,
  abstained   boolean NOT NULL,
  vectors     boolean NOT NULL,            -- whether meaning was compared
  shown       jsonb NOT NULL,              -- [{"block": uuid, "score": 0..1}, …], best first
  FOREIGN KEY (tenant_id, user_id) REFERENCES users
);
CREATE INDEX recalls_of_user ON recalls (tenant_id, user_id, at);
CREATE INDEX recalls_by_age ON recalls (at);


-- ─── memory ─────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE entities (
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  entity_id   uuid NOT NULL DEFAULT gen_random_uuid(),
  name        text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  normal_name text NOT NULL CHECK (normal_name <> ''),
  type        text NOT NULL CHECK (type IN ('person', 'project', 'file', 'technology', 'organisation', 'place', 'host', 'topic')),
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, entity_id),
  UNIQUE (tenant_id, user_id, normal_name, type),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users
);

CREATE TABLE entity_aliases (
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  alias       text NOT NULL CHECK (alias <> ''), -- in normal form
  entity_id   uuid NOT NULL,
  added       bigint GENERATED ALWAYS AS IDENTITY, -- in order: written under the person's lock
  PRIMARY KEY (tenant_id, user_id, alias, entity_id),
  FOREIGN KEY (tenant_id, entity_id) REFERENCES entities ON DELETE CASCADE
);
CREATE INDEX entity_aliases_in_order ON entity_aliases (tenant_id, user_id, added);

-- What a person joined: one entity is spoken of as another from then on, until it is split off. Split off only: a row
-- without merged_at. The merged entity keeps its row and loses its names.
CREATE TABLE entity_merges (
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  merge_id    uuid NOT NULL,
  kept        uuid NOT NULL,
  merged      uuid NOT NULL,
  aliases     text[] NOT NULL,             -- the names that moved
  blocks      uuid[] NOT NULL,             -- the blocks that moved
  shared      uuid[] NOT NULL,             -- those of them that spoke of both
  merged_at   timestamptz,
  split_at    timestamptz,
  PRIMARY KEY (tenant_id, merge_id),
  FOREIGN KEY (tenant_id, kept) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, merged) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
  CHECK (kept <> merged)
);
CREATE UNIQUE INDEX entity_merges_once ON entity_merges (tenant_id, merged) WHERE split_at IS NULL;
CREATE INDEX entity_merges_of_kept ON entity_merges (tenant_id, kept);

CREATE TABLE blocks (
  tenant_id       uuid NOT NULL,
  block_id        uuid NOT NULL,
  scope_id        uuid NOT NULL,
  user_id         uuid NOT NULL,
  type            text NOT NULL CHECK (type IN ('user_preference', 'project_state', 'learned_pattern', 'entity_relationship', 'procedural')),
  category        text NOT NULL CHECK (category IN ('formatting', 'workflow', 'tech_stack', 'contact', 'project', 'skill')),
  subject         text NOT NULL,
  predicate       text NOT NULL,
  object          text NOT NULL,
  key             text,
  value           text,
  context         text NOT NULL DEFAULT '' CHECK (char_length(context) <= 300),
  negated         boolean NOT NULL DEFAULT false,
  explicit        boolean NOT NULL DEFAULT false,
  confidence      real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  provenance      text NOT NULL CHECK (provenance IN ('user_stated', 'user_accepted', 'tool_observed', 'inferred',
                                                      'assistant_stated', 'document', 'imported')),
  status          text NOT NULL CHECK (status IN ('active', 'review', 'superseded', 'expired')), -- forgotten: the row is gone
  project         text,
  subject_entity  uuid,
  hash            bytea NOT NULL CHECK (octet_length(hash) = 32), -- SHA-256 of the normalised fact
  created_at      timestamptz NOT NULL DEFAULT now(),             -- when we learnt it
  updated_at      timestamptz NOT NULL DEFAULT now(),
  valid_from      timestamptz NOT NULL,                           -- when it was true
  valid_to        timestamptz,
  utc_offset_min  smallint NOT NULL,                              -- the speaker's zone: midnight there is no day before
  superseded_by   uuid,
  expires_at      timestamptz NOT NULL,
  access_count    integer NOT NULL DEFAULT 0,
  last_accessed   timestamptz,
  verdict         text CHECK (verdict IN ('used', 'wrong')),      -- what a person said of it; moves its rank a little
  PRIMARY KEY (tenant_id, block_id),
  FOREIGN KEY (tenant_id, scope_id) REFERENCES scopes (tenant_id, scope_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users,
  FOREIGN KEY (tenant_id, subject_entity) REFERENCES entities (tenant_id, entity_id),
  FOREIGN KEY (tenant_id, superseded_by) REFERENCES blocks (tenant_id, block_id) DEFERRABLE INITIALLY DEFERRED,
  CHECK (valid_to IS NULL OR valid_to >= valid_from),
  CHECK (status <> 'superseded' OR valid_to IS NOT NULL),
  CHECK (superseded_by IS NULL OR status = 'superseded')
);
-- The check that two parallel stores can't both pass: one living copy of a fact in a scope.
CREATE UNIQUE INDEX blocks_once ON blocks (tenant_id, scope_id, hash) WHERE status IN ('active', 'review');
CREATE INDEX blocks_of_scope ON blocks (scope_id, status);
CREATE INDEX blocks_by_end ON blocks (scope_id, expires_at) WHERE status IN ('active', 'review');
CREATE INDEX blocks_by_change ON blocks (scope_id, updated_at);
CREATE INDEX blocks_by_first_day ON blocks (scope_id, valid_from);                         -- what does not hold at a moment
CREATE INDEX blocks_by_last_day ON blocks (scope_id, valid_to) WHERE valid_to IS NOT NULL;
CREATE INDEX blocks_of_subject ON blocks (tenant_id, subject_entity, valid_from DESC) WHERE status = 'active';
CREATE INDEX blocks_of_rules ON blocks (scope_id) WHERE type = 'user_preference' OR explicit; -- the brief, standing rules
CREATE INDEX blocks_of_project ON blocks (scope_id, project, valid_from DESC) WHERE status = 'active' AND project IS NOT NULL;
CREATE INDEX blocks_superseded_by ON blocks (tenant_id, superseded_by) WHERE superseded_by IS NOT NULL;

-- No block changes in place without a row here: what it was, what happened, and by which turn.
CREATE TABLE block_versions (
  tenant_id   uuid NOT NULL,
  block_id    uuid NOT NULL,
  version     integer NOT NULL,
  change      text NOT NULL CHECK (change IN ('confirmed', 'superseded', 'retracted', 'restored', 'merged', 'split', 'expired')),
  caused_by   text NOT NULL,
  before      jsonb NOT NULL,
  changed_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, block_id, version),
  FOREIGN KEY (tenant_id, block_id) REFERENCES blocks ON DELETE CASCADE
);
CREATE INDEX block_versions_expired ON block_versions (changed_at) WHERE change = 'expired';

-- A block as memory knew it at a moment: nothing if it was learnt later, and as it was then if it has changed since.
CREATE FUNCTION as_known(b blocks, moment timestamptz) RETURNS SETOF blocks LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT was.* FROM jsonb_populate_record(b, coalesce(
           (SELECT v.before FROM block_versions v
             WHERE v.tenant_id = b.tenant_id AND v.block_id = b.block_id AND v.changed_at > moment ORDER BY v.version LIMIT 1),
           '{}')) was
   WHERE b.created_at <= moment
$$;

-- Where blocks have outlived their time, those that wait longest first. The pipeline may know which scopes these are, and
-- nothing of what they hold.
CREATE FUNCTION scopes_with_outlived(at_most integer) RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT s.tenant_id, s.user_id, s.scope_id FROM scopes s
   CROSS JOIN LATERAL (SELECT b.expires_at FROM blocks b
                        WHERE b.scope_id = s.scope_id AND b.status IN ('active', 'review') AND b.expires_at <= now()
                        ORDER BY b.expires_at LIMIT 1) ended
   ORDER BY ended.expires_at LIMIT at_most
$$;

-- How many blocks wait to expire, and how many did within a day. Numbers, and nothing else.
CREATE FUNCTION count_expired() RETURNS TABLE (waiting bigint, today bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT (SELECT count(*) FROM scopes s JOIN blocks b USING (scope_id)
           WHERE b.status IN ('active', 'review') AND b.expires_at <= now()),
         (SELECT count(*) FROM block_versions WHERE change = 'expired' AND changed_at > now() - interval '1 day')
$$;

-- Where blocks changed that upkeep has not compared yet, those it saw longest ago first.
CREATE FUNCTION scopes_to_compare(at_most integer) RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT s.tenant_id, s.user_id, s.scope_id FROM scopes s
   WHERE s.user_id IS NOT NULL
     AND EXISTS (SELECT FROM blocks b WHERE b.scope_id = s.scope_id AND b.updated_at > s.compared_to)
   ORDER BY s.compared_to LIMIT at_most
$$;

CREATE TABLE block_sources (
  tenant_id   uuid NOT NULL,
  block_id    uuid NOT NULL,
  turn_id     text NOT NULL,
  span        text NOT NULL,               -- the words it stands on
  at          timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, block_id, turn_id),
  FOREIGN KEY (tenant_id, block_id) REFERENCES blocks ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id)
);
CREATE INDEX ON block_sources (tenant_id, turn_id);

-- What a person took back, in their words, and the block that it ended: null where it found none yet. A fact that was told
-- before and arrives later is looked up here.
CREATE TABLE retractions (
  tenant_id   uuid NOT NULL,
  turn_id     text NOT NULL,
  number      smallint NOT NULL,           -- of the turn's retractions, from 0
  user_id     uuid NOT NULL,
  scope_id    uuid NOT NULL,               -- the profile's under which it was said
  at          timestamptz NOT NULL,
  said        text NOT NULL,
  project     text,                        -- in which it was said
  block_id    uuid,
  PRIMARY KEY (tenant_id, turn_id, number),
  FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, user_id) REFERENCES users,
  FOREIGN KEY (tenant_id, block_id) REFERENCES blocks ON DELETE SET NULL (block_id)
);
CREATE INDEX retractions_of_user ON retractions (tenant_id, user_id, at);
CREATE INDEX retractions_of_block ON retractions (tenant_id, block_id) WHERE block_id IS NOT NULL;

-- What a language model said of two facts on which the rules can't decide, by their hashes: asked once, replayed from here.
CREATE TABLE judgements (
  tenant_id   uuid NOT NULL,
  user_id     uuid NOT NULL,
  later       bytea NOT NULL CHECK (octet_length(later) = 32),   -- the fact that was told later
  earlier     bytea NOT NULL CHECK (octet_length(earlier) = 32),
  judge       text NOT NULL,               -- model, and version of the prompt
  verdict     text CHECK (verdict IN ('same', 'updates', 'refines', 'distinct')),
  trouble     text CHECK (trouble IN ('refused', 'malformed', 'truncated')), -- why its answer is of no use
  made_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, later, earlier, judge),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users,
  CHECK ((verdict IS NULL) = (trouble IS NOT NULL))
);
CREATE INDEX judgements_of_earlier ON judgements (tenant_id, user_id, earlier);

-- A block seen as part of the graph. Validity is the block's.
CREATE TABLE edges (
  tenant_id       uuid NOT NULL,
  block_id        uuid NOT NULL,
  scope_id        uuid NOT NULL,
  subject_entity  uuid NOT NULL,
  predicate       text NOT NULL,
  object_entity   uuid NOT NULL,
  PRIMARY KEY (tenant_id, block_id, subject_entity, object_entity),
  FOREIGN KEY (tenant_id, block_id) REFERENCES blocks ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, subject_entity) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, object_entity) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE
);
CREATE INDEX ON edges (tenant_id, subject_entity);
CREATE INDEX ON edges (tenant_id, object_entity);

-- Every entity that a block speaks of, the subject and object among them.
CREATE TABLE mentions (
  tenant_id   uuid NOT NULL,
  block_id    uuid NOT NULL,
  entity_id   uuid NOT NULL,
  scope_id    uuid NOT NULL,
  PRIMARY KEY (tenant_id, block_id, entity_id),
  FOREIGN KEY (tenant_id, block_id) REFERENCES blocks ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, entity_id) ON DELETE CASCADE
);
CREATE INDEX ON mentions (tenant_id, entity_id);

-- Narrow on purpose: beside text a vector is TOASTed, and an exact scan of a scope is ten times slower.
CREATE TABLE embeddings (
  tenant_id   uuid NOT NULL,
  scope_id    uuid NOT NULL,
  block_id    uuid NOT NULL,
  model       text NOT NULL,
  emb         halfvec NOT NULL,            -- unit length; the dimension is the model's
  PRIMARY KEY (tenant_id, block_id, model),
  FOREIGN KEY (tenant_id, block_id) REFERENCES blocks ON DELETE CASCADE
);
CREATE INDEX embeddings_of_scope ON embeddings (scope_id, model);

-- Where upkeep has vectors to make. The pipeline may know which scopes these are, and nothing of what they hold.
CREATE FUNCTION scopes_without_vectors(of_model text) RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT b.tenant_id, b.user_id, b.scope_id FROM blocks b
   WHERE b.status <> 'expired'
     AND NOT EXISTS (SELECT FROM embeddings e WHERE e.tenant_id = b.tenant_id AND e.block_id = b.block_id AND e.model = of_model)
$$;

-- The model whose vectors are compared: at most one row. `nextlevel reembed` changes it once it has made all of the new.
CREATE TABLE embedder (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  model       text NOT NULL,
  dimension   integer NOT NULL CHECK (dimension > 0),
  usual       double precision NOT NULL,                   -- its cosine between a question and what has nothing to do with it
  times       double precision NOT NULL CHECK (times > 0), -- how much further from that the packaged model puts an answer
  since       timestamptz NOT NULL DEFAULT now()
);


-- ─── search by words ────────────────────────────────────────────────────────────────────────────────────────────────
-- @@ is not leakproof: under row-level security the GIN index is not used (2.4 → 21 ms). So these two tables have no
-- policy and no grant; only the functions below reach them, and they take the scopes from the transaction's wall.
-- Without fastupdate: a list of pending entries, which every search reads through until a vacuum, cost it up to 10 ms.

CREATE TABLE block_words (
  block_id    uuid PRIMARY KEY,
  tenant_id   uuid NOT NULL,
  scope_id    uuid NOT NULL,
  words       tsvector NOT NULL,           -- the words of nextlevel.lang.tokens, and one lexeme that names the scope
  FOREIGN KEY (tenant_id, block_id) REFERENCES blocks ON DELETE CASCADE
);
CREATE INDEX block_words_gin ON block_words USING gin (words) WITH (fastupdate = off);
CREATE INDEX block_words_of_scope ON block_words (scope_id);

CREATE TABLE word_counts (
  scope_id    uuid NOT NULL,
  word        text NOT NULL,
  blocks      integer NOT NULL CHECK (blocks >= 0), -- in how many blocks of the scope; all have the one that names it
  PRIMARY KEY (scope_id, word)
);

CREATE FUNCTION index_words(block uuid, block_scope uuid, terms text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  fresh text[] := ARRAY(SELECT DISTINCT left(t, 200) FROM unnest(terms || ('~s' || block_scope)) t WHERE t <> '' ORDER BY 1);
BEGIN
  IF block_scope <> ALL (wall_scopes()) THEN RAISE insufficient_privilege USING MESSAGE = 'that scope is not in this wall'; END IF;
  INSERT INTO block_words (block_id, tenant_id, scope_id, words)
       VALUES (block, wall_tenant(), block_scope, array_to_tsvector(fresh));
  -- In order of word, so that two stores of one scope can't deadlock on the counts.
  INSERT INTO word_counts (scope_id, word, blocks) SELECT block_scope, w, 1 FROM unnest(fresh) w
  ON CONFLICT (scope_id, word) DO UPDATE SET blocks = word_counts.blocks + 1;
END $$;

CREATE FUNCTION uncount_words() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE word_counts c SET blocks = c.blocks - 1
    FROM unnest(tsvector_to_array(OLD.words)) w WHERE c.scope_id = OLD.scope_id AND c.word = w;
  DELETE FROM word_counts WHERE scope_id = OLD.scope_id AND blocks = 0;
  RETURN OLD;
END $$;
CREATE TRIGGER uncount_words AFTER DELETE ON block_words FOR EACH ROW EXECUTE FUNCTION uncount_words();

CREATE FUNCTION quote_lexeme(word text) RETURNS text LANGUAGE sql IMMUTABLE
AS $$ SELECT '''' || replace(replace(word, '\', '\\'), '''', '''''') || '''' $$;

-- How many blocks of the wall hold a word at all.
CREATE FUNCTION worded_blocks() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce(sum(c.blocks), 0) FROM unnest(wall_scopes()) s JOIN word_counts c ON c.scope_id = s AND c.word = '~s' || s
$$;

-- How rare each of these words is among the blocks of the wall: ln(1 + blocks / blocks with it). One that none has is left out.
CREATE FUNCTION weigh_words(terms text[]) RETURNS TABLE (word text, idf real)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  walls uuid[] := wall_scopes();
  held real := worded_blocks();
BEGIN
  RETURN QUERY
    SELECT c.word, ln(1 + held / sum(c.blocks))::real
      FROM word_counts c WHERE c.scope_id = ANY (walls) AND c.word = ANY (terms) GROUP BY c.word;
END $$;

-- The blocks that share most with a query: any word counts (OR), rare ones more (idf). Only the six rarest terms are
-- looked up: more cost time and bring almost nothing (.614 → .612 recall@10 on LoCoMo). Few rows are promised, so that
-- their blocks are looked up one by one: joined with all of a scope's, they took 14 ms at 10,000, and not 4.
CREATE FUNCTION search_words(terms text[], at_most integer) RETURNS TABLE (block_id uuid, score real)
LANGUAGE plpgsql STABLE ROWS 100 SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  walls tsquery := (SELECT string_agg(quote_lexeme('~s' || s), '|') FROM unnest(wall_scopes()) s)::tsquery;
  rarest tsquery[];  -- made once: else they are read anew for each block that has one
  weights real[];
BEGIN
  SELECT array_agg(quote_lexeme(f.word)::tsquery), array_agg(f.idf) INTO rarest, weights
    FROM (SELECT w.word, w.idf FROM weigh_words(terms) w ORDER BY w.idf DESC, w.word LIMIT 6) f;
  IF rarest IS NULL THEN RETURN; END IF;
  RETURN QUERY
    SELECT f.block_id, sum(f.idf)::real
      FROM unnest(rarest, weights) AS t (query, idf)
     CROSS JOIN LATERAL (SELECT b.block_id, t.idf FROM block_words b WHERE b.words @@ (walls && t.query)) f
     GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT at_most;
END $$;

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


-- ─── past turns ─────────────────────────────────────────────────────────────────────────────────────────────────────
-- A turn as search sees it, so that it is found again though nothing was learnt from it. What was said stays in turns:
-- there is one place to take it from. Turns that are hidden, erased, or told twice have none.

CREATE TABLE passages (
  tenant_id   uuid NOT NULL,
  turn_id     text NOT NULL,
  scope_id    uuid NOT NULL,
  session     text NOT NULL,
  ordinal     integer NOT NULL,
  at          timestamptz NOT NULL,
  speaker     text NOT NULL,               -- in normal form, where the text names one ("Flo: …"), else empty
  weak        boolean NOT NULL,            -- a bare question or a word or two: seldom an answer
  PRIMARY KEY (tenant_id, turn_id),
  FOREIGN KEY (tenant_id, turn_id) REFERENCES turns (tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, scope_id) REFERENCES scopes (tenant_id, scope_id)
);
CREATE INDEX passages_of_scope ON passages (scope_id, at);
CREATE INDEX passages_of_session ON passages (tenant_id, scope_id, session, ordinal);

-- As narrow as embeddings, for the same reason.
CREATE TABLE passage_embeddings (
  tenant_id   uuid NOT NULL,
  scope_id    uuid NOT NULL,
  turn_id     text NOT NULL,
  model       text NOT NULL,
  emb         halfvec NOT NULL,            -- unit length; the dimension is the model's
  PRIMARY KEY (tenant_id, turn_id, model),
  FOREIGN KEY (tenant_id, turn_id) REFERENCES passages ON DELETE CASCADE
);
CREATE INDEX passage_embeddings_of_scope ON passage_embeddings (scope_id, model);

-- Without policy and grant, as block_words. Who reads it goes through the functions below.
CREATE TABLE passage_words (
  tenant_id   uuid NOT NULL,
  turn_id     text NOT NULL,
  scope_id    uuid NOT NULL,
  words       tsvector NOT NULL,
  PRIMARY KEY (tenant_id, turn_id),
  FOREIGN KEY (tenant_id, turn_id) REFERENCES passages ON DELETE CASCADE
);
CREATE INDEX passage_words_gin ON passage_words USING gin (words) WITH (fastupdate = off);

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


-- ─── the library ────────────────────────────────────────────────────────────────────────────────────────────────────
-- Documents to look things up in. No memory: a search finds them, no prefetch gives them, and nothing is learnt from them but
-- where the import asked for it.

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
  as_memory   boolean NOT NULL DEFAULT false,                                -- its general lines are memory too: turns of kind note
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
CREATE INDEX section_words_gin ON section_words USING gin (words) WITH (fastupdate = off);

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
CREATE FUNCTION scopes_with_old_vectors() RETURNS TABLE (tenant_id uuid, user_id uuid, scope_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT s.tenant_id, s.user_id, s.scope_id FROM scopes s, embedder m
   WHERE EXISTS (SELECT FROM embeddings e WHERE e.scope_id = s.scope_id AND e.model <> m.model)
      OR EXISTS (SELECT FROM passage_embeddings e WHERE e.scope_id = s.scope_id AND e.model <> m.model)
      OR EXISTS (SELECT FROM section_embeddings e WHERE e.scope_id = s.scope_id AND e.model <> m.model)
$$;


-- ─── entities across profiles ───────────────────────────────────────────────────────────────────────────────────────

-- The person's entities that nothing speaks of any more, under whatever profile; one that is merged into another waits for
-- that one.
CREATE FUNCTION orphaned_entities() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT e.entity_id FROM entities e WHERE e.tenant_id = wall_tenant() AND e.user_id = wall_user()
     AND NOT EXISTS (SELECT FROM mentions m WHERE m.tenant_id = e.tenant_id AND m.entity_id = e.entity_id)
     AND NOT EXISTS (SELECT FROM blocks b WHERE b.tenant_id = e.tenant_id AND b.subject_entity = e.entity_id)
     AND NOT EXISTS (SELECT FROM document_edges d WHERE d.tenant_id = e.tenant_id AND d.subject_entity = e.entity_id)
     AND NOT EXISTS (SELECT FROM document_edges d WHERE d.tenant_id = e.tenant_id AND d.object_entity = e.entity_id)
     AND NOT EXISTS (SELECT FROM entity_merges x WHERE x.tenant_id = e.tenant_id AND x.merged = e.entity_id AND x.split_at IS NULL)
$$;

-- The blocks that speak of an entity, whatever profile they are told under: an entity is the person's.
CREATE FUNCTION blocks_of_entity(entity uuid) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT m.block_id FROM mentions m JOIN entities e USING (tenant_id, entity_id)
   WHERE m.tenant_id = wall_tenant() AND m.entity_id = entity AND e.user_id = wall_user()
$$;

-- Let blocks speak of one entity instead of another: as subject, in edges and in mentions; and be found by the words of
-- its names. The scopes in which one of the two is spoken of, with their new generations: also those of profiles that
-- stand outside this wall.
CREATE FUNCTION move_entity(moved uuid[], source uuid, target uuid, why text, cause text, name_words text[])
RETURNS TABLE (scope_id uuid, generation bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  t uuid := wall_tenant();
BEGIN
  IF (SELECT count(*) FROM entities e WHERE e.tenant_id = t AND e.user_id = wall_user() AND e.entity_id IN (source, target)) <> 2 THEN
    RAISE insufficient_privilege USING MESSAGE = 'these are not two entities of this wall';
  END IF;
  INSERT INTO block_versions (tenant_id, block_id, version, change, caused_by, before)
  SELECT t, b.block_id, 1 + (SELECT count(*) FROM block_versions v WHERE v.tenant_id = t AND v.block_id = b.block_id), why, cause,
         to_jsonb(b) - ARRAY['tenant_id', 'block_id', 'user_id', 'hash']
    FROM blocks b WHERE b.tenant_id = t AND b.block_id = ANY (moved) AND b.subject_entity = source;
  UPDATE blocks b SET subject_entity = target,
                      subject = CASE WHEN lower(b.subject) = lower(s.name) THEN g.name ELSE b.subject END
    FROM entities s, entities g
   WHERE b.tenant_id = t AND b.block_id = ANY (moved) AND b.subject_entity = source
     AND s.tenant_id = t AND s.entity_id = source AND g.tenant_id = t AND g.entity_id = target;
  WITH gone AS (
    DELETE FROM edges e WHERE e.tenant_id = t AND e.block_id = ANY (moved) AND source IN (e.subject_entity, e.object_entity)
    RETURNING e.*), now AS (
    SELECT g.block_id, g.scope_id, g.predicate, CASE g.subject_entity WHEN source THEN target ELSE g.subject_entity END AS subject,
           CASE g.object_entity WHEN source THEN target ELSE g.object_entity END AS object FROM gone g)
  INSERT INTO edges (tenant_id, block_id, scope_id, subject_entity, predicate, object_entity)
  SELECT t, n.block_id, n.scope_id, n.subject, n.predicate, n.object FROM now n WHERE n.subject <> n.object ON CONFLICT DO NOTHING;
  WITH gone AS (
    DELETE FROM mentions m WHERE m.tenant_id = t AND m.block_id = ANY (moved) AND m.entity_id = source RETURNING m.*)
  INSERT INTO mentions (tenant_id, block_id, entity_id, scope_id) SELECT t, g.block_id, target, g.scope_id FROM gone g
  ON CONFLICT DO NOTHING;
  -- Words are added only: those of the other name may stand elsewhere in the block, and one found in vain is ranked out.
  WITH added AS (
    SELECT w.block_id, w.scope_id, n.word FROM block_words w CROSS JOIN (SELECT DISTINCT unnest(name_words) AS word) n
      JOIN mentions m ON m.tenant_id = t AND m.block_id = w.block_id AND m.entity_id = target
     WHERE w.block_id = ANY (moved) AND n.word <> '' AND NOT w.words @@ quote_lexeme(n.word)::tsquery),
  counted AS (
    INSERT INTO word_counts AS c (scope_id, word, blocks)
    SELECT a.scope_id, a.word, count(*) FROM added a GROUP BY a.scope_id, a.word ORDER BY a.scope_id, a.word
    ON CONFLICT ON CONSTRAINT word_counts_pkey DO UPDATE SET blocks = c.blocks + EXCLUDED.blocks)
  UPDATE block_words w SET words = w.words || array_to_tsvector(a.words)
    FROM (SELECT d.block_id, array_agg(d.word) AS words FROM added d GROUP BY d.block_id) a WHERE w.block_id = a.block_id;
  UPDATE blocks b SET updated_at = now() WHERE b.tenant_id = t AND b.block_id = ANY (moved); -- what readers hold of them is old
  RETURN QUERY UPDATE scopes s SET generation = s.generation + 1
                WHERE s.tenant_id = t
                  AND s.scope_id IN (SELECT m.scope_id FROM mentions m WHERE m.tenant_id = t AND m.entity_id IN (source, target))
               RETURNING s.scope_id, s.generation;
END $$;


-- ─── the wall ───────────────────────────────────────────────────────────────────────────────────────────────────────

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['tenants', 'users', 'installations', 'principals', 'scopes', 'sessions', 'turns', 'extractions',
                           'dead_letters', 'trace_events', 'tombstones', 'entities', 'entity_aliases', 'blocks',
                           'block_versions', 'block_sources', 'edges', 'mentions', 'embeddings', 'recalls', 'passages',
                           'passage_embeddings', 'model_spending', 'entity_merges', 'embedder', 'retractions',
                           'judgements', 'documents', 'sections', 'section_embeddings', 'document_edges'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
  END LOOP;
  -- What moves turns sees all tenants' turns, and no memory: it has no grant there.
  FOREACH t IN ARRAY ARRAY['tenants', 'users', 'installations', 'principals', 'scopes', 'sessions', 'turns', 'extractions',
                           'dead_letters', 'trace_events', 'tombstones', 'recalls', 'model_spending', 'embedder'] LOOP
    EXECUTE format('CREATE POLICY pipeline ON %I TO nextlevel_pipeline USING (true) WITH CHECK (true)', t);
  END LOOP;
END $$;

-- (SELECT wall_scopes()): read once a query. Without it the setting is taken apart for each row: a third of a lookup's time.
CREATE POLICY wall ON scopes          TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY ((SELECT wall_scopes())::uuid[]));
CREATE POLICY wall ON sessions        TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
CREATE POLICY wall ON turns           TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
CREATE POLICY wall ON extractions     TO nextlevel_app USING (tenant_id = wall_tenant());
CREATE POLICY wall ON trace_events    TO nextlevel_app USING (tenant_id = wall_tenant());
CREATE POLICY wall ON tombstones      TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
CREATE POLICY wall ON entities        TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
CREATE POLICY wall ON entity_merges   TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
CREATE POLICY wall ON entity_aliases  TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
CREATE POLICY wall ON blocks          TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY ((SELECT wall_scopes())::uuid[]));
CREATE POLICY wall ON block_versions  TO nextlevel_app USING (tenant_id = wall_tenant());
CREATE POLICY wall ON block_sources   TO nextlevel_app USING (tenant_id = wall_tenant());
CREATE POLICY wall ON edges           TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY ((SELECT wall_scopes())::uuid[]));
CREATE POLICY wall ON mentions        TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY ((SELECT wall_scopes())::uuid[]));
CREATE POLICY wall ON embeddings      TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY ((SELECT wall_scopes())::uuid[]));
CREATE POLICY wall ON recalls         TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
CREATE POLICY wall ON retractions     TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
CREATE POLICY wall ON judgements      TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());
CREATE POLICY reading ON embedder FOR SELECT TO nextlevel_app USING (true);
CREATE POLICY wall ON passages           TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY ((SELECT wall_scopes())::uuid[]));
CREATE POLICY wall ON passage_embeddings TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY ((SELECT wall_scopes())::uuid[]));
CREATE POLICY wall ON documents          TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY ((SELECT wall_scopes())::uuid[]));
CREATE POLICY wall ON sections           TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY ((SELECT wall_scopes())::uuid[]));
CREATE POLICY wall ON section_embeddings TO nextlevel_app USING (tenant_id = wall_tenant() AND scope_id = ANY ((SELECT wall_scopes())::uuid[]));
CREATE POLICY wall ON document_edges     TO nextlevel_app USING (tenant_id = wall_tenant() AND user_id = wall_user());

GRANT SELECT, INSERT          ON tenants, users, principals, scopes TO nextlevel_pipeline;
GRANT SELECT, INSERT, UPDATE  ON installations, sessions, turns, tombstones TO nextlevel_pipeline;
GRANT SELECT, INSERT          ON trace_events TO nextlevel_pipeline;
GRANT SELECT                  ON extractions TO nextlevel_pipeline;
GRANT SELECT, INSERT, UPDATE  ON model_spending, embedder TO nextlevel_pipeline;
GRANT SELECT                  ON embedder TO nextlevel_app;
GRANT SELECT, INSERT, DELETE  ON dead_letters, recalls TO nextlevel_pipeline;

GRANT SELECT, UPDATE (generation, passages, names, compared_to) ON scopes TO nextlevel_app;
GRANT SELECT, UPDATE (digest, digested_at) ON sessions TO nextlevel_app;
GRANT UPDATE (facts) ON trace_events TO nextlevel_app;
GRANT SELECT, UPDATE          ON turns TO nextlevel_app;
GRANT SELECT, INSERT, UPDATE  ON extractions, tombstones TO nextlevel_app;
GRANT SELECT, INSERT          ON trace_events, block_versions TO nextlevel_app;
GRANT SELECT, DELETE          ON recalls TO nextlevel_app;
GRANT SELECT, INSERT, UPDATE  ON entity_merges TO nextlevel_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON entities, entity_aliases, blocks, block_sources, edges, mentions, embeddings TO nextlevel_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON passages, passage_embeddings TO nextlevel_app;
GRANT SELECT, INSERT, DELETE ON documents, sections, section_embeddings TO nextlevel_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON document_edges TO nextlevel_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON retractions, judgements TO nextlevel_app;

-- A definer's function is open to all by default.
REVOKE EXECUTE ON FUNCTION index_words(uuid, uuid, text[]), worded_blocks(), weigh_words(text[]), search_words(text[], integer), uncount_words(),
                           scopes_without_vectors(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scopes_without_vectors(text) TO nextlevel_pipeline;
GRANT EXECUTE ON FUNCTION index_words(uuid, uuid, text[]), worded_blocks(), weigh_words(text[]), search_words(text[], integer) TO nextlevel_app;
REVOKE EXECUTE ON FUNCTION scopes_without_passage_vectors(text), index_passage(text, uuid, text[]), words_of_passages(text[]),
                           count_passages(text[]), search_passages(text[], real[], integer), forget_passages(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scopes_without_passage_vectors(text) TO nextlevel_pipeline;
GRANT EXECUTE ON FUNCTION index_passage(text, uuid, text[]), words_of_passages(text[]), count_passages(text[]),
                          search_passages(text[], real[], integer), forget_passages(text[]) TO nextlevel_app;
REVOKE EXECUTE ON FUNCTION scopes_without_section_vectors(text), index_section(uuid, uuid, text[]), words_of_sections(uuid[]),
                           count_sections(text[]), search_sections(text[], real[], integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scopes_without_section_vectors(text) TO nextlevel_pipeline;
GRANT EXECUTE ON FUNCTION index_section(uuid, uuid, text[]), words_of_sections(uuid[]), count_sections(text[]),
                          search_sections(text[], real[], integer) TO nextlevel_app;
REVOKE EXECUTE ON FUNCTION orphaned_entities() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION orphaned_entities() TO nextlevel_app;
REVOKE EXECUTE ON FUNCTION blocks_of_entity(uuid), move_entity(uuid[], uuid, uuid, text, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION blocks_of_entity(uuid), move_entity(uuid[], uuid, uuid, text, text, text[]) TO nextlevel_app;
REVOKE EXECUTE ON FUNCTION search_rare_words(text[], integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_rare_words(text[], integer, integer) TO nextlevel_app;
REVOKE EXECUTE ON FUNCTION count_vectors(text), scopes_with_old_vectors() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION count_vectors(text), scopes_with_old_vectors() TO nextlevel_pipeline;
REVOKE EXECUTE ON FUNCTION scopes_with_outlived(integer), count_expired(), scopes_to_compare(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION scopes_with_outlived(integer), count_expired(), scopes_to_compare(integer) TO nextlevel_pipeline;
