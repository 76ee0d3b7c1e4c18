"""All of Postgres: the pool and its two doors, one module per table or purpose, SQL as SQL, migrations."""
