"""
What people are told besides a reply: that they wait, and what became of a message without one.

Best effort throughout: a notice that cannot be delivered is logged and costs no turn.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from bot import texts, unheld
from bot.config import Place
from bot.errors import PayloadUnreadable
from bot.gate import Gate
from bot.inbound import Message, unpack
from bot.pages import ASIDES, nonce
from bot.responses import say_instead, tell, tell_for_a_while
from bot.speaking import Outgoing, Rejected, Unreachable, Wire, speaker
from bot.texts import Texts
from state.errors import Gone, StateError, StateUnavailable
from state.outcomes import Settled
from state.ports import State
from state.values import Inbound, Outcome

#: Seconds of waiting after which a message is marked: a quick hand-over shows no flicker.
WAIT_SHOWN_AFTER = 1.5

#: Seconds between looks at a marked message, in case another process has taken it up.
LOOK_AGAIN = 5.0

#: Seconds after which a refusal is removed: long enough to be read, short enough not to pile up.
NOTICE_LIFE = 20.0

#: Seconds that removing them early may take when the process ends.
CLOSE_WITHIN = 1.0

#: Seconds before each further try to take a mark away, or to put one behind what a dead holder has
#: left, when Discord has not answered.
UNMARK_AGAIN = (1.0, 5.0, 25.0)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """The notice of one conversation, and the task that will remove it."""

    message: str
    text: str
    removal: "asyncio.Task[None]"


class Notices:
    """Marks and notices of this process."""

    def __init__(
        self,
        wire: Wire,
        state: State,
        reactions: Callable[[Place], bool],
        said: Callable[[Place], Texts] = lambda _place: texts.here(),
    ) -> None:
        """*reactions* says whether anything in a place may be marked; *said*, in which words."""
        self._said = said
        self._wire = wire
        self._state = state
        self._reactions = reactions
        self._marks: dict[str, asyncio.Event] = {}
        self._refusals: dict[str, _Refusal] = {}
        self._refusing = Gate()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def close(self) -> None:
        """
        End every task and begin none any more; refusals are removed before their time.

        Marks on messages that still wait stay: the next process removes them.
        """
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        removals = [
            asyncio.create_task(_quietly(self._wire.delete(channel, known.message)))
            for channel, known in self._refusals.items()
        ]
        if removals:
            _, late = await asyncio.wait(removals, timeout=CLOSE_WITHIN)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def told(self) -> None:
        """Return when all that is to be said has been; notices may still await their removal."""
        removals = {known.removal for known in self._refusals.values()}
        while pending := self._tasks - removals:
            await asyncio.wait(pending)
            removals = {known.removal for known in self._refusals.values()}

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._start(work, name)  # type: ignore[unused-awaitable]  # owned by self._tasks

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
        if self._closed:
            work.close()
            work = _nothing()
        task = asyncio.create_task(_quietly(work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # one that is cancelled before it began
        return task

    def later(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Do *work*, for which a turn had no time, by best effort and in nobody's name."""
        self._spawn(work, name)

    # --- waiting ---------------------------------------------------------------------------------

    def waits(self, message: Message) -> None:
        """Mark *message* if it still waits in a moment."""
        # A command shows "thinking…" while it waits.
        shown = not message.is_written or message.id in self._marks
        if not shown and self._reactions(message.place):
            done = self._marks[message.id] = asyncio.Event()
            self._spawn(self._mark(message, done), f"mark {message.id}")

    def served(self, message: Message, waited: float) -> None:
        """Remove the mark of a message that waits no more, whichever process made it."""
        if (done := self._marks.get(message.id)) is not None:
            done.set()
        elif waited > WAIT_SHOWN_AFTER and message.is_written and self._reactions(message.place):
            self._spawn(self._unmark(message), f"unmark {message.id}")

    async def _mark(self, message: Message, done: asyncio.Event) -> None:
        try:
            if await _within(WAIT_SHOWN_AFTER, done) or not await self._still_waits(message):
                return
            with suppress(Unreachable):  # it may be there all the same, and must go in the end
                await self._wire.react(message.home, message.id, texts.WAITING)
            while not await _within(LOOK_AGAIN, done) and await self._still_waits(message):
                pass
            await self._unmark(message)
        finally:
            del self._marks[message.id]

    async def _still_waits(self, message: Message) -> bool:
        try:
            view = await self._state.view(message.conversation)
        except StateUnavailable:
            return True  # as far as anybody knows
        except Gone:
            return False
        return any(inbound.id == message.id for inbound in view.waiting)

    async def _unmark(self, message: Message) -> None:
        await _again(lambda: self._wire.unreact(message.home, message.id, texts.WAITING))

    # --- outcomes without a reply ----------------------------------------------------------------

    def empty(self, message: Message) -> None:
        """Shrug at a message that was addressed to us and got no text; a command's turn does so."""
        if message.addressed and message.is_written and self._reactions(message.place):
            work = self._wire.react(message.home, message.id, texts.EMPTY)
            self._spawn(work, f"empty {message.id}")

    def stopped(self, message: Message) -> None:
        """Acknowledge a stop on the message that asked for it."""
        if self._reactions(message.place):
            work = self._wire.react(message.home, message.id, texts.STOPPED)
            self._spawn(work, f"stopped {message.id}")

    def refused(self, message: Message, text: str) -> None:
        """Say once per conversation, and for a while, that a message was not taken."""
        if message.deferred is None:
            work = self._refuse(message, text)
        else:
            work = tell_for_a_while(self._wire, message, text, NOTICE_LIFE)
        self._spawn(work, f"refuse {message.id}")

    async def _refuse(self, message: Message, text: str) -> None:
        channel = message.home
        async with self._refusing.through(channel):  # a burst of refusals makes one notice
            if (known := self._refusals.pop(channel, None)) is not None:
                known.removal.cancel()
            sent = known.message if known else await self._say(message, text)
            removal = self._start(self._remove(channel, sent), f"remove notice {sent}")
            self._refusals[channel] = _Refusal(sent, text, removal)
            if known is not None and known.text != text:
                await self._wire.edit(channel, sent, Outgoing(text))

    async def _remove(self, channel: str, sent: str) -> None:
        await asyncio.sleep(NOTICE_LIFE)
        self._refusals.pop(channel, None)
        await self._wire.delete(channel, sent)

    def tell(self, message: Message, text: str) -> None:
        """Say what became of a message, by a message of its own."""
        self._spawn(self._tell(message, text), f"tell {message.id}")

    def settled(self, settled: Iterable[Settled]) -> None:
        """Tell people about inbounds that a hand-over acknowledged without running them."""
        for one in settled:
            messages = readable(one.inbounds)
            for message in messages:
                log.info("settled", inbound=message.id, outcome=one.outcome.value)
                self.served(message, 0.0)
            if one.outcome in _TOLD:
                for message in messages[:1] if one.turn else messages:  # a turn is told of once
                    self.tell(message, _TOLD[one.outcome](self._said(message.place)))
                messages = messages[1:] if one.turn else []
            for message in messages:
                self._end_waiting(message)
            self._mark_ended(one)

    def withdrawn(self, inbounds: Iterable[Inbound]) -> None:
        """Take the marks off inbounds that wait no more."""
        for message in readable(inbounds):
            self.served(message, 0.0)
            self._end_waiting(message)

    def _end_waiting(self, message: Message) -> None:
        """Let a command that is answered no more say so instead of "thinking…"."""
        if message.deferred is not None:
            text = texts.STOPPED if self._reactions(message.place) else None
            self._spawn(_say_instead(self._wire, message, text), f"end {message.id}")

    def _mark_ended(self, settled: Settled) -> None:
        """Mark the half-written reply of a turn that was stopped while nobody held it."""
        reply = [page for page in settled.pages if page.number < ASIDES]
        posted = [page.message_id for page in reply if page.message_id]
        if settled.outcome not in (Outcome.STOPPED, Outcome.KILLED) or not posted:
            return
        for message in readable(settled.inbounds[:1]):
            emoji = texts.STOPPED if self._reactions(message.place) else None
            words = texts.here().mark(settled.outcome.value)
            work = partial(unheld.mark, self._wire, message, posted, words, emoji)
            self._spawn(_again(work), f"mark ended {message.id}")

    async def _tell(self, message: Message, text: str) -> None:
        if message.deferred is None:
            await self._say(message, text)
        else:
            await tell(self._wire, message, text)

    async def _say(self, message: Message, text: str) -> str:
        seed = nonce(f"notice {message.id} {text}", 0, 0, message.home)
        reply_to = message.id if message.is_written else None
        sent = await self._wire.create(
            message.home, Outgoing(text), nonce=seed, reply_to=reply_to, ping=False
        )
        return sent.id


