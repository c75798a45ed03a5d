"""Clients whose id is the address of a document of ours, at authorization servers that read such."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from respx import MockRouter

from backend_api.mcp.oauth.authorizer import OAuthAuthorizer
from support.sign_in_answers import ANNA, REDIRECT, metadata, pending, target

DOCUMENT = "https://chat.example.org/api/mcp/oauth/client.json"
OURS: dict[str, Any] = {"json": {"client_id": DOCUMENT}}


async def clients_of(
    peers: MockRouter, authorizer: OAuthAuthorizer, url: str = DOCUMENT, **server: str
) -> tuple[str, str]:
    """The ids of the client that the browser is sent with, and of the one whose code is redeemed."""
    asked = await authorizer.begin(target(**server), ANNA, REDIRECT, client_document=url)
    assert (await authorizer.redeem(pending(asked), "code")).access_token
    sent = parse_qs(peers["token"].calls.last.request.content.decode())
    return parse_qs(urlsplit(asked.url).query)["client_id"][0], sent["client_id"][0]


async def test_the_address_of_our_document_is_our_id_where_such_are_read_and_nobody_is_registered(
    peers: MockRouter, authorizer: OAuthAuthorizer
) -> None:
    peers["metadata"].respond(json=metadata(client_id_metadata_document_supported=True))
    peers.get(DOCUMENT).respond(**OURS)
    assert await clients_of(peers, authorizer) == (DOCUMENT, DOCUMENT)
    assert "authorization" not in peers["token"].calls.last.request.headers
    by_hand = {"client_id": "by-hand", "client_secret": "s3cret-by-hand"}
    assert await clients_of(peers, authorizer, **by_hand) == ("by-hand", "by-hand")
    assert peers["token"].calls.last.request.headers["authorization"].startswith("Basic ")
    assert not peers["register"].called


@pytest.mark.parametrize(
    ("is_supported", "document", "url"),
    [
        (False, OURS, DOCUMENT),
        (True, {**OURS, "status_code": 502}, DOCUMENT),
        (True, {"json": {"client_id": "https://other.example.org/client.json"}}, DOCUMENT),
        (True, {"text": "<html>"}, DOCUMENT),
        (True, OURS, ""),
    ],
    ids=["not supported", "not reached", "another's", "no document", "no address"],
)
async def test_where_it_can_not_be_used_a_client_is_registered(
    peers: MockRouter, authorizer: OAuthAuthorizer, is_supported: bool, document: dict[str, Any], url: str
) -> None:
    peers["metadata"].respond(json=metadata(client_id_metadata_document_supported=is_supported))
    peers.get(DOCUMENT).respond(**document)
    assert await clients_of(peers, authorizer, url) == ("registered", "registered")
    assert peers["register"].call_count == 1
