-- The opening brief reads what it tells, and not the whole memory: at 100,000 blocks it took longer than a prefetch waits.
CREATE INDEX blocks_of_rules ON blocks (scope_id) WHERE type = 'user_preference' OR explicit;
CREATE INDEX blocks_of_project ON blocks (scope_id, project, valid_from DESC) WHERE status = 'active' AND project IS NOT NULL;
