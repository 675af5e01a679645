"""Two answers of Discord's REST API, over a real socket, for what the command line asks."""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: The one token that the stub accepts.
TOKEN = "MTAyMzQ1Njc4OTAxMjM0NTY3.GabcDe.canary-hijklmnopqrstuvwxyz0123456789AB"
APPLICATION = "102345678901234567"
MESSAGE_CONTENT = 1 << 19


class DiscordStub:
    """What the stub answers; change it before the command runs."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.flags = MESSAGE_CONTENT
        self.status = 200
        self.body: bytes | None = None
        #: Channels by their ids; of others it has never heard.
        self.channels: dict[str, dict[str, object]] = {}

    def answer(self, path: str, authorization: str) -> tuple[int, bytes]:
        """Answer one request."""
        if authorization != f"Bot {TOKEN}":
            return 401, b'{"message": "401: Unauthorized", "code": 0}'
        if self.body is not None:
            return self.status, self.body
        answers = {
            "/api/v10/users/@me": {"id": APPLICATION, "username": "Parrot", "bot": True},
            "/api/v10/oauth2/applications/@me": {"id": APPLICATION, "flags": self.flags},
        }
        if (id_ := path.removeprefix("/api/v10/channels/")) != path:
            channel = self.channels.get(id_)
            return (200, json.dumps(channel).encode()) if channel else (404, b'{"code": 10003}')
        return self.status, json.dumps(answers[path]).encode()


@contextlib.contextmanager
def discord_stub() -> Iterator[DiscordStub]:
    """Serve a stub on a free port of this machine."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = stub.answer(self.path, self.headers.get("Authorization", ""))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its own name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        stub = DiscordStub(f"http://127.0.0.1:{server.server_port}/api/v10")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield stub
        finally:
            server.shutdown()
            thread.join()
