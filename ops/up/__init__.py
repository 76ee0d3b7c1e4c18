"""The one-command laptop: embedded Postgres and Valkey, and the process tree of `nextlevel up`."""
