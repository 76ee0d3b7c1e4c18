"""The dashboard: the operator's view over all tenants. Pages made on the server, with no request to anybody else.

`serve` mounts it beside the API. Queue pages read through `Database.pipeline`, memory pages through `Database.memory`
of the one scope that was chosen.
"""

from .app import Dashboard, mount
from .pages import HOME

__all__ = ["HOME", "Dashboard", "mount"]
