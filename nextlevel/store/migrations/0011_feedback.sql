-- What a person says of a block moves its place in recall a little, until they take it back.
ALTER TABLE blocks ADD COLUMN verdict text CHECK (verdict IN ('used', 'wrong'));
