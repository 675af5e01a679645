"""Keep uploaded files in memory and give them addresses that this server answers."""

import mimetypes
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from simcord.backend.cdn import CdnStore

ATTACHMENT_BYTES = 10 * 1024 * 1024
"""Bytes. What Discord takes in one file without a boost."""

STORE_BYTES = 16 * ATTACHMENT_BYTES
"""Bytes. Beyond it the oldest files are forgotten, so that a long session stays in memory."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Hold one upload: its bytes and the type guessed from its name."""

    content: bytes
    content_type: str


class LoopbackCdn(CdnStore):
    """Store attachments under `base`, because simcord's own addresses lead nowhere."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base
        self._files: OrderedDict[str, StoredFile] = OrderedDict()

    def store_attachment(
        self,
        attachment_id: int,
        channel_id: int,
        filename: str,
        data: bytes,
        description: str | None,
    ) -> dict[str, Any]:
        """Keep the bytes and answer the attachment as Discord describes it."""
        path = f"attachments/{channel_id}/{attachment_id}/{quote(filename, safe='')}"
        kind = mimetypes.guess_type(filename)[0] or "application/octet-stream"
        self._files[path] = StoredFile(data, kind)
        self._forget_oldest()
        url = f"{self._base}/{path}"
        described = {} if description is None else {"description": description}
        return {
            **described,
            "id": str(attachment_id),
            "filename": filename,
            "size": len(data),
            "url": url,
            "proxy_url": url,
            "content_type": kind,
        }

    def file(self, path: str) -> StoredFile | None:
        """Find a file by what follows `base/` in its address, percent-encoded as it was given."""
        return self._files.get(path)

    def _forget_oldest(self) -> None:
        held = sum(len(file.content) for file in self._files.values())
        while held > STORE_BYTES and len(self._files) > 1:
            _, oldest = self._files.popitem(last=False)
            held -= len(oldest.content)
