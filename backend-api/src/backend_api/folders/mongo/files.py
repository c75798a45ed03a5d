"""Files of folders in MongoDB, their contents in parts, and which of them stand in which workspace. The last go with
their session (`conversations/mongo/deletions.py`)."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, cast
from uuid import uuid4

from beanie import Document
from bson import ObjectId
from pymongo import ASCENDING, IndexModel
from pymongo.errors import DuplicateKeyError

from backend_api.folders.domain import FolderFile, FolderId
from backend_api.folders.errors import FolderFileNotFoundError, FolderNotFoundError
from backend_api.folders.mongo.folders import FolderDocument
from backend_api.kit.ids import SessionId
from backend_api.kit.mongo.beanie_updates import find_one_and_update
from backend_api.kit.mongo.transactions import store_errors
from backend_api.sandboxes.domain.errors import UploadTooLargeError
from service_kit.amounts import size_text

PART_BYTES = 1_000_000
CUT_S = 3600.0
"""Longer than an upload takes: parts without a file that are older are of a worker that died meanwhile."""
TAKEN_OVER_S = 180.0
"""Longer than all files of a folder may take."""


class FolderFileDocument(Document):
    """A file of a folder."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- ids are opaque strings
    folder_id: str
    name: str
    size: int
    digest: str
    version: str
    added_at: datetime

    class Settings:
        name = "folder_files"
        indexes: ClassVar = [IndexModel([("folder_id", ASCENDING), ("name", ASCENDING)], unique=True)]


class FolderFilePartDocument(Document):
    """A part of the content of one version of a file."""

    folder_id: str
    version: str
    part: int
    content: bytes

    class Settings:
        name = "folder_file_parts"
        indexes: ClassVar = [
            IndexModel([("version", ASCENDING), ("part", ASCENDING)], unique=True),
            IndexModel([("folder_id", ASCENDING)]),
        ]


class FolderPlacementDocument(Document):
    """A version of a file that was put into a session's workspace, or is just being put there."""

    id: str  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues] -- of session and version
    session_id: str
    path: str = ""
    digest: str
    is_done: bool = False
    claimed_at: datetime

    class Settings:
        name = "folder_placements"
        indexes: ClassVar = [IndexModel([("session_id", ASCENDING), ("path", ASCENDING)])]


class MongoFolderFiles:
    """`FolderFiles`."""

    async def of_folder(self, folder_id: FolderId) -> Sequence[FolderFile]:
        async with store_errors():
            found = await FolderFileDocument.find({"folder_id": folder_id}).sort("name").to_list()
        return [_file(one) for one in found]

    async def add(
        self, folder_id: FolderId, name: str, content: AsyncIterator[bytes], *, most_bytes: int
    ) -> FolderFile:
        """The file comes last: one that is there has all of its content."""
        version = uuid4().hex
        try:
            size, digest = await self._write(folder_id, version, content, most_bytes)
            file = FolderFile(
                id=hashlib.sha256(f"{folder_id}/{name}".encode()).hexdigest()[:32],
                folder_id=folder_id,
                name=name,
                size=size,
                digest=digest,
                version=version,
                added_at=datetime.now(UTC),
            )
            former = await self._put(file)
        except BaseException:
            await self._remove_parts(version)
            raise
        if former:
            await self._remove_parts(former)
        await self._remove_cut_parts(folder_id)
        return file

    async def _write(
        self, folder_id: FolderId, version: str, content: AsyncIterator[bytes], most_bytes: int
    ) -> tuple[int, str]:
        digest, size, part, held = hashlib.sha256(), 0, 0, bytearray()

        async def store(piece: bytes) -> None:
            async with store_errors():
                await FolderFilePartDocument(folder_id=folder_id, version=version, part=part, content=piece).insert()

        async for chunk in content:
            size += len(chunk)
            if size > most_bytes:
                raise UploadTooLargeError(f"A file may have at most {size_text(most_bytes)}.", limit_bytes=most_bytes)
            digest.update(chunk)
            held += chunk
            while len(held) >= PART_BYTES:
                await store(bytes(held[:PART_BYTES]))
                del held[:PART_BYTES]
                part += 1
        if held:
            await store(bytes(held))
        return size, digest.hexdigest()

    async def _put(self, file: FolderFile) -> str:
        """The version that it took the place of; empty for none."""
        values: dict[str, Any] = {
            "folder_id": file.folder_id,
            "name": file.name,
            "size": file.size,
            "digest": file.digest,
            "version": file.version,
            "added_at": file.added_at,
        }
        async with store_errors():
            # The driver: Beanie tells of no document that was there before an upsert.
            collection = cast("Any", FolderFileDocument).get_pymongo_collection()
            former = await collection.find_one_and_update({"_id": file.id}, {"$set": values}, upsert=True)
            if await FolderDocument.find_one({"_id": file.folder_id}) is None:
                # It was deleted meanwhile.
                await self.delete_all(file.folder_id)
                raise FolderNotFoundError
        return str(former["version"]) if former else ""

    async def delete(self, folder_id: FolderId, file_id: str) -> None:
        async with store_errors():
            found = await FolderFileDocument.find_one({"_id": file_id, "folder_id": folder_id})
            if found is None:
                raise FolderFileNotFoundError
            await FolderFileDocument.find_one({"_id": file_id, "version": found.version}).delete()
        await self._remove_parts(found.version)

    async def delete_all(self, folder_id: FolderId) -> None:
        async with store_errors():
            await FolderFileDocument.find({"folder_id": folder_id}).delete()
            await FolderFilePartDocument.find({"folder_id": folder_id}).delete()

    async def content(self, file: FolderFile) -> AsyncIterator[bytes]:
        """Of one that is deleted in the middle there is less than its size: `FolderFileNotFoundError`."""
        part, size = 0, 0
        while size < file.size:
            async with store_errors():
                found = await FolderFilePartDocument.find_one({"version": file.version, "part": part})
            if found is None:
                raise FolderFileNotFoundError
            yield found.content
            part, size = part + 1, size + len(found.content)

    async def _remove_cut_parts(self, folder_id: FolderId) -> None:
        """The parts tell their age by their ids."""
        before = ObjectId.from_datetime(datetime.now(UTC) - timedelta(seconds=CUT_S))
        async with store_errors():
            files = await FolderFileDocument.find({"folder_id": folder_id}).to_list()
            of_none = {"folder_id": folder_id, "version": {"$nin": [one.version for one in files]}}
            await FolderFilePartDocument.find({**of_none, "_id": {"$lt": before}}).delete()

    async def _remove_parts(self, version: str) -> None:
        async with store_errors():
            await FolderFilePartDocument.find({"version": version}).delete()


