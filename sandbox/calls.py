"""Describe a request of the bot, and Discord's answer."""

from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from simcord.backend.errors import BackendError
from simcord.http import dispatch

from sandbox.world import World


@dataclass(frozen=True, slots=True)
class Upload:
    """Hold one file of a multipart request, under the names by which simcord reads it."""

    filename: str
    fp: BytesIO
    description: str | None = None

    @property
    def size(self) -> int:
        """Answer the number of bytes."""
        return self.fp.getbuffer().nbytes


@dataclass(frozen=True, slots=True)
class Call:
    """Describe one request. `path` begins after the API's version, still percent-encoded."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    files: tuple[Upload, ...] = ()
    reason: str | None = None

    @property
    def parts(self) -> list[str]:
        """Answer the parts of the path."""
        return self.path.strip("/").split("/")


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold a status and a JSON body; no body goes with 204."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def refusal(status: int, code: int, message: str) -> Answer:
    """Answer an error in Discord's form."""
    return Answer(status, {"message": message, "code": code})


def simulated(world: World, call: Call) -> Any:  # noqa: ANN401 - any JSON
    """Do what the request asks by simcord's rules alone; answer its JSON, None for none."""
    return dispatch(
        world.discord,
        call.method,
        call.path,
        json=call.body,
        params=call.query,
        files=list(call.files),
        reason=call.reason,
    )


def plain(world: World, call: Call) -> Answer:
    """Answer by simcord's rules alone."""
    body = simulated(world, call)
    return Answer(204) if body is None else Answer(200, body)


def require_open(world: World, channel_id: int) -> None:
    """Refuse what an archived thread does not take."""
    state = world.discord.get_channel(channel_id).thread_metadata
    if state is not None and state.archived:
        raise BackendError(400, 50083, "Thread is archived")
