"""Tier 2: whole messages on the agent's own disk, full-text searchable, and the outbox of what Postgres lacks.

A turn is here, fsync'd, before its hook returns. It counts as delivered only once a receipt from Postgres covers it.
Standard library only: the plugin carries this room into the host.
"""
