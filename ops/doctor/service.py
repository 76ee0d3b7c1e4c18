"""The recall service: it answers, it knows us, and it says that it is ready."""

from __future__ import annotations

from nextlevel.errors import ScopeDenied, ServiceUnreachable

from .finding import Finding, broken, ok
from .patient import Patient


async def service(patient: Patient) -> list[Finding]:
    link = "service"
    client = patient.service
    if not client.alive():
        cure = "start `nextlevel up` or `nextlevel serve`, or mend NEXTLEVEL_SERVICE_URL"
        return [broken(link, f"nobody answers at {client.url}", cure)]
    try:
        client.status()
    except ScopeDenied:
        cure = "set NEXTLEVEL_SECRET, or --data-dir, to those of the service"
        return [broken(link, f"{client.url} refuses our token: its secret is another", cure)]
    except ServiceUnreachable:
        pass  # it lives and can't answer now; its own reasons are better than ours
    reasons = client.unready()
    if reasons:
        return [broken(link, f"{client.url} is not ready: {reason}", "see that link here") for reason in reasons]
    return [ok(link, f"{client.url} is ready")]
