-- Documents whose general lines are memory too, as the import asked.
ALTER TABLE documents ADD COLUMN as_memory boolean NOT NULL DEFAULT false;
