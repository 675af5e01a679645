"""
The page a cog author reads: what a responder is, and what its turn offers.

A responder is a cog with an async generator `respond(turn)` that yields the reply in chunks: text,
and what else `bot.replies` has. It is advanced and closed in one task; it may be cancelled at any
await, and has a second and a half to clean up, while its reply is closed. What it sends past `turn`
is neither journaled nor fenced: after a crash it may be said twice.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

from bot.endings import Ending
from bot.inbound import Attached, Message, Person, Quoted, Remark, Trigger
from bot.journal import Journal
from bot.kept import Kept, Scope
from bot.replies import Chunk
from bot.transcript import Said

Result = TypeVar("Result")

#: Bytes of a file that are read unless more are asked for: what people send without paying.
READ_LIMIT = 10 * 1024 * 1024


Fetch = Callable[[Attached, str, int], Awaitable[bytes]]


@runtime_checkable
class Responder(Protocol):
    """
    Anything with `respond`. No base class: a cog already has one, and two metaclasses conflict.

    `respond` is an async *generator* function (`async def` with a `yield`), hence typed as a plain
    function that returns the generator.

    Beside it a cog may have `settings_model`, a pydantic model of its table of settings, which
    `Turn.settings` is then an instance of; and `state_version` (an int, 1 unless given) with
    `migrate(state, version)`, which brings a state of an earlier version to this one.
    """

    def respond(self, turn: "Turn", /) -> AsyncGenerator[Chunk, None]:
        """Yield the reply in chunks."""
        ...


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The turn that a follow-up cut short, as its successor sees it."""

    #: What it had written of its reply; of the last words not all need have been shown.
    text: str
    #: Names of the steps it had recorded.
    steps: tuple[str, ...]
    #: How it ended.
    ending: Ending = Ending.SUPERSEDED


class Pulse(Protocol):
    """What a turn tells its holder while it runs."""

    def progress(self) -> None:
        """Note that the turn is alive, against `limits.progress`."""
        ...

    def chain(self) -> AbstractContextManager[None]:
        """Hold follow-ups back while the block runs."""
        ...


@dataclass(frozen=True, slots=True)
class Attachment(Attached):
    """A file of a message, which can be read."""

    #: Id of the message that it came with.
    message: str = field(kw_only=True)
    _fetch: Fetch = field(kw_only=True, repr=False, compare=False)

    async def read(self, limit: int = READ_LIMIT) -> bytes:
        """
        Fetch the bytes, anew on a replay; what was made of them is worth a step.

        Raise `AttachmentUnreadable` for one of more than *limit* bytes, and when Discord does not
        have it any more or takes longer than a minute.
        """
        return await self._fetch(self, self.message, limit)


class Around(Protocol):
    """What a turn can look at beyond its own messages."""

    async def history(self, limit: int, /) -> list[Said]:
        """Read the newest entries of the transcript, oldest first."""
        ...

    async def context(self, limit: int | None, /) -> list[Remark]:
        """Read the newest messages before the question, oldest first, once for all replays."""
        ...

    async def fetch(self, file: Attached, message: str, limit: int, /) -> bytes:
        """Fetch a file of *message*, or raise `AttachmentUnreadable`."""
        ...


class Aside(Protocol):
    """A message that a turn has said beside its reply."""

    async def edit(self, text: str) -> None:
        """Replace its text; nothing, once it was deleted by `delete`."""
        ...

    async def delete(self) -> None:
        """Take it back, for every replay too."""
        ...


Say = Callable[[str], Awaitable[Aside]]