#: What people are told of a message that got no reply.
_TOLD: Mapping[Outcome, Callable[[Texts], str]] = {
    Outcome.EXPIRED: lambda said: said.expired,
    Outcome.DROPPED: lambda said: said.dropped,
    Outcome.DEAD: lambda said: said.apology,
}


def readable(inbounds: Iterable[Inbound]) -> list[Message]:
    """The messages among *inbounds* that this build can read."""
    messages = []
    for inbound in inbounds:
        try:
            messages.append(unpack(inbound))
        except PayloadUnreadable as error:
            log.warning("unreadable inbound", reason=str(error))
    return messages


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Whether *event* is set before *seconds* have passed."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True


async def _again(request: Callable[[], Awaitable[None]]) -> None:
    """Try it a few times while Discord does not answer."""
    for pause in UNMARK_AGAIN:
        with suppress(Unreachable):
            return await request()
        await asyncio.sleep(pause)
    return await request()


async def _say_instead(wire: Wire, message: Message, text: str | None) -> None:
    await say_instead(wire, message, text)


async def _nothing() -> None:
    """What a closed instance does instead of any work."""


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    speaker.set(None)  # a notice is nobody's turn, even when a turn has caused it
    try:
        await work
    except (Rejected, Unreachable, StateError) as error:
        log.warning("notice not delivered", reason=str(error))
