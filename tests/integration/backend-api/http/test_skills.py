"""Skills through the wire."""

from __future__ import annotations

import io
import zipfile

import httpx

from support.gateway import Gateway
from support.memory.skills import MemorySkillDownloads

TEXT = "---\nname: {name}\ndescription: How to tie.\n---\nTie it."


def zipped(name: str = "knots", **others: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SKILL.md", TEXT.format(name=name))
        for path, text in others.items():
            archive.writestr(path, text)
    return content.getvalue()


async def upload(
    gateway: Gateway, who: dict[str, str], content: bytes, name: str = "k.zip", field: str = "archive"
) -> httpx.Response:
    return await gateway.client.post("/api/skills", files={field: (name, content)}, headers=who)


def publish(gateway: Gateway, name: str, content: bytes) -> str:
    """Its address."""
    downloads = gateway.ports.modules.ports["skill_downloads"]
    assert isinstance(downloads, MemorySkillDownloads)
    downloads.files[f"https://a.example/{name}"] = content
    return f"https://a.example/{name}"


async def test_one_is_uploaded_read_listed_and_deleted(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    made = await upload(gateway, anna, zipped(tie="#!"))
    assert made.status_code == 201
    assert (made.json()["name"], made.json()["origin"], made.json()["files"]) == ("knots", "user", 2)
    assert made.json()["replaces"] is None
    whole = (await gateway.client.get("/api/skills/knots", headers=anna)).json()
    assert (whole["instructions"], whole["paths"]) == ("Tie it.", ["SKILL.md", "tie"])
    listed = (await gateway.client.get("/api/skills", headers=anna)).json()
    assert {one["name"]: one["origin"] for one in listed} | {"knots": "user"} == {
        one["name"]: one["origin"] for one in listed
    }
    assert (await gateway.client.delete("/api/skills/knots", headers=anna)).status_code == 204
    gone = await gateway.client.get("/api/skills/knots", headers=anna)
    assert (gone.status_code, gone.json()["code"]) == (404, "skill_not_found")
    assert (await gateway.client.delete("/api/skills/knots", headers=anna)).status_code == 404


async def test_a_single_file_is_a_skill_and_takes_the_place_of_the_servers(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    refused = await gateway.client.delete("/api/skills/pdf", headers=anna)
    assert (refused.status_code, refused.json()["code"]) == (403, "skill_not_own")
    made = await upload(gateway, anna, TEXT.format(name="pdf").encode(), "SKILL.md")
    assert (made.status_code, made.json()["replaces"]) == (201, "bundled")
    [listed] = [one for one in (await gateway.client.get("/api/skills", headers=anna)).json() if one["name"] == "pdf"]
    assert (listed["origin"], listed["replaces"]) == ("user", "bundled")
    assert (await gateway.client.get("/api/skills/pdf", headers=anna)).json()["instructions"] == "Tie it."
    assert (await gateway.client.delete("/api/skills/pdf", headers=anna)).status_code == 204
    again = (await gateway.client.get("/api/skills/pdf", headers=anna)).json()
    assert (again["origin"], again["replaces"]) == ("bundled", None)


async def test_one_is_installed_from_an_address_and_its_owner_alone_reads_from_where(gateway: Gateway) -> None:
    anna, ben = await gateway.user("anna"), await gateway.user("ben")
    url = publish(gateway, "k.zip", zipped(tie="#!"))
    made = await gateway.client.post("/api/skills", json={"url": url, "name": "knots"}, headers=anna)
    assert (made.status_code, made.json()["source"], made.json()["files"]) == (201, url, 2)
    assert (await gateway.client.get("/api/skills/knots", headers=anna)).json()["source"] == url
    assert (await gateway.client.get("/api/skills/knots", headers=ben)).status_code == 404


async def test_an_address_with_no_skill_is_refused_with_the_reason_and_nothing_is_kept(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    before = (await gateway.client.get("/api/skills", headers=anna)).json()
    for body, reason in (
        ({"url": "https://a.example/none.zip"}, "responded with status 404"),
        ({"url": publish(gateway, "up.zip", zipped(**{"../x": "y"}))}, "points outside"),
        ({"url": publish(gateway, "k.zip", zipped()), "name": "nets"}, "not nets"),
        ({"url": ""}, "body.url"),
        ({"url": "https://a.example/" + "x" * 5_000}, "body.url"),
        ({"url": 5}, "body.url"),
        ({"url": "https://a.example/k.zip", "force": True}, "body.force"),
        ({}, "body.url"),
        ([], "body"),
    ):
        refused = await gateway.client.post("/api/skills", json=body, headers=anna)
        assert refused.status_code == 422, body
        assert reason in refused.json()["detail"]
    broken = await gateway.client.post(
        "/api/skills", content=b"{", headers={**anna, "Content-Type": "application/json"}
    )
    assert (broken.status_code, broken.json()["errors"][0]["field"]) == (422, "body")
    large = b'{"url": "' + b"x" * (3 * 1024 * 1024) + b'"}'
    refused = await gateway.client.post(
        "/api/skills", content=large, headers={**anna, "Content-Type": "application/json"}
    )
    assert refused.status_code == 413
    assert (await gateway.client.get("/api/skills", headers=anna)).json() == before


async def test_nobody_sees_anothers(gateway: Gateway) -> None:
    anna, ben = await gateway.user("anna"), await gateway.user("ben")
    await upload(gateway, anna, zipped())
    assert "knots" not in [one["name"] for one in (await gateway.client.get("/api/skills", headers=ben)).json()]
    assert (await gateway.client.get("/api/skills/knots", headers=ben)).status_code == 404
    assert (await gateway.client.delete("/api/skills/knots", headers=ben)).status_code == 404
    assert (await gateway.client.get("/api/skills/knots", headers=anna)).status_code == 200


async def test_what_is_no_skill_is_refused_with_the_reason_and_nothing_is_kept(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    before = (await gateway.client.get("/api/skills", headers=anna)).json()
    for content, reason in (
        (zipped(**{"../x": "y"}), "points outside"),
        (b"no", "neither"),
        (zipped("Knots"), "small letters"),
    ):
        refused = await upload(gateway, anna, content)
        assert (refused.status_code, refused.json()["code"]) == (422, "skill_refused")
        assert reason in refused.json()["detail"]
    assert (await upload(gateway, anna, zipped(), field="file")).status_code == 422
    assert (await upload(gateway, anna, bytes(9 * 1024 * 1024))).status_code == 413
    assert (await gateway.client.post("/api/skills", content=b"x", headers=anna)).status_code == 422
    assert (await gateway.client.get("/api/skills", headers=anna)).json() == before


async def test_the_largest_archive_passes_the_edge(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    content = zipped(noise="x" * (7 * 1024 * 1024))
    assert (await upload(gateway, anna, content)).status_code == 201
