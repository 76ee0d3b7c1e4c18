"""Enrolment: the operator says whose an installation is, once."""

from nextlevel.auth import OPERATOR
from tests.api.conftest import client

HOME = {"install": "k3v9", "tenant": "acme", "user": "ada"}


async def test_the_operator_enrols_an_installation_and_its_token_opens_its_memory_only_then(app):
    """On a shared service a valid token alone does not say whose memory it is."""
    question = {"query": "port of the crm", "scope": {"install": "k3v9"}, "mode": "search"}
    async with client(app, "k3v9") as home, client(app, OPERATOR) as operator:
        assert 403 == (await home.post("/v1/recall", json=question)).status_code
        done = await operator.post("/v1/installations", json=HOME)
        assert (201, HOME) == (done.status_code, done.json())
        answer = await home.post("/v1/recall", json=question)
        assert 200 == answer.status_code, answer.text


async def test_an_owner_is_not_replaced_by_enrolling_again(app):
    """Else whoever can enrol could take somebody's memory over."""
    async with client(app, OPERATOR) as operator:
        await operator.post("/v1/installations", json=HOME)
        again = await operator.post("/v1/installations", json={**HOME, "user": "mallory"})
        assert HOME == again.json()


async def test_an_installation_cannot_enrol_itself_nor_a_cloned_id(app):
    async with client(app, "k3v9") as home, client(app, OPERATOR) as operator:
        assert 403 == (await home.post("/v1/installations", json=HOME)).status_code
        assert 422 == (await operator.post("/v1/installations", json={**HOME, "install": "k3v9.ab12cd"})).status_code
