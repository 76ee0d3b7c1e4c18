-- What a language model said of a turn is held before anything is made of it: a crash between asks no model again.
ALTER TABLE extractions ADD COLUMN answer jsonb;
ALTER TABLE extractions ALTER COLUMN raw DROP NOT NULL;
ALTER TABLE extractions ADD CHECK (raw IS NOT NULL OR answer IS NOT NULL);
