-- From user_version 2 to 3: a large event is kept packed from now on, which a version before could not read.

PRAGMA user_version = 3;