class Turn:
    """The work of answering one message, or several that belong together."""

    def __init__(
        self,
        messages: Sequence[Message],
        *,
        attempt: int,
        journal: Journal,
        pulse: Pulse,
        around: Around,
        kept: Kept,
        say: Say,
        interrupted: Interrupted | None = None,
        state: Any = None,  # noqa: ANN401 (the author's own JSON)
    ) -> None:
        """Made by the framework for each run; a replay gets an equal one."""
        #: All messages of this turn, oldest first.
        self.messages = tuple(messages)
        #: 1 on the first run, one more after each exception that was worth a retry.
        self.attempt = attempt
        #: The turn that this one replaces, when its author followed up.
        self.interrupted = interrupted
        #: JSON kept with the conversation; assign it to change it. It lands with the reply, and
        #: only when the turn finishes.
        self.state = state
        #: What `[cogs.<name>]` says for this place, as the cog's `settings_model`; else None.
        self.settings: Any = None
        #: Why the turn was ended from outside, readable in the generator's `finally`; None while
        #: nothing has ended it, so also in a `finally` that the generator reaches by itself.
        self.ending: Ending | None = None
        self.declined = False
        self._journal = journal
        self._pulse = pulse
        self._around = around
        self._kept = kept
        self._say = say

    @property
    def text(self) -> str:
        """What was written, without our mention; several messages one a line."""
        return "\n".join(message.text for message in self.messages)

    @property
    def author(self) -> Person:
        """Who asked first."""
        return self.messages[0].author

    @property
    def conversation(self) -> str:
        """Id of the channel, thread or DM."""
        return self.messages[0].channel

    @property
    def guild(self) -> str | None:
        """Id of the guild; None in a DM."""
        return self.messages[0].guild

    @property
    def trigger(self) -> Trigger:
        """What asked for this turn: a message, a command, a button or a timer."""
        return self.messages[0].trigger

    @property
    def reply_to(self) -> Quoted | None:
        """The message that the first one replies to."""
        return self.messages[0].reply_to

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The files that came with the messages of this turn."""
        every = (self._readable(one.attachments, one.id) for one in self.messages)
        return tuple(attachment for files in every for attachment in files)

    @property
    def quoted_attachments(self) -> tuple[Attachment, ...]:
        """The files of the message that the first one replies to."""
        quoted = self.reply_to
        return self._readable(quoted.attachments, quoted.id) if quoted else ()

    @property
    def images(self) -> tuple[Attachment, ...]:
        """Those of the attachments that Discord takes for images."""
        return tuple(
            one for one in self.attachments if (one.content_type or "").startswith("image/")
        )

    def _readable(self, files: Iterable[Attached], message: str) -> tuple[Attachment, ...]:
        return tuple(
            Attachment(**asdict(file), message=message, _fetch=self._around.fetch) for file in files
        )

    async def context(self, limit: int | None = None) -> list[Remark]:
        """
        Answer the newest *limit* (≤ 100) messages before this turn's, by anybody, oldest first.

        By default as many as `history.context_messages` says. Read from Discord once and recorded:
        a replay sees the same. Empty where the bot may not read the channel's history.
        """
        return await self._around.context(limit)

    async def history(self, limit: int = 50) -> list[Said]:
        """
        Answer the newest *limit* things said here before this turn, oldest first.

        By people who were answered, and by us; for what else was written, see `context`.
        """
        return await self._around.history(limit)

    async def step(
        self, name: str, effect: Callable[[str], Awaitable[Result]], key: str | None = None
    ) -> Result:
        """Run *effect* once and keep its result over crashes and replays; see `Journal.step`."""
        return await self._journal.step(name, effect, key)

    async def say(self, text: str) -> Aside:
        """
        Send a message of its own, beside the reply; a replay finds it and says it no second time.

        At most 2,000 characters, and 20 messages a turn.
        """
        return await self._say(text)

    async def checkpoint(self) -> None:
        """
        Keep `state` as it is now, should the turn be stopped, killed or superseded later.

        Recorded like a step: a replay comes by here with the state that was kept. A turn that is
        given up for an error leaves the state as the turn before has left it.
        """
        self.state = await self._kept.checkpoint(self.state)

    def remember(self, key: str, value: object, *, scope: Scope = Scope.CONVERSATION) -> None:
        """
        Keep JSON (≤ 16 KiB) under a key of this cog's own; it lands when the turn finishes.

        None forgets it. Keys are short, of letters, digits and `_./@:-`.
        """
        self._kept.remember(key, value, scope)

    async def recall(
        self, key: str, default: object = None, *, scope: Scope = Scope.CONVERSATION
    ) -> Any:  # noqa: ANN401 (the author's own JSON)
        """Answer what was remembered, by this turn or one before; *default* if nothing was."""
        return await self._kept.recall(key, default, scope)

    def schedule(
        self, name: str, *, delay: float, every: float | None = None, payload: object = None
    ) -> None:
        """
        Set a timer, once this turn finishes; one of that name in this conversation is replaced.

        When *delay* seconds have passed, and *every* so many (≥ 60) again, this cog gets a turn
        with the trigger `Kind.TIMER`, *name* and *payload* (JSON, ≤ 16 KiB). Its reply replies to
        nothing; in a guild it begins with whom it is for, and notifies them (`ping_author`).
        """
        self._kept.schedule(name, delay, every, payload)

    def unschedule(self, name: str) -> None:
        """Remove a timer of this conversation, once this turn finishes."""
        self._kept.unschedule(name)

    def call_chain(self) -> AbstractContextManager[None]:
        """
        Open a block that a follow-up must not cut, such as a chain of tool calls.

        Follow-ups wait until its end and then supersede together. A stop or kill still cuts it.
        """
        return self._pulse.chain()

    def progress(self) -> None:
        """Say that work goes on, so that `limits.progress` starts anew."""
        self._pulse.progress()

    def decline(self) -> None:
        """Say nothing, on purpose: no 🤷 appears when the reply stays empty."""
        self.declined = True
