"""Keep uploaded files in memory and give them addresses that this server answers for a time."""

import hmac
import mimetypes
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from simcord.backend.cdn import CdnStore

ATTACHMENT_BYTES = 10 * 1024 * 1024
"""Bytes. What Discord takes in one file without a boost."""

STORE_BYTES = 16 * ATTACHMENT_BYTES
"""Bytes. Beyond it the oldest files are forgotten, so that a long session stays in memory."""


LIFE = 24 * 60 * 60
"""Seconds for which an address works; the message, fetched again, has a new one."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """Hold one upload: its bytes and the type guessed from its name."""

    content: bytes
    content_type: str


class LoopbackCdn(CdnStore):
    """
    Store attachments under `base`, because simcord's own addresses lead nowhere.

    An address says when it was given out (`is`), until when it works (`ex`), both in hexadecimal
    seconds since 1970, and proves it (`hm`), as those of Discord do.
    """

    def __init__(self, base: str, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._base = base
        self._clock = clock
        self._secret = secrets.token_bytes()
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
        url = self.signed(f"{self._base}/{path}")
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

    def signed(self, url: str) -> str:
        """Give an address out anew; those of other servers stay as they are."""
        address = url.partition("?")[0]
        path = address.removeprefix(f"{self._base}/")
        if path == address:
            return url
        now = int(self._clock())
        until, since = f"{now + LIFE:x}", f"{now:x}"
        return f"{address}?ex={until}&is={since}&hm={self._proof(path, until, since)}"

    def expire(self) -> None:
        """Let all addresses that were given out so far work no longer."""
        self._secret = secrets.token_bytes()

    def file(self, path: str) -> StoredFile | None:
        """Find a file by what follows `base/` in its address, expired or not."""
        return self._files.get(path.partition("?")[0])

    def fetch(self, path: str, query: Mapping[str, str]) -> StoredFile | None:
        """Find a file by its address, whose path is percent-encoded, unless it has expired."""
        until, since, proof = (query.get(name, "") for name in ("ex", "is", "hm"))
        if not hmac.compare_digest(proof, self._proof(path, until, since)):
            return None
        return self.file(path) if int(until, 16) > self._clock() else None

    def _proof(self, path: str, until: str, since: str) -> str:
        return hmac.digest(self._secret, f"{path} {until} {since}".encode(), "sha256").hex()

    def _forget_oldest(self) -> None:
        held = sum(len(file.content) for file in self._files.values())
        while held > STORE_BYTES and len(self._files) > 1:
            _, oldest = self._files.popitem(last=False)
            held -= len(oldest.content)
