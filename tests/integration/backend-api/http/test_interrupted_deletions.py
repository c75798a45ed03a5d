"""A session is deleted once it is nobody's any more, however long it takes to remove what it holds."""

from __future__ import annotations

from urllib.parse import urlsplit

from backend_api.conversations.mongo.deletions import MongoDeletions
from backend_api.kit.ids import SessionId, UserId
from support.flaky_proxy import FlakyProxy
from support.gateway import run_gateway
from support.servers import Server

A_DELETE = b"\x02delete\x00"


async def test_a_deletion_whose_contents_stay_for_now_is_answered_as_one_and_reaches_the_computer(
    mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    target = urlsplit(mongo_server.uri)
    async with FlakyProxy(target.hostname or "", target.port or 0) as proxy:
        uri = f"mongodb://127.0.0.1:{proxy.port}/?directConnection=true"
        async with run_gateway(uri, mongo_database_name, redis_server.uri) as gateway:
            anna = await gateway.user("anna")
            session = SessionId(await gateway.session(anna))
            url = f"/api/sessions/{session}"
            sent = await gateway.client.post(f"{url}/messages", json={"text": "hello"}, headers=anna)
            assert sent.status_code == 202
            await gateway.sandboxes.ensure(session, UserId("anna"))

            proxy.tripwire, proxy.trips = A_DELETE, 1
            answer = await gateway.client.delete(url, headers=anna)
            assert proxy.trips == 0
            assert answer.status_code == 204, answer.text
            assert session not in gateway.sandboxes.living
            assert (await gateway.client.get(url, headers=anna)).status_code == 404

            contents = [gateway.database[name] for name in ("runs", "events")]
            assert all([await one.count_documents({"session_id": session}) for one in contents])
            deletions = MongoDeletions(due_s=0)
            deleted = await deletions.claim_next()
            assert deleted is not None
            assert deleted.session_id == session
            await deletions.finish(session)
            assert not any([await one.count_documents({"session_id": session}) for one in contents])
