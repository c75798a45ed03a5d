"""Links in MongoDB. They are deleted with their session (`conversations/mongo/deletions.py`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import cast

from backend_api.kit.ids import SessionId, UserId
from backend_api.kit.mongo.transactions import store_errors
from backend_api.sharing.domain.entity import Mode, Part, Share, SharedFile, ShareId
from backend_api.sharing.domain.errors import ShareNotFoundError
from backend_api.sharing.mongo.documents import ShareDocument, SharePartDocument

PART_BYTES = 1_000_000


class MongoShares:
    """`Shares` on the collections shares and share_parts."""

    async def add(self, share: Share, archive: bytes = b"") -> None:
        """Store the link last: one that exists has all of its archive."""
        async with store_errors():
            for part, start in enumerate(range(0, len(archive), PART_BYTES)):
                content = archive[start : start + PART_BYTES]
                await SharePartDocument(
                    share_id=share.id, session_id=share.session_id, part=part, content=content
                ).insert()
            await _document(share).insert()

    async def get(self, share_id: ShareId) -> Share:
        async with store_errors():
            found = await ShareDocument.find_one({"_id": share_id})
        if found is None:
            raise ShareNotFoundError
        return _share(found)

    async def of_user(self, user_id: UserId, session_id: SessionId | None = None) -> Sequence[Share]:
        wanted = {"user_id": user_id} | ({} if session_id is None else {"session_id": session_id})
        async with store_errors():
            found = await ShareDocument.find(wanted).sort("-created_at").to_list()
        return [_share(one) for one in found]

    async def revoke(self, share_id: ShareId, user_id: UserId) -> None:
        """Delete the link first: from then on nobody reads the rest."""
        async with store_errors():
            gone = await ShareDocument.find_one({"_id": share_id, "user_id": user_id}).delete()
            if gone is None or not gone.deleted_count:
                raise ShareNotFoundError
            await SharePartDocument.find({"share_id": share_id}).delete()

    async def is_there(self, share_id: ShareId) -> bool:
        async with store_errors():
            return await ShareDocument.find({"_id": share_id}, limit=1).count() > 0

    async def archive(self, share_id: ShareId) -> AsyncIterator[bytes]:
        part = 0
        while True:
            # One at a time, as the reader may be slow.
            async with store_errors():
                found = await SharePartDocument.find_one({"share_id": share_id, "part": part})
            if found is None:
                return
            yield found.content
            part += 1


def _document(share: Share) -> ShareDocument:
    return ShareDocument(
        id=share.id,
        session_id=share.session_id,
        user_id=share.user_id,
        mode=share.mode,
        include=sorted(share.include),
        title=share.title,
        through_seq=share.through_seq,
        token_hash=share.token_hash,
        passphrase_hash=share.passphrase_hash,
        created_at=share.created_at,
        expires_at=share.expires_at,
        files=[{"path": one.path, "size": one.size} for one in share.files],
        archive_size=share.archive_size,
    )


def _share(found: ShareDocument) -> Share:
    return Share(
        id=ShareId(found.id),
        session_id=SessionId(found.session_id),
        user_id=UserId(found.user_id),
        mode=cast("Mode", found.mode),
        include=frozenset(cast("list[Part]", found.include)),
        title=found.title,
        through_seq=found.through_seq,
        token_hash=found.token_hash,
        passphrase_hash=found.passphrase_hash,
        created_at=found.created_at,
        expires_at=found.expires_at,
        files=tuple(SharedFile(path=one["path"], size=one["size"]) for one in found.files),
        archive_size=found.archive_size,
    )
