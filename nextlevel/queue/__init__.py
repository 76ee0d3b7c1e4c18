"""All of the Redis queue: the streams that turns arrive on, and the arq queues that wake the stages.

Nothing here remembers work: the truth is table turns. Lose all of Redis, and outboxes and reconciler fill it again.
"""
