"""The read-through cache in Redis: finished answers, keyed by the generations of the scopes they were read from.

It speeds recall up and decides nothing: without Redis each answer comes straight from Postgres, and `Cache` says so.
"""

from .contexts import TRUST_S, Cache
from .generations import Generations, publish_generations

__all__ = ["TRUST_S", "Cache", "Generations", "publish_generations"]