class MongoPlacements:
    """`Placements`."""

    async def missing(self, session_id: SessionId, files: Sequence[FolderFile]) -> Sequence[FolderFile]:
        ids = {_placement_id(session_id, file): file for file in files}
        async with store_errors():
            found = await FolderPlacementDocument.find(
                {"_id": {"$in": list(ids)}, "$or": [{"is_done": True}, {"$nor": [_is_left()]}]}
            ).to_list()
        there = {one.id for one in found}
        return [file for one, file in ids.items() if one not in there]

    async def claim(self, session_id: SessionId, file: FolderFile) -> bool:
        placement = FolderPlacementDocument(
            id=_placement_id(session_id, file),
            session_id=session_id,
            digest=file.digest,
            claimed_at=datetime.now(UTC),
        )
        async with store_errors():
            try:
                await placement.insert()
            except DuplicateKeyError:
                left = {"_id": placement.id, "is_done": False, **_is_left()}
                taken = {"$currentDate": {"claimed_at": True}}
                return await find_one_and_update(FolderPlacementDocument, left, taken) is not None
        return True

    async def done(self, session_id: SessionId, file: FolderFile, path: str) -> None:
        async with store_errors():
            await find_one_and_update(
                FolderPlacementDocument,
                {"_id": _placement_id(session_id, file)},
                {"$set": {"is_done": True, "path": path}},
            )

    async def digests(self, session_id: SessionId, path: str) -> frozenset[str]:
        async with store_errors():
            found = await FolderPlacementDocument.find({"session_id": session_id, "path": path}).to_list()
        return frozenset(one.digest for one in found)


def _is_left() -> dict[str, Any]:
    """Whoever claimed it is gone, by the clock of the database."""
    return {"$expr": {"$lt": ["$claimed_at", {"$subtract": ["$$NOW", round(TAKEN_OVER_S * 1000)]}]}}


def _placement_id(session_id: SessionId, file: FolderFile) -> str:
    return f"{session_id}:{file.version}"


def _file(found: FolderFileDocument) -> FolderFile:
    at = found.added_at
    return FolderFile(
        id=found.id,
        folder_id=FolderId(found.folder_id),
        name=found.name,
        size=found.size,
        digest=found.digest,
        version=found.version,
        added_at=at if at.tzinfo else at.replace(tzinfo=UTC),
    )


DOCUMENTS: list[type[Document]] = [FolderFileDocument, FolderFilePartDocument, FolderPlacementDocument]
